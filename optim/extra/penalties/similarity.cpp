#include "ladon/optim/extra/penalties/similarity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"

namespace ladon {
namespace {

/// Centred features x of n examples, and the squared norm |x_i|² of each example.
struct Centred {
  Tensor x, squares;  // [n, p], [n]
};

Centred centred(const char* operation, const Tensor& features, const CkaOptions& options) {
  check_plain(operation, features, "features");
  LADON_CHECK(features.rank() == 2 && is_floating(features.dtype()), operation,
              "features must be floating [n, p], got ", ladon::detail::kind_in_words(features));
  const std::int64_t n = features.size(0), least = options.debiased ? 4 : 2;
  LADON_CHECK(n >= least, operation, "needs at least ", least, " examples, got ", n);
  const Tensor given = cast(features, f64);
  const double largest =
      number_of("similarity", given.count() > 0 ? amax(abs(given)) : zeros({}, f64));
  // CKA does not depend on scale; a power of two brings fourth powers of elements into f64's range.
  const int exponent =
      largest > 0 && std::isfinite(largest) ? std::max(std::ilogb(largest), -1000) : 0;
  const Tensor x = given * std::ldexp(1.0, -exponent), deviation = x - mean(x, 0, keep_dims);
  const Tensor squares = sum(square(deviation), 1);
  const double size = number_of("similarity", sum(square(x))),
               spread = number_of("similarity", sum(squares));
  LADON_CHECK(std::isfinite(size * size), operation,
              "the features must be finite, but the sum of their squares is ", size,
              "; look for NaN or ∞ in them");
  constexpr double rounding = 1e-24;  // squared relative rounding error of a mean
  if (spread <= rounding * size) return {zeros_like(x), zeros_like(squares)};
  return {deviation, squares};
}

/// Inner product of Gram matrices ⟨XXᵀ, YYᵀ⟩ = ‖XᵀY‖²; if options.debiased, n(n − 3) times its
/// unbiased estimate, which removes the contribution of the diagonals a_i = |x_i|² and b_i =
/// |y_i|²:
///   ‖XᵀY‖² − n/(n−2)·Σ a_i b_i + Σ a_i·Σ b_i/((n−1)(n−2)).
double alignment(const Centred& x, const Centred& y, const CkaOptions& options) {
  const double product = number_of("similarity", sum(square(matmul(transpose(x.x), y.x))));
  if (!options.debiased) return product;
  const auto n = static_cast<double>(x.x.size(0));
  return product - n / (n - 2) * number_of("similarity", dot(x.squares, y.squares)) +
         number_of("similarity", sum(x.squares)) * number_of("similarity", sum(y.squares)) /
             ((n - 1) * (n - 2));
}

double normalized(double between, double x, double y) {
  return x > 0 && y > 0 ? between / (std::sqrt(x) * std::sqrt(y)) : 0;
}

/// Features of each head: contexts [B, H, T, d] → H matrices [n, d] of the n positions that are not
/// excluded.
std::vector<Tensor> features_of_heads(const Tensor& contexts, const Tensor& token_mask) {
  LADON_CHECK(contexts.defined() && contexts.rank() == 4, "head_cka",
              "contexts must be [B, H, T, d], got ", ladon::detail::shape_in_words(contexts));
  const std::int64_t batch = contexts.size(0), heads = contexts.size(1), length = contexts.size(2);
  const Shape tokens{batch, length};
  LADON_CHECK(
      !token_mask.defined() || (token_mask.dtype() == boolean && token_mask.shape() == tokens),
      "head_cka", "the token mask must be bool ", tokens, ", got ", token_mask.dtype(), " ",
      token_mask.shape());
  std::vector<Tensor> features;
  for (std::int64_t h = 0; h < heads; ++h) {
    const Tensor rows = flatten(select(contexts, 1, h), 0, 1);  // [B·T, d]
    features.push_back(
        token_mask.defined() ? index_select(rows, 0, flatten(nonzero(flatten(token_mask)))) : rows);
  }
  return features;
}

}  // namespace

double linear_cka(const Tensor& x, const Tensor& y, const CkaOptions& options) {
  LADON_CHECK(x.defined() && y.defined(), "linear_cka",
              "the features are undefined; they must be [n, p] and [n, q]");
  LADON_CHECK(x.rank() == 2 && y.rank() == 2 && x.size(0) == y.size(0), "linear_cka",
              "features must be [n, p] and [n, q] of the same examples, got ", x.shape(), " and ",
              y.shape());
  const NoGrad off;
  const Centred a = centred("linear_cka", x, options), b = centred("linear_cka", y, options);
  return normalized(alignment(a, b, options), alignment(a, a, options), alignment(b, b, options));
}

Tensor head_cka(const Tensor& contexts, const Tensor& token_mask, const CkaOptions& options) {
  const NoGrad off;
  std::vector<Centred> heads;
  for (const Tensor& features : features_of_heads(contexts, token_mask))
    heads.push_back(centred("head_cka", features, options));
  const std::size_t count = heads.size();
  std::vector<double> own(count), cka(count * count, 1);
  for (std::size_t h = 0; h < count; ++h) own[h] = alignment(heads[h], heads[h], options);
  for (std::size_t h = 0; h < count; ++h)
    for (std::size_t g = 0; g < h; ++g)
      cka[h * count + g] = cka[g * count + h] =
          normalized(alignment(heads[h], heads[g], options), own[h], own[g]);
  const auto side = static_cast<std::int64_t>(count);
  return from_vector(cka, {side, side});
}

double effective_number(const Tensor& similarity, double order) {
  LADON_CHECK(order >= 1, "effective_number", "the order is ", order, "; it must be at least 1");
  LADON_CHECK(similarity.defined() && similarity.rank() == 2 &&
                  similarity.size(0) == similarity.size(1) && similarity.count() > 0 &&
                  is_floating(similarity.dtype()),
              "effective_number", "similarities must be floating [H, H] with H > 0, got ",
              ladon::detail::kind_in_words(similarity));
  const NoGrad off;
  check_plain("effective_number", similarity, "similarities");
  std::vector<double> p = numbers_of("similarity", lapack::eigenvalues(cast(similarity, f64)));
  double trace = 0;
  for (const double value : p) trace += value;
  constexpr double rounding = 1e-6;  // error of similarities computed in f32
  LADON_CHECK(std::isfinite(trace) && trace > 0 && p[0] >= -rounding * trace, "effective_number",
              "the matrix must be positive semidefinite, with a positive trace, but its trace is ",
              trace, " and its smallest eigenvalue is ", p[0]);
  double sum = 0;
  for (double& value : p) sum += value = std::max(value, 0.0);
  for (double& value : p) value /= sum;
  const double largest = p.back();
  if (std::isinf(order)) return 1 / largest;
  // ln Σ p^q in one of two accurate forms: for q near 1, where the sum is near Σ p = 1, from its
  // difference from 1; for a large q, where p^q may underflow, from powers of p/largest.
  double entropy = 0, excess = 0, relative = 0;
  for (const double value : p) {
    if (value <= 0) continue;
    entropy -= value * std::log(value);
    excess += value * std::expm1((order - 1) * std::log(value));
    relative += std::pow(value / largest, order);
  }
  if (order == 1) return std::exp(entropy);
  const double log_sum =
      order < 2 ? std::log1p(excess) : order * std::log(largest) + std::log(relative);
  return std::exp(log_sum / (1 - order));
}

}  // namespace ladon
