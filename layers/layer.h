#pragma once
// Layers: modules that are called with a tensor, and that may have an infinite-width limit.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ladon/autograd/hook.h"
#include "ladon/core/error.h"
#include "ladon/layers/module.h"
#include "ladon/layers/undo.h"

namespace ladon {

/// A module that maps one tensor to one tensor. Call it as a function, layer(x): hooks then run,
/// and an Error from inside gets the path of the layer that threw it, from the outermost layer
/// called ("layers.0.attention: [linear] …").
class Layer : public Module {
 public:
  virtual Tensor forward(const Tensor& x) const = 0;
  Tensor operator()(const Tensor& x) const {
    return called([this, &x] { return forward(x); });
  }
  /// Output for sequences of unequal length: `mask` (bool [batch, T] for T positions) is true at
  /// tokens and false at padding; an undefined mask means no padding. Layers that mix positions
  /// override it. The default throws Error for a mask unless the layer is per_position(). layer(x,
  /// mask) calls it with an x in which NaN, ∞ and indices at padding are replaced by 0
  /// (layers/masked.h).
  virtual Tensor forward_masked(const Tensor& x, const Tensor& mask) const;
  /// Calls forward_masked(x, mask). Throws Error unless the mask fits the positions of x: [batch,
  /// T] for x [batch, T, dim], [batch, H, W, dim] (T = H·W) or indices [batch, T]. Vectors [batch,
  /// dim] have no positions, so a mask for them throws Error (it is not ignored). A model of two
  /// inputs is a Callable with a forward(x, y).
  Tensor operator()(const Tensor& x, const Tensor& mask) const;
  /// Whether each position of the output depends only on the same position of the input, so that
  /// the layer needs no mask.
  virtual bool per_position() const { return false; }

  /// The layer at infinite width: its output kernels as functions of its input kernels, recorded as
  /// steps of a graph (infinite/kernel/graph.h). Called once, before any kernel is evaluated.
  /// Throws Error if the layer has no known limit, or if its inputs do not have the distribution
  /// that the derivation needs. A layer made of other layers calls them as functions, layer(node),
  /// so that an Error names the layer that threw it.
  virtual infinite::KernelNode limit(const infinite::KernelNode& inputs) const;
  infinite::KernelNode operator()(const infinite::KernelNode& inputs) const;

  using Module::summary;
  /// summary(), followed by the trained tensors that layer(x) used and visit() does not list.
  std::string summary(const Tensor& x) const;

  /// Calls `hook` with each output of the layer; if it returns a defined tensor, that replaces the
  /// output. To see or change the *gradient* of an output, call register_hook on it inside the
  /// hook. Copies of the layer have no hooks.
  using ForwardHook = std::function<Tensor(const Tensor& output)>;
  HookHandle register_forward_hook(ForwardHook hook);

 protected:
  /// Throws Error if a mask is defined and is not bool [batch, T] for the T positions of x.
  void check_mask(const Tensor& x, const Tensor& mask) const;

  /// Runs f() as a call of this layer: with hooks, and with the layer's path in Errors.
  template <class F>
  Tensor called(const F& f) const {
    const Call call(*this);
    try {
      const Tensor y = f();
      return hooks_.list ? hooks_.run(y) : y;
    } catch (const Error& error) {
      call.explain(error);
    }
  }

 private:
  /// One layer call on this thread's stack of layer calls.
  class Call {
   public:
    explicit Call(const Layer& layer);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    /// Rethrows; the outermost call prefixes the message with the innermost layer's path.
    [[noreturn]] void explain(const Error& error) const;

   private:
    const Layer& layer_;
  };

  struct Hooks {
    std::shared_ptr<std::map<std::uint64_t, ForwardHook>> list;
    Hooks() = default;
    Hooks(const Hooks&) {}
    Hooks(Hooks&&) noexcept = default;
    Hooks& operator=(const Hooks&) { return *this; }
    Hooks& operator=(Hooks&&) noexcept = default;
    ~Hooks() = default;
    Tensor run(Tensor y) const;
  };
  Hooks hooks_;
};

namespace detail {
/// Warns on std::cerr, once per kind of layer, that its input is f64 and its weights are f32: the
/// layer and all after it then compute in f64, at twice the cost.
void warn_of_precision(const char* layer, const Tensor& x, const Tensor& weight);
}  // namespace detail

/// Base of a layer that can be called with several tensors: each forward(...) of `Self` can be
/// called as self(...), which adds hooks and the path in Errors. Arguments that no forward()
/// accepts go to Layer's operators: layer(x, mask), layer(node). Braces need a type:
/// AttentionMask{.causal = true}.
///
/// If a call throws, in forward() or in a hook, the caches given to it are as they were before it
/// (KeyValueCache, DecodingCache, and any lvalue x with a `snapshot()` of x's own type), so that
/// the call can be repeated.
///
/// A forward(x, mask) of `Self` gets x with its padding unchanged, since this class cannot know
/// whether the second tensor is a mask. If it is one, pass it to all layers that get x, even
/// per-position ones, linear(x, mask): a layer without the mask computes with any NaN in the
/// padding.
template <class Self>
class Callable : public Layer {
  template <class... Arguments>
  static constexpr bool forwards = requires(const Self& self, Arguments&&... arguments) {
    self.forward(std::forward<Arguments>(arguments)...);
  };

 public:
  template <class... Arguments>
  auto operator()(Arguments&&... arguments) const
      requires(forwards<Arguments...> || std::is_invocable_v<const Layer&, Arguments...>) {
    const auto& self = static_cast<const Self&>(*this);
    if constexpr (forwards<Arguments...>) {
      [[maybe_unused]] const std::tuple<detail::Undo<Arguments>...> undo(arguments...);
      return called(
          [&self, &arguments...] { return self.forward(std::forward<Arguments>(arguments)...); });
    } else {
      return Layer::operator()(std::forward<Arguments>(arguments)...);
    }
  }
};

}  // namespace ladon
