#include "ladon/examples/repulsive_heads/frames.h"

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"
#include "ladon/core/linalg/lapack.h"

namespace ladon::example {

std::vector<Frame> frames_of(const Settings& s, const Task& task, const std::string& method,
                             std::uint64_t seed) {
  std::vector<Frame> frames;
  const Watch watch = [&](Classifier& model, const Particles& heads) {
    const NoGrad no_grad;
    model.eval();
    const Tensor last = model.attention_maps(task.test[0]).back();  // [B, H, T, T]
    std::vector<Tensor> weights;
    for (const ParticleBlock& block : heads) weights.push_back(cast(block.values(), f64));
    const Predictions test = predict(model, task.test);
    frames.push_back({head_maps(model, task),
                      slice(select(last, 2, 0), 0, {.stop = sequences_shown}), concat(weights, 1),
                      metrics::accuracy(test.probabilities, test.labels), head_distance(heads)});
    model.train();
  };
  train(
      task, s, method, seed, [] {}, watch);
  return frames;
}

std::pair<Tensor, double> principal_places(const Tensor& rows) {
  const Tensor x = rows - mean(rows, 0, keep_dims);
  const auto [values, vectors] = lapack::eigh(matmul(x, transpose(x)));  // ascending
  const Slice two{.start = values.size(0) - 2};
  const Tensor largest = flip(slice(values, 0, two), {0});
  return {flip(slice(vectors, 1, two), {1}) * sqrt(largest), (sum(largest) / sum(values)).item()};
}

}  // namespace ladon::example
