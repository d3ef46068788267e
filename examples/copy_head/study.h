#pragma once
// The exact posterior of the copy head at growing numbers of sequences, and methods beside it.

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
  std::vector<std::int64_t> sequences = {24, 28, 32, 36, 48};  ///< N, rising.
  std::int64_t sets = 3;                                       ///< Data sets.
  std::int64_t particles = 100;  ///< Of each of four runs of sequential Monte Carlo.
  std::int64_t steps = 400;      ///< Gradients of each, in the longer of the two runs.
};

constexpr Weighting attentions[] = {Weighting::softmax, Weighting::identity};
constexpr double ordered_from = 0.5;  ///< Alignment above which a head is ordered.
constexpr std::int64_t members = 20;  ///< Networks, particles or chains of a method.
constexpr std::int64_t bins = 10;     ///< Of the alignment's histogram.

/// The exact posterior of one data set at one N. Errors are over replicates.
struct Point {
  Weighting weighting = Weighting::softmax;
  std::int64_t set = 0, sequences = 0;
  std::vector<double> histogram = {};  ///< Shares of the alignment's bins, which sum to 1.
  Measured ordered = {};               ///< Share of ordered heads.
  Measured aligned = {};               ///< Mean alignment.
  Measured right = {};                 ///< Mean weight on the right token.
  Measured log_evidence = {};          ///< Less that of f = 0.
  double drawn = 0;                    ///< Share of ordered heads among so many draws as members.
};

/// Depth of the valley between two peaks: the largest 1 − h_j/min(h_i, h_k) over bins i < j < k
/// with min(h_i, h_k) ≥ 0.03, or 0.
double valley(const std::vector<double>& histogram);

/// A method's ordered share on one data set, beside the exact one.
struct MethodRun {
  std::string method;
  std::int64_t steps = 0;
  bool after = false;  ///< Not at N*, where the exact share is nearest ½, but at the third N after.
  std::int64_t set = 0;
  double share = 0, exact = 0;
};

struct Study {
  std::vector<Point> points;    ///< Softmax first, then data set by data set, N rising.
  std::vector<MethodRun> runs;  ///< Of softmax.
  bool interrupted = false;     ///< Then there is what was finished.
};

/// Methods, and what they are held against: as many draws from the exact posterior.
constexpr const char* methods[] = {"hmc", "sgld", "svgd", "ensemble"};
constexpr const char* exact_draws = "exact draws";

Study run_study(const Settings& settings);

/// Points of one attention on one data set; and the index of its N*.
std::vector<Point> curve_of(const Study& study, Weighting weighting, std::int64_t set);
std::size_t transition(const std::vector<Point>& curve);

/// A row for each attention and N: means over data sets.
Table exact_table(const Settings& settings, const Study& study);
/// Valleys of both attentions, the largest over N, and their paired difference.
Table valley_table(const Settings& settings, const Study& study);
/// A row for each method and length of run, beside the exact posterior of softmax.
Table method_table(const Settings& settings, const Study& study);

/// Draws out/copy_head.svg, histograms of the first data set's posteriors, and
/// copy_head_methods.svg, errors of that table. Returns the paths of those that there are.
std::vector<std::filesystem::path> draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
