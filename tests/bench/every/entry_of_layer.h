#pragma once
// Helpers that add layers to the table of operations.

#include <memory>
#include <utility>

#include "ladon/layers/layer.h"
#include "row.h"

namespace ladon::bench::every {

inline std::int64_t channels(Draw& d) { return d.of(8, 64, 256); }
inline std::int64_t positions(Draw& d) { return d.of(8, 64, 128); }
/// Random input of a layer [batch, T, channels].
inline Tensor sequences(Draw& d) { return d.normal({d.of(2, 8, 16), positions(d), channels(d)}); }

/// Traits of entries of layers: measured only in f32, in which layers are used.
inline const Traits of_layers{.f64_too = false};

/// Adds an entry: `make` returns a layer, `input` its input. The layer's parameters are inputs of
/// the row as well.
template <class Input, class Make>
void add_layer(Table& t, const char* name, Input input, Make make, Traits traits = of_layers) {
  const auto sample = [=](Draw& d) -> Sample {
    using Model = decltype(make(d));
    const std::shared_ptr<Model> model(new Model(make(d)));
    Tensors inputs{input(d)};
    for (const Tensor& p : model->parameters()) inputs.push_back(p);
    return {inputs, [model](const Tensors& x) { return (*model)(x[0]); }};
  };
  t.add_made(name, sample, std::move(traits));
}

}  // namespace ladon::bench::every
