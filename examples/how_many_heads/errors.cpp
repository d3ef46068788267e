// Trained layers on a retrieval task: the model of Yu et al. 2025 (arXiv 2510.06662).

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/how_many_heads/study.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

constexpr std::int64_t hidden = 32;

Sequential two_layers(std::int64_t in, std::int64_t between, std::int64_t out, Generator& rng) {
  Linear first({.in = in, .out = between}, rng);
  return Sequential(std::move(first), Activation(Nonlinearity::relu),
                    Linear({.in = between, .out = out}, rng));
}

/// Token encoder, attention of one learned query, feed-forward layer.
struct Retriever : Module {
  Sequential encoder;
  MultiHeadAttention attention;
  Sequential answer;

  Retriever(const Arm& arm, Generator& rng)
      : encoder(two_layers(retrievals, hidden, arm.heads * arm.width, rng)),
        attention({.dim = 1,
                   .heads = arm.heads,
                   .head_dim = arm.width,
                   .key_dim = arm.heads * arm.width,
                   .out = arm.heads * arm.width},
                  rng),
        answer(two_layers(arm.heads * arm.width, arm.of(Law::wide) ? 4 * hidden : hidden,
                          retrievals, rng)) {}

  /// [n, T, 4] → [n, 4]. The query's input is the constant 1, so the query is one learned vector.
  Tensor forward(const Tensor& x) const {
    const Tensor tokens = encoder(x);
    return answer(select(attention(ones({x.size(0), 1, 1}), tokens, tokens), 1, 0));
  }
  std::string describe() const override { return "Retriever"; }
  void visit(Visitor& v) override {
    v("encoder", encoder);
    v("attention", attention);
    v("answer", answer);
  }
};

/// The task: the largest value over T tokens of each of 4 channels, standardized by the targets'
/// mean and standard deviation.
struct Task {
  std::int64_t tokens;
  double mean = 0, deviation = 1;

  Task(std::int64_t t, Generator rng) : tokens(t) {
    const Tensor y = targets(inputs(5000, rng));
    mean = ladon::mean(y).item();
    deviation = std::sqrt(var(flatten(y), 0).item());
  }
  Tensor inputs(std::int64_t n, Generator& rng) const {
    return normal({n, tokens, retrievals}, rng);
  }
  Tensor targets(const Tensor& x) const { return (max(x, 1).values - mean) / deviation; }
};

/// Mean squared error of one trained layer on fresh tokens, divided by the variance of the targets.
double trained_error(const Arm& arm, std::int64_t steps, const Generator& seed) {
  constexpr std::int64_t batch = 64, tests = 2000;
  constexpr double rate = 0.005;
  Generator data = seed.split(0), start = seed.split(1), held = seed.split(2);
  const Task task(arm.tokens, seed.split(3));
  Retriever network(arm, start);
  Adam adam(network.parameters(), {.lr = rate});
  const Schedule factor = schedule::cosine({.steps = steps, .warmup = steps / 10});
  for (std::int64_t step = 0; step < steps; ++step) {
    stop_if_interrupted();
    const Tensor x = task.inputs(batch, data);
    adam.zero_grad();
    backward(mean(square(network.forward(x) - task.targets(x))));
    adam.set_lr(rate * factor(step));
    adam.step();
  }
  NoGrad off;
  const Tensor x = task.inputs(tests, held), y = task.targets(x);
  return mean(square(network.forward(x) - y)).item() / mean(var(y, 0)).item();
}

std::vector<Arm> plan_arms(const Settings& s) {
  std::vector<Arm> arms;
  for (const std::int64_t tokens : s.tokens) {
    for (const std::int64_t heads : {1, 2, 4, 8}) {
      arms.push_back({tokens, heads, total_width / heads});
      if (heads * head_width != total_width) arms.push_back({tokens, heads, head_width});
    }
    arms.push_back({tokens, 1, wide_head});
  }
  return arms;
}

void train_arms(const Settings& s, std::vector<Arm>& arms, Progress& progress) {
  const Generator rng = Generator(s.common.seed).split(1);
  const auto arm_of = [&](std::int64_t job) -> Arm& { return arms[job % std::ssize(arms)]; };
  std::int64_t next = 0;
  parallel::in_order(
      std::ssize(arms) * s.seeds, 8,
      [&](std::int64_t job) {
        stop_if_interrupted();
        return trained_error(arm_of(job), s.steps,
                             rng.split(static_cast<std::uint64_t>(job / std::ssize(arms))));
      },
      [&](double error) {
        Arm& arm = arm_of(next++);
        arm.errors.push_back(error);
        progress.step(join("layer of ", arm.heads, " heads"));
      });
}

}  // namespace

Study run_study(const Settings& s) {
  Study study;
  if (s.part != "evidence" && s.data.empty()) study.arms = plan_arms(s);
  if (s.part != "errors") study.evidence = plan_evidence(s);
  Progress progress(
      static_cast<double>(std::ssize(study.arms) * s.seeds + std::ssize(study.evidence) * s.sets));
  study.interrupted = !ran_to_the_end([&] {
    find_evidence(s, study.evidence, progress);
    train_arms(s, study.arms, progress);
  });
  return study;
}

}  // namespace ladon::example
