#include "ladon/layers/infinite/kernel/roots.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {
namespace {

/// A kernel [N1, N2, T, T] as one matrix [N1·T, N2·T] over tokens.
Tensor between_tokens(const Tensor& k) {
  const std::int64_t n1 = k.size(0), n2 = k.size(1), t = k.size(2);
  return contiguous(reshape(contiguous(permute(k, {0, 2, 1, 3})), {n1 * t, n2 * t}));
}

/// Pivots of a Cholesky factor, and its columns over all tokens in the order of the pivots.
struct Pivoted {
  std::vector<std::int64_t> pivots;
  std::vector<std::vector<double>> columns;
};

/// Largest unexplained share of a variance that counts as a rounding error.
constexpr double rounding_share = 1e-12;

/// Pivoted Cholesky factor of k [n, n] (Harbrecht, Peters and Schneider 2012). Each pivot is the
/// token with the largest unexplained share of its variance, as for the matrix of correlations,
/// until `rank` pivots are found or all other tokens are explained up to rounding. If `given` is
/// not null, its tokens are the pivots; one that earlier pivots explain up to rounding gets a
/// column of zeros.
Pivoted pivoted(const Tensor& k, std::int64_t rank, const std::vector<std::int64_t>* given) {
  const std::int64_t n = k.size(0);
  const double* x = k.data<double>();
  std::vector<double> left(n);  // unexplained part of each variance
  for (std::int64_t i = 0; i < n; ++i) left[i] = x[i * n + i];
  const auto share = [&](std::int64_t i) {  // unexplained share of a token's variance
    const double variance = x[i * n + i];
    return variance > 0 ? left[i] / variance : 0;
  };
  const auto least_explained = [&] {
    std::int64_t at = 0;
    for (std::int64_t i = 1; i < n; ++i)
      if (share(i) > share(at)) at = i;
    return at;
  };
  const std::int64_t most = given ? std::ssize(*given) : std::min(n, rank);
  Pivoted y;
  while (std::ssize(y.columns) < most) {
    const std::int64_t at = given ? (*given)[y.columns.size()] : least_explained();
    const double pivot = left[at];
    const bool explained = !(share(at) > rounding_share);
    if (explained && !given) break;
    std::vector<double> column(n);
    for (std::int64_t i = 0; i < n && !explained; ++i) {
      double sum = x[i * n + at];
      for (const auto& c : y.columns) sum -= c[i] * c[at];
      column[i] = sum / std::sqrt(pivot);
    }
    for (std::size_t i = 0; i < column.size(); ++i) left[i] -= column[i] * column[i];
    left[at] = 0;
    y.pivots.push_back(at);
    y.columns.push_back(std::move(column));
  }
  return y;
}

/// L⁻ᵀ [R, R] with L[i, j] = columns[j][pivots[i]], by forward substitution; 0 in the rows and
/// columns of pivots with a zero column.
Tensor inverse_of(const Pivoted& factor) {
  const auto r = static_cast<std::int64_t>(factor.columns.size());
  Tensor y = zeros({r, r}, f64);
  double* inverse = y.mutable_data<double>();  // column i is row i of L⁻¹
  const auto lower = [&](std::int64_t i, std::int64_t j) {
    return factor.columns[j][factor.pivots[i]];
  };
  for (std::int64_t c = 0; c < r; ++c)
    for (std::int64_t i = c; i < r && lower(c, c) > 0; ++i) {
      if (!(lower(i, i) > 0)) continue;
      double sum = i == c ? 1 : 0;
      for (std::int64_t j = c; j < i; ++j) sum -= lower(i, j) * inverse[c * r + j];
      inverse[c * r + i] = sum / lower(i, i);
    }
  return y;
}

/// The lower triangle of x with half of its diagonal. The differential of the Cholesky factor L of
/// k is dL = L·half(L⁻¹·dk·L⁻ᵀ).
Tensor half(const Tensor& x) { return 0.5 * (tril(x) + tril(x, -1)); }

}  // namespace

namespace {

/// Throws Error unless k is a kernel [N1, N2, T, T] in f64.
void check_tokens(const char* operation, const Tensor& k) {
  LADON_CHECK(k.defined() && k.dtype() == f64 && k.rank() == 4 && k.size(2) == k.size(3), operation,
              "the kernel of landmarks must be f64 [N1, N2, T, T], got ", detail::kind_in_words(k));
}

/// Throws Error unless the pivots are different tokens, of 0 to tokens − 1.
void check_pivots(const char* operation, const std::vector<std::int64_t>& pivots,
                  std::int64_t tokens) {
  std::vector<char> taken(tokens);
  for (const std::int64_t at : pivots) {
    LADON_CHECK(at >= 0 && at < tokens, operation, "a pivot is ", at, ", but the landmarks have ",
                tokens, " tokens; a pivot is the index of one of them");
    LADON_CHECK(!taken[at], operation, "token ", at, " is a pivot twice; pivots must differ");
    taken[at] = true;
  }
}

}  // namespace

