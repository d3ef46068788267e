#include "ladon/optim/particles/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/lane_sum.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Mean, minimum and maximum of figure(i, j) over pairs i < j of m particles.
template <class F>
PairSpread over_pairs(std::int64_t m, const F& figure) {
  if (m < 2) return {nan, nan, nan};
  PairSpread spread{0, std::numeric_limits<double>::infinity(),
                    -std::numeric_limits<double>::infinity()};
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = i + 1; j < m; ++j) {
      const double value = figure(i, j);
      spread.mean += value;
      spread.min = std::min(spread.min, value);
      spread.max = std::max(spread.max, value);
    }
  spread.mean /= double(m * (m - 1) / 2);
  return spread;
}

/// Binary exponent of the largest of n values |x_k|, or 0 if its square is far from overflow and
/// underflow in f64, so that no scaling is needed.
int extreme_exponent(const double* x, std::int64_t n) {
  const int exponent = rows::largest_exponent(x, n);
  return std::abs(exponent) < 400 ? 0 : exponent;
}

/// For one query: the sum over pairs of heads of the cosine between their rows of attention
/// weights, and the number of pairs. Both are 0 if all weights are 0. Head h's row begins at row +
/// h·stride.
struct Tally {
  double sum = 0, count = 0;
};
template <class T>
Tally query_redundancy(const T* row, std::int64_t heads, std::int64_t stride, std::int64_t keys) {
  std::vector<double> squares(heads), factors(heads, 1);  // squares of row·factor do not overflow
  if constexpr (std::is_same_v<T, double>)
    for (std::int64_t h = 0; h < heads; ++h)
      factors[h] = std::ldexp(1, -std::max(extreme_exponent(row + h * stride, keys), -1000));
  const auto inner = [&](std::int64_t h, std::int64_t g) {
    const T *a = row + h * stride, *b = row + g * stride;
    const double left = factors[h], right = factors[g];
    return kernels::lane_sum(
        keys, [=](std::int64_t k) { return double(a[k]) * left * (double(b[k]) * right); });
  };
  for (std::int64_t h = 0; h < heads; ++h) squares[h] = inner(h, h);
  if (std::all_of(squares.begin(), squares.end(), [](double s) { return s == 0; })) return {};
  Tally tally;
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t g = h + 1; g < heads; ++g) {
      const double scale = std::sqrt(squares[h]) * std::sqrt(squares[g]);
      tally.sum += scale > 0 ? inner(h, g) / scale : 0;
      tally.count += 1;
    }
  return tally;
}

/// Particles theta with row i divided by 2^exponents[i] (by the same power for all rows if
/// `together`), so that products of elements neither overflow nor underflow f64. theta is not
/// copied if no scaling is needed; f32 never needs scaling, because sums are in f64.
struct InRange {
  InRange(const Tensor& theta, bool together) : rows(theta.detach()) {
    if (!rows.defined() || rows.dtype() != f64 || rows.rank() != 2) return;
    const Tensor x = contiguous(rows);
    const std::int64_t m = x.size(0), d = x.size(1);
    const double* values = x.data<double>();
    for (std::int64_t i = 0; i < m; ++i)
      exponents.push_back(together ? 0 : extreme_exponent(values + i * d, d));
    if (together) exponents.assign(exponents.size(), extreme_exponent(values, m * d));
    if (std::all_of(exponents.begin(), exponents.end(), [](int e) { return e == 0; })) return;
    rows = clone(x);
    double* to = rows.mutable_data<double>();
    for (std::int64_t k = 0; k < m * d; ++k) to[k] = std::ldexp(values[k], -exponents[k / d]);
  }
  Tensor rows;
  std::vector<int> exponents;
};

}  // namespace

PairSpread pairwise_distance(const Tensor& theta) {
  const InRange near_one(theta, true);
  const Tensor d2 = rows::squared_distances(near_one.rows);
  const int exponent = near_one.exponents.empty() ? 0 : near_one.exponents[0];
  const std::int64_t m = theta.size(0);
  const double* d = d2.data<double>();
  return over_pairs(m,
                    [=](auto i, auto j) { return std::ldexp(std::sqrt(d[i * m + j]), exponent); });
}

PairSpread pairwise_cosine(const Tensor& theta) {
  const Tensor inner = rows::inner_products(InRange(theta, false).rows);
  const std::int64_t m = theta.size(0);
  const double* g = inner.data<double>();
  return over_pairs(m, [=](auto i, auto j) {
    const double scale = std::sqrt(g[i * m + i]) * std::sqrt(g[j * m + j]);
    return scale > 0 ? g[i * m + j] / scale : 0;
  });
}

PairSpread off_diagonal(const Tensor& matrix) {
  LADON_CHECK(matrix.defined() && matrix.rank() == 2 && matrix.size(0) == matrix.size(1),
              "off_diagonal", "the matrix must be [M, M], got ", detail::shape_in_words(matrix));
  const std::vector<double> values = numbers_of("off_diagonal", matrix.detach());
  const std::int64_t m = matrix.size(0);
  return over_pairs(m, [&](auto i, auto j) { return values[i * m + j]; });
}

double map_redundancy(const Tensor& maps, const Tensor& query_mask) {
  LADON_CHECK(maps.defined() && maps.rank() == 4, "map_redundancy",
              "attention maps must be [B, H, Tq, Tk], got ", detail::shape_in_words(maps));
  const std::int64_t batch = maps.size(0), heads = maps.size(1), queries = maps.size(2),
                     keys = maps.size(3);
  const bool masked = query_mask.defined();
  LADON_CHECK(
      !masked || (query_mask.dtype() == boolean && query_mask.shape() == Shape({batch, queries})),
      "map_redundancy", "the query mask must be bool ", Shape{batch, queries}, ", got ",
      query_mask.dtype(), " ", query_mask.shape());
  const Tensor x = contiguous(maps.detach());
  const Tensor mask = masked ? contiguous(query_mask) : Tensor();
  const bool* visible = masked ? mask.data<bool>() : nullptr;
  Tensor tallies = zeros({batch * queries, 2}, f64);  // Tally::sum and count of each query
  double* const tally_of = tallies.mutable_data<double>();
  visit_floating("map_redundancy", x.dtype(), [&]<class T>() {
    const T* data = x.data<T>();
    parallel::for_range(batch * queries, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t q = begin; q < end; ++q) {
        if (masked && !visible[q]) continue;
        const T* row = data + (q / queries * heads * queries + q % queries) * keys;
        const Tally tally = query_redundancy(row, heads, queries * keys, keys);
        tally_of[2 * q] = tally.sum;
        tally_of[2 * q + 1] = tally.count;
      }
    });
  });
  Tally all;
  for (std::int64_t q = 0; q < batch * queries; ++q) {
    all.sum += tally_of[2 * q];
    all.count += tally_of[2 * q + 1];
  }
  return all.count > 0 ? all.sum / all.count : nan;
}

}  // namespace ladon
