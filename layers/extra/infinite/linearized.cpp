#include "ladon/layers/extra/infinite/linearized.h"

#include "ladon/autograd/evaluation.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon::infinite {
namespace {

std::vector<Tensor> or_zeros(std::vector<Tensor> gradients, const std::vector<Tensor>& like) {
  for (std::size_t i = 0; i < like.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = zeros_like(like[i].detach());
  return gradients;
}

}  // namespace

TangentMap::TangentMap(Layer& network, const Inputs& inputs)
    : TangentMap(network, inputs, network) {}

TangentMap::TangentMap(Layer& network, const Inputs& inputs, const ParameterSet& set)
    : parameters_(set.trained().tensors()) {
  LADON_CHECK(
      !parameters_.empty(), "TangentMap", network.describe(),
      " has none of the chosen parameters, or all of them are frozen; choose others, or thaw()");
  const DType dtype = parameters_[0].dtype();
  const Tensor seen = inputs.blanked().x;  // 0 at padding
  const Tensor x = seen.dtype() == i64 ? seen : cast(seen.detach(), dtype);
  const detail::EvaluationScope evaluating("TangentMap", true);
  const EnableGrad on;
  const ParameterUses unread;  // discards the parameter uses that layers report in this pass
  recorded_ = network(x, inputs.mask);
  output_ = recorded_.detach();
  u_ = zeros_like(output_);
  u_.set_requires_grad();
  pulled_back_ = grad({recorded_}, parameters_,
                      {.cotangents = {u_}, .create_graph = true, .allow_unused = true});
}

Tensor TangentMap::times(const std::vector<Tensor>& tangents) const {
  LADON_CHECK(tangents.size() == parameters_.size(), "TangentMap", "there are ", parameters_.size(),
              " parameters but ", tangents.size(), " tangents; give one per parameter");
  std::vector<Tensor> outputs, cotangents;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].defined() || !pulled_back_[i].defined()) continue;
    LADON_CHECK(tangents[i].shape() == parameters_[i].shape(), "TangentMap", "tangent ", i,
                " has shape ", tangents[i].shape(), ", but must have that of the parameter, ",
                parameters_[i].shape());
    outputs.push_back(pulled_back_[i]);
    cotangents.push_back(cast(tangents[i].detach(), output_.dtype()));
  }
  if (outputs.empty()) return zeros_like(output_);
  const NoGrad off;
  return or_zeros(
      grad(outputs, {u_}, {.cotangents = cotangents, .retain_graph = true, .allow_unused = true}),
      {u_})[0];
}

std::vector<Tensor> TangentMap::transposed_times(const Tensor& cotangent) const {
  LADON_CHECK(cotangent.shape() == output_.shape(), "TangentMap", "the cotangent has shape ",
              cotangent.shape(), ", but must have that of the output, ", output_.shape());
  const NoGrad off;
  return or_zeros(grad({recorded_}, parameters_,
                       {.cotangents = {cast(cotangent.detach(), output_.dtype())},
                        .retain_graph = true,
                        .allow_unused = true}),
                  parameters_);
}

Tensor ntk_vector_product(Layer& network, const Inputs& a, const Inputs& b, const Tensor& v) {
  return TangentMap(network, a).times(TangentMap(network, b).transposed_times(v));
}

Tensor ntk_vector_product(Layer& network, const Inputs& a, const Tensor& v) {
  const TangentMap map(network, a);
  return map.times(map.transposed_times(v));
}

// --- expansions ---

namespace {

/// Directional derivative D f[w] = Σ_θ ∂f/∂θ·w_θ, recorded. The gradient Jᵀu of ⟨u, f⟩ with respect
/// to θ is linear in u, so the gradient of ⟨w, Jᵀu⟩ with respect to u is J·w = D f[w].
Tensor along(const Tensor& f, const std::vector<Tensor>& parameters, const std::vector<Tensor>& w) {
  Tensor u = zeros_like(f.detach());
  u.set_requires_grad();
  const auto pulled =
      grad({f}, parameters, {.cotangents = {u}, .create_graph = true, .allow_unused = true});
  std::vector<Tensor> outputs, cotangents;
  for (std::size_t i = 0; i < pulled.size(); ++i) {
    if (!pulled[i].defined() || !pulled[i].requires_grad()) continue;
    outputs.push_back(pulled[i]);
    cotangents.push_back(cast(w[i].detach(), pulled[i].dtype()));
  }
  if (outputs.empty()) return u.detach();
  const Tensor y =
      grad(outputs, {u}, {.cotangents = cotangents, .create_graph = true, .allow_unused = true})[0];
  return y.defined() ? y : u.detach();
}

/// Terms of one pass through the expansion, kept for its gradient with respect to w,
///   Σ_{1 ≤ k ≤ order} 1/(k−1)!·Dᵏf[w, …, w, ·] = D(Σ_{k < order} 1/k!·Dᵏf[w, …, w]).
struct Expanded {
  Tensor value;                    // sum of all orders, without history
  Tensor lower;                    // the sum in D(…), recorded
  std::vector<Tensor> parameters;  // θ

