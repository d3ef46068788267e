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
/// Whether to compute the fast form; counts the choice under `name` for CountForms.
bool take_fast(const char* name, std::initializer_list<Input> inputs);
}  // namespace detail

/// Returns composed() if an operation on `inputs` would now be recorded (an input requires a
/// gradient or is a dual number), else fast(). `inputs` are the tensors for which the fast form has
/// no gradient. Inside a gradient rule operations are recorded only with create_graph, so the same
/// call chooses between a fused and a composed gradient:
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

/// While such an object is alive, this thread computes the composed form everywhere: as the
/// reference in tests of the fast form, and to measure how much time the fast form saves.
struct ComposedForms : private detail::Scoped<bool> {
  ComposedForms() : Scoped(detail::modes.composing, true) {}
};

/// Counts how often each form was computed on this thread, while this is the newest CountForms
/// object that is alive there.
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
