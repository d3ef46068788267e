#pragma once
// Methods beside the exact posterior.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/exact_posterior/bands.h"
#include "ladon/examples/exact_posterior/exact.h"

namespace ladon::example {

struct Settings : TaskSettings {
  /// Of compare.h, and wrong_prior; those that are not here take as long as these together.
  std::vector<std::string> methods = {
      "hmc",   "sgld",       "svgd", "svgd_auto", "wgd", "ensemble", "randomized_prior",
      "prior", "wrong_prior"};
  std::int64_t members = 20;  ///< Networks, particles or chains of a method.
  std::int64_t steps = 400;   ///< Gradients of each, in the longer of the two runs.
};

/// Names for --methods: those of compare.h, and wrong_prior, a control.
std::vector<std::string> method_names();
/// Of gp and finite_heads, which stand beside them: the Gaussian process, and exact draws.
bool exactly_known(const std::string& method);
/// The heads at which methods are compared in the pictures: the second number, or the only one.
std::int64_t heads_shown(const Settings& settings);

/// A method's runs of one length on all data sets.
struct MethodRuns {
  std::string method;
  std::int64_t heads = 0;
  std::int64_t steps = 0;  ///< 0: no matter.
  std::vector<BeliefScore> scores = {};
  std::int64_t gradients = 0;  ///< Of one network, in all, of the first data set.
};

/// Draws of the latents of so many heads, given the first data set.
struct LatentDraws {
  std::int64_t heads = 0;
  Tensor latents;  ///< [S, D], those of one replicate after those of another.
};

struct Study {
  std::vector<MethodRuns> methods;   ///< Held against the exact posterior of so many heads.
  std::vector<MethodRuns> to_limit;  ///< Held against the Gaussian process.
  std::vector<Band> bands;           ///< Of all exact posteriors, and of methods at heads_shown().
  std::vector<Band> runs;            ///< Of every method, number of heads and length of run.
  std::vector<LatentDraws> draws;
  Tensor targets;            ///< Of the first data set.
  bool interrupted = false;  ///< Then there is what was finished; rows without scores are left out.
};

Study run_study(const Settings& settings);

/// A row for each method, number of heads and length of run, held against the truth at so many
/// heads, or against the Gaussian process.
Table method_table(const Settings& settings, const std::vector<MethodRuns>& rows, bool against_gp);
/// The columns that are printed; the rest is in the report alone.
constexpr std::size_t method_columns_printed = 7;

/// Draws posterior.svg, methods over the exact posterior, and posterior_variance.svg, their
/// variances over the true one.
void draw(const Settings& settings, const Study& study);

/// The page: targets to drag, heads, methods, and when to stop. Of a study with latent draws.
Page page(const Settings& settings, const Study& study);
/// Blocks of a kernel over training and test places [N + M, N + M]: between training places
/// [N, N], of test places and these [M, N], and the test places' own [M].
nlohmann::ordered_json blocks_json(const Tensor& kernel);
/// What the page computes by itself, by the library: the Gaussian process of a kernel given the
/// study's targets, and for each number of heads the kernel of one draw, and its process.
nlohmann::ordered_json checks(const Settings& settings, const Study& study, const Tensor& limit);

}  // namespace ladon::example