  std::vector<Tensor> transposed_times(const Tensor& cotangent) const {
    const NoGrad off;
    if (!lower.requires_grad()) return or_zeros(std::vector<Tensor>(parameters.size()), parameters);
    return or_zeros(grad({lower}, parameters,
                         {.cotangents = {cast(cotangent.detach(), lower.dtype())},
                          .retain_graph = true,
                          .allow_unused = true}),
                    parameters);
  }
};

void check_order(int order) {
  LADON_CHECK(order >= 1 && order <= 8, "TaylorExpansion", "the order is ", order,
              "; it must be at least 1 and at most 8");
}

// Members are public, so they are checked here, and not by the constructor alone.
Expanded expand_around(const TaylorExpansion& t, const Tensor& x, const Tensor& mask) {
  check_order(t.order);
  Expanded y;
  y.parameters = t.network->choose(t.pattern).trained().tensors();
  LADON_CHECK(y.parameters.size() == t.displacement.size(), "TaylorExpansion", "the pattern `",
              t.pattern, "` chooses ", y.parameters.size(), " parameters, but there are ",
              t.displacement.size(), " displacements; construct another expansion");
  const EnableGrad on;
  const ParameterUses unread;  // discards the parameter uses that layers report in this pass
  const DType dtype = y.parameters[0].dtype();
  Tensor term = (*t.network)(x.dtype() == i64 ? x : cast(x.detach(), dtype), mask);
  y.lower = term;
  double factorial = 1;
  for (int k = 1; k <= t.order; ++k) {
    term = along(term, y.parameters, t.displacement);
    factorial *= k;
    const Tensor next = y.lower + term / factorial;
    if (k == t.order)
      y.value = next.detach();
    else
      y.lower = next;
    if (!term.requires_grad()) {  // the term does not depend on the parameters any more
      y.value = next.detach();
      if (k < t.order) y.lower = next;
      break;
    }
  }
  return y;
}

}  // namespace

TaylorExpansion::TaylorExpansion(std::unique_ptr<Layer> given, int of_order, std::string names)
    : network(std::move(given)), pattern(std::move(names)), order(of_order) {
  LADON_CHECK(network != nullptr, "TaylorExpansion", "the network must be a layer, but is null");
  check_order(order);
  LADON_CHECK(!network->parameters().empty(), "TaylorExpansion", network->describe(),
              " has no parameters, but the expansion needs at least one");
  network->eval();
  for (const auto& [name, x] : network->choose(pattern).trained())
    displacement.push_back(parameter(zeros_like(x.detach())));
}

namespace {

const char* const moved = "has no network: it was moved from";
std::string described(const std::unique_ptr<Layer>& network) {
  return network ? network->describe() : "nothing";
}

}  // namespace

KernelNode TaylorExpansion::limit(const KernelNode& inputs) const {
  LADON_CHECK(network != nullptr, "TaylorExpansion", moved);
  LADON_CHECK(
      pattern == "*", "limit", describe(), " trains the parameters `", pattern,
      "` only, and its tangent kernel is known only if all are trained; make it with \"*\"");
  return network->limit(inputs);
}

Tensor TaylorExpansion::forward_masked(const Tensor& x, const Tensor& mask) const {
  LADON_CHECK(network != nullptr, "TaylorExpansion", moved);
  LADON_CHECK(!x.requires_grad(), "TaylorExpansion",
              "computes no gradient with respect to its inputs, but they require one; pass "
              "x.detach()");
  for (const auto& [path, value] : network->hyperparameters())  // Error if one requires gradients
    check_plain("TaylorExpansion", value);
  const auto expanded = std::make_shared<Expanded>(expand_around(*this, x, mask));
  const Tensor y = record_joint("taylor_expansion", expanded->value, displacement,
                                [expanded](const Tensor& g, detail::GradientSink& sink) {
                                  const auto gradients = expanded->transposed_times(g);
                                  for (std::size_t i = 0; i < gradients.size(); ++i)
                                    if (sink.needs(i)) sink.give(i, gradients[i]);
                                });
  ParameterUses::report(y, [expanded](const Tensor& delta) {  // [batch, number of weights]
    std::vector<Tensor> rows;
    for (std::int64_t n = 0; n < delta.size(0); ++n) {
      Tensor alone = zeros_like(delta);
      copy_(select(alone, 0, n), select(delta, 0, n));
      std::vector<Tensor> flat;
      for (const Tensor& g : expanded->transposed_times(alone)) flat.push_back(flatten(g));
      rows.push_back(concat(flat, 0));
    }
    return stack(rows);
  });
  return y;
}

namespace {

/// Lists a module's tensors as buffers: saved and converted, but not trained.
class AsBuffers final : public Visitor {
 public:
  AsBuffers(Visitor& to, std::string prefix) : to_(&to), prefix_(std::move(prefix)) {}
  void buffer(std::string_view name, Tensor& x) override {
    to_->buffer(prefix_ + std::string(name), x);
  }
  void hyperparameter(std::string_view name, Tensor& x) override {
    to_->hyperparameter(prefix_ + std::string(name), x);
  }

 protected:
  void parameter(std::string_view name, Tensor& x) override { buffer(name, x); }
  void module(std::string_view name, Module& m) override {
    AsBuffers inside(*to_, prefix_ + std::string(name) + ".");
    m.visit(inside);
  }

 private:
  Visitor* to_;
  std::string prefix_;
};

}  // namespace

void TaylorExpansion::visit(Visitor& v) {
  v("displacement", displacement);
  AsBuffers fixed(v, "network.");
  if (network) network->visit(fixed);
}

std::string TaylorExpansion::describe() const {
  return detail::join("TaylorExpansion(", described(network), ", order ", order,
                      pattern == "*" ? "" : " in " + pattern, ")");
}

std::string Linearized::describe() const {
  return detail::join("Linearized(", described(network), ")");
}

}  // namespace ladon::infinite
