#include "ladon/optim/samplers/log_density.h"

#include <utility>
#include <vector>

#include "ladon/autograd/evaluation.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/parameters.h"

namespace ladon {

LogDensity LogDensity::of_scores(std::int64_t dim,
                                 std::function<DensityScore(const Tensor& theta)> score) {
  LADON_CHECK(dim >= 1, "LogDensity", "the dimension is ", dim, "; it must be at least 1");
  LADON_CHECK(score, "LogDensity",
              "the function is empty; pass one that returns values [M] and gradients [M, D]");
  LogDensity density;
  density.dim_ = dim;
  density.score_ = std::move(score);
  return density;
}

LogDensity::LogDensity(std::int64_t dim, std::function<Tensor(const Tensor& theta)> f) {
  LADON_CHECK(f, "LogDensity", "the function is empty; pass one that maps Θ [M, D] to ln p [M]");
  *this = of_scores(dim, [f = std::move(f)](const Tensor& theta) -> DensityScore {
    const EnableGrad recording;
    const Tensor x = parameter(clone(theta));
    const Tensor value = f(x);
    LADON_CHECK(value.defined() && value.shape() == Shape{x.size(0)}, "LogDensity", "for Θ ",
                x.shape(), " the function returns ", detail::shape_in_words(value), "; it must be ",
                Shape{x.size(0)}, ", one number per row");
    LADON_CHECK(value.requires_grad(), "LogDensity",
                "the function records no gradient; compute its result from its argument by Ladon's "
                "differentiable operations");
    return {cast(value.detach(), f64), grad(value, x, {.cotangents = {ones_like(value.detach())}})};
  });
}

DensityScore LogDensity::score(const Tensor& theta) const {
  LADON_CHECK(theta.defined() && theta.rank() == 2 && theta.size(1) == dim_, "LogDensity",
              "Θ must be [M, ", dim_, "], got ", detail::shape_in_words(theta));
  const DensityScore score = score_(cast(theta.detach(), f64));
  const Shape values{theta.size(0)};
  LADON_CHECK(score.value.defined() && score.value.dtype() == f64 && score.value.shape() == values,
              "LogDensity", "the function must return values of ln p as f64 ", values);
  LADON_CHECK(score.gradient.defined() && score.gradient.dtype() == f64 &&
                  score.gradient.shape() == theta.shape(),
              "LogDensity", "the function must return gradients of ln p as f64 ", theta.shape());
  return score;
}

namespace {

/// Restores the parameters' values at the end of the scope.
class Borrowed {
 public:
  explicit Borrowed(const ParameterSet& set) : set_(set), row_(set.to_row()) {}
  ~Borrowed() {
    try {
      set_.assign_row(row_);
    } catch (const Error&) {  // the loss replaced the parameters: leave the new tensors as they are
    }
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  const ParameterSet& set_;
  Tensor row_;
};

/// ln p = −(N·loss + ½λ|θ|²)/T (target.h) and its gradient, at the current values of the
/// parameters.
DensityScore at_present(const ParameterSet& set, const std::function<Tensor()>& loss,
                        const TargetDensity& target) {
  const detail::EvaluationScope evaluating("log_posterior");
  const EnableGrad recording;
  const Tensor value = loss();
  LADON_CHECK(value.defined() && value.count() == 1, "log_posterior",
              "the loss must be one number, got ", detail::shape_in_words(value));
  const Tensor slope = detail::gradient_row("log_posterior", value, set);
  const NoGrad off;
  const Tensor theta = set.to_row();
  const double energy =
      target.count * number_of("log_posterior", value.detach()) +
      0.5 * target.prior_precision * number_of("log_posterior", sum(square(theta)));
  return {scalar(-energy / target.temperature, f64), -target_gradient(target, theta, slope)};
}

DensityScore at_rows(const ParameterSet& set, const std::function<Tensor()>& loss,
                     const TargetDensity& target, const Tensor& theta) {
  const Borrowed borrowed(set);
  std::vector<Tensor> values, gradients;
  for (std::int64_t i = 0; i < theta.size(0); ++i) {
    set.assign_row(select(theta, 0, i));
    const DensityScore one = at_present(set, loss, target);
    values.push_back(one.value);
    gradients.push_back(one.gradient);
  }
  return {stack(values, 0), stack(gradients, 0)};
}

void check_posterior(const ParameterSet& set, const std::function<Tensor()>& loss,
                     const TargetDensity& target) {
  detail::check_target("log_posterior", target);
  LADON_CHECK(loss, "log_posterior",
              "the loss is an empty function; pass one that returns the mean negative log "
              "likelihood");
  LADON_CHECK(!set.empty(), "log_posterior", "the set has no parameters; it needs at least one");
}

}  // namespace

LogDensity log_posterior(const ParameterSet& set, std::function<Tensor()> loss,
                         const TargetDensity& target) {
  check_posterior(set, loss, target);
  return LogDensity::of_scores(set.count(), [=, loss = std::move(loss)](const Tensor& theta) {
    return at_rows(set, loss, target, theta);
  });
}

LogDensity log_posterior(const Module& model, std::function<Tensor()> loss,
                         const TargetDensity& target) {
  check_posterior(model, loss, target);
  return LogDensity::of_scores(
      model.parameter_count(), [=, &model, loss = std::move(loss)](const Tensor& theta) {
        LADON_CHECK(!model.training(), "log_posterior",
                    "the model is in training mode, so its loss may be random or depend on "
                    "the batch; call eval()");
        return at_rows(model, loss, target, theta);
      });
}

Tensor parameters_to_row(Module& model) { return model.named_parameters().to_row(); }
void row_to_parameters(const Tensor& row, Module& model) {
  model.named_parameters().assign_row(row);
}

}  // namespace ladon