// The gradient rule, for the kernel k of the pivots and its Cholesky factor L: with M = L⁻ᵀ and
// S = Mᵀ·dk·M, dM = −M·half(S)ᵀ.
RootFactor root_factor(const Tensor& between, std::int64_t rank,
                       const std::vector<std::int64_t>* given) {
  check_tokens("root_factor", between);
  LADON_CHECK(between.size(0) == between.size(1), "root_factor",
              "the landmarks' kernel must be that of all pairs, [N, N, T, T], got ",
              between.shape());
  if (given) check_pivots("root_factor", *given, between.size(0) * between.size(2));
  const Tensor k = between_tokens(between);
  const Pivoted found = pivoted(k.detach(), rank, given);
  const Tensor index = from_vector(found.pivots, {static_cast<std::int64_t>(found.pivots.size())});
  const Tensor at_pivots = index_select(index_select(k, 0, index), 1, index);
  const Tensor inverse =
      record("inverse_root", inverse_of(found), {at_pivots}, [](const Tensor& g, const Tensor& m) {
        const Tensor q = half(matmul(transpose(g), m));
        return -0.5 * matmul(matmul(m, q + transpose(q)), transpose(m));
      });
  return {found.pivots, inverse};
}

namespace {

/// seen·inverse, [N, T, R] · [R, R], with a product per input: in one product of all rows, last
/// bits would depend on the other inputs of the block.
Tensor input_by_input(const Tensor& seen, const Tensor& inverse) {
  const Tensor x = contiguous(seen), m = contiguous(inverse);
  const std::int64_t n = x.size(0), t = x.size(1), r = x.size(2);
  Tensor y = empty(x.shape(), f64);
  const double *from = x.data<double>(), *by = m.data<double>();
  double* to = y.mutable_data<double>();
  const std::int64_t grain = 1 + (1 << 17) / std::max<std::int64_t>(1, t * r * r);
  parallel::for_range(n, grain, [=](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i)
      blas::gemm_serial<double>(t, r, r, 1, {from + i * t * r, r, 1}, {by, r, 1}, 0,
                                {to + i * t * r, r, 1});
  });
  return y;
}

}  // namespace

// Φ = k(tokens, pivots)·L⁻ᵀ, where L is the Cholesky factor of k(pivots, pivots).
Tensor coordinates(const Tensor& k, const RootFactor& factor) {
  check_tokens("coordinates", k);
  const std::int64_t n = k.size(0), t = k.size(2);
  const auto r = static_cast<std::int64_t>(factor.pivots.size());
  check_pivots("coordinates", factor.pivots, k.size(1) * t);
  const Tensor& inverse = factor.inverse;
  LADON_CHECK(inverse.defined() && inverse.dtype() == f64 && inverse.shape() == Shape({r, r}),
              "coordinates", "the factor has ", r, " pivots, so its inverse must be f64 ",
              Shape({r, r}), ", got ", detail::kind_in_words(inverse));
  const Tensor index = from_vector(factor.pivots, {r});
  const Tensor seen = reshape(index_select(between_tokens(k), 1, index), {n, t, r});
  return fast_or_composed(
      "coordinates", {seen, factor.inverse}, [&] { return input_by_input(seen, factor.inverse); },
      [&] { return contiguous(matmul(seen, factor.inverse)); });
}

Tensor own_root(const Tensor& cov, const Tensor& common) {
  return lower_root(cov - matmul(common, transpose(common)), cov);
}

void factorize(double* x, std::int64_t n, const double* cov) {
  for (std::int64_t j = 0; j < n; ++j) {
    double pivot = x[j * n + j];
    for (std::int64_t i = 0; i < j; ++i) pivot -= x[j * n + i] * x[j * n + i];
    const double root = pivot > rounding_share * cov[j * n + j] ? std::sqrt(pivot) : 0;
    for (std::int64_t r = j; r < n; ++r) {
      double sum = x[r * n + j];
      for (std::int64_t i = 0; i < j; ++i) sum -= x[r * n + i] * x[j * n + i];
      x[r * n + j] = root > 0 ? sum / root : 0;
    }
    std::fill(x + j * n + j + 1, x + (j + 1) * n, 0.0);
  }
}

// The gradient rule: with W = L⁻¹ on the nonzero columns, dL = dx·Wᵀ − L·half(W·dx·Wᵀ)ᵀ there.
Tensor lower_root(const Tensor& x, const Tensor& cov) {
  const std::int64_t t = x.size(-1), n = t > 0 ? x.count() / (t * t) : 0;
  Tensor root = clone(contiguous(x.detach()));
  const Tensor k = contiguous(cov.detach());
  double* out = root.mutable_data<double>();
  for (std::int64_t i = 0; i < n; ++i) factorize(out + i * t * t, t, k.data<double>() + i * t * t);
  return record("lower_root", root, {x}, [t, n](const Tensor& g, const Tensor& y) {
    LADON_CHECK(!grad_enabled(), "lower_root",
                "has no second derivatives; take gradients without create_graph");
    const Tensor taken = cast(greater(diagonal(y), 0), f64);  // [.., T]
    const Tensor rows = unsqueeze(taken, -1), columns = unsqueeze(taken, -2);
    // Zero columns are replaced by those of the unit matrix, so that L can be inverted.
    const Tensor whole = reshape(y + (1 - rows) * eye(t, f64), {n, t, t});
    std::vector<Tensor> inverses;
    for (std::int64_t i = 0; i < n; ++i)
      inverses.push_back(lapack::solve_triangular(select(whole, 0, i), eye(t, f64)));
    const Tensor w = rows * columns * (n > 0 ? reshape(stack(inverses, 0), y.shape()) : y);
    const Tensor own = g * columns, q = half(matmul(transpose(own), y));
    const Tensor by_x = matmul(own, w) - matmul(matmul(transpose(w), q), w);
    return 0.5 * (by_x + transpose(by_x));
  });
}

}  // namespace ladon::infinite
