#pragma once
// Layers: modules that are called with a tensor, and know their limit.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "ladon/autograd/hook.h"
#include "ladon/core/error.h"
#include "ladon/layers/module.h"

namespace ladon {

/// A module that maps one tensor to one tensor. Call it as a function, layer(x): an Error from
/// inside then tells where it arose ("layers.0.attention: [linear] …", by the names of the
/// outermost layer that was called), and hooks run.
class Layer : public Module {
 public:
  virtual Tensor forward(const Tensor& x) const = 0;
  Tensor operator()(const Tensor& x) const {
    return called([this, &x] { return forward(x); });
  }
  /// Output of forward() for sequences of unequal length: `mask` (bool [batch, T]) is true where a
  /// position is a token; undefined: every position is. Layers that mix positions override it. The
  /// default throws Error for a mask unless the layer is per_position(). Called by layer(x, mask),
  /// it gets x with 0 where padding holds NaN, ∞ or an index (layers/masked.h).
  virtual Tensor forward_masked(const Tensor& x, const Tensor& mask) const;
  /// Throws Error for a mask that is not of the positions of x, [batch, T] of [batch, T, dim],
  /// [batch, H, W, dim] (T = H·W) or indices [batch, T]; vectors have none, so that no second
  /// tensor is passed by unseen. A model of two inputs is a Callable with a forward() of both.
  Tensor operator()(const Tensor& x, const Tensor& mask) const;
  /// Whether each position of the output depends on the same position of the input alone, so that
  /// no mask is needed.
  virtual bool per_position() const { return false; }

  /// The layer at infinite width: what its outputs' kernels are of those of its inputs, as steps of
  /// a graph (infinite/kernel/graph.h). Called once, before there are numbers. Throws Error where
  /// no limit of the layer is known, or where its inputs have not the law that the derivation
  /// needs. Layers made of layers call those as functions, layer(node): an Error then tells where
  /// it arose.
  virtual infinite::KernelNode limit(const infinite::KernelNode& inputs) const;
  infinite::KernelNode operator()(const infinite::KernelNode& inputs) const;

  using Module::summary;
  /// The table, and below it the trained tensors that layer(x) used and visit() does not list.
  std::string summary(const Tensor& x) const;

  /// Calls `hook` with each output of the layer; a defined result takes its place. To see or change
  /// the *gradient* of an output, call register_hook on it there. Hooks are no part of copies.
  using ForwardHook = std::function<Tensor(const Tensor& output)>;
  HookHandle register_forward_hook(ForwardHook hook);

 protected:
  /// Throws Error where a mask is defined and is not bool [batch, T] of the positions of x.
  void check_mask(const Tensor& x, const Tensor& mask) const;

  /// f() as a call of this layer.
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
  /// One call on this thread's stack of calls.
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
/// Says on std::cerr, once for each kind of layer, that its input is f64 and its weights are f32:
/// all that follows is then computed in f64, at twice the time and unasked for.
void warn_of_precision(const char* layer, const Tensor& x, const Tensor& weight);
}  // namespace detail

/// Base of a layer that can be called with more than one tensor: every forward(...) of `Self` is
/// also a call self(...), with what a call adds (where an Error arose, hooks). Arguments that no
/// forward() accepts go to Layer's: layer(x, mask), layer(node). Braces need a type:
/// AttentionMask{.causal = true}.
///
/// A forward(x, mask) of `Self` gets x as it is, for its second tensor may mean anything. Where it
/// is a mask, pass it to all layers that see x, those per position too, linear(x, mask): a layer
/// that is not told of padding computes with the NaN in it.
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
    if constexpr (forwards<Arguments...>)
      return called(
          [&self, &arguments...] { return self.forward(std::forward<Arguments>(arguments)...); });
    else
      return Layer::operator()(std::forward<Arguments>(arguments)...);
  }
};

}  // namespace ladon
