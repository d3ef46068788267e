#pragma once
// Bayesian neural networks for regression: data sets, methods, and the study, which runs every
// method on every set and split.
//
// Posterior of a network f(x) = w₂ᵀ relu(W₁ᵀx + b₁) + b₂ with 50 hidden units, as in Liu and Wang
// (2016): targets N(f(x), 1/γ), weights N(0, 1/λ), γ and λ Gamma(1, rate 0.1). Each of the P = 20
// networks is a row z, ln γ, ln λ of Θ [P, D], with weights w = z/√λ. In the coordinates (w, ln λ),
// in which the method svgd_weights moves, the density has its mode at large λ and small w.

#include <map>

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  /// Folder of the UCI sets, and file to which answers are written; each may be empty.
  std::filesystem::path data, bits;
  std::vector<std::string> methods;       ///< Methods besides linear, gp and svgd; empty: all.
  std::int64_t splits = 10, steps = 300;  ///< Steps: gradients per network in total.
};

struct DataSet {
  std::string name;
  Tensor x, y;               ///< f64 [n, d], [n]
  std::vector<Fold> splits;  ///< Random splits, whose test parts overlap.
};
/// A split after scaling: inputs and targets have mean 0 and standard deviation 1 in the training
/// part (a constant input is 0). A random tenth of that part, `dev`, is the development part.
struct Problem {
  struct Part {
    Tensor x, y;  ///< f32 [N, d], [N]
  } train, dev, test;
  double mean, scale;  ///< Scaling of the targets: y = mean + scale·f.
};

struct Networks;
struct Method {
  std::string name;
  std::vector<double> rates;  ///< Learning rates to try: Adam's, or a sampler's in units of 1/γ.
  Tensor (*run)(Networks&, double rate);
};
/// All methods: first `linear`, Bayesian ridge regression with a bias; then `gp`, the exact
/// Gaussian process of the infinitely wide network; then svgd, and the methods that are compared
/// with it. Those without a learning rate have the single rate 0.
const std::vector<Method>& methods();
/// Mixture of S normal distributions per test input, in units of the scaled targets (Problem), f64
/// [S, 3, M]: means f, variances 1/γ, and variances that refit γ to each network's squared errors
/// on the development part, as in Liu and Wang's code. All elements are infinite if the run
/// diverged.
Tensor infer(const Method& method, const Problem& data, const Settings& settings, double rate,
             const Generator& rng);

/// Answers of a method on the splits of a set, in units of the targets before scaling.
struct Answers {
  double rate = 0;  ///< The learning rate that was chosen.
  /// One tensor per split, by name: "rmse", and per test example [M] "targets", "mean", "sd", "ll"
  /// (ln density) and "ll_own" (with the networks' own γ).
  std::map<std::string, std::vector<Tensor>> bits;
};
struct Study {
  std::vector<DataSet> sets;
  std::vector<Method> arms;
  std::map<std::string, std::map<std::string, Answers>> of;  ///< By names of set and method.
  std::size_t splits = 0;                                    ///< Number of finished splits.
};
Study run_study(const Settings& settings);

}  // namespace ladon::example
