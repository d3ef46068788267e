#include "ladon/examples/lessons/02_attention/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/02_attention/exercises/causal_head.cpp"
#include "ladon/examples/lessons/02_attention/exercises/safe_softmax.cpp"
#include "ladon/examples/lessons/02_attention/exercises/several_heads.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/02_attention/exercises/solutions/causal_head.cpp"
#include "ladon/examples/lessons/02_attention/exercises/solutions/safe_softmax.cpp"
#include "ladon/examples/lessons/02_attention/exercises/solutions/several_heads.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

TEST(LessonAttention, SafeSoftmax) {
  const Exercise exercise(check_safe_softmax);
  exercise.is_open(hole::safe_softmax);
  exercise.accepts(solution::safe_softmax);
  exercise.refuses([](const Tensor& x) { return exp(x) / sum(exp(x), -1, keep_dims); },
                   "exp overflows");
  exercise.refuses([](const Tensor& x) { return softmax(x, 0); }, "along the first axis");
  exercise.refuses(
      [](const Tensor& x) {
        const Tensor e = exp(x - amax(x));
        return e / sum(e, -1, keep_dims);
      },
      "of each row, not that of the tensor");
  exercise.refuses(
      [](const Tensor& x) {
        const Tensor e = exp(x - amax(x)), total = sum(e, -1, keep_dims);
        return e / where(equal(total, 0), 1, total);
      },
      "lost their weights");
  exercise.refuses(
      [](const Tensor& x) {
        const Tensor e = exp(x - amax(x, -1, keep_dims));
        return e / sum(e, -1, keep_dims);
      },
      "a row of −∞ have weights that are not finite");
  exercise.refuses([](const Tensor& x) { return softmax(masked_fill(x, less(x, -1e9), -1e9)); },
                   "as if a finite number stood for −∞");
  exercise.refuses([](const Tensor& x) { return exp(x - amax(x, -1, keep_dims)); },
                   "do not sum to 1");
}

/// One head with a mask that hides where `hidden` is 1.
Tensor head(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Tensor& hidden) {
  const Tensor logits = matmul(q, transpose(k)) * scale;
  return matmul(softmax(masked_fill(logits, equal(hidden, 1), -HUGE_VAL)), v);
}

Tensor map_like(const Tensor& q) { return ones({q.size(0), q.size(0)}, f64); }

double root_scale(const Tensor& q) { return 1 / std::sqrt(static_cast<double>(q.size(1))); }

TEST(LessonAttention, CausalHead) {
  using Matrix = const Tensor&;
  const Exercise exercise(check_causal_head);
  exercise.is_open(hole::causal_head);
  exercise.accepts(solution::causal_head);
  exercise.refuses(
      [](Matrix q, Matrix k, Matrix v) { return head(q, k, v, 1, triu(map_like(q), 1)); },
      "not divided by √d_k");
  exercise.refuses(
      [](Matrix q, Matrix k, Matrix v) {
        return head(q, k, v, root_scale(q) * root_scale(q), triu(map_like(q), 1));
      },
      "divided by d_k;");
  exercise.refuses([](Matrix q, Matrix k, Matrix v) { return solution::causal_head(k, q, v); },
                   "swapped");
  exercise.refuses([](Matrix q, Matrix k,
                      Matrix v) { return head(q, k, v, root_scale(q), tril(map_like(q), -1)); },
                   "the mask is inverted");
  exercise.refuses(
      [](Matrix q, Matrix k, Matrix v) {
        return matmul(tril(softmax(matmul(q, transpose(k)) * root_scale(q))), v);
      },
      "after the softmax");
  exercise.refuses(
      [](Matrix q, Matrix k, Matrix v) {
        return matmul(softmax(tril(matmul(q, transpose(k)) * root_scale(q))), v);
      },
      "exp(0) is 1");
  exercise.refuses(
      [](Matrix q, Matrix k, Matrix v) { return head(q, k, v, root_scale(q), triu(map_like(q))); },
      "its own key");
  exercise.refuses(
      [](Matrix q, Matrix k, Matrix v) {
        return matmul(softmax(matmul(q, transpose(k)) * root_scale(q)), v);
      },
      "no causal mask");
}

Tensor in_order(const Tensor& x, std::int64_t heads) {
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}

Tensor reshaped(const Tensor& x, std::int64_t heads) {
  return reshape(x, {x.size(0), heads, x.size(1), x.size(2) / heads});
}

Tensor strided(const Tensor& x, std::int64_t heads) {
  return permute(reshape(x, {x.size(0), x.size(1), x.size(2) / heads, heads}), {0, 3, 1, 2});
}

/// Contexts [B, heads, T, d] of heads that `apart` makes.
Tensor contexts(const Tensor& x, const Tensor& projection, int heads, decltype(in_order)* apart,
                std::optional<double> scale = {}) {
  const std::vector<Tensor> parts = split(matmul(x, projection), x.size(2), 2);
  return scaled_dot_product_attention(apart(parts[0], heads), apart(parts[1], heads),
                                      apart(parts[2], heads), {.scale = scale});
}

Tensor merged(const Tensor& c, const Tensor& x) { return reshape(transpose(c, 1, 2), x.shape()); }

TEST(LessonAttention, SeveralHeads) {
  using In = const Tensor&;
  const Exercise exercise(check_several_heads);
  exercise.is_open(hole::several_heads);
  exercise.accepts(solution::several_heads);
  exercise.refuses(
      [](In x, In projection, In output, int heads) {
        return matmul(reshape(contexts(x, projection, heads, in_order), x.shape()), output);
      },
      "without transposing back");
  exercise.refuses(
      [](In x, In projection, In output, int heads) {
        return matmul(reshape(contexts(x, projection, heads, reshaped), x.shape()), output);
      },
      "a reshape alone");
  exercise.refuses(
      [](In x, In projection, In output, int heads) {
        return matmul(merged(contexts(x, projection, heads, strided), x), output);
      },
      "every third column");
  exercise.refuses(
      [](In x, In projection, In output, int heads) {
        const double scale = 1 / std::sqrt(static_cast<double>(x.size(2)));
        return matmul(merged(contexts(x, projection, heads, in_order, scale), x), output);
      },
      "root of the whole width");
  exercise.refuses(
      [](In x, In projection, In output, int heads) {
        const Tensor all = reshape(matmul(x, projection), {x.size(0), x.size(1), heads, 3, -1});
        const auto part = [&](int i) { return transpose(select(all, 3, i), 1, 2); };
        return matmul(merged(scaled_dot_product_attention(part(0), part(1), part(2)), x), output);
      },
      "not [heads, 3, d]");
  exercise.refuses([](In x, In projection, In,
                      int heads) { return merged(contexts(x, projection, heads, in_order), x); },
                   "output projection is missing");
  exercise.refuses([](In x, In projection, In output,
                      int) { return solution::several_heads(x, projection, output, 1); },
                   "one map for all columns");
}

}  // namespace
}  // namespace ladon::test
