#include "ladon/examples/gp_classify/train.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/posterior/search.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

using infinite::Inputs;

constexpr std::int64_t batch_size = 64;

Inputs rows_at(const Inputs& inputs, const Tensor& index) {
  return {index_select(inputs.x, 0, index),
          inputs.mask.defined() ? index_select(inputs.mask, 0, index) : Tensor()};
}

Inputs in_f32(const Inputs& inputs) { return {cast(inputs.x, f32), inputs.mask}; }

/// [N, classes], f64, computed a batch at a time.
Tensor logits(const Sequential& net, const Inputs& inputs) {
  const NoGrad no_grad;
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < inputs.count(); i += batch_size) {
    const Inputs batch = inputs.rows(i, std::min(inputs.count(), i + batch_size));
    parts.push_back(cast(net(batch.x, batch.mask), f64));
  }
  return concat(parts, 0);
}

/// The factor of logits that makes these labels most likely (Guo et al. 2017), as the kernels'
/// amplitude does; 1 without rows.
double calibration(const Sequential& net, const Inputs& held_out, const Tensor& labels) {
  if (held_out.count() == 0) return 1;
  const Tensor raw = logits(net, held_out);
  const auto nll = [&](double log_factor) {
    return cross_entropy(raw * std::exp(log_factor), labels).item();
  };
  return std::exp(smallest(-5, 3, 0.25, nll).first);
}

/// Trains on these rows; whether the loss stayed finite.
bool fit(Sequential& net, const Inputs& inputs, const Tensor& labels, const Settings& s,
         Generator& rng, const std::function<void()>& after_epoch) {
  const std::int64_t n = inputs.count(), batches = (n + batch_size - 1) / batch_size;
  Adam adam(net.parameters(), {.lr = s.learning_rate});
  const Schedule factor = schedule::cosine({.steps = s.epochs * batches});
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    for (const Tensor& index : split(permutation(n, rng), batch_size)) {
      stop_if_interrupted();
      adam.set_lr(s.learning_rate * factor(adam.steps()));
      const Inputs batch = rows_at(inputs, index);
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

}  // namespace

Outcome train_finite(const Model& model, const Task& task, const Settings& s, Progress& progress) {
  const Meter meter;
  Generator rng = Generator(s.common.seed).split(1);
  Sequential net = network(model, task, s, s.width, rng);
  const Inputs train = in_f32(model.inputs(task.train)), test = in_f32(model.inputs(task.test));
  const Tensor& labels = task.train.labels;
  const std::int64_t n = train.count() - train.count() / 10;  // the others are held out
  const auto look = [&] {
    return task.images() ? attention_on_patches(net, index_select(test.x, 0, task.shown.rows))
                         : Tensor();
  };
  Outcome outcome{.model = model.name, .form = "finite", .parameters = net.parameter_count()};
  outcome.attention.before = look();
  const bool finite = fit(net, train.rows(0, n), slice(labels, 0, {.stop = n}), s, rng, [&] {
    progress.step(join(model.name, ", finite network"), 1.0 / s.epochs);
  });
  const Tensor raw = logits(net, test);
  if (finite && std::isfinite(sum(raw).item())) {
    const double factor =
        calibration(net, train.rows(n, train.count()), slice(labels, 0, {.start = n}));
    outcome.probabilities = softmax(raw * factor, 1);
    outcome.attention.after = look();
  }
  outcome.seconds = meter.seconds();
  outcome.peak_mb = meter.peak_mb();
  return outcome;
}

}  // namespace ladon::example
