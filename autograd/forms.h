#pragma once
// Two forms of one computation: a fast one, through which no gradient passes, and one composed of
// public operations, which has derivatives of every order. Their results agree to rounding.

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
/// the tensors for which the fast form has no gradient. Inside a rule nothing is recorded unless a
/// graph of the gradient is wanted, so the same call chooses between a fused and a composed
/// gradient:
///
///   [axis](const Tensor& g, const Tensor& y) {  // the rule of softmax
///     return fast_or_composed(
///         "softmax_gradient", {g, y},
///         [&] { return kernels::softmax_backward(g, y, axis); },
///         [&] { return y * (g - sum(g * y, axis, keep_dims)); });
///   }
///
/// Each name has a row in tests/layers/infinite/extra/pairs_table.cpp; a test compares the two
/// forms.
template <class Fast, class Composed>
auto fast_or_composed(const char* name, std::initializer_list<detail::Input> inputs,
                      const Fast& fast, const Composed& composed) {
  return detail::take_fast(name, inputs) ? fast() : composed();
}

/// While one is alive, this thread takes the composed form everywhere: the reference to test the
/// fast form against, and to measure what it saves.
struct ComposedForms : private detail::Scoped<bool> {
  ComposedForms() : Scoped(detail::modes.composing, true) {}
};

/// Counts how often each form was taken, while it is the most recent one alive on this thread.
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
