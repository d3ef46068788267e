// Layers of PyTorch, loaded from a file: their weights are cosines, and their outputs must be those
// that PyTorch publishes (test/cpp/api/transformer.cpp; tests/layers/extra/torch_layout_test.cpp
// has all of them).

#include <algorithm>
#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

/// The layer with the weights cos(0), cos(1), … in PyTorch's layout, loaded from a file with
/// PyTorch's names.
template <class L>
L of_cosines(L layer) {
  StateDict state = to_torch(layer);
  for (auto& [name, x] : state) x = reshape(cos(arange(0, double(x.count()), 1, f64)), x.shape());
  save_safetensors("torch_figures.safetensors", state);
  from_torch(layer, load_safetensors("torch_figures.safetensors"));
  return layer;
}

double error(const Tensor& y, const Tensor& published) {
  return amax(abs(flatten(y) - published)).item();
}

int main() {
  Generator rng(1);
  TransformerEncoderLayerOptions options{.dim = 4,
                                         .heads = 2,
                                         .hidden = 16,
                                         .dropout = 0,
                                         .norm_placement = NormPlacement::post,
                                         .activation = Nonlinearity::relu};
  const Tensor x = tensor({20, 30, 40, 50}, {1, 1, 4}),
               memory = tensor({60, 70, 80, 90}, {1, 1, 4});
  const Tensor two = tensor({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 4});

  const TransformerEncoderLayer encoder = of_cosines(TransformerEncoderLayer(options, rng));
  const TransformerDecoderLayer decoder = of_cosines(TransformerDecoderLayer(options, rng));
  options.activation = Nonlinearity::gelu;
  const TransformerEncoderLayer gelu_encoder = of_cosines(TransformerEncoderLayer(options, rng));
  const TransformerDecoderLayer gelu_decoder = of_cosines(TransformerDecoderLayer(options, rng));

  const AttentionMask none,
      second = padding(cast(tensor({0, 1}, {1, 2}), boolean));  // true: a token
  const double largest = std::max({
      error(encoder(x), tensor({2.258703, 0.127985, -0.697881, 0.170862})),
      error(gelu_encoder(x), tensor({2.249815, 0.131006, -0.702199, 0.177868})),
      error(encoder(two, none), tensor({2.272644, 0.119035, -0.691669, 0.153486, 2.272644, 0.119035,
                                        -0.691669, 0.153486})),
      error(encoder(two, second), tensor({2.301516, 0.092249, -0.679101, 0.103088, 2.301516,
                                          0.092249, -0.679101, 0.103088})),
      error(decoder(x, memory, none), tensor({2.314351, 0.094805, -0.671322, 0.101977})),
      error(gelu_decoder(x, memory, none), tensor({2.306435, 0.095946, -0.675796, 0.10687})),
  });
  std::cout << "six figures of PyTorch's, largest error " << largest << " (before: 1.4e-6)\n";
  expect(largest < 1e-5, "another layer was loaded");
}
