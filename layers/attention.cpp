#include "ladon/layers/attention.h"

#include <cmath>

#include "ladon/core/error.h"

namespace ladon {
namespace {

/// [.., in] → [.., heads, T, head_dim]: one product for all heads, then a view that swaps the axes.
Tensor heads_of(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const std::int64_t heads = weight.size(0), width = weight.size(1);
  const Tensor flat_weight = reshape(weight, {heads * width, weight.size(2)});
  const Tensor flat_bias = bias.defined() ? reshape(bias, {heads * width}) : bias;
  const Tensor y = linear(x, flat_weight, flat_bias);  // [B,T,in] · [H·d,in]ᵀ → [B,T,H·d]
  return transpose(reshape(y, {x.size(0), x.size(1), heads, width}), 1, 2);
}

void check_input(const char* what, const Tensor& x, std::int64_t width) {
  check(x.rank() == 3 && x.size(2) == width, "MultiHeadAttention", what, " must be [batch, T, ",
        width, "], got shape ", x.shape());
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& o, Generator& source)
    : causal(o.causal), dropout(o.dropout), rng(source.split(source.reserve(1))) {
  check(o.dim > 0 && o.heads > 0, "MultiHeadAttention", "dim and heads must be positive, got ",
        o.dim, " and ", o.heads);
  check(o.head_dim > 0 || o.dim % o.heads == 0, "MultiHeadAttention", o.heads,
        " heads do not divide dim = ", o.dim, "; give head_dim");
  check(dropout >= 0 && dropout <= 1, "MultiHeadAttention", "dropout must lie in [0, 1], got ",
        dropout);
  const std::int64_t width = o.head_dim > 0 ? o.head_dim : o.dim / o.heads;
  const std::int64_t key_dim = o.key_dim > 0 ? o.key_dim : o.dim;
  const std::int64_t value_dim = o.value_dim > 0 ? o.value_dim : key_dim;
  // Drawn as matrices [heads·head_dim, in], so that fans are those of the whole projection.
  const auto projection = [&](std::int64_t in) {
    const Tensor matrix = initialize(o.init, {o.heads * width, in}, source).detach();
    return parameter(reshape(matrix, {o.heads, width, in}));
  };
  query = projection(o.dim);
  key = projection(key_dim);
  value = projection(value_dim);
  output = projection(o.dim);
  if (!o.bias) return;
  query_bias = parameter(zeros({o.heads, width}));
  key_bias = parameter(zeros({o.heads, width}));
  value_bias = parameter(zeros({o.heads, width}));
  output_bias = parameter(zeros({o.dim}));
}

MultiHeadAttention::Projected MultiHeadAttention::project(const Tensor& queries, const Tensor& keys,
                                                          const Tensor& values) const {
  check_input("queries", queries, query.size(2));
  check_input("keys", keys, key.size(2));
  check_input("values", values, value.size(2));
  check(keys.size(0) == queries.size(0) && values.size(0) == queries.size(0) &&
            values.size(1) == keys.size(1),
        "MultiHeadAttention", "queries ", queries.shape(), ", keys ", keys.shape(), " and values ",
        values.shape(), " must agree in batch, and keys and values in length");
  return {heads_of(queries, query, query_bias), heads_of(keys, key, key_bias),
          heads_of(values, value, value_bias)};
}

AttentionOptions MultiHeadAttention::options(const AttentionMasks& masks,
                                             const Tensor& keys) const {
  AttentionOptions options{.mask = masks.mask, .causal = causal};
  if (training() && dropout > 0) {
    options.dropout = dropout;
    options.rng = &rng;
  }
  if (!masks.key_mask.defined()) return options;
  check(masks.key_mask.dtype() == boolean && masks.key_mask.shape() == keys.shape().sub(0, 2),
        "MultiHeadAttention", "key_mask must be bool ", keys.shape().sub(0, 2), ", got ",
        masks.key_mask.dtype(), " ", masks.key_mask.shape());
  const Tensor visible = unsqueeze(unsqueeze(masks.key_mask, 1), 1);  // [B, 1, 1, Tk]
  if (!options.mask.defined())
    options.mask = visible;
  else if (options.mask.dtype() == boolean)
    options.mask = logical_and(options.mask, visible);
  else
    options.mask = where(visible, options.mask, scalar(-INFINITY, options.mask.dtype()));
  return options;
}

// [B,H,T,d] → [B,T,H·d] · [H·d,dim] → [B,T,dim]
Tensor MultiHeadAttention::combine(const Tensor& contexts) const {
  const std::int64_t all = heads() * head_dim();
  const Tensor joined =
      reshape(transpose(contexts, 1, 2), {contexts.size(0), contexts.size(2), all});
  const Tensor y = matmul(joined, reshape(output, {all, output.size(2)}));
  return output_bias.defined() ? y + output_bias : y;
}

Tensor MultiHeadAttention::forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                   const AttentionMasks& masks) const {
  const auto [q, k, v] = project(queries, keys, values);
  return combine(scaled_dot_product_attention(q, k, v, options(masks, keys)));
}

MultiHeadAttention::Details MultiHeadAttention::forward_with_weights(
    const Tensor& queries, const Tensor& keys, const Tensor& values,
    const AttentionMasks& masks) const {
  const auto [q, k, v] = project(queries, keys, values);
  const AttentionResult result = attention_with_weights(q, k, v, options(masks, keys));
  return {combine(result.output), result.weights, result.output};
}

void MultiHeadAttention::visit(Visitor& v) {
  v("query", query);
  v("key", key);
  v("value", value);
  v("output", output);
  v("query_bias", query_bias);
  v("key_bias", key_bias);
  v("value_bias", value_bias);
  v("output_bias", output_bias);
}

std::string MultiHeadAttention::describe() const {
  return concat("MultiHeadAttention(dim ", query.size(2), ", ", heads(), " heads of ", head_dim(),
                causal ? ", causal)" : ")");
}

// --- torch's layout ---

namespace {

void check_torch_form(const MultiHeadAttention& layer) {
  const std::int64_t dim = layer.query.size(2);
  check(layer.key.size(2) == dim && layer.value.size(2) == dim &&
            layer.heads() * layer.head_dim() == dim,
        "torch layout",
        "needs queries, keys and values of one width dim = heads·head_dim; they are ",
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
    check(found != state.end(), "from_torch", "`", name, "` is missing");
    check(found->second.shape() == shape, "from_torch", "`", name, "` has shape ",
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
