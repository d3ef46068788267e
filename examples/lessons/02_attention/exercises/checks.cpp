#include <array>

#include "02_attention/exercises/exercises.h"

using namespace ladon;
using lessons::require;

namespace {

constexpr double infinity = HUGE_VAL;

Tensor row_sums(const Tensor& x) { return sum(x, -1, keep_dims); }

double root(std::int64_t n) { return std::sqrt(static_cast<double>(n)); }

/// Weighted mean of values: q, k [.., T, d], v [.., T, d_v] → [.., T, d_v]
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  return matmul(softmax(matmul(q, transpose(k)) * scale), v);
}

// Layouts for exercise 3: functions that split columns [B, T, D] into heads [B, heads, T, d], and
// functions that merge them again. The correct one of each kind comes first.
constexpr std::int64_t batch = 2, length = 5, dim = 12, heads = 3, width = dim / heads;
using Layout = Tensor(const Tensor&);
using Order = std::array<std::size_t, 3>;  // positions of queries, keys and values

Tensor apart(const Tensor& x) { return transpose(reshape(x, {batch, length, heads, width}), 1, 2); }
Tensor merged(const Tensor& c) { return reshape(transpose(c, 1, 2), {batch, length, dim}); }

Tensor reshaped(const Tensor& x) { return reshape(x, {batch, heads, length, width}); }
Tensor strided(const Tensor& x) {
  return permute(reshape(x, {batch, length, width, heads}), {0, 3, 1, 2});
}
Tensor whole(const Tensor& x) { return unsqueeze(x, 1); }
Tensor flat(const Tensor& c) { return reshape(c, {batch, length, dim}); }
Tensor unstrided(const Tensor& c) {
  return reshape(permute(c, {0, 2, 3, 1}), {batch, length, dim});
}

}  // namespace

void check_safe_softmax(decltype(safe_softmax)* yours) {
  Generator rng(2);
  const auto check = [&](const std::string& what, const Tensor& logits, const std::string& if_nan,
                         const std::vector<lessons::Mistake>& mistakes) {
    const Tensor weights = yours(logits);
    require(!weights.defined() || all(isfinite(weights)).item<bool>(),
            what + " have weights that are not finite: " + if_nan);
    lessons::compare("softmax of " + what, weights, softmax(logits), mistakes);
  };
  const Tensor x = normal({3, 4}, rng, f64), e = exp(x);
  const std::string unnormalized =
      "the weights of a row do not sum to 1: divide the exponentials by their sum";
  check("ordinary logits", x, "ordinary logits never overflow",
        {{e, unnormalized},
         {exp(x - amax(x, -1, keep_dims)), unnormalized},
         {e / sum(e), "the sum runs over all rows; each row has its own weights"},
         {softmax(x, 0), "the softmax runs along the first axis; the keys are along the last"},
         {x / row_sums(x), "the logits are divided by their sum; the exponential is missing"}});
  check("logits with three axes", normal({2, 3, 4}, rng, f64), "ordinary logits never overflow",
        {});
  check("logits near 1000", x + 1000,
        "exp overflows; subtract the largest logit of the row first, which changes no weight", {});
  const Tensor far = x + from_vector(std::vector<double>{1000, 0, -1000}, {3, 1});
  check("rows that are 1000 apart", far,
        "the exponentials of a row are all 0; subtract the largest logit of each row, not that of "
        "the tensor",
        {{exp(far - amax(far)) / maximum(row_sums(exp(far - amax(far))), 1e-300),
          "rows far below the largest logit of the tensor lost their weights; subtract the largest "
          "logit of each row"}});
  const Tensor some = from_vector(std::vector<bool>{0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0}, {3, 4});
  check("logits of which some are −∞", masked_fill(x, some, -infinity),
        "exp(−∞) is 0 and needs no special case; only a row in which all logits are −∞ needs one",
        {{softmax(masked_fill(x, some, 0)),
          "a masked logit is taken for 0, and exp(0) is 1; a masked key gets weight 0"}});
  const Tensor row = from_vector(std::vector<bool>{0, 1, 0}, {3, 1});
  const Tensor masked = masked_fill(x, row, -infinity);
  check("a row of −∞", masked,
        "−∞ − (−∞) and 0/0 are NaN; there is no key to attend to, so the weights are 0",
        {{softmax(masked_fill(x, row, -1e9)),
          "a row that is masked throughout has equal weights, as if a finite number stood for −∞; "
          "it attends to nothing, so its weights are 0"}});
}

