#include "ladon/optim/posterior/flow/cross_entropy_flow.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr const char* operation = "cross_entropy_flow";
constexpr std::size_t stages = 7;

/// Dormand and Prince 1980: row i is of what stage i + 1 is evaluated at, the last of order 5; the
/// weights of what it differs from order 4 by.
constexpr double tableau[stages - 1][stages - 1] = {
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
constexpr double differences[stages] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                        -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

class Flow {
 public:
  Flow(const Tensor& ntk, const Tensor& one_hot, const CrossEntropyFlowOptions& options)
      : ntk_(ntk),
        targets_(one_hot),
        initial_(options.initial.defined() ? options.initial : zeros_like(one_hot)),
        rate_(options.learning_rate / static_cast<double>(ntk.size(0))),
        tolerance_(options.tolerance),
        c_(zeros_like(one_hot)),
        slope_(slope(c_)) {
    // A first step that moves the fastest direction by a tenth.
    const double fastest = rate_ * amax(sum(abs(ntk), 1)).item();
    step_ = fastest > 0 ? 0.1 / fastest : 1;
  }

  void run_to(double time) {
    while (time_ < time) {
      const double rest = time - time_;
      ++tried_;
      LADON_CHECK(tried_ < patience || (tried_ < most_steps && rest < most_steps * step_),
                  operation, "would take more than ", most_steps, " steps to time ", time, " from ",
                  time_, ", where they are ", step_,
                  " long: the kernel or the learning rate is too large for such times");
      // No last step is so small that time would stand still.
      const bool last = step_ >= 0.999 * rest;
      if (try_step(last ? rest : step_)) time_ = last ? time : time_ + step_taken_;
    }
  }
  const Tensor& weights() const { return c_; }

 private:
  Tensor slope(const Tensor& c) const {
    return rate_ * (targets_ - softmax(initial_ + matmul(ntk_, c), -1));
  }

  /// Takes the step if the difference of the two orders allows it, and chooses the next.
  bool try_step(double h) {
    std::array<Tensor, stages> k;
    k[0] = slope_;
    Tensor next;
    for (std::size_t i = 0; i + 1 < stages; ++i) {
      next = c_;
      for (std::size_t j = 0; j <= i; ++j)
        if (tableau[i][j] != 0) next = next + (h * tableau[i][j]) * k[j];
      k[i + 1] = slope(next);
    }
    Tensor error = zeros_like(c_);
    for (std::size_t i = 0; i < stages; ++i)
      if (differences[i] != 0) error = error + (h * differences[i]) * k[i];
    const Tensor logits = initial_ + matmul(ntk_, next);
    const double worst = amax(abs(matmul(ntk_, error)) / (tolerance_ * (1 + abs(logits)))).item();
    LADON_CHECK(std::isfinite(worst), operation, "the logits overflow at time ", time_,
                "; is the kernel positive semi-definite?");
    constexpr double safety = 0.9, least = 0.2, most = 5;
    const double factor = worst > 0 ? safety * std::pow(worst, -0.2) : most;
    step_taken_ = h;
    step_ = h * std::clamp(factor, least, most);
    if (worst > 1) return false;
    c_ = next;
    slope_ = k[stages - 1];
    return true;
  }

  static constexpr double most_steps = 1e6;
  static constexpr int patience = 10000;  // steps before their length is judged

  Tensor ntk_, targets_, initial_;
  int tried_ = 0;
  double rate_, tolerance_, time_ = 0, step_ = 0, step_taken_ = 0;
  Tensor c_, slope_;
};

}  // namespace

std::vector<Tensor> cross_entropy_flow(const Tensor& ntk, const Tensor& labels,
                                       std::int64_t classes, const std::vector<double>& times,
                                       const CrossEntropyFlowOptions& options) {
  const NoGrad off;
  const Tensor k = kernel_blocks::symmetric_block(operation, "the kernel", ntk);
  const Tensor one_hot = classification_targets(labels, classes) + 1 / static_cast<double>(classes);
  LADON_CHECK(one_hot.size(0) == k.size(0), operation, one_hot.size(0), " labels for a kernel of ",
              k.size(0), " inputs");
  LADON_CHECK(options.learning_rate > 0 && std::isfinite(options.learning_rate) &&
                  options.tolerance > 0 && options.tolerance <= 0.1,
              operation, "the learning rate must be positive and the tolerance in (0, 0.1], got ",
              options.learning_rate, " and ", options.tolerance);
  CrossEntropyFlowOptions checked = options;
  if (options.initial.defined())
    checked.initial = kernel_blocks::cross_block(operation, "the initial logits", options.initial,
                                                 k.size(0), classes);
  double before = 0;
  for (const double t : times) {
    LADON_CHECK(std::isfinite(t) && t >= before, operation, "times must ascend from 0, got ", t,
                " after ", before);
    before = t;
  }
  Flow flow(k, one_hot, checked);
  std::vector<Tensor> weights;
  for (const double t : times) {
    flow.run_to(t);
    weights.push_back(flow.weights());
  }
  return weights;
}

}  // namespace ladon
