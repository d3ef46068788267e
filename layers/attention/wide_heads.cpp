#include "ladon/layers/attention/wide_heads.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/masked.h"

namespace ladon {
namespace {

constexpr const char* operation = "WideHeads";

}  // namespace

Tensor wide_heads(const Tensor& given, const Tensor& query_key, const Tensor& value_output,
                  const WideHeadsOptions& options, const Tensor& mask) {
  const std::int64_t d = options.dim, h = options.heads;
  const Tensor x = detail::blank_masked(given, mask);
  LADON_CHECK(x.defined() && x.rank() == 3 && x.size(2) == d, operation, "expects [N, T, ", d,
              "], got ", detail::shape_in_words(x));
  LADON_CHECK(query_key.rank() == 4 && query_key.shape() == Shape({query_key.size(0), h, d, d}),
              operation, "query_key must be [layers, ", h, ", ", d, ", ", d, "], got ",
              query_key.shape());
  const std::int64_t p = query_key.size(0), n = x.size(0), t = x.size(1);
  LADON_CHECK(value_output.shape() == Shape({p, h, d, options.out}), operation,
              "value_output must be ", Shape{p, h, d, options.out}, ", got ", value_output.shape());
  const std::int64_t s = p * h;  // number of heads of all layers, computed in one product
  const Tensor forms =
      reshape(query_key, {s, d, d}) * (options.query_key_std / static_cast<double>(d));
  // X·B: [N·T, d] · [d, S·d], then [N, S·T, d] · [N, d, T] → logits [N, S·T, T]
  const Tensor seen =
      matmul(reshape(x, {n * t, d}), reshape(permute(forms, {1, 0, 2}), {d, s * d}));
  const Tensor queries = reshape(permute(reshape(seen, {n, t, s, d}), {0, 2, 1, 3}), {n, s * t, d});
  Tensor logits = matmul(queries, contiguous(transpose(x)));
  if (mask.defined()) {
    LADON_CHECK(mask.dtype() == boolean && mask.shape() == Shape({n, t}), operation,
                "the mask must be bool ", Shape{n, t}, ", got ", mask.dtype(), " ", mask.shape());
    const bool softmax = options.weighting == Weighting::softmax;
    logits = masked_fill(logits, logical_not(unsqueeze(mask, 1)), softmax ? -INFINITY : 0);
  }
  const Tensor contexts =
      reshape(matmul(attention_weights(options.weighting, logits), x), {n, s, t, d});
  // [S, N·T, d] · [S, d, out] → [S, N·T, out]
  const Tensor each = matmul(reshape(permute(contexts, {1, 0, 2, 3}), {s, n * t, d}),
                             reshape(value_output, {s, d, options.out}));
  const Tensor all = sum(reshape(each, {p, h, n, t, options.out}), 1);
  return all * (options.value_output_std / std::sqrt(static_cast<double>(d * h)));
}

WideHeads::WideHeads(const WideHeadsOptions& given, Generator& rng) : options(given) {
  LADON_CHECK(given.dim > 0 && given.heads > 0 && given.out > 0, operation,
              "dim, heads and out must be positive, got ", given.dim, ", ", given.heads, " and ",
              given.out);
  detail::check_size(operation, "query_key_std", given.query_key_std);
  detail::check_size(operation, "value_output_std", given.value_output_std);
  query_key = parameter(normal({given.heads, given.dim, given.dim}, rng));
  value_output = parameter(normal({given.heads, given.dim, given.out}, rng));
}

Tensor WideHeads::forward_masked(const Tensor& x, const Tensor& mask) const {
  detail::warn_of_precision("WideHeads", x, query_key);
  const Tensor one =
      wide_heads(x, unsqueeze(query_key, 0), unsqueeze(value_output, 0), options, mask);
  return select(one, 0, 0);
}

void WideHeads::visit(Visitor& v) {
  v("query_key", query_key);
  v("value_output", value_output);
}

std::string WideHeads::describe() const {
  return detail::join("WideHeads(", options.dim, " → ", options.out, ", ", options.heads,
                      " heads, ", to_string(options.weighting), ")");
}

}  // namespace ladon
