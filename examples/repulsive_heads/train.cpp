#include "ladon/examples/repulsive_heads/train.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/core/data/metrics.h"
#include "ladon/core/error.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_heads/model.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/particles/cosine_penalty.h"
#include "ladon/optim/particles/spos.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/particles/wgd.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

constexpr double weight_decay = 0.01;
constexpr double warmup_share = 0.1;  // of all steps
constexpr double clip_norm = 1;
constexpr std::size_t map_batches = 4;  // test batches whose attention maps are compared

std::unique_ptr<ParticleMethod> particle_method(const std::string& method, Particles heads,
                                                const Settings& s, std::int64_t items,
                                                const Generator& rng) {
  if (method == "svgd") return std::make_unique<Svgd>(heads, SvgdOptions{.alpha = s.alpha});
  if (method == "spos")
    // Adam's steps are of size lr for the mean loss; for U = N·loss the same step has size lr/N.
    return std::make_unique<Spos>(heads,
                                  SposOptions{.svgd = {.alpha = s.alpha},
                                              .diffusion = s.noise,
                                              .step_scale = 1 / static_cast<double>(items)},
                                  rng);
  if (method == "wgd") return std::make_unique<Wgd>(heads, WgdOptions{.alpha = s.alpha});
  return nullptr;
}

/// Probabilities [items·questions, classes] and labels of a list of batches.
struct Predictions {
  Tensor probabilities, labels;
};

Predictions predict(Classifier& model, const std::vector<Batch>& batches) {
  NoGrad no_grad;
  model.eval();
  std::vector<Tensor> probabilities, labels;
  for (const Batch& batch : batches) {
    probabilities.push_back(flatten(softmax(model.logits(batch)), 0, 1));
    labels.push_back(flatten(batch.labels));
  }
  model.train();
  return {concat(probabilities, 0), concat(labels, 0)};
}

/// [heads, heads]: how alike the attention maps of two heads are, mean over layers and batches.
/// Only the queries that are read count: the first where the first is pooled, else every token.
Tensor map_similarity(Classifier& model, const Task& task) {
  NoGrad no_grad;
  model.eval();
  const std::int64_t heads = model.encoder.layers[0].attention.heads();
  Tensor similarity = eye(heads, f64);
  double* entry = similarity.mutable_data<double>();
  std::vector<std::pair<Tensor, Tensor>> maps;  // [B, H, Tq, T] and the mask [B, Tq]
  for (std::size_t b = 0; b < std::min(map_batches, task.test.size()); ++b)
    for (const Tensor& weights : model.attention_maps(task.test[b])) {
      const bool first = model.pooling == Pooling::first;
      const std::int64_t queries = first ? 1 : weights.size(2);
      maps.emplace_back(slice(weights, 2, {.stop = queries}),
                        slice(task.test[b].mask, 1, {.stop = queries}));
    }
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t g = 0; g < h; ++g) {
      const Tensor pair = from_vector(std::vector<std::int64_t>{h, g}, {2});
      double total = 0;
      for (const auto& [weights, mask] : maps)
        total += map_redundancy(index_select(weights, 1, pair), mask);
      entry[h * heads + g] = entry[g * heads + h] = total / static_cast<double>(maps.size());
    }
  model.train();
  return similarity;
}

/// Mean over the pairs of different heads; NaN with one head.
double off_diagonal_mean(const Tensor& similarity) {
  const auto heads = static_cast<double>(similarity.size(0));
  return (sum(similarity).item() - heads) / (heads * (heads - 1));
}

/// How sure the model is of familiar against unfamiliar sequences: the chance that an unfamiliar
/// one has the larger predictive entropy.
double unfamiliar_auroc(const Predictions& familiar, const Predictions& unfamiliar,
                        std::int64_t questions) {
  const auto entropy = [questions](const Predictions& p) {  // of a sequence: mean over questions
    const auto rows = metrics::predictive_entropy(p.probabilities);
    const Tensor each = from_vector(rows, {static_cast<std::int64_t>(rows.size())});
    return mean(reshape(each, {-1, questions}), 1).to_vector();
  };
  return metrics::auroc(entropy(unfamiliar), entropy(familiar));
}

