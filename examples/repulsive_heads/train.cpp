#include "ladon/examples/repulsive_heads/train.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/particles/penalties/cosine_penalty.h"
#include "ladon/optim/particles/spos.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/particles/wgd.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

constexpr double weight_decay = 0.01;
constexpr double warmup_share = 0.1;  // of all steps
constexpr double clip_norm = 1;
constexpr ClipOptions lenient{.error_if_nonfinite = false};  // what is not finite is told here

std::unique_ptr<ParticleMethod> particle_method(const std::string& method, Particles heads,
                                                const Settings& s, std::int64_t items,
                                                const Generator& rng) {
  if (method == "smoothing") return std::make_unique<Svgd>(heads, SvgdOptions{.alpha = 0});
  if (method == "svgd") return std::make_unique<Svgd>(heads, SvgdOptions{.alpha = s.alpha});
  if (method == "spos") {
    // The published α weighs the repulsion against the mean loss; of U = N·loss it is N times that.
    const auto n = static_cast<double>(items);
    return std::make_unique<Spos>(
        heads,
        SposOptions{.svgd = {.alpha = n * s.alpha, .target = {.count = n}}, .diffusion = s.noise},
        rng);
  }
  if (method == "wgd") return std::make_unique<Wgd>(heads, WgdOptions{.alpha = s.alpha});
  return nullptr;
}

/// Thrown where training runs away; train() tells it.
struct Diverged {
  std::string because;
};

void expect_finite(const char* what, double x) {
  if (!std::isfinite(x)) throw Diverged{join(what, " is ", x)};
}

/// Gradients were finite: what the method may still complain of is the size of its forces.
void repel(ParticleMethod& method) {
  try {
    method.apply();
  } catch (const Error& error) {
    throw Diverged{error.what()};
  }
}

void fit_and_measure(const Task& task, const Settings& s, const std::string& method,
                     const std::function<void()>& after_epoch, const Watch& watch,
                     Outcome& outcome) {
  const Generator root(outcome.seed);
  Generator initial = root.split(0), order = root.split(1);
  Classifier model(s, task, initial);
  const Particles heads = particles(model);
  const auto repulsion = particle_method(method, heads, s, task.train_items, root.split(2));
  AdamW adam(model.parameters(), {.lr = s.learning_rate, .weight_decay = weight_decay});
  const std::int64_t steps = s.epochs * ((task.train_items + s.batch_size - 1) / s.batch_size);
  const Schedule factor = schedule::cosine(
      {.steps = steps,
       .warmup = static_cast<std::int64_t>(warmup_share * static_cast<double>(steps))});

  outcome.parameters = model.parameter_count();
  outcome.before = head_maps(model, task);
  if (watch) watch(model, heads);
  double seconds = 0;
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    double total = 0;
    const std::vector<TextBatch> batches = task.training(order);
    for (const TextBatch& batch : batches) {
      stop_if_interrupted();
      adam.zero_grad();
      const Tensor loss =
          cross_entropy(model.logits(batch), batch.labels, {.label_smoothing = s.label_smoothing});
      expect_finite("the loss", loss.item());
      backward(method == "cosine" ? loss + s.cosine_weight * cosine_penalty(heads) : loss);
      // Before the force, which replaces the heads' gradients: else its size would rule how much of
      // the rest's gradient is left, and methods would differ in more than what moves the heads.
      expect_finite("the gradient's norm", clip_grad_norm(model.parameters(), clip_norm, lenient));
      if (repulsion) repel(*repulsion);
      expect_finite(
          "the force's norm",
          clip_grad_norm(model.parameters(), std::numeric_limits<double>::max(), lenient));
      adam.set_lr(s.learning_rate * factor(adam.steps()));
      adam.step();
      total += loss.item();
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    seconds += spent.count();
    outcome.train_loss.push_back(total / static_cast<double>(batches.size()));
    outcome.head_distance.push_back(head_distance(heads));
    after_epoch();
    if (watch) watch(model, heads);
  }
  const Predictions test = predict(model, task.test);
  expect_finite("the sum of test probabilities", sum(test.probabilities).item());
  outcome.after = head_maps(model, task);
  outcome.figures =
      measure(model, task, test, heads, outcome.before, outcome.after, repulsion.get());
  outcome.figures.push_back(seconds / s.epochs);
}

}  // namespace

std::vector<std::string> methods() {
  return {"plain", "smoothing", "svgd", "spos", "wgd", "cosine"};
}

Outcome train(const Task& task, const Settings& settings, const std::string& method,
              std::uint64_t seed, const std::function<void()>& after_epoch, const Watch& watch) {
  Outcome outcome;
  outcome.seed = seed;
  try {
    fit_and_measure(task, settings, method, after_epoch, watch, outcome);
  } catch (const Diverged& diverged) {
    outcome.diverged_because = diverged.because;
    outcome.diverged_in_epoch = static_cast<int>(outcome.train_loss.size()) + 1;
    outcome.figures.assign(columns(task).size(), std::numeric_limits<double>::quiet_NaN());
  }
  return outcome;
}

}  // namespace ladon::example
