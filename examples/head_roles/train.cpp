#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/head_roles/study.h"
#include "ladon/optim/optim.h"

namespace ladon::example {
namespace {

constexpr double weight_decay = 0.01;
constexpr double clip_norm = 1;
constexpr ClipOptions lenient{.error_if_nonfinite = false};  // expect_finite() checks instead

std::unique_ptr<ParticleMethod> particle_method(const std::string& method, Particles heads,
                                                const Settings& s, double items,
                                                const Generator& rng) {
  if (method == "smoothing") return std::make_unique<Svgd>(heads, SvgdOptions{.alpha = 0});
  if (method == "svgd") return std::make_unique<Svgd>(heads, SvgdOptions{.alpha = s.alpha});
  if (method == "spos") {
    // In An et al. (2020) α weighs the repulsion relative to the mean loss; relative to U = N·loss
    // of N items, as Spos takes it, the weight is N·α.
    const SvgdOptions svgd{.alpha = items * s.alpha, .target = {.count = items}};
    return std::make_unique<Spos>(heads, SposOptions{.svgd = svgd, .diffusion = s.noise}, rng);
  }
  if (method == "wgd") return std::make_unique<Wgd>(heads, WgdOptions{.alpha = s.alpha});
  return nullptr;
}

void expect_finite(const char* what, double x) {
  if (!std::isfinite(x)) throw Diverged{join(what, " is ", x)};
}

/// Applies the method. Gradients are finite here, so an Error can only be about the size of the
/// forces.
void repel(ParticleMethod& method) {
  try {
    method.apply();
  } catch (const Error& error) {
    throw Diverged{error.what()};
  }
}

void fit(const Task& task, const Settings& s, const std::string& method, const Watch& watch,
         Run& run) {
  const Generator root(run.seed);
  Generator initial = root.split(0), order = root.split(1);
  Classifier model(s, task, initial);
  const Particles heads = particles(model);
  const auto items = static_cast<double>(task.train_items);
  const auto repulsion = particle_method(method, heads, s, items, root.split(2));
  AdamW adam(model.parameters(), {.lr = s.learning_rate, .weight_decay = weight_decay});
  const std::int64_t steps = s.epochs * ((task.train_items + s.batch_size - 1) / s.batch_size);
  const Schedule factor = schedule::cosine({.steps = steps, .warmup = steps / 10});
  const auto observe = [&](int epochs) {
    const NoGrad no_grad;
    model.eval();
    watch({model, heads, repulsion.get(), epochs == 0, epochs == s.epochs}, run);
    model.train();
  };
  run.parameters = model.parameter_count();
  observe(0);
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
      // Clip before the force replaces the heads' gradients: otherwise its size would determine how
      // much the other gradients shrink, and methods would differ in more than the motion of heads.
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
    run.epoch_seconds += spent.count() / s.epochs;
    run.train_loss.push_back(total / static_cast<double>(batches.size()));
    observe(epoch + 1);
  }
}

}  // namespace

std::vector<std::string> methods() {
  return {"plain", "smoothing", "svgd", "spos", "wgd", "cosine"};
}

Run train(const Task& task, const Settings& settings, const std::string& method, std::uint64_t seed,
          const Watch& watch) {
  Run run{.seed = seed};
  try {
    fit(task, settings, method, watch, run);
  } catch (const Diverged& diverged) {
    run.diverged_because = diverged.because;
    run.diverged_in_epoch = static_cast<int>(run.train_loss.size()) + 1;
  }
  return run;
}

bool run_all(const Task& task, const Settings& s, std::size_t figures, const Watch& watch,
             Outcomes& outcomes) {
  for (const std::string& method : s.methods) outcomes.emplace_back(method, std::vector<Run>{});
  return ran_to_the_end([&] {
    Progress progress(static_cast<double>(s.methods.size()) * s.seeds * s.epochs);
    for (int i = 0; i < s.seeds; ++i)
      for (auto& [method, runs] : outcomes) {
        const std::uint64_t seed = s.common.seed + static_cast<std::uint64_t>(i);
        const std::string now = join(method, ", seed ", seed);
        runs.push_back(train(task, s, method, seed, [&](const Moment& moment, Run& run) {
          if (!moment.first) progress.step(now);
          watch(moment, run);
        }));
        runs.back().figures.resize(figures, NAN);
      }
  });
}

}  // namespace ladon::example
