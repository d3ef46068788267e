#include "ladon/optim/extra/penalties/head_mask.h"

#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

/// Hook that calls an inner hook, then multiplies values [batch, heads, T, width] by mask(values).
/// A copy, such as that in a clone of the layer, has no mask, because no HeadMask would remove it.
struct Masked : AttentionHook {
  Owned<AttentionHook> inner;
  std::function<Tensor(const Tensor& values)> mask;  // must broadcast to [batch, heads, 1, 1]

  Masked() = default;
  Masked(const Masked& other) : AttentionHook(other), inner(other.inner) {}
  Masked& operator=(const Masked&) = delete;

  AttentionHeads heads(const AttentionHeads& h) const override {
    AttentionHeads changed = inner ? inner->heads(h) : h;
    if (mask) changed.v = changed.v * mask(changed.v);
    return changed;
  }
  Tensor bias(const AttentionHeads& h) const override { return inner ? inner->bias(h) : Tensor(); }
  void visit(Visitor& v) override {
    if (mask)
      v("inner", inner);
    else if (inner)
      inner->visit(v);
  }
  std::string describe() const override {
    const std::string within = inner ? inner->describe() : "none";
    if (!mask) return within;
    return inner ? "masked heads, " + within : "masked heads";
  }
};

const AttentionHook* install(MultiHeadAttention& layer,
                             std::function<Tensor(const Tensor& values)> mask) {
  auto masked = std::make_unique<Masked>();
  masked->train(layer.training());
  masked->inner = std::move(layer.hook);
  masked->mask = std::move(mask);
  layer.hook = std::move(masked);
  return layer.hook.get();
}

/// Removes the mask whose hook is `own`, even if other masks were installed after it.
void remove(MultiHeadAttention& layer, const AttentionHook* own) {
  Owned<AttentionHook>* place = &layer.hook;
  while (place->get() != own) {
    auto* const masked = dynamic_cast<Masked*>(place->get());
    if (!masked) return;  // another hook was set in the meantime
    place = &masked->inner;
  }
  Owned<AttentionHook> inner = std::move(static_cast<Masked&>(**place).inner);
  *place = std::move(inner);
}

/// The mask in the values' dtype, with axes for positions and width: [.., heads] → [.., heads, 1,
/// 1].
Tensor beside(const Tensor& mask, const Tensor& values) {
  return cast(unsqueeze(unsqueeze(mask, -1), -1), values.dtype());
}

}  // namespace

HeadMask::HeadMask(MultiHeadAttention& layer, const Tensor& mask) : layer_(layer), own_(nullptr) {
  const std::int64_t heads = layer.heads();
  LADON_CHECK(mask.defined() && is_floating(mask.dtype()) &&
                  (mask.rank() == 1 || mask.rank() == 2) && mask.size(-1) == heads,
              "HeadMask", "the mask must be floating [", heads, "] or [batch, ", heads, "], got ",
              detail::kind_in_words(mask));
  own_ = install(layer, [mask](const Tensor& values) {
    LADON_CHECK(mask.rank() == 1 || mask.size(0) == values.size(0), "HeadMask",
                "a mask [batch, heads] must have the layer's batch size, but is ", mask.shape(),
                ", and the layer was called with a batch of ", values.size(0));
    return beside(mask, values);
  });
}

HeadMask::~HeadMask() { remove(layer_, own_); }

Tensor head_importance(MultiHeadAttention& layer, const std::function<Tensor()>& losses) {
  LADON_CHECK(losses, "head_importance",
              "the function `losses` is empty; pass one that returns the losses [batch]");
  const EnableGrad recording;
  Tensor mask;  // [batch, heads]; undefined before the first call of the layer
  const auto ones_for = [&mask](const Tensor& values) {
    const Shape shape{values.size(0), values.size(1)};
    if (!mask.defined()) mask = parameter(ones(shape, values.dtype()));
    LADON_CHECK(mask.shape() == shape, "head_importance", "the layer was called with batches of ",
                mask.size(0), " and ", values.size(0),
                " examples; all calls must have the same batch size");
    return beside(mask, values);
  };
  struct Installed {
    MultiHeadAttention& layer;
    const AttentionHook* own;
    ~Installed() { remove(layer, own); }
  };
  const Installed installed{layer, install(layer, ones_for)};
  const Tensor value = losses();
  LADON_CHECK(mask.defined(), "head_importance",
              "the losses did not call the layer; pass a layer of the model that `losses` runs");
  LADON_CHECK(value.defined() && value.shape() == Shape{mask.size(0)}, "head_importance",
              "the losses must be ", Shape{mask.size(0)}, ", one per example, got ",
              detail::shape_in_words(value));
  LADON_CHECK(value.requires_grad(), "head_importance",
              "the losses record no history; neither detach them nor compute them under NoGrad");
  const Tensor slope = grad(sum(value), mask);
  const NoGrad off;
  return mean(abs(cast(slope, f64)), 0);
}

}  // namespace ladon
