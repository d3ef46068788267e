#include "ladon/layers/infinite/kernel/inputs.h"

#include <algorithm>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/blas.h"
#include "ladon/core/error.h"
#include "ladon/core/parallel.h"

namespace ladon::infinite {
namespace {

Shape positions_of(const Inputs& in) {
  const Shape& s = in.x.shape();
  if (in.x.dtype() == i64) {
    LADON_CHECK(s.rank() == 1 || s.rank() == 2, "input_kernel",
                "indices are [N] or [N, T], got shape ", s);
    return s.sub(1, s.rank());
  }
  LADON_CHECK(is_floating(in.x.dtype()), "input_kernel",
              "inputs are floating numbers or i64 indices, got ", in.x.dtype());
  LADON_CHECK(s.rank() >= 2 && s.rank() <= 4, "input_kernel",
              "inputs are [N, d], [N, T, d] or [N, H, W, d], got shape ", s);
  LADON_CHECK(s[s.rank() - 1] > 0, "input_kernel", "inputs have no channels: shape ", s);
  return s.sub(1, s.rank() - 1);
}

/// f64 [N, T, d]; T = 1 for vectors. Indices stay i64, with d = 1.
Tensor rows_of(const Inputs& in, const Shape& positions) {
  NoGrad no_grad;
  const Tensor x = in.x.dtype() == i64 ? in.x : cast(in.x, f64);
  const std::int64_t channels = in.x.dtype() == i64 ? 1 : x.size(-1);
  return contiguous(reshape(x, {x.size(0), positions.count(), channels}));
}

/// Inputs side by side, as the products take them.
struct Rows {
  Rows(const Inputs& in, const Shape& positions)
      : x(rows_of(in, positions)), n(x.size(0)), t(x.size(1)), d(x.size(2)) {
    // Products of few rows are fastest with both factors row-major.
    if (t > 1 && x.dtype() != i64) columns = contiguous(transpose(x));
  }
  bool indices() const { return x.dtype() == i64; }

  Tensor x;        // [N, T, d]
  Tensor columns;  // [N, d, T], if there are several positions
  std::int64_t n, t, d;
};

/// x·x'ᵀ/d of `rows` rows of a, from row i, with `columns` rows of b, from row j, into k; i and j
/// are at the first position of an input, and `columns` is t if there are several.
void products(const Rows& a, std::int64_t i, std::int64_t rows, const Rows& b, std::int64_t j,
              std::int64_t columns, double* k, std::int64_t row) {
  const std::int64_t d = a.d;
  if (a.indices()) {
    const std::int64_t *x = a.x.data<std::int64_t>() + i, *y = b.x.data<std::int64_t>() + j;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) k[r * row + c] = x[r] == y[c] ? 1 : 0;
    return;
  }
  const blas::Matrix<const double> left{a.x.data<double>() + i * d, d, 1};
  const blas::Matrix<const double> right =
      b.columns.defined() ? blas::Matrix<const double>{b.columns.data<double>() + j * d, b.t, 1}
                          : blas::Matrix<const double>{b.x.data<double>() + j * d, 1, d};
  // [rows, d] · [d, columns]
  blas::gemm_serial<double>(rows, columns, d, 1.0 / static_cast<double>(d), left, right, 0,
                            {k, row, 1});
}

// Inputs are taken in units of a fixed number: vectors `unit` at a time, so that the products are
// efficient; inputs with positions one at a time. A product so has the same shape wherever the
// block begins, as long as blocks begin at multiples of the unit.
Tensor inner_products(const Rows& a, const Rows& b) {
  const std::int64_t t = a.t, unit = t == 1 ? vector_unit : 1;
  Tensor k = empty(t == 1 ? Shape{a.n, b.n} : Shape{a.n, b.n, t, t}, f64);
  double* out = k.mutable_data<double>();
  const std::int64_t units = (a.n + unit - 1) / unit;
  parallel::for_range(units, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * unit; i < std::min(end * unit, a.n); i += unit)
      for (std::int64_t j = 0; j < b.n; j += unit)
        products(a, i * t, std::min(unit, a.n - i) * t, b, j * t, std::min(unit, b.n - j) * t,
                 out + (i * b.n + j) * t * t, t == 1 ? b.n : t);
  });
  return k;
}

