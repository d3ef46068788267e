#include "ladon/optim/posterior/predict.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/machine.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/optim/posterior/kernel_blocks.h"
#include "ladon/optim/posterior/search.h"

namespace ladon {
namespace {

constexpr const char* operation = "predict";

// --- noise and amplitude ---

/// Throws Error if the mean of the kernel's diagonal is not positive, or if all targets are 0.
void check_not_zero(const char* caller, const Tensor& kernel, const Tensor& targets,
                    bool centred = false) {
  const double unit = number_of("predict", mean(diagonal(kernel)));
  LADON_CHECK(unit > 0, caller, "the mean of the kernel's diagonal is ", unit,
              "; it must be positive (are all inputs 0, or have they no tokens?)");
  LADON_CHECK(number_of("predict", amax(abs(targets))) > 0, caller,
              centred ? "all targets of each output are equal, so nothing is left after "
                        ".center subtracts their mean; pass .center = false"
                      : "all targets are 0, so nothing can be learned; at least one must differ "
                        "from 0");
}

/// Eigendecomposition K = U·Λ·Uᵀ (in units of the mean of K's diagonal) and Uᵀ·Y, from which the
/// criterion is computed for any noise. `jitter` is the caller's option, if it has one.
class Spectrum {
 public:
  Spectrum(const char* caller, const Tensor& kernel, const Tensor& targets,
           std::optional<double> jitter, DType precision = f64) {
    auto [values, vectors] = lapack::eigh(kernel / number_of(caller, mean(diagonal(kernel))));
    check_definite(caller, kernel, values, jitter, precision);
    values_ = relu(values) + jitter.value_or(0);
    vectors_ = vectors;
    turned_ = matmul(transpose(vectors), targets);  // [N, O]
  }

  /// The amplitude a, in squared units of the targets, that maximizes the log density of the
  /// targets under a·(K + noise·I), and that log density.
  NoiseChoice judge(double noise, NoiseCriterion by) const {
    const Tensor inverse = reciprocal(values_ + noise);
    const double n = static_cast<double>(turned_.size(0)), o = static_cast<double>(turned_.size(1));
    double squares = 0, logs = 0;  // sum of squared standardized residuals, and of log variances
    if (by == NoiseCriterion::marginal_likelihood) {
      squares = number_of("predict", sum(square(turned_) * unsqueeze(inverse, 1)));
      logs = -o * number_of("predict", sum(log(inverse)));
    } else {
      // Leave-one-out variance σ²_i and error y_i − μ_i of target i: σ²_i = 1/P_ii and y_i − μ_i =
      // α_i/P_ii with P = U(Λ + noise)⁻¹Uᵀ and α = P·y (Rasmussen and Williams 2006, eq. 5.12)
      const Tensor p = matmul(square(vectors_), unsqueeze(inverse, 1));  // [N, 1]
      const Tensor alpha = matmul(vectors_, unsqueeze(inverse, 1) * turned_);
      squares = number_of("predict", sum(square(alpha) / p));
      logs = -o * number_of("predict", sum(log(p)));
    }
    const double amplitude = squares / (n * o);
    const double turn = std::log(2 * std::numbers::pi * amplitude);
    return {noise, amplitude, -0.5 * (n * o * (1 + turn) + logs)};
  }

 private:
  /// Throws Error if an eigenvalue (in units of the mean of the diagonal) is below −max(jitter,
  /// rounding error), so that the kernel is not a covariance. The rounding error of eigenvalues is
  /// about N·ε·λ_max for N inputs, with the machine epsilon ε of `precision` and the largest
  /// eigenvalue λ_max.
  static void check_definite(const char* caller, const Tensor& kernel, const Tensor& values,
                             std::optional<double> option, DType precision) {
    const double jitter = option.value_or(0);
    const std::int64_t n = values.size(0);
    const double lowest = values.data<double>()[0], highest = values.data<double>()[n - 1];
    const double rounding =
        std::max(1e-8, 4 * static_cast<double>(n) * kernel_blocks::epsilon_of(precision) * highest);
    const double least = lowest + std::max(jitter, rounding);
    if (least >= 0) return;
    kernel_blocks::Ridge ridge = kernel_blocks::ridge_of(caller, diagonal(kernel), 0, jitter);
    ridge.takes_noise = false;  // the callers choose the noise, so a message must not suggest it
    ridge.takes_jitter = option.has_value();
    kernel_blocks::fail_indefinite(caller, ridge, (lowest + jitter) * ridge.mean,
                                   -2 * (lowest + jitter) * ridge.mean);
  }