struct HeadFigures {
  double distance = 0, cosine = 0;
};

HeadFigures head_figures(const Particles& heads) {
  HeadFigures mean;
  for (const ParticleBlock& block : heads) {
    const auto blocks = static_cast<double>(heads.size());
    mean.distance += pairwise_distance(block.values()).mean / blocks;
    mean.cosine += pairwise_cosine(block.values()).mean / blocks;
  }
  return mean;
}

double mean_force_ratio(const ParticleMethod& method) {
  double total = 0;
  const auto report = method.report();
  for (const BlockReport& block : report) total += block.ratio;
  return total / static_cast<double>(report.size());
}

/// Thrown where training runs away; train() tells it.
struct Diverged {
  std::string because;
};

void expect_finite(const char* what, double x) {
  if (!std::isfinite(x)) throw Diverged{join(what, " is ", x)};
}

double gradient_norm(Classifier& model) {
  return clip_grad_norm(model.parameters(), std::numeric_limits<double>::max(),
                        {.error_if_nonfinite = false});
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
                     const std::function<void()>& after_epoch, Outcome& outcome) {
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
  outcome.similarity_before = map_similarity(model, task);
  double seconds = 0;
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    double total = 0;
    const std::vector<Batch> batches = task.training(order);
    for (const Batch& batch : batches) {
      stop_if_interrupted();
      adam.zero_grad();
      const Tensor loss =
          cross_entropy(model.logits(batch), batch.labels, {.label_smoothing = s.label_smoothing});
      expect_finite("the loss", loss.item());
      backward(method == "cosine" ? loss + s.cosine_weight * cosine_penalty(heads) : loss);
      expect_finite("the gradient's norm", gradient_norm(model));
      if (repulsion) repel(*repulsion);
      expect_finite("the force's norm",
                    clip_grad_norm(model.parameters(), clip_norm, {.error_if_nonfinite = false}));
      adam.set_lr(s.learning_rate * factor(adam.steps()));
      adam.step();
      total += loss.item();
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    seconds += spent.count();
    const Predictions test = predict(model, task.test);
    expect_finite("the sum of test probabilities", sum(test.probabilities).item());
    outcome.train_loss.push_back(total / static_cast<double>(batches.size()));
    outcome.head_distance.push_back(head_figures(heads).distance);
    outcome.test_accuracy.push_back(metrics::accuracy(test.probabilities, test.labels));
    after_epoch();
  }

  const Predictions test = predict(model, task.test);
  outcome.similarity_after = map_similarity(model, task);
  const HeadFigures figures = head_figures(heads);
  outcome.figures = {
      {"accuracy", metrics::accuracy(test.probabilities, test.labels)},
      {"nll", metrics::nll(test.probabilities, test.labels)},
      {"ece", metrics::ece(test.probabilities, test.labels)},
      {"ood_auroc", unfamiliar_auroc(test, predict(model, task.unfamiliar), task.questions)},
      {"head_distance", figures.distance},
      {"head_cosine", figures.cosine},
      {"map_redundancy", off_diagonal_mean(outcome.similarity_after)},
      {"epoch_seconds", seconds / s.epochs},
  };
  if (repulsion) outcome.force_ratio = mean_force_ratio(*repulsion);
}

}  // namespace

Outcome train(const Task& task, const Settings& settings, const std::string& method,
              std::uint64_t seed, const std::function<void()>& after_epoch) {
  Outcome outcome;
  outcome.seed = seed;
  try {
    fit_and_measure(task, settings, method, after_epoch, outcome);
  } catch (const Diverged& diverged) {
    outcome.diverged_because = diverged.because;
    outcome.diverged_in_epoch = static_cast<int>(outcome.train_loss.size()) + 1;
    for (const char* name : {"accuracy", "nll", "ece", "ood_auroc", "head_distance", "head_cosine",
                             "map_redundancy", "epoch_seconds"})
      outcome.figures.emplace_back(name, std::numeric_limits<double>::quiet_NaN());
  }
  return outcome;
}

}  // namespace ladon::example
