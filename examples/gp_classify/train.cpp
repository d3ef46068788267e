#include "ladon/examples/gp_classify/train.h"

#include <chrono>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/progress.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

infinite::Inputs rows_at(const infinite::Inputs& inputs, const Tensor& index) {
  return {index_select(inputs.x, 0, index),
          inputs.mask.defined() ? index_select(inputs.mask, 0, index) : Tensor()};
}

}  // namespace

Trained train_finite(const Model& model, const Task& task, const Settings& s) {
  const auto start = std::chrono::steady_clock::now();
  Generator rng = Generator(s.common.seed).split(1);
  Sequential net = model.make(s.width, rng);
  const auto in_f32 = [](infinite::Inputs inputs) {
    inputs.x = cast(inputs.x, f32);
    return inputs;
  };
  const infinite::Inputs train = in_f32(model.inputs(task.train)),
                         test = in_f32(model.inputs(task.test));
  const std::int64_t n = task.train.size(), batches = (n + s.batch_size - 1) / s.batch_size;
  Adam adam(net.parameters(), {.lr = s.learning_rate});
  const Schedule factor = schedule::cosine({.steps = s.epochs * batches});
  Progress progress(s.epochs);
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    for (const Tensor& index : split(permutation(n, rng), s.batch_size)) {
      adam.set_lr(s.learning_rate * factor(adam.steps()));
      const infinite::Inputs batch = rows_at(train, index);
      adam.zero_grad();
      backward(cross_entropy(net(batch.x, batch.mask), index_select(task.train.labels, 0, index)));
      adam.step();
    }
    progress.step(model.name + ", finite network");
  }
  net.eval();
  const NoGrad no_grad;
  std::vector<Tensor> probabilities;
  for (std::int64_t i = 0; i < test.count(); i += s.batch_size) {
    const infinite::Inputs batch = test.rows(i, std::min(test.count(), i + s.batch_size));
    probabilities.push_back(softmax(cast(net(batch.x, batch.mask), f64), 1));
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {concat(probabilities, 0), net.parameter_count(), spent.count()};
}

}  // namespace ladon::example
