#include "ladon/examples/gp_classify/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/posterior/search.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

infinite::Inputs rows_at(const infinite::Inputs& inputs, const Tensor& index) {
  return {index_select(inputs.x, 0, index),
          inputs.mask.defined() ? index_select(inputs.mask, 0, index) : Tensor()};
}

/// [N, classes], f64, computed a batch at a time.
Tensor logits(const Sequential& net, const infinite::Inputs& inputs, std::int64_t batch_size) {
  const NoGrad no_grad;
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < inputs.count(); i += batch_size) {
    const infinite::Inputs batch = inputs.rows(i, std::min(inputs.count(), i + batch_size));
    parts.push_back(cast(net(batch.x, batch.mask), f64));
  }
  return concat(parts, 0);
}

/// The factor of logits that makes the labels most likely (Guo et al. 2017), as the kernels'
/// amplitude does.
double calibration(const Tensor& held_out_logits, const Tensor& labels) {
  const auto nll = [&](double log_factor) {
    return cross_entropy(held_out_logits * std::exp(log_factor), labels).item();
  };
  return std::exp(smallest(-5, 3, 0.25, nll).first);
}

/// Trains on these rows; whether the loss stayed finite.
bool fit(Sequential& net, const infinite::Inputs& inputs, const Tensor& labels, const Settings& s,
         Generator& rng, const std::function<void()>& after_epoch) {
  const std::int64_t n = inputs.count(), batches = (n + s.batch_size - 1) / s.batch_size;
  Adam adam(net.parameters(), {.lr = s.learning_rate});
  const Schedule factor = schedule::cosine({.steps = s.epochs * batches});
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    for (const Tensor& index : split(permutation(n, rng), s.batch_size)) {
      stop_if_interrupted();
      adam.set_lr(s.learning_rate * factor(adam.steps()));
      const infinite::Inputs batch = rows_at(inputs, index);
      adam.zero_grad();
      const Tensor loss = cross_entropy(net(batch.x, batch.mask), index_select(labels, 0, index));
      if (!std::isfinite(loss.item())) return false;
      backward(loss);
      adam.step();
    }
    after_epoch();
  }
  return true;
}

infinite::Inputs in_f32(infinite::Inputs inputs) {
  inputs.x = cast(inputs.x, f32);
  return inputs;
}

}  // namespace

Trained train_finite(const Model& model, const Task& task, const Settings& s,
                     const std::function<void()>& after_epoch) {
  const auto start = std::chrono::steady_clock::now();
  Generator rng = Generator(s.common.seed).split(1);
  Sequential net = model.make(s.width, rng);
  const infinite::Inputs train = in_f32(model.inputs(task.train)),
                         test = in_f32(model.inputs(task.test));
  const Tensor labels = task.train.labels;
  const std::int64_t n = train.count() - train.count() / 10;  // the others are held out
  const auto look = [&] {
    return task.images() ? attention_on_patches(net, index_select(test.x, 0, task.shown.rows))
                         : Tensor();
  };
  Trained trained{.parameters = net.parameter_count(), .attention = {.before = look()}};
  const bool finite =
      fit(net, train.rows(0, n), slice(labels, 0, {.stop = n}), s, rng, after_epoch);
  const Tensor test_logits = finite ? logits(net, test, s.batch_size) : Tensor();
  if (finite && std::isfinite(sum(test_logits).item())) {
    const double factor = n == train.count()
                              ? 1
                              : calibration(logits(net, train.rows(n, train.count()), s.batch_size),
                                            slice(labels, 0, {.start = n}));
    trained.probabilities = softmax(test_logits * factor, 1);
    trained.attention.after = look();
  }
  trained.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return trained;
}

}  // namespace ladon::example
