#include "ladon/autograd/extra/transforms/forward.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/mapped.h"
#include "ladon/core/modes.h"

namespace ladon {
namespace {

/// Scope in which a tangent of `level` is computed: only tangents of lower levels are visible.
struct Pushing : private detail::Bracket<bool> {
  explicit Pushing(std::uint64_t level)
      : Bracket(detail::modes.pushing, true), below_(detail::modes.tangents_below, level) {}

 private:
  detail::Bracket<std::uint64_t> below_;
};

/// Receives from a gradient rule the gradients of those inputs that have tangents.
class Gathered final : public detail::GradientSink {
 public:
  Gathered(const char* operation, const std::vector<Tensor>& tangents)
      : operation_(operation), tangents_(tangents), gradients_(tangents.size()) {}
  bool needs(std::size_t input) const override {
    LADON_CHECK(input < tangents_.size(), operation_, "its gradient rule uses input ", input,
                ", but only ", tangents_.size(),
                " inputs were recorded, numbered from 0; record all of them");
    return tangents_[input].defined();
  }
  void give(std::size_t input, Tensor gradient) override {
    if (needs(input)) gradients_[input] = std::move(gradient);
  }
  const std::vector<Tensor>& gradients() const { return gradients_; }

 private:
  const char* operation_;
  const std::vector<Tensor>& tangents_;
  std::vector<Tensor> gradients_;
};

// Computes the output's tangent ΣJᵢ·tᵢ from the gradient rules g ↦ Jᵢᵀ·g of the inputs i and their
// tangents tᵢ: the rules are linear in g, so ΣJᵢ·tᵢ is the gradient of Σ⟨Jᵢᵀ·g, tᵢ⟩ with respect to
// g, at any g.
Tensor transposed(detail::Node& node, const std::vector<Tensor>& tangents) {
  const bool higher = grad_enabled();
  const EnableGrad enable_grad;
  Tensor g = ones(node.shape(), node.dtype());
  if (!node.levels().none()) g = mapped::hide(mapped::spread(g, node.levels()), node.levels());
  g.set_requires_grad();
  Gathered sink(node.operation(), tangents);
  node.backward(g, sink);
  std::vector<Tensor> outputs, cotangents;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    const Tensor& r = sink.gradients()[i];
    if (!r.defined()) continue;
    const bool depends = r.requires_grad() && r.history()->number() >= g.history()->number();
    LADON_CHECK(depends || !kernels::anywhere(r), "forward_mode", "the gradient of `",
                node.operation(),
                "` uses kernels directly, so forward mode cannot transpose it; write its gradient "
                "rule in public operations");
    if (!depends) continue;
    outputs.push_back(r);
    cotangents.push_back(expand(cast(tangents[i], r.dtype()), r.shape()));
  }
  if (outputs.empty()) return Tensor();
  return grad(outputs, {g},
              {.cotangents = cotangents, .create_graph = higher, .allow_unused = true})[0];
}

Tensor plus(const Tensor& a, const Tensor& b) { return !a.defined() ? b : b.defined() ? a + b : a; }

/// The tangents that make_dual and jvp attach to tensors.
class DualTangent final : public detail::Tangent {
 public:
  using Tangent::Tangent;
  std::shared_ptr<const Tangent> push_forward(detail::Node& node,
                                              const detail::Tangents& inputs) const override;
};

// Computes the tangent J·ẋ of the highest level while tangents of lower levels are visible, so that
// the value of J·ẋ carries tangents of those levels. Then, recursively, computes the tangent of the
// next lower level, with the highest level invisible.
std::shared_ptr<const detail::Tangent> DualTangent::push_forward(
    detail::Node& node, const detail::Tangents& inputs) const {
  const auto seen = [](const auto& input) -> const std::shared_ptr<const Tangent>& {
    return detail::first_below(input, detail::modes.tangents_below);
  };
  std::uint64_t highest = 0;
  for (const auto& input : inputs)
    if (const auto& tangent = seen(input)) highest = std::max(highest, tangent->level);
  std::vector<Tensor> tangents(inputs.size()), to_transpose(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto& tangent = seen(inputs[i]); tangent && tangent->level == highest)
      tangents[i] = tangent->value;
  const Pushing pushing(highest);
  Tensor total;
  bool transpose = false;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].defined()) continue;
    const Tensor part = node.forward(i, tangents[i]);
    total = plus(total, part);
    if (part.defined()) continue;
    to_transpose[i] = tangents[i];
    transpose = true;
  }
  if (transpose) total = plus(total, transposed(node, to_transpose));
  if (!total.defined()) total = zeros(node.shape(), node.dtype());
  Tensor derivative = detail::as_output(node, total);
  return std::make_shared<DualTangent>(std::move(derivative), highest,
                                       detail::push_forward(node, inputs));
}

}  // namespace

Tensor make_dual(const Tensor& x, const Tensor& tangent) {
  return detail::make_dual("make_dual", x, tangent, detail::modes.tangents_below - 1);
}

UnpackedDual unpack_dual(const Tensor& x) {
  return detail::unpack_dual(x, detail::modes.tangents_below - 1);
}

JvpResult jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
              const std::vector<Tensor>& tangents) {
  LADON_CHECK(f, "jvp", "the function is empty; pass one that maps the inputs to a tensor");
  LADON_CHECK(inputs.size() == tangents.size(), "jvp", "there are ", inputs.size(), " inputs but ",
              tangents.size(), " tangents; pass one tangent per input");
  const std::uint64_t level = detail::new_level();
  std::vector<Tensor> duals;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    duals.push_back(is_floating(inputs[i].dtype())
                        ? detail::make_dual("jvp", inputs[i], tangents[i], level)
                        : inputs[i]);
  const auto of_duals = [&] {
    const detail::AtLevel inside(level);
    return f(duals);
  };
  const auto [output, tangent] = detail::unpack_dual(of_duals(), level);
  return {output, tangent.defined() ? tangent : zeros_like(output)};
}

namespace detail {

std::uint64_t new_level() {
  static std::atomic<std::uint64_t> next{2};
  return next.fetch_add(2, std::memory_order_relaxed);
}

UnpackedDual unpack_dual(const Tensor& y, std::uint64_t level) {
  const std::shared_ptr<const Tangent>& at = first_below(y.tangent(), level + 1);
  const bool has = at && at->level == level;
  UnpackedDual result{y, has ? at->value : Tensor()};
  result.primal.set_tangent(has ? at->below : at);
  return result;
}

Tensor make_dual(const char* operation, const Tensor& x, const Tensor& tangent,
                 std::uint64_t level) {
  check_floating(operation, x);
  check_defined(operation, {tangent});
  LADON_CHECK(!modes.pushing, operation,
              "cannot be called inside the gradient rule of an operation while jvp differentiates "
              "that operation; call it outside the rule");
  const std::shared_ptr<const Tangent>& below = first_below(x.tangent(), level);
  LADON_CHECK(below == first_below(x.tangent(), level + 1), operation, "the tensor of shape ",
              x.shape(),
              " is a dual number already; for second derivatives nest calls of jvp() instead");
  LADON_CHECK(tangent.shape() == x.shape() && tangent.dtype() == x.dtype(), operation,
              "a tangent must have the dtype and shape of its tensor, but the tangent is ",
              tangent.dtype(), " of shape ", tangent.shape(), ", the tensor ", x.dtype(),
              " of shape ", x.shape());
  Tensor dual = x;
  dual.set_tangent(std::make_shared<DualTangent>(tangent, level, below));
  return dual;
}

}  // namespace detail

}  // namespace ladon
