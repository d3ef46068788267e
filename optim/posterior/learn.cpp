#include "ladon/optim/posterior/learn.h"

#include <cmath>
#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/gram/backward.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon {
namespace {

/// Logarithms of the learned hyper-parameters, as leaves; the last leaf belongs to the noise.
class Logarithms {
 public:
  explicit Logarithms(Layer& model) : model_(model) {
    for (const auto& [path, value] : model.hyperparameters()) {
      if (value.count() != 1) continue;
      const double now = number_of("learn_hyperparameters", value.detach());
      if (now == 0) continue;
      LADON_CHECK(now > 0, "learn_hyperparameters", path, " is ", now,
                  "; learned hyper-parameters must be positive");
      paths_.push_back(path);
      before_.push_back(value);
    }
    LADON_CHECK(!paths_.empty(), "learn_hyperparameters",
                "the model has no hyper-parameter that is not 0; use layers in NTK "
                "parameterization, which have some");
    for (const Tensor& value : before_) add(number_of("learn_hyperparameters", value.detach()));
  }
  void add(double value) { logs_.push_back(scalar(std::log(value), f64).set_requires_grad()); }

  const std::vector<Tensor>& leaves() const { return logs_; }
  double noise() const { return value(paths_.size()); }
  std::vector<double> values() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < paths_.size(); ++i) all.push_back(value(i));
    return all;
  }

  /// Sets the model's hyper-parameters to leaves with the current values, and returns the leaves.
  std::vector<Tensor> set() const {
    std::vector<Tensor> leaves;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      leaves.push_back(
          reshape(scalar(value(i), f64), before_[i].shape()).detach().set_requires_grad());
      model_.set_hyperparameter(paths_[i], leaves.back());
    }
    return leaves;
  }
  void set(const std::vector<double>& values) const {
    for (std::size_t i = 0; i < paths_.size(); ++i)
      model_.set_hyperparameter(paths_[i], reshape(scalar(values[i], f64), before_[i].shape()));
  }
  void restore() const {
    for (std::size_t i = 0; i < paths_.size(); ++i)
      model_.set_hyperparameter(paths_[i], before_[i]);
  }

  std::vector<LearnedHyperparameters::Parameter> change(const std::vector<double>& after) const {
    std::vector<LearnedHyperparameters::Parameter> all;
    for (std::size_t i = 0; i < paths_.size(); ++i)
      all.push_back({paths_[i], number_of("learn_hyperparameters", before_[i].detach()), after[i]});
    return all;
  }

 private:
  double value(std::size_t i) const {
    return std::exp(number_of("learn_hyperparameters", logs_[i].detach()));
  }

  Layer& model_;
  std::vector<std::string> paths_;
  std::vector<Tensor> before_, logs_;
};

/// Computes the gradients of −ln p, the negative log marginal likelihood, with respect to the
/// logarithms `at`. Returns ln p.
double descend(const Logarithms& at, const infinite::Limit& limit, const infinite::Inputs& x,
               const Tensor& targets, const LearnOptions& options, const Tensor& kernel) {
  const EnableGrad on;
  const std::vector<Tensor> leaves = at.set();
  const Tensor k = kernel.detach().set_requires_grad();
  const Tensor noise = scalar(at.noise(), f64).set_requires_grad();
  const Tensor value = log_marginal_likelihood(k, targets, noise, options.jitter);
  backward(value);
  infinite::backward_gram(limit, x, k.grad(), {}, options.gram);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Tensor g = leaves[i].grad();
    Tensor log = at.leaves()[i];  // d/d ln θ = θ·d/dθ
    log.set_grad(scalar(g.defined() ? -number_of("learn_hyperparameters", g) *
                                          number_of("learn_hyperparameters", leaves[i].detach())
                                    : 0,
                        f64));
  }
  Tensor log_noise = at.leaves().back();
  log_noise.set_grad(scalar(-number_of("learn_hyperparameters", noise.grad()) * at.noise(), f64));
  return number_of("learn_hyperparameters", value.detach());
}

LearnedHyperparameters ascend(Logarithms& at, const infinite::Limit& limit,
                              const infinite::Inputs& x, const Tensor& targets,
                              const LearnOptions& options) {
  infinite::GramOptions gram = options.gram;
  gram.get = infinite::Get::nngp;
  LearnedHyperparameters learned;
  learned.best.log_likelihood = -std::numeric_limits<double>::infinity();
  std::vector<double> best;
  std::unique_ptr<Adam> adam;
  for (int step = 0; step <= options.steps; ++step) {
    if (adam) at.set(at.values());
    const Tensor kernel = infinite::gram(limit, x, gram).nngp;
    if (!adam) {
      at.add(options.noise * number_of("learn_hyperparameters", mean(diagonal(kernel.detach()))));
      adam = std::make_unique<Adam>(at.leaves(), AdamOptions{.lr = options.learning_rate});
    }
    const double value = descend(at, limit, x, targets, options, kernel);
    learned.steps.push_back({step, value, at.noise()});
    if (options.progress) options.progress(learned.steps.back());
    if (value > learned.best.log_likelihood) {
      learned.best = learned.steps.back();
      best = at.values();
    }
    adam->step();
  }
  at.set(best);
  if (limit.draws(infinite::kind_of(x))) {
    const auto fresh = static_cast<std::uint64_t>(gram.replicates);
    const Tensor kernel = infinite::gram(limit.with_replicate(fresh), x, gram).nngp;
    learned.best.log_likelihood = number_of(
        "learn_hyperparameters",
        log_marginal_likelihood(kernel, targets, scalar(learned.best.noise, f64), options.jitter));
  }
  learned.parameters = at.change(best);
  return learned;
}

}  // namespace

LearnedHyperparameters learn_hyperparameters(Layer& model, const infinite::Inputs& x,
                                             const Tensor& targets, const LearnOptions& options) {
  LADON_CHECK(options.steps >= 0 && options.noise > 0, "learn_hyperparameters",
              "needs steps ≥ 0 and a positive noise, got ", options.steps, " and ", options.noise);
  LADON_CHECK(
      options.gram.checkpoint.empty() && !options.gram.progress, "learn_hyperparameters",
      "gram.checkpoint is \"", options.gram.checkpoint, "\" and gram.progress is ",
      options.gram.progress ? "set" : "empty",
      ", but kernels change in each step, so nothing is stored, and progress is that of the "
      "steps; leave both empty, and set progress");
  Logarithms at(model);
  try {
    const infinite::Limit limit = infinite::limit(model);
    return ascend(at, limit.with_pivots(x, options.gram.replicates), x, targets, options);
  } catch (...) {
    at.restore();
    throw;
  }
}

}  // namespace ladon
