// The limit of an encoder: that of its parts.

#include "ladon/layers/containers.h"
#include "ladon/layers/infinite/kernel/branches.h"
#include "ladon/layers/transformer.h"

namespace ladon {

using infinite::Kernel;

namespace {

/// The kernel of x + branch(x).
Kernel residual(const Kernel& k, const char* name, const std::vector<const Layer*>& branch) {
  const auto inside = [&](const Kernel& x) { return limit_in_turn(branch, x); };
  return infinite::sum("TransformerEncoderLayer", k, {infinite::identity_branch(), {name, inside}});
}

}  // namespace

Kernel TransformerEncoderLayer::limit(const Kernel& k) const {
  const auto& [expand, gate, contract, activation] = feedforward;
  const Activation nonlinearity(activation);
  std::optional<Product> gated;
  if (gate) gated.emplace(Sequential(*gate, nonlinearity), expand);
  std::vector<const Layer*> attend = {&attention, &dropout};
  std::vector<const Layer*> feed = {&expand, &nonlinearity};
  if (gated) feed = {&*gated};
  feed.insert(feed.end(), {&dropout, &contract, &dropout});
  if (placement == NormPlacement::post) {
    const Kernel y = (*attention_norm)(residual(k, "attention", attend));
    return (*feedforward_norm)(residual(y, "feedforward", feed));
  }
  attend.insert(attend.begin(), attention_norm.get());
  feed.insert(feed.begin(), feedforward_norm.get());
  return residual(residual(k, "attention", attend), "feedforward", feed);
}

Kernel TransformerEncoder::limit(const Kernel& k) const {
  std::vector<const Layer*> all;
  for (const TransformerEncoderLayer& layer : layers) all.push_back(&layer);
  if (final_norm) all.push_back(final_norm.get());
  return limit_in_turn(all, k);
}

}  // namespace ladon
