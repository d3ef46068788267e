#include "ladon/examples/repulsive_sentences/fit.h"

#include <cmath>
#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/batches.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/layers/extra/attention/structured_attention.h"
#include "ladon/layers/extra/sequence/recurrent.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/extra/penalties/head_penalties.h"
#include "ladon/optim/particles/spos.h"

namespace ladon::example {
namespace {

constexpr std::int64_t width = 50, states = 32, hidden = 64, hops = 30, max_length = 64;
constexpr double dropout = 0.5, learning_rate = 2e-3, noise = 0.01;

/// The model of Lin et al. 2017: words → bidirectional LSTM → M, a weighted mean of its states per
/// hop → two layers.
struct Model : Module {
  Embedding words;
  Dropout word_dropout, hop_dropout;
  Lstm lstm;
  StructuredAttention attention;
  Linear middle, readout;

  Model(const Sentences& data, Generator& rng)
      : words({.count = data.vocabulary.size(), .dim = width, .stddev = 0.4}, rng),
        word_dropout(dropout, rng),
        hop_dropout(dropout, rng),
        lstm({.in = width, .hidden = states, .bidirectional = true}, rng),
        attention({.dim = 2 * states, .hidden = hidden, .hops = hops}, rng),
        middle({.in = hops * 2 * states, .out = hidden}, rng),
        readout({.in = hidden, .out = data.classes()}, rng) {
    if (data.word_vectors.defined()) words.weight = parameter(clone(data.word_vectors));
  }
  /// Attention maps A [B, hops, T], and M.
  StructuredAttention::Details attend(const TextBatch& batch) const {
    const Tensor h = lstm(word_dropout(words(batch.tokens)), batch.mask);
    return attention.forward_with_weights(h, batch.mask);
  }
  Tensor logits(const Tensor& m) const {
    return readout(relu(middle(hop_dropout(reshape(m, {m.size(0), hops * 2 * states})))));
  }
  void visit(Visitor& v) override {
    v("words", words);
    v("word_dropout", word_dropout);
    v("hop_dropout", hop_dropout);
    v("lstm", lstm);
    v("attention", attention);
    v("middle", middle);
    v("readout", readout);
  }
  std::string describe() const override { return "Model"; }
};

/// The particle method of an arm: it moves the rows of W_s2 or, in the arm "function", acts on the
/// attention maps; null for arms without a particle method.
std::unique_ptr<ParticleMethod> method_of(const Arm& arm, double value, const Tensor& outer,
                                          const Generator& rng) {
  const SvgdOptions options = SvgdOptions::paper(arm.name == "smoothing" ? 0 : value);
  if (arm.name == "function") return std::make_unique<Svgd>(options);
  if (arm.name == "svgd" || arm.name == "smoothing")
    return std::make_unique<Svgd>(particles_of_rows(outer), options);
  if (arm.name != "spos") return nullptr;
  return std::make_unique<Spos>(particles_of_rows(outer),
                                SposOptions{.svgd = options, .diffusion = noise}, rng);
}

void train(Model& model, const TextBatches& batches, const Settings& s, const Arm& arm,
           double value, ParticleMethod* method, Generator order) {
  const bool rated = arm.name == "rate" || arm.name == "smoothing";
  const ParameterSet all(model), outer = all.choose("attention.outer");
  ParameterGroups groups{{.parameters = all.except(outer)}};
  if (arm.name != "frozen")
    groups.push_back({.parameters = outer, .lr_scale = rated ? value : 1.0});
  Adam adam(groups, {.lr = learning_rate});
  for (std::int64_t epoch = 0; epoch < s.epochs; ++epoch)
    for (const TextBatch& batch : batches.shuffled(order)) {
      stop_if_interrupted();
      adam.zero_grad();
      const auto seen = model.attend(batch);
      if (arm.name == "function") method->act_on(seen.weights, 1);
      Tensor loss = cross_entropy(model.logits(seen.output), batch.labels);
      if (arm.name == "frobenius")
        loss = loss + value * frobenius_penalty(unsqueeze(seen.weights, 2));
      backward(loss);
      if (method != nullptr && arm.name != "function") method->apply();
      adam.step();
    }
}

}  // namespace

const std::vector<Arm>& arms() {
  using enum Arm::By;
  static const std::vector<Arm> all = {{"plain", neither, {1}},
                                       {"rate", size, {1, 3, 10}},
                                       {"start", size, {2, 4, 8}},
                                       {"frozen", size, {2, 4, 8}},
                                       {"smoothing", size, {1, 3, 10}},
                                       {"svgd", repulsion, {0.01, 0.1, 1}},
                                       {"spos", repulsion, {0.01, 0.1, 1}},
                                       {"function", repulsion, {0.0001, 0.001, 0.01}},
                                       {"frobenius", neither, {0.001, 0.01, 0.1}}};
  return all;
}

Fit fit(const Sentences& data, const Settings& s, const Fold& fold, const Arm& arm, double value,
        const Generator& rng) {
  const TextBatchOptions options{
      .batch_size = s.batch_size, .max_length = max_length, .by_length = true};
  Generator initial = rng.split(0);
  Model model(data, initial);
  if (arm.name == "start" || arm.name == "frozen")
    model.attention.outer = parameter(model.attention.outer.detach() * value);
  if (arm.name == "frozen") ParameterSet(model).choose("attention.outer").freeze();
  const auto method = method_of(arm, value, model.attention.outer, rng.split(2));
  train(model, TextBatches(data.choose(fold.train), data.vocabulary, options), s, arm, value,
        method.get(), rng.split(1));
  const NoGrad off;
  model.eval();
  Fit result;
  std::vector<Tensor> probabilities;
  for (const TextBatch& batch :
       TextBatches(data.choose(fold.test), data.vocabulary, options).in_order()) {
    const auto seen = model.attend(batch);
    probabilities.push_back(softmax(cast(model.logits(seen.output), f64), -1));
    result.redundancy += map_redundancy(unsqueeze(seen.weights, 2)) *
                         static_cast<double>(batch.labels.count()) /
                         static_cast<double>(fold.test.size());
  }
  result.probabilities = concat(probabilities, 0);
  result.size = std::sqrt(mean(square(model.attention.outer.detach())).item());
  result.ratio = method ? method->report()[0].ratio : NAN;
  return result;
}

}  // namespace ladon::example
