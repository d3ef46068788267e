#pragma once
// Other layers in the places of a model's parts.
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

/// Puts `layer` in the place of that dotted path (as summary() lists it), in the mode of what stood
/// there, which is returned. Places are the layers of containers, the norms of Transformer layers,
/// their attention and linear maps ("expand", "gate", "contract"), and "feedforward" for these
/// three together (nothing is returned for it at first, and the three are kept aside, unlisted);
/// the head of a language model, which sees the last positions alone. A layer hears of padding
/// (forward_masked). In the place of attention it hears of nothing else: in a decoder or a language
/// model it must be causal by itself, and knows no cache; nor does a feed-forward block with a
/// layer that is not per_position().
///
/// Names follow the new layer's members, and so do files. Parameters that were shared stay shared
/// as far as the new layer holds them. An optimizer, an average or a particle method is made anew,
/// of the parameters that there are now: one that holds parameters which are the model's no longer
/// throws Error at its next step, also where another model still holds them: give that one an
/// optimizer anew, too. (The layer that was taken out may be trained by itself, by an
/// optimizer that is made then; one that is put back is in its place again.) Throws Error where
/// there is no such place, and for no layer.
Owned<Layer> replace(Module& model, const std::string& path, Owned<Layer> layer);

/// Each part whose path matches a pattern (as ParameterSet::choose) by make(part), the inner ones
/// before those that they are in. Returns the paths, in visiting order. make() gets a copy, which
/// holds the same tensors but no forward hooks. Throws Error where none matches, and as make()
/// does; the model then is as it was.
std::vector<std::string> replace_each(Module& model, const std::string& pattern,
                                      const std::function<Owned<Layer>(Owned<Layer> part)>& make);

}  // namespace ladon
