#include "ladon/optim/samplers/log_density.h"

#include <utility>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon {

LogDensity LogDensity::of_scores(std::int64_t dim,
                                 std::function<Score(const Tensor& theta)> score) {
  LADON_CHECK(dim >= 1, "LogDensity", "the dimension is ", dim, "; it must be at least 1");
  LADON_CHECK(score, "LogDensity", "there is no function");
  LogDensity density;
  density.dim_ = dim;
  density.score_ = std::move(score);
  return density;
}

LogDensity::LogDensity(std::int64_t dim, std::function<Tensor(const Tensor& theta)> f) {
  LADON_CHECK(f, "LogDensity", "there is no function");
  *this = of_scores(dim, [f = std::move(f)](const Tensor& theta) -> Score {
    const EnableGrad recording;
    const Tensor x = parameter(clone(theta));
    const Tensor value = f(x);
    LADON_CHECK(value.defined() && value.shape() == Shape{x.size(0)}, "LogDensity", "of Θ ",
                x.shape(), " the function gives ", value.defined() ? value.shape() : Shape{},
                "; it must be ", Shape{x.size(0)}, ", a number a row");
    LADON_CHECK(value.requires_grad(), "LogDensity",
                "the function records no gradient; write it in operations on its argument");
    return {cast(value.detach(), f64), grad(value, x, {.cotangents = {ones_like(value.detach())}})};
  });
}

Score LogDensity::score(const Tensor& theta) const {
  LADON_CHECK(theta.defined() && theta.rank() == 2 && theta.size(1) == dim_, "LogDensity",
              "Θ must be [M, ", dim_, "], got ", theta.defined() ? theta.shape() : Shape{});
  const Score score = score_(cast(theta.detach(), f64));
  const Shape values{theta.size(0)};
  LADON_CHECK(score.value.defined() && score.value.dtype() == f64 && score.value.shape() == values,
              "LogDensity", "the values must be f64 ", values);
  LADON_CHECK(score.gradient.defined() && score.gradient.dtype() == f64 &&
                  score.gradient.shape() == theta.shape(),
              "LogDensity", "the gradients must be f64 ", theta.shape());
  return score;
}

Tensor parameters_to_row(Module& model) {
  std::vector<Tensor> parts;
  for (const Tensor& x : model.parameters()) parts.push_back(cast(flatten(x.detach()), f64));
  LADON_CHECK(!parts.empty(), "parameters_to_row", "the model has no parameters");
  return concat(parts, 0);
}

void row_to_parameters(const Tensor& row, Module& model) {
  const std::vector<Tensor> parameters = model.parameters();
  std::int64_t count = 0;
  for (const Tensor& x : parameters) count += x.count();
  LADON_CHECK(row.defined() && row.shape() == Shape{count}, "row_to_parameters", "the model has ",
              count, " parameters, the row is ", row.defined() ? row.shape() : Shape{});
  std::int64_t start = 0;
  for (const Tensor& x : parameters) {
    const Tensor part = slice(row.detach(), 0, {.start = start, .stop = start + x.count()});
    copy_(x.detach(), reshape(part, x.shape()));
    start += x.count();
  }
}

namespace {

/// A model's parameters, put back at the end of the scope.
class Borrowed {
 public:
  explicit Borrowed(Module& model) : model_(model), row_(parameters_to_row(model)) {}
  ~Borrowed() { row_to_parameters(row_, model_); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  Module& model_;
  Tensor row_;
};

/// ln p and its gradient with the parameters as they stand: −(N·loss + ½λ|θ|²)/T.
Score at_present(const std::vector<Tensor>& parameters, const std::function<Tensor()>& loss,
                 const Target& target) {
  const EnableGrad recording;
  const Tensor value = loss();
  LADON_CHECK(value.defined() && value.count() == 1, "log_posterior",
              "the loss must be one number, got ", value.defined() ? value.shape() : Shape{});
  const std::vector<Tensor> gradients = grad({value}, parameters, {.allow_unused = true});
  const NoGrad off;
  std::vector<Tensor> rows, slopes;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor x = parameters[i].detach();
    rows.push_back(cast(flatten(x), f64));
    slopes.push_back(gradients[i].defined() ? cast(flatten(gradients[i]), f64)
                                            : zeros({x.count()}, f64));
  }
  const Tensor theta = concat(rows, 0);
  const double energy =
      target.count * value.item() + 0.5 * target.prior_precision * sum(square(theta)).item();
  return {scalar(-energy / target.temperature, f64),
          -target_gradient(target, theta, concat(slopes, 0))};
}

}  // namespace

LogDensity log_posterior(Module& model, std::function<Tensor()> loss, const Target& target) {
  check_target("log_posterior", target);
  LADON_CHECK(loss, "log_posterior", "there is no loss");
  const std::int64_t dim = parameters_to_row(model).count();
  return LogDensity::of_scores(dim, [&model, loss = std::move(loss), target](const Tensor& theta) {
    LADON_CHECK(!model.training(), "log_posterior",
                "the model is in training mode, in which its loss may be random or depend on the "
                "batch; call eval()");
    const Borrowed borrowed(model);
    const std::vector<Tensor> parameters = model.parameters();
    std::vector<Tensor> values, gradients;
    for (std::int64_t i = 0; i < theta.size(0); ++i) {
      row_to_parameters(select(theta, 0, i), model);
      const Score one = at_present(parameters, loss, target);
      values.push_back(one.value);
      gradients.push_back(one.gradient);
    }
    return Score{stack(values, 0), stack(gradients, 0)};
  });
}

}  // namespace ladon
