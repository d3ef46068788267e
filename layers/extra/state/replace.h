#pragma once
// Replacement of parts of a model by other layers.
//
//   replace(model, "layers.0.attention", MyAttention(rng));
//   replace_each(encoder, "*.contract", [&](Owned<Layer> linear) -> Owned<Layer> {
//     return Sequential(std::move(linear), Dropout(0.1, rng));
//   });

#include <functional>
#include <string>
#include <vector>

#include "ladon/layers/layer.h"

namespace ladon {

/// Replaces the part with the dotted path `path` (as in summary()) by `layer`, which gets the
/// training mode of the old layer, and returns the old layer. Replaceable parts are the layers of
/// containers; the norms of Transformers, the attention of their layers, their linear maps
/// ("expand", "gate", "contract"), and "feedforward" for these three together (its first
/// replacement returns null, and the three maps are kept, though visit() does not list them any
/// more); and the head of a language model, which gets only the last position of each text during
/// generation. The new layer gets the padding mask (forward_masked), except in place of a norm or a
/// head, which are called without one. In place of attention it gets no other mask: in a decoder or
/// a language model it must be causal by itself, and it cannot use a cache. A feed-forward block
/// with a layer that is not per_position() cannot use a cache either.
///
/// Names follow the new layer's members, also in files. Parameters that were shared stay shared if
/// the new layer holds them. Make new optimizers, averages and particle methods: if an old one
/// holds parameters that left the model, it throws Error at its next step, even if another model
/// still contains these parameters (that model needs a new optimizer, too). The old layer may be
/// trained by itself, with an optimizer made afterwards; if it is put back, its parameters belong
/// to the model again. Throws Error if there is no such part, and for a null layer.
Owned<Layer> replace(Module& model, const std::string& path, Owned<Layer> layer);

/// Replaces each part whose path matches a pattern (see ParameterSet::choose) by make(part), inner
/// parts before outer ones. Returns the paths, in visiting order. make() gets a copy, which holds
/// the same tensors but no forward hooks. Throws Error if no part matches, and passes on exceptions
/// of make(); in both cases the model stays unchanged.
std::vector<std::string> replace_each(Module& model, const std::string& pattern,
                                      const std::function<Owned<Layer>(Owned<Layer> part)>& make);

}  // namespace ladon
