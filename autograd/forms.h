#pragma once
// Two forms of one computation: a fast one, which no gradient can pass through, and one composed of
// public operations, which has every derivative. They give the same numbers, to rounding.

#include <initializer_list>
#include <map>
#include <string>

#include "ladon/autograd/record.h"
#include "ladon/core/modes.h"

namespace ladon {

namespace detail {
/// Whether the fast form is to be taken.
bool take_fast(const char* name, std::initializer_list<Input> inputs);
}  // namespace detail

/// fast() where nothing that is computed from `inputs` is recorded, else composed(). `inputs` are
/// the tensors that the fast form has no gradient for. Inside a rule nothing is recorded unless a
/// graph of the gradient is wanted, so that the same call chooses among fused and composed
/// gradients:
///
///   [axis](const Tensor& g, const Tensor& y) {  // the rule of softmax
///     return fast_or_composed(
///         "softmax_gradient", {g, y},
///         [&] { return kernels::softmax_backward(g, y, axis); },
///         [&] { return y * (g - sum(g * y, axis, keep_dims)); });
///   }
///
/// Each name has a row in tests/layers/infinite/pairs_table.cpp; a test holds the two forms
/// together.
template <class Fast, class Composed>
auto fast_or_composed(const char* name, std::initializer_list<detail::Input> inputs,
                      const Fast& fast, const Composed& composed) {
  return detail::take_fast(name, inputs) ? fast() : composed();
}

/// While one is alive, every pair takes its composed form on this thread: to test the fast form
/// against, and to see what it saves.
struct ComposedForms : private detail::Scoped<bool> {
  ComposedForms() : Scoped(detail::modes.composing, true) {}
};

/// Counts, while it is the last one alive on this thread, which forms were taken.
class CountForms : private detail::Scoped<CountForms*> {
 public:
  CountForms() : Scoped(detail::modes.watchers.counting, this) {}

  int fast(const std::string& name) const;
  int composed(const std::string& name) const;

 private:
  friend bool detail::take_fast(const char* name, std::initializer_list<detail::Input> inputs);
  std::map<std::string, int> fast_, composed_;
};

}  // namespace ladon
