#include "ladon/layers/torch_layout.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

void check_torch_form(const MultiHeadAttention& layer) {
  const std::int64_t dim = layer.query.size(2);
  LADON_CHECK(layer.form == AttentionForm{} && !layer.positions && !layer.hook &&
                  layer.parameterization() == Parameterization::standard &&
                  layer.query_bias.defined() == layer.output_bias.defined(),
              "torch layout",
              "is of plain attention: softmax, sqrt scaling, separate queries and keys, no "
              "positions, no hook, "
              "standard parameterization, biases everywhere or nowhere; this is ",
              layer.describe());
  LADON_CHECK(layer.key.size(2) == dim && layer.value.size(2) == dim &&
                  layer.output.size(2) == dim && layer.value_head_dim() == layer.head_dim() &&
                  layer.heads() * layer.head_dim() == dim,
              "torch layout",
              "needs queries, keys, values and output of one width dim = heads·head_dim; they are ",
              layer.query.shape(), ", ", layer.key.shape(), ", ", layer.value.shape());
}

}  // namespace

StateDict to_torch(const MultiHeadAttention& layer) {
  NoGrad no_grad;
  check_torch_form(layer);
  const std::int64_t dim = layer.query.size(2);
  const auto square = [dim](const Tensor& x) { return reshape(x.detach(), {dim, dim}); };
  const auto flat = [dim](const Tensor& x) { return reshape(x.detach(), {dim}); };
  StateDict state;
  state["in_proj_weight"] =
      concat({square(layer.query), square(layer.key), square(layer.value)}, 0);
  state["out_proj.weight"] = clone(transpose(square(layer.output)));  // torch: [out, in]
  if (!layer.output_bias.defined()) return state;
  state["in_proj_bias"] =
      concat({flat(layer.query_bias), flat(layer.key_bias), flat(layer.value_bias)}, 0);
  state["out_proj.bias"] = clone(layer.output_bias.detach());
  return state;
}

void from_torch(MultiHeadAttention& layer, const StateDict& state) {
  NoGrad no_grad;
  check_torch_form(layer);
  const std::int64_t dim = layer.query.size(2);
  const auto take = [&](const std::string& name, const Shape& shape) {
    const auto found = state.find(name);
    LADON_CHECK(found != state.end(), "from_torch", "`", name, "` is missing");
    LADON_CHECK(found->second.shape() == shape, "from_torch", "`", name, "` has shape ",
                found->second.shape(), ", expected ", shape);
    return found->second;
  };
  const bool bias = layer.output_bias.defined();
  const Tensor in = take("in_proj_weight", {3 * dim, dim});
  const Tensor out = take("out_proj.weight", {dim, dim});
  const Tensor in_bias = bias ? take("in_proj_bias", {3 * dim}) : Tensor();
  const Tensor out_bias = bias ? take("out_proj.bias", {dim}) : Tensor();

  const auto third = [dim](const Tensor& x, std::int64_t i) { return split(x, dim)[i]; };
  const auto store = [](const Tensor& to, const Tensor& from) {
    copy_(to, reshape(from, to.shape()));
  };
  store(layer.query, third(in, 0));
  store(layer.key, third(in, 1));
  store(layer.value, third(in, 2));
  store(layer.output, transpose(out));
  if (!bias) return;
  store(layer.query_bias, third(in_bias, 0));
  store(layer.key_bias, third(in_bias, 1));
  store(layer.value_bias, third(in_bias, 2));
  store(layer.output_bias, out_bias);
}

}  // namespace ladon