/// [N] or [N, T, T]: the diagonal of inner_products(a, a) by the very products that make it. If the
/// two differed in the last bit, equal vectors would stand at an angle of 1e-8, and so far from its
/// value would be the derivative of an arc-cosine kernel.
Tensor self_products(const Rows& a) {
  const std::int64_t n = a.n, t = a.t, unit = vector_unit;
  Tensor k = empty(t == 1 ? Shape{n} : Shape{n, t, t}, f64);
  double* out = k.mutable_data<double>();
  if (t != 1) {  // also for no positions: [N, 0, 0] has no elements
    parallel::for_range(n, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        products(a, i * t, t, a, i * t, t, out + i * t * t, t);
    });
    return k;
  }
  parallel::for_range((n + unit - 1) / unit, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> square(static_cast<std::size_t>(unit * unit));
    for (std::int64_t i = begin * unit; i < std::min(n, end * unit); i += unit) {
      const std::int64_t rows = std::min(unit, n - i);
      products(a, i, rows, a, i, rows, square.data(), rows);
      for (std::int64_t r = 0; r < rows; ++r)
        out[i + r] = square[static_cast<std::size_t>(r * (rows + 1))];
    }
  });
  return k;
}

void check_mask(const Inputs& in, const Shape& positions) {
  if (!in.mask.defined()) return;
  const Shape wanted = {in.count(), positions.count()};
  LADON_CHECK(positions.rank() > 0 && in.mask.dtype() == boolean && in.mask.shape() == wanted,
              "input_kernel", "the mask of inputs of shape ", in.x.shape(), " must be bool ",
              wanted, ", got ", in.mask.dtype(), " ", in.mask.shape());
}

}  // namespace

Inputs Inputs::rows(std::int64_t begin, std::int64_t end) const {
  const Slice range{.start = begin, .stop = end};
  Inputs part(slice(x, 0, range), mask.defined() ? slice(mask, 0, range) : mask);
  if (self.defined()) part.self = slice(self, 0, range);
  return part;
}

void remember_self_kernel(Inputs& in) {
  const Shape positions = positions_of(in);
  if (positions.rank() == 0) in.self = self_products(Rows(in, positions));
}

Kernel input_kernel(const Inputs& a, const Inputs& b, Get get) {
  LADON_CHECK(a.x.defined() && b.x.defined(), "input_kernel", "a block of inputs is undefined");
  const Shape positions = positions_of(a);
  LADON_CHECK(a.x.shape().sub(1, a.x.rank()) == b.x.shape().sub(1, b.x.rank()) &&
                  (a.x.dtype() == i64) == (b.x.dtype() == i64),
              "input_kernel", "the blocks must agree in all but their number; got shapes ",
              a.x.shape(), " and ", b.x.shape());
  check_mask(a, positions);
  check_mask(b, positions);
  const Rows rows1(a, positions), rows2(b, positions);
  Kernel k;
  k.positions = positions;
  k.law = Law::data();
  k.nngp = inner_products(rows1, rows2);
  if (positions.rank() > 0 && k.nngp.rank() == 2)  // a single position is an axis too
    k.nngp = reshape(k.nngp, {a.count(), b.count(), 1, 1});
  if (get == Get::ntk) k.ntk = zeros(k.nngp.shape(), f64);
  const auto self = [&](const Inputs& in, const Rows& rows) {
    if (in.self.defined()) return in.self;
    const Tensor cov = self_products(rows);
    return positions.rank() > 0 && cov.rank() == 1 ? reshape(cov, {rows.n, 1, 1}) : cov;
  };
  k.cov1 = self(a, rows1);
  k.cov2 = self(b, rows2);
  k.mask1 = a.mask;
  k.mask2 = b.mask;
  if (k.mask1.defined() != k.mask2.defined())  // one side has padding, the other none
    (k.mask1.defined() ? k.mask2 : k.mask1) =
        ones({(k.mask1.defined() ? b : a).count(), positions.count()}, boolean);
  return k;
}

Kernel input_kernel(const Inputs& a, Get get) {
  Kernel k = input_kernel(a, a, get);
  k.same = cast(eye(a.count(), f64), boolean);
  return k;
}

}  // namespace ladon::infinite
