#pragma once
// Exact posterior of the copy head for growing numbers of sequences, and approximate methods.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/copy_head/task.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<std::int64_t> sequences = {24, 28, 32, 36, 48};  ///< Values of N, ascending.
  std::int64_t sets = 3;                                       ///< Number of data sets.
  std::int64_t particles = 100;  ///< Particles of each of four sequential Monte Carlo runs.
  std::int64_t steps = 400;      ///< Gradients per member, in the longer of two runs.
};

constexpr Weighting attentions[] = {Weighting::softmax, Weighting::identity};
constexpr double ordered_from = 0.5;  ///< An "ordered" head has a larger alignment().
constexpr std::int64_t members = 20;  ///< Networks, particles or chains per method.
constexpr std::int64_t bins = 10;     ///< Bins in the histogram of alignment.

/// The exact posterior given the first N = `sequences` sequences of one data set. Standard
/// errors are over the runs of sequential Monte Carlo.
struct Point {
  Weighting weighting = Weighting::softmax;
  std::int64_t set = 0, sequences = 0;
  std::vector<double> histogram = {};  ///< Share of heads in each bin of alignment; they sum to 1.
  Measured ordered = {};               ///< Share of ordered heads.
  Measured aligned = {};               ///< Mean alignment.
  Measured right = {};                 ///< Mean weight on the correct token.
  Measured log_evidence = {};          ///< Log evidence − log evidence of f = 0.
  double drawn = 0;                    ///< Share of ordered heads among `members` exact draws.
};

/// Depth of the valley between two peaks of a histogram h: the largest 1 − h_j/min(h_i, h_k) over
/// bins i < j < k with min(h_i, h_k) ≥ 0.03, or 0.
double valley(const std::vector<double>& histogram);

/// Share of ordered heads (ordered_from) given one data set: by a method, and by the exact
/// posterior.
struct MethodRun {
  std::string method;
  std::int64_t steps = 0;
  bool after = false;  ///< False: the run is at N*, where the exact share is nearest to ½. True: it
                       ///< is at the third N after N*, or at the last N.
  std::int64_t set = 0;
  double share = 0, exact = 0;
};

struct Study {
  std::vector<Point> points;    ///< Sorted: softmax first; by data set, then by N.
  std::vector<MethodRun> runs;  ///< Runs with softmax attention.
  bool interrupted = false;     ///< If so, only finished results are included.
};

/// Approximate methods, and their reference: `members` draws from the exact posterior.
constexpr const char* methods[] = {"hmc", "sgld", "svgd", "ensemble"};
constexpr const char* exact_draws = "exact draws";

Study run_study(const Settings& settings);

/// Points of one attention function on one data set, a curve over N.
std::vector<Point> curve_of(const Study& study, Weighting weighting, std::int64_t set);
/// Index of N* in the points that curve_of() returns. N* is the number of sequences at which the
/// share of ordered heads is nearest to ½.
std::size_t transition(const std::vector<Point>& curve);

/// A row for each attention function and N: means over data sets.
Table exact_table(const Settings& settings, const Study& study);
/// For each attention function, the largest over N of the depth of the valley between two peaks of
/// the alignment's histogram (valley()); and the paired difference of the two functions.
Table valley_table(const Settings& settings, const Study& study);
/// A row for each method and length of run, with the exact posterior of softmax for comparison.
Table method_table(const Settings& settings, const Study& study);

/// Draws copy_head.svg, histograms of the first data set's posteriors, and copy_head_methods.svg,
/// the methods' errors in method_table, to the output folder. Returns the paths of the pictures
/// that were drawn.
std::vector<std::filesystem::path> draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
