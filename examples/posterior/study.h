#pragma once
// Methods compared with the exact posterior.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/exact_posterior/bands.h"
#include "ladon/examples/exact_posterior/exact.h"

namespace ladon::example {

struct Settings : TaskSettings {
  /// Methods of optim/posterior/compare.h, and wrong_prior. The methods that this default list
  /// leaves out take as long, in total, as those in it.
  std::vector<std::string> methods = {
      "hmc",   "sgld",       "svgd", "svgd_auto", "wgd", "ensemble", "randomized_prior",
      "prior", "wrong_prior"};
  std::int64_t members = 20;  ///< Networks, particles or chains per method.
  std::int64_t steps = 400;   ///< Gradients per member, in the longer of two runs.
};

/// Names for --methods: those of optim/posterior/compare.h, and the control wrong_prior.
std::vector<std::string> method_names();
/// Whether the method is exact: "gp", the Gaussian process, or "finite_heads", draws from the exact
/// posterior of finitely many heads.
bool exactly_known(const std::string& method);
/// Number of heads for which the pictures compare methods: the second one, or the only one.
std::int64_t heads_shown(const Settings& settings);

/// A method's runs of one length on all data sets.
struct MethodRuns {
  std::string method;
  std::int64_t heads = 0;
  std::int64_t steps = 0;  ///< 0: not applicable.
  std::vector<BeliefScore> scores = {};
  std::int64_t gradients = 0;  ///< Total number per network, for the first data set.
};

/// Draws of the latents of this many heads, given the first data set.
struct LatentDraws {
  std::int64_t heads = 0;
  Tensor latents;  ///< [S, D], grouped by run of sequential Monte Carlo.
};

struct Study {
  std::vector<MethodRuns> methods;   ///< Compared with the exact posterior for equal `heads`.
  std::vector<MethodRuns> to_limit;  ///< Compared with the Gaussian process.
  std::vector<Band> bands;  ///< Bands of exact posteriors, and of methods at heads_shown().
  std::vector<Band> runs;   ///< A band per method, number of heads and length of run.
  std::vector<LatentDraws> draws;
  Tensor targets;            ///< Targets of the first data set.
  bool interrupted = false;  ///< If so, only finished results are included.
};

Study run_study(const Settings& settings);

/// Table with a row for each method, number of heads and length of run, compared with the exact
/// posterior at that number of heads, or with the Gaussian process.
Table method_table(const Settings& settings, const std::vector<MethodRuns>& rows, bool against_gp);
/// Number of columns that are printed; the others are in the report only.
constexpr std::size_t method_columns_printed = 7;

/// Draws posterior.svg (methods over the exact posterior) and posterior_variance.svg (ratios of
/// their variances to the true one).
void draw(const Settings& settings, const Study& study);

/// Interactive page, on which the reader drags targets, sets heads and methods, and stops methods
/// early. Needs a study with draws of latents.
Page page(const Settings& settings, const Study& study);
/// Blocks of a kernel over training and test inputs [N + M, N + M]: among training inputs [N, N],
/// between test and training inputs [M, N], and variances of test inputs [M].
nlohmann::ordered_json blocks_json(const Tensor& kernel);
/// Checks that compare the page's functions with the library's: the Gaussian process given the
/// study's targets, and for each number of heads the kernel of one draw of the latents and the
/// Gaussian process with that kernel.
nlohmann::ordered_json checks(const Settings& settings, const Study& study, const Tensor& limit);

}  // namespace ladon::example