  Tensor values_, vectors_, turned_;
};

/// Targets [N, O] minus their means [1, O]; exactly 0 for an output whose targets differ only by
/// rounding.
Tensor around(const Tensor& means, const Tensor& targets) {
  const Tensor deviations = targets - means;
  const Tensor equal = less_equal(amax(abs(deviations), {0}, Dims::keep), 1e-12 * abs(means));
  return masked_fill(deviations, equal, 0);
}

/// Throws Error if the mean of an output's targets is far from the prior's mean 0, compared with
/// the standard deviation of all targets around the means of their outputs, which share one kernel
/// and one amplitude. An output whose targets are all equal is exempt, because its mean may be the
/// quantity to learn.
void check_near_zero(const Tensor& means, const Tensor& deviations) {
  const double spread = std::sqrt(number_of("predict", mean(square(deviations))));
  const Tensor largest = amax(abs(deviations), {0}, Dims::keep);
  for (std::int64_t o = 0; o < means.size(1); ++o) {
    const double m = number_of("predict", at(means, {0, o}));
    const bool equal = number_of("predict", at(largest, {0, o})) == 0;
    LADON_CHECK(equal || std::abs(m) <= 5 * spread, operation, "the targets of output ", o,
                " have mean ", m, ", which is far from the prior mean of 0 compared with ", spread,
                ", the standard deviation of all targets around the mean of their output; set "
                ".center = true to subtract the mean, or .center = false to keep it");
  }
}

/// Returns the amplitude; throws Error unless it is positive and finite.
double checked(const char* caller, double noise, double amplitude) {
  LADON_CHECK(std::isfinite(amplitude) && amplitude > 0, caller,
              "no amplitude of the kernel explains the targets with noise ", noise,
              " (in units of the mean of its diagonal): the amplitude would be ", amplitude,
              "; use a positive noise or jitter, and targets of moderate size");
  return amplitude;
}

NoiseChoice chosen(const Spectrum& spectrum, NoiseCriterion by) {
  constexpr double low = 1e-6, high = 1e3;
  constexpr int steps = 36;  // of the grid in ln noise, whose best point golden section refines
  const double ratio = std::log(high / low) / steps;
  const auto at = [&](double log_noise) { return spectrum.judge(std::exp(log_noise), by); };
  NoiseChoice best = at(std::log(low));
  for (int i = 1; i <= steps; ++i) {
    const NoiseChoice next = at(std::log(low) + i * ratio);
    if (next.log_density > best.log_density) best = next;
  }
  const double center = std::log(best.relative_noise);
  const double log_noise =
      smallest(std::max(std::log(low), center - ratio), std::min(std::log(high), center + ratio),
               1e-3, [&](double x) { return -at(x).log_density; })
          .first;
  const NoiseChoice refined = at(log_noise);
  return refined.log_density > best.log_density ? refined : best;
}

// --- memory ---

/// Bytes of the f64 matrices that predict() needs in addition to the Gram matrices: factor, inverse
/// or eigenvectors with their workspace, and solutions for the cross kernel; for the NTK two
/// factors and their solutions.
double matrices_bytes(double n, double m, infinite::Get kernel) {
  return kernel == infinite::Get::ntk ? 8 * (6 * n * n + 4 * n * m) : 8 * (4 * n * n + 2 * n * m);
}

std::uint64_t budget_of(const PredictOptions& options) {
  return options.gram.memory_budget > 0 ? options.gram.memory_budget : free_memory();
}

/// Options of the Gram matrix `name`, with the memory budget reduced by `taken` bytes.
infinite::GramOptions options_within(const PredictOptions& options, double taken,
                                     const char* name = "") {
  infinite::GramOptions o = options.gram;
  o.get = options.kernel;
  if (!o.checkpoint.empty()) o.checkpoint += std::string("/") + name;
  o.memory_budget =
      static_cast<std::uint64_t>(std::max(1.0, static_cast<double>(budget_of(options)) - taken));
  return o;
}

void check_model(const Layer& model, const infinite::Inputs& x, const infinite::Inputs& test) {
  LADON_CHECK(x.x.defined() && x.x.rank() > 0 && x.count() > 0, operation,
              "there are no training inputs; at least one is needed");
  LADON_CHECK(test.x.defined() && test.x.rank() > 0, operation,
              "the test inputs are undefined; pass a tensor with one row per input");
  const infinite::Kernel k =
      infinite::limit(model).with_replicate(0)(x.rows(0, 1), infinite::Get::nngp);
  LADON_CHECK(
      !k.has_positions(), operation,
      "the model ends with positions, but must give one vector per input; end it in MeanPositions, "
      "Flatten or FirstToken");
}

/// Gram matrices among training inputs (`among`) and between test and training inputs (`across`),
/// and the kernel of each test input with itself (`self`).
struct Grams {
  const infinite::Gram &among, &across, &self;
};

/// Largest standard error of an element of the NTKs (if `ntk`) or of the NNGP kernels.
double largest_error(const Grams& k, bool ntk) {
  double largest = 0;
  for (const infinite::Gram* each : {&k.among, &k.across, &k.self}) {
    const Tensor& error = ntk ? each->ntk_se : each->nngp_se;
    if (error.defined() && error.count() > 0)
      largest = std::max(largest, number_of("predict", amax(error)));
  }
  return largest;
}

/// Prediction over networks trained to convergence. The mean is the mean of Gaussian-process
/// regression with the NTK. The covariance is over networks whose initial functions are draws from
/// the Gaussian process with the NNGP kernel, multiplied by the amplitude that explains the targets
/// y best.
void predict_trained(Predicted& result, const Grams& k, const Tensor& y, double jitter) {
  const GradientFlow flow(k.among.ntk, y, {.jitter = jitter + result.relative_noise});
  const GpPrediction trained =
      flow.ensemble(infinite_time, k.across.ntk, {k.among.nngp, k.across.nngp, k.self.nngp});
  const double began = result.relative_noise * number_of("predict", mean(diagonal(k.among.nngp)));
  const GaussianProcess prior(k.among.nngp, y, {.noise = began, .jitter = jitter});
  result.mean = trained.mean;
  result.amplitude = prior.amplitude();
  result.covariance = result.amplitude * trained.covariance;
  result.noise = result.amplitude * began;
}

// --- fit to the training set ---

/// Sets amplitude, noise, evidence and leave-one-out predictions of `result`, from a Gaussian
/// process with the kernel before scaling by the amplitude. `unit` is the mean of the kernel's
/// diagonal.
void fit(Predicted& result, const GaussianProcess& process, const Tensor& y, double unit,
         NoiseCriterion by) {
  result.left_out = process.leave_one_out();
  const Tensor alone = unsqueeze(result.left_out.variance, 1);
  const double amplitude =
      by == NoiseCriterion::marginal_likelihood
          ? process.amplitude()
          : number_of("predict", mean(square(y - result.left_out.mean) / alone));
  result.amplitude = checked(operation, result.relative_noise, amplitude);
  const double a = result.amplitude, count = static_cast<double>(y.count());
  result.noise = a * result.relative_noise * unit;
  result.left_out.variance = a * result.left_out.variance;
  const Tensor variance = unsqueeze(result.left_out.variance, 1);
  result.left_out.log_density =
      -0.5 * number_of("predict", sum(log(2 * std::numbers::pi * variance) +
                                      square(y - result.left_out.mean) / variance));
  // ln N(y; 0, a·A), computed from ln N(y; 0, A), where A is the covariance of targets in
  // `process`.
  const double squares = count * process.amplitude();  // Σ yᵀA⁻¹y
  result.log_marginal_likelihood =
      process.log_marginal_likelihood() + 0.5 * squares - 0.5 * (squares / a + count * std::log(a));
}

}  // namespace

NoiseChoice choose_noise(const Tensor& kernel, const Tensor& targets, NoiseCriterion by) {
  const NoGrad off;
  const Tensor k = kernel_blocks::symmetric_block("choose_noise", "the kernel", kernel);
  const Tensor y = kernel_blocks::target_block("choose_noise", "the targets", targets, k.size(0));
  check_not_zero("choose_noise", k, y);
  const NoiseChoice choice = chosen(Spectrum("choose_noise", k, y, {}, kernel.dtype()), by);
  checked("choose_noise", choice.relative_noise, choice.amplitude);
  return choice;
}

PredictEstimate estimate_predict(const Layer& model, const infinite::Inputs& train,
                                 const infinite::Inputs& test, const PredictOptions& options) {
  const NoGrad off;
  LADON_CHECK(options.kernel == infinite::Get::nngp || options.gram.get == infinite::Get::ntk,
              operation,
              "gram.get is nngp, but kernel is ntk, which decides; leave gram.get at ntk, or set "
              "kernel to nngp");
  LADON_CHECK(options.gram.entries == infinite::Entries::full, operation,
              "gram.entries is diagonal, but a prediction has one output vector per input and no "
              "positions; leave gram.entries at full");
  check_model(model, train, test);
  const infinite::Limit limit = infinite::limit(model);
  const auto n = static_cast<double>(train.count()), m = static_cast<double>(test.count());
  const infinite::GramOptions whole = options_within(options, 0);
  const infinite::GramEstimate among = infinite::estimate_gram(limit, train, whole);
  infinite::GramEstimate across;
  if (m > 0) across = infinite::estimate_gram(limit, test, train, whole);
  const double results =
      static_cast<double>(among.result_bytes) + static_cast<double>(across.result_bytes);
  const double work =
      std::max({static_cast<double>(among.working_bytes), static_cast<double>(across.working_bytes),
                matrices_bytes(n, m, options.kernel)});
  const PredictEstimate estimate{static_cast<std::uint64_t>(results + work),
                                 among.seconds + across.seconds};
  LADON_CHECK(estimate.bytes <= budget_of(options), operation, "needs ",
              static_cast<double>(estimate.bytes) / 1e6, " MB for kernels of ", train.count(),
              " training and ", static_cast<std::int64_t>(m),
              " test inputs and the computations on them, but the budget is ",
              static_cast<double>(budget_of(options)) / 1e6,
              " MB; predict test inputs in blocks, or use fewer");
  return estimate;
}

Predicted predict(const Layer& model, const infinite::Inputs& train, const Tensor& targets,
                  const infinite::Inputs& test, const PredictOptions& options) {
  const NoGrad off;
  LADON_CHECK(!options.relative_noise || *options.relative_noise >= 0, operation, "the noise is ",
              options.relative_noise.value_or(0), "; it must be at least 0");
  estimate_predict(model, train, test, options);
  const Tensor given =
      kernel_blocks::target_block(operation, "the targets", targets, train.count());
  const Tensor means = mean(given, 0, Dims::keep), deviations = around(means, given);
  if (!options.center) check_near_zero(means, deviations);
  const bool center = options.center.value_or(false);
  const Tensor centre = center ? means : zeros_like(means), y = center ? deviations : given;
  const infinite::Limit limit = infinite::limit(model).with_landmarks(train);
  const bool ntk = options.kernel == infinite::Get::ntk;
  const infinite::Gram among = infinite::gram(limit, train, options_within(options, 0, "train"));
  const double taken = 8.0 * static_cast<double>(among.nngp.count()) * (ntk ? 2 : 1);
  const infinite::Gram across =
      infinite::gram(limit, test, train, options_within(options, taken, "test"));
  const infinite::Gram self = infinite::gram_diagonal(limit, test, options_within(options, taken));
  const infinite::KernelMatrix& kernel = ntk ? among.ntk : among.nngp;

  check_not_zero(operation, kernel, y, center);
  const double unit = number_of("predict", mean(diagonal(kernel)));
  Predicted result;
  result.unexplained = test.count() > 0 ? across.unexplained : among.unexplained;
  result.kernel_se = largest_error({among, across, self}, ntk) / unit;
  result.relative_noise =
      options.relative_noise
          ? *options.relative_noise
          : chosen(Spectrum(operation, kernel, y, options.jitter), options.choose_by)
                .relative_noise;
  const GaussianProcess process(kernel, y,
                                {.noise = result.relative_noise * unit, .jitter = options.jitter});
  fit(result, process, y, unit, options.choose_by);
  result.left_out.mean = result.left_out.mean + centre;
  if (!ntk) {
    const GpPrediction posterior = process.predict(across.nngp, self.nngp);
    result.mean = posterior.mean + centre;
    result.covariance = result.amplitude * posterior.covariance;
    return result;
  }
  predict_trained(result, {among, across, self}, y, options.jitter);
  result.mean = result.mean + centre;
  return result;
}

}  // namespace ladon
