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

/// Replaces the part with that dotted path (as in summary()) by `layer`, which gets the mode of the
/// old layer, and returns the old one. Such parts are the layers of containers, the norms of
/// Transformer layers, their attention and linear maps ("expand", "gate", "contract"), and
/// "feedforward" for these three together (the first time nothing is returned, and the three are
/// kept, unlisted); the head of a language model, which sees only the last positions. A layer gets
/// the mask of padding (forward_masked). In place of attention it gets nothing else: in a decoder
/// or a language model it must be causal by itself, and cannot use a cache; nor can a feed-forward
/// block with a layer that is not per_position().
///
/// Names follow the new layer's members, also in files. Parameters that were shared stay shared if
/// the new layer holds them. Make optimizers, averages and particle methods anew, for the
/// parameters that there are now: one that holds parameters which left the model throws Error at
/// its next step, even if another model still holds them; that model needs a new optimizer, too.
/// (The layer that was taken out may be trained by itself, with an optimizer made afterwards; one
/// that is put back belongs to the model again.) Throws Error if there is no such part, and for a
/// null layer.
Owned<Layer> replace(Module& model, const std::string& path, Owned<Layer> layer);

/// Replaces each part whose path matches a pattern (as ParameterSet::choose) by make(part), inner
/// parts before outer ones. Returns the paths, in visiting order. make() gets a copy, which holds
/// the same tensors but no forward hooks. Throws Error if none matches, and as make() does; the
/// model then stays unchanged.
std::vector<std::string> replace_each(Module& model, const std::string& pattern,
                                      const std::function<Owned<Layer>(Owned<Layer> part)>& make);

}  // namespace ladon
