#include "ladon/examples/repulsive_conditions/fit.h"

#include <memory>
#include <optional>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/particles/rows.h"
#include "ladon/optim/particles/wgd.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

constexpr RulesTask task{.rules = 4, .distractors = 8, .values = 8, .length = 13};
constexpr std::int64_t tested = 1024, batch = 32, dim = 32;
constexpr double rate = 3e-3, weight_decay = 0.01, clip_norm = 1, start_noise = 1e-3;
constexpr double crowded = 0.5;              // maps with a larger cosine are similar
constexpr std::int64_t steps_per_look = 10;  // steps between comparisons of maps

/// tokens [n, T, 2] → one encoder layer → the first position → logits [n, rules, values].
struct Network : Module {
  Embedding embedding;
  LearnedPositions positions;
  TransformerEncoder encoder;
  Linear readout;

  Network(const Arm& arm, Generator rng)
      : embedding({.count = task.vocabulary(), .dim = dim, .stddev = 0.1}, rng),
        positions({.max_length = task.length, .dim = dim, .stddev = 0.1}, rng),
        encoder({.layer = {.dim = dim,
                           .heads = arm.heads,
                           .hidden = 2 * dim,
                           .dropout = 0,
                           .attention = {.dropout = arm.dropout}},
                 .layers = 1},
                rng),
        readout({.in = dim, .out = task.rules * task.values}, rng) {}

  Tensor embed(const Tensor& tokens) const { return positions(sum(embedding(tokens), 2)); }
  Tensor logits(const Tensor& tokens) const {
    const Tensor y = readout(select(encoder.forward(embed(tokens)), 1, 0));
    return reshape(y, {y.size(0), task.rules, task.values});
  }
  void visit(Visitor& v) override {
    v("embedding", embedding);
    v("positions", positions);
    v("encoder", encoder);
    v("readout", readout);
  }
  std::string describe() const override { return "Network"; }
};

/// Cosine between the heads' maps at the token where answers are read: f64 [H, H].
Tensor alike(Network& net, const Tensor& tokens) {
  NoGrad off;
  net.eval();
  const Tensor weights = net.encoder.forward_with_weights(net.embed(tokens), {}).weights[0];
  net.train();
  const Tensor maps = cast(select(weights, 2, 0), f64);  // [n, H, T]
  const Tensor unit = maps / sqrt(sum(square(maps), 2, Dims::keep));
  return mean(matmul(unit, transpose(unit)), 0);
}

/// Mask of the pairs of heads that repel each other, 1 or 0: f64 [H, H].
Tensor repelling(const std::string& repulsion, const Tensor& cosines) {
  if (repulsion == "always") return ones_like(cosines);
  if (repulsion == "layer")
    return off_diagonal(cosines).mean > crowded ? ones_like(cosines) : zeros_like(cosines);
  const Tensor close = cast(greater(cosines, crowded), f64);
  return repulsion == "pairs" ? close : 1 - close;
}

/// rbf() whose repulsion acts only between the pairs of the mask; all heads enter the kernel
/// density estimate.
SteinKernel between(const std::shared_ptr<const Tensor>& mask) {
  return {"rbf of some pairs", [=](const Tensor& theta) {
            const Tensor d2 = rows::squared_distances(theta);
            const double h2 = bandwidth(Bandwidth::median, d2);
            const Tensor k = exp(-0.5 / h2 * d2);
            return of_matrix(
                k, [=] { return rows::mix_differences(*mask * k / h2, theta); }, h2);
          }};
}

/// Sets the weights of queries, keys and values of all heads to those of the first head, plus small
/// noise.
void make_equal(Network& net, Generator rng) {
  for (const ParticleBlock& block : particles(net)) {
    const Tensor theta = block.values(), first = slice(theta, 0, {.stop = 1});
    block.add_to_values(first - theta + normal(theta.shape(), rng, 0, start_noise));
  }
}

/// Trains the network. Returns the share of pairs of heads that repelled each other, mean over
/// steps.
double train(Network& net, const RuleSequences& data, const Settings& s, const Arm& arm,
             Generator order) {
  const auto mask = std::make_shared<Tensor>();
  std::optional<Wgd> wgd;
  if (arm.repulsion != "none")
    wgd.emplace(particles(net), WgdOptions{.kernel = between(mask), .alpha = s.alpha});
  AdamW adam(net.parameters(), {.lr = rate, .weight_decay = weight_decay});
  const Schedule factor = schedule::cosine({.steps = s.steps, .warmup = s.steps / 10});
  std::vector<Tensor> pass;
  double repelled = 0;
  for (std::int64_t step = 0; step < s.steps; ++step) {
    stop_if_interrupted();
    if (pass.empty()) pass = split(permutation(data.tokens.size(0), order), batch);
    const Tensor tokens = index_select(data.tokens, 0, pass.back()),
                 labels = index_select(data.labels, 0, pass.back());
    pass.pop_back();
    if (wgd && step % steps_per_look == 0) *mask = repelling(arm.repulsion, alike(net, tokens));
    adam.zero_grad();
    backward(cross_entropy(net.logits(tokens), labels));
    clip_grad_norm(net.parameters(), clip_norm);  // before the force: it must not affect clipping
    if (wgd) {
      wgd->apply();
      repelled += off_diagonal(*mask).mean / static_cast<double>(s.steps);
    }
    adam.set_lr(rate * factor(step));
    adam.step();
  }
  return repelled;
}

}  // namespace

RuleSequences test_sequences(const Settings& s) {
  Generator rng = Generator(s.common.seed).split(0);
  return draw_sequences(task, tested, false, rng);
}

Fit fit(const Settings& s, const Arm& arm, const RuleSequences& test, const Generator& seed) {
  Generator data = seed.split(0);
  const RuleSequences known = draw_sequences(task, arm.sequences, false, data);
  Network net(arm, seed.split(1));
  if (arm.equal_start) make_equal(net, seed.split(2));
  const double repelled = train(net, known, s, arm, seed.split(3));
  net.eval();
  NoGrad off;
  const auto right = [](const Tensor& p, const Tensor& labels) {
    return mean(cast(equal(argmax(p, 2), labels), f64), 1);
  };
  constexpr Slice some{.stop = 128};
  const Tensor p = cast(softmax(net.logits(test.tokens)), f64);
  return {
      .probabilities = p,
      .right = right(p, test.labels),
      .nll = mean(-log(select(gather(p, 2, unsqueeze(test.labels, 2)), 2, 0)), 1),
      .trained = mean(right(net.logits(slice(known.tokens, 0, some)), slice(known.labels, 0, some)))
                     .item(),
      .redundancy = off_diagonal(alike(net, slice(test.tokens, 0, some))).mean,
      .repelled = repelled};
}

}  // namespace ladon::example
