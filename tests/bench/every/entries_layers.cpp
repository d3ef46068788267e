// Entries of layers without attention (layers/). The inputs of a row are the layer's inputs, then
// its parameters in their order; the gradient is by all of them.

#include "entries.h"
#include "entry_of_layer.h"
#include "ladon/layers/extra/infinite/linearized.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"

namespace ladon::bench::every {
namespace {

Tensor images_of(Draw& d) {
  return d.normal({d.of(1, 4, 16), d.of(4, 16, 32), d.of(4, 16, 32), channels(d)});
}
Tensor tokens(Draw& d) {
  return d.below(d.of(16, 1024, 32768), {d.of(2, 16, 32), d.of(8, 64, 512)});
}
Linear dense(Draw& d) { return Linear({.in = channels(d), .out = channels(d)}, d.rng()); }
Activation relu_layer() { return Activation(Nonlinearity::relu); }

void add_maps(Table& t) {
  add_layer(t, "Linear", sequences, dense);
  add_layer(t, "Embedding", tokens, [](Draw& d) {
    return Embedding({.count = d.of(16, 1024, 32768), .dim = channels(d)}, d.rng());
  });
  add_layer(t, "Activation", sequences, [](Draw&) { return relu_layer(); });
  add_layer(t, "Polynomial", sequences, [](Draw&) { return Polynomial::hermite(3); });
  add_layer(t, "Elementwise", sequences,
            [](Draw&) { return Elementwise([](const Tensor& x) { return tanh(x); }, "tanh"); });
  add_layer(t, "Dropout", sequences, [](Draw& d) { return Dropout(0.3, d.rng()); },
            {.f64_too = false, .compared = -1});
  add_layer(t, "LayerNorm", sequences, [](Draw& d) { return LayerNorm({.dim = channels(d)}); });
  add_layer(t, "RmsNorm", sequences, [](Draw& d) { return RmsNorm({.dim = channels(d)}); });
  add_layer(t, "BatchNorm", images_of, [](Draw& d) { return BatchNorm({.dim = channels(d)}); },
            {.f64_too = false, .tolerance = 10});
  add_layer(t, "GroupNorm", images_of,
            [](Draw& d) { return GroupNorm({.groups = 4, .dim = channels(d)}); },
            {.f64_too = false, .tolerance = 10});
  add_layer(t, "InstanceNorm", images_of,
            [](Draw& d) { return InstanceNorm({.dim = channels(d), .affine = true}); },
            {.f64_too = false, .tolerance = 10});
}

void add_containers(Table& t) {
  add_layer(t, "Identity", sequences, [](Draw&) { return Identity(); });
  add_layer(t, "Sequential", sequences,
            [](Draw& d) { return Sequential(dense(d), relu_layer(), dense(d)); });
  add_layer(t, "SumBranches", sequences, [](Draw& d) { return SumBranches(Identity(), dense(d)); });
  add_layer(t, "MultiplyBranches", sequences,
            [](Draw& d) { return MultiplyBranches(dense(d), dense(d)); });
  add_layer(t, "ConcatenateBranches", sequences, [](Draw& d) {
    return ConcatenateBranches({channels(d), channels(d)}, dense(d), dense(d));
  });
  add_layer(t, "Residual", sequences, [](Draw& d) { return Residual(0.3, dense(d)); });
  add_layer(t, "LowRank", sequences,
            [](Draw& d) { return LowRank(dense(d), {.rank = 4}, d.rng()); });
  const auto network = [](Draw& d) {
    return std::make_unique<Sequential>(dense(d), relu_layer(), dense(d));
  };
  const Traits of_detached{.gradient = false, .f64_too = false};  // inputs have no gradient there
  add_layer(
      t, "TaylorExpansion", sequences,
      [=](Draw& d) { return infinite::TaylorExpansion(network(d), 2); }, of_detached);
  add_layer(
      t, "Linearized", sequences, [=](Draw& d) { return infinite::Linearized(network(d)); },
      of_detached);
}

void add_windows_of(Table& t) {
  add_layer(t, "Conv1d", sequences, [](Draw& d) {
    return Conv1d({.in = channels(d), .out = channels(d), .window = {3}}, d.rng());
  });
  add_layer(t, "Conv2d", images_of, [](Draw& d) {
    return Conv2d({.in = channels(d), .out = channels(d), .window = {3, 3}}, d.rng());
  });
  add_layer(t, "ConvTranspose1d", sequences, [](Draw& d) {
    return ConvTranspose1d({.in = channels(d), .out = channels(d), .window = {3}}, d.rng());
  });
  add_layer(t, "ConvTranspose2d", images_of, [](Draw& d) {
    return ConvTranspose2d({.in = channels(d), .out = channels(d), .window = {2, 2}}, d.rng());
  });
  add_layer(t, "AveragePool", images_of, [](Draw&) { return AveragePool({.window = {2, 2}}); });
  add_layer(t, "MaxPool", images_of, [](Draw&) { return MaxPool({.window = {2, 2}}); });
  add_layer(t, "AdaptiveAveragePool", images_of, [](Draw&) { return AdaptiveAveragePool({3, 3}); });
  add_layer(t, "MeanPositions", sequences, [](Draw&) { return MeanPositions(); });
  add_layer(t, "SumPositions", sequences, [](Draw&) { return SumPositions(); });
  add_layer(t, "MaxPositions", sequences, [](Draw&) { return MaxPositions(); });
  add_layer(t, "Flatten", sequences, [](Draw&) { return Flatten(); });
  add_layer(t, "FirstToken", sequences, [](Draw&) { return FirstToken(); });
  add_layer(t, "FlattenPositions", images_of, [](Draw&) { return FlattenPositions(); });
}

void add_positions(Table& t) {
  add_layer(t, "SinusoidalPositions", sequences, [](Draw&) { return SinusoidalPositions(); });
  add_layer(t, "LearnedPositions", sequences, [](Draw& d) {
    return LearnedPositions({.max_length = positions(d), .dim = channels(d)}, d.rng());
  });
  add_layer(t, "RandomPositions", sequences, [](Draw& d) {
    return RandomPositions({.grid = {positions(d)}, .in = channels(d)}, d.rng());
  });
}

void add_recurrent_layers(Table& t) {
  const auto options = [](Draw& d) {
    return RecurrentOptions{.in = channels(d), .hidden = channels(d)};
  };
  add_layer(t, "Recurrent", sequences,
            [=](Draw& d) { return Recurrent(RecurrentCell::relu, options(d), d.rng()); });
  add_layer(t, "Lstm", sequences, [=](Draw& d) { return Lstm(options(d), d.rng()); });
  add_layer(t, "Gru", sequences, [=](Draw& d) { return Gru(options(d), d.rng()); });
  add_layer(t, "Rnn", sequences, [=](Draw& d) { return Rnn(options(d), d.rng()); });
}

}  // namespace

void add_layers(Table& t) {
  t.family("layers");
  add_maps(t);
  add_containers(t);
  add_windows_of(t);
  add_positions(t);
  add_recurrent_layers(t);
}

}  // namespace ladon::bench::every