void check_causal_head(decltype(causal_head)* yours) {
  Generator rng(2);
  const auto check = [&](std::int64_t tokens, std::int64_t d, std::int64_t value_width) {
    const Tensor q = normal({tokens, d}, rng, f64), k = normal({tokens, d}, rng, f64);
    const Tensor v = normal({tokens, value_width}, rng, f64);
    const auto head = [&](const Tensor& queries, const Tensor& keys, double scale) {
      return squeeze(
          scaled_dot_product_attention(unsqueeze(queries, 0), unsqueeze(keys, 0), unsqueeze(v, 0),
                                       {.causal = true, .scale = scale}),
          0);
    };
    const double scale = 1 / root(d);
    const Tensor logits = matmul(q, transpose(k)) * scale, one = ones({tokens, tokens}, f64);
    const auto without = [&](const Tensor& hidden) {  // logits of the keys that are not hidden
      return masked_fill(logits, equal(hidden, 1), -infinity);
    };
    const Tensor causal = without(triu(one, 1));
    lessons::compare(
        detail::join("the output of ", tokens, " tokens, d_k = ", d), yours(q, k, v),
        head(q, k, scale),
        {{matmul(softmax(logits), v), "queries see later keys: there is no causal mask"},
         {head(q, k, 1), "the logits are not divided by √d_k: their variance is d_k"},
         {head(q, k, 1.0 / static_cast<double>(d)),
          "the logits are divided by d_k; their standard deviation is its square root"},
         {head(q, k, 1 / root(value_width)),
          "the width under the root is that of queries and keys, not that of the values"},
         {head(k, q, scale),
          "keys and queries are swapped: row i of the map belongs to query i, q·kᵀ"},
         {matmul(tril(softmax(logits)), v),
          "the mask comes after the softmax: the weights that are left no longer sum to 1"},
         {matmul(softmax(tril(logits)), v),
          "the logits of later keys are 0, and exp(0) is 1; take −∞"},
         {matmul(softmax(without(tril(one, -1))), v),
          "the mask is inverted: queries see only themselves and later keys"},
         {matmul(softmax(without(tril(one))), v),
          "the mask is inverted: queries see only later keys"},
         {matmul(softmax(without(triu(one))), v),
          "a query does not see its own key; it attends to the keys 0 … i, i among them"},
         {matmul(softmax(causal, 0), v),
          "the softmax runs over the queries; the weights of one query sum to 1"}});
  };
  check(5, 3, 2);
  check(4, 4, 7);
  check(1, 6, 3);
}

void check_several_heads(decltype(several_heads)* yours) {
  Generator rng(2);
  const MultiHeadAttention layer({.dim = dim, .heads = heads, .bias = false}, rng);
  const Tensor x = normal({batch, length, dim}, rng);
  const Shape square{dim, dim};
  const Tensor projection = transpose(concat(
      {reshape(layer.query, square), reshape(layer.key, square), reshape(layer.value, square)}, 0));
  const Tensor output = reshape(layer.output, square);
  const std::vector<Tensor> parts = split(matmul(x, projection), dim, 2);
  const double scale = 1 / root(width);
  const auto joined = [&](Layout* cut, Layout* join, double by, const Order& order) {
    return join(attend(cut(parts[order[0]]), cut(parts[order[1]]), cut(parts[order[2]]), by));
  };
  const auto result = [&](Layout* cut, Layout* join, double by, const Order& order = {0, 1, 2}) {
    return matmul(joined(cut, join, by, order), output);
  };
  const Tensor right = layer(x);
  const Tensor by_heads = reshape(matmul(x, projection), {batch, length, heads, 3, width});
  const auto part_of_heads = [&](std::int64_t i) {
    return transpose(select(by_heads, 3, i), 1, 2);
  };
  const std::string reshape_alone =
      "the heads were made by a reshape alone, so a head mixes the numbers of several tokens; "
      "reshape to [B, T, heads, d] first, then transpose";
  const std::string every_third =
      "a head takes every third column; its columns stand side by side (d is the last axis)";
  const std::string one_map = "there is one map for all columns; every head has a separate map";
  lessons::compare(
      "the output of 3 heads", yours(x, projection, output, heads), right,
      {{result(apart, flat, scale),
        "the heads are merged without transposing back: [B, heads, T, d] is not yet [B, T, heads·d]"},
       {result(reshaped, flat, scale), reshape_alone},
       {result(reshaped, merged, scale), reshape_alone},
       {result(strided, unstrided, scale), every_third},
       {result(strided, merged, scale), every_third},
       {result(apart, merged, 1 / root(dim)),
        "the logits are divided by the root of the whole width; those of a head sum over its d "
        "columns alone"},
       {result(apart, merged, 1), "the logits are not divided by √d"},
       {result(apart, merged, 1.0 / width), "the logits are divided by d, not by its root"},
       {result(apart, merged, scale, {1, 0, 2}), "queries and keys are swapped"},
       {result(apart, merged, scale, {2, 1, 0}), "queries and values are swapped"},
       {result(apart, merged, scale, {0, 2, 1}), "keys and values are swapped"},
       {result(whole, flat, 1 / root(dim)), one_map},
       {result(whole, flat, scale), one_map},
       {matmul(merged(attend(part_of_heads(0), part_of_heads(1), part_of_heads(2), scale)), output),
        "the columns are split into heads first, and each head's into queries, keys and values; "
        "queries of all heads come first: [3, heads, d], not [heads, 3, d]"},
       {right / heads, "the mean over the heads is taken; their parts are added"},
       {joined(apart, merged, scale, {0, 1, 2}), "the output projection is missing"}},
      1e-5);
}
