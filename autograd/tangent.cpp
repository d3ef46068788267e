#include "ladon/autograd/tangent.h"

#include "ladon/core/modes.h"

namespace ladon::detail {

const std::shared_ptr<const Tangent>& first_below(const std::shared_ptr<const Tangent>& tangent,
                                                  std::uint64_t level) {
  const std::shared_ptr<const Tangent>* first = &tangent;
  while (*first && (*first)->level >= level) first = &(*first)->below;
  return *first;
}

const std::shared_ptr<const Tangent>& visible(const Tensor& x) {
  return first_below(x.tangent(), modes.tangents_below);
}

mapped::Levels levels_of(const Tensor& x) {
  mapped::Levels all = x.levels();
  for (auto t = visible(x); t; t = t->below) all = all.with(levels_of(t->value));
  return all;
}

std::shared_ptr<const Tangent> push_forward(Node& node, const Tangents& inputs) {
  for (const auto& input : inputs)
    if (const auto& tangent = first_below(input, modes.tangents_below))
      return tangent->push_forward(node, inputs);
  return nullptr;
}

}  // namespace ladon::detail
