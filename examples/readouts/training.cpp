#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/readouts/study.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

constexpr double rates[] = {0.01, 1.0 / 30, 0.1};
constexpr std::int64_t batch_size = 25;

Images rows(const Images& of, const Tensor& index) {
  return {index_select(of.x, 0, index), index_select(of.labels, 0, index)};
}

/// Attention maps, f64 [N, heads, T, T], without gradients.
Tensor maps(const Sequential& net, const Tensor& x) {
  const NoGrad off;
  const auto& attention = dynamic_cast<const LayerContainer&>(*net.layers[1]).layers[0];
  const Tensor tokens = flatten((*net.layers[0])(x), 1, 2);  // [N, T, width]
  const auto& layer = dynamic_cast<const MultiHeadAttention&>(*attention);
  return cast(layer.forward_with_weights(tokens, tokens, tokens).weights, f64);
}

/// Builds and trains the networks of one readout, with attention that is trained or frozen.
struct Arm {
  const Readout& kind;
  bool frozen;
  const Task& task;
  const Settings& settings;

  using Fit = std::pair<Tensor, double>;  // probabilities [M, classes], change of maps

  Fit fit(const Images& images, const Images& test, double rate, Generator rng) const {
    Sequential net = network(kind, task, settings.width, rng);
    // Queries are tied to the keys, so this freezes both.
    if (frozen) net.named_parameters().choose({"*query", "*positions.weight"}).freeze();
    const bool attends = kind.attention != Attention::none;
    const Tensor x = cast(test.x, f32), start = attends ? maps(net, x) : Tensor();
    const std::int64_t batches = (images.count() + batch_size - 1) / batch_size;
    Adam adam(net.parameters(), {.lr = rate});
    adam.set_schedule(schedule::cosine({.steps = settings.epochs * batches}));
    for (std::int64_t epoch = 0; epoch < settings.epochs; ++epoch)
      for (const Tensor& index : split(permutation(images.count(), rng), batch_size)) {
        stop_if_interrupted();
        const Images batch = rows(images, index);
        adam.zero_grad();
        backward(cross_entropy(net(cast(batch.x, f32)), batch.labels));
        adam.step();
      }
    const NoGrad off;
    // Total variation between two maps: the mean over queries of ½ Σ |difference| over keys.
    return {softmax(cast(net(x), f64), 1),
            attends ? mean(0.5 * sum(abs(maps(net, x) - start), -1)).item() : std::nan("")};
  }

  /// The rate with the best accuracy on an inner fold of one fifth, over three networks.
  double chosen_rate() const {
    Generator rng = Generator(settings.common.seed).split(3);
    Fold all;
    for (std::int64_t i = 0; i < task.train.count(); ++i) all.train.push_back(i);
    const Fold inner = inner_fold(all, 0.2, rng);
    const auto images = [&](const std::vector<std::int64_t>& index) {
      return rows(task.train, from_vector(index, {std::ssize(index)}));
    };
    const Images learn = images(inner.train), held_out = images(inner.test);
    std::vector<double> scores;
    parallel::in_order(
        std::ssize(rates), std::ssize(rates),
        [&](std::int64_t i) {
          double right = 0;
          for (std::uint64_t network = 1; network <= 3; ++network)
            right += metrics::accuracy(fit(learn, held_out, rates[i], rng.split(network)).first,
                                       held_out.labels);
          return right;
        },
        [&](double score) { scores.push_back(score); });
    return rates[std::ranges::max_element(scores) - scores.begin()];
  }
};

}  // namespace

Answers answers_of_networks(const Readout& kind, bool frozen, const Task& task, const Settings& s,
                            Progress& progress) {
  const Arm arm{kind, frozen, task, s};
  const double rate = arm.chosen_rate();
  const std::string name = join(kind.name, frozen ? ", frozen" : ", trained");
  progress.step(name + ", learning rates", 0.3);
  Answers found{.arm = kind.name, .of = frozen ? "frozen" : "trained", .rate = rate};
  std::vector<Tensor> probabilities;
  parallel::in_order(
      s.seeds, 2,
      [&](std::int64_t seed) {
        return arm.fit(task.train, task.test, rate,
                       Generator(s.common.seed).split(4).split(static_cast<std::uint64_t>(seed)));
      },
      [&](const Arm::Fit& fit) {
        probabilities.push_back(fit.first);
        found.moved.push_back(fit.second);
        progress.step(name, 0.7 / s.seeds);
      });
  found.probabilities = stack(probabilities, 0);
  return found;
}

}  // namespace ladon::example
