#include "ladon/layers/infinite/kernel/inputs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/cxx20.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"

namespace ladon::infinite {
namespace {

Shape positions_of(const Inputs& in) {
  const Shape& s = in.x.shape();
  if (in.x.dtype() == i64) {
    LADON_CHECK(s.rank() == 1 || s.rank() == 2, "input_kernel",
                "indices must have shape [N] or [N, T], got ", s);
    return s.sub(1, s.rank());
  }
  LADON_CHECK(is_floating(in.x.dtype()), "input_kernel",
              "inputs must be floating-point numbers or i64 indices, got ", in.x.dtype());
  LADON_CHECK(s.rank() >= 2 && s.rank() <= 4, "input_kernel",
              "inputs must have shape [N, d], [N, T, d] or [N, H, W, d], got ", s);
  LADON_CHECK(s[s.rank() - 1] > 0, "input_kernel",
              "inputs need at least one channel, the last axis, got shape ", s);
  return s.sub(1, s.rank() - 1);
}

/// Inputs as f64 [N, T, d]; T = 1 for vectors. Indices stay i64, with d = 1. Masked tokens are set
/// to 0: no layer's kernels, coordinates or gradients can depend on their values. Throws Error if a
/// visible number is not finite.
Tensor rows_of(const Inputs& in, const Shape& positions) {
  const bool indices = in.x.dtype() == i64;
  const std::int64_t channels = indices ? 1 : in.x.size(-1);
  const Tensor seen = in.blanked().x;
  const Tensor x =
      reshape(indices ? seen : cast(seen, f64), {in.x.size(0), positions.count(), channels});
  if (indices || std::isfinite(number_of("input_kernel", sum(x.detach())))) return x;
  const Tensor whole = contiguous(all(flatten(isfinite(x.detach()), 1, -1), 1));
  for (std::int64_t i = 0; i < whole.count(); ++i)
    LADON_CHECK(whole.data<bool>()[i], "input_kernel", "input ", i,
                " holds a number that is not finite",
                in.mask.defined() ? " in a visible token; correct it, or mask the token"
                                  : "; all inputs must be finite");
  return x;
}

/// A block of inputs as contiguous rows, whose inner products are the kernel.
struct Rows {
  Rows(const Inputs& in, const Shape& positions)
      : source(rows_of(in, positions)), n(source.size(0)), t(source.size(1)), d(source.size(2)) {
    const NoGrad off;
    x = contiguous(source);
    // Products of few rows are fastest with both factors row-major.
    if (t > 1 && !indices()) columns = contiguous(transpose(x));
  }
  bool indices() const { return x.dtype() == i64; }

  Tensor source;   // [N, T, d], with its history
  Tensor x;        // `source`, contiguous
  Tensor columns;  // [N, d, T], if there are several positions
  std::int64_t n, t, d;
};

/// Writes the products x·x'ᵀ/d of rows [i, i + rows) of a with rows [j, j + columns) of b to k, a
/// matrix whose rows are `row` elements apart. i and j are at the first position of an input; if
/// inputs have several positions, `columns` is their number t.
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

// Inputs are multiplied in units of a fixed number: `unit` vectors at a time, for efficiency, or
// one input with positions at a time. So a product has the same shape wherever a block begins, as
// long as blocks begin at multiples of the unit.
Tensor inner_products(const Rows& a, const Rows& b) {
  const std::int64_t t = a.t, unit = t == 1 ? vector_unit : 1;
  const bool upper = &a == &b && t > 1 && PassScope::options().upper_triangle;
  const auto transpose = kernels::loops().f64.transpose;
  Tensor k = empty(t == 1 ? Shape{a.n, b.n} : Shape{a.n, b.n, t, t}, f64);
  double* out = k.mutable_data<double>();
  const std::int64_t units = (a.n + unit - 1) / unit;
  parallel::for_range(units, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * unit; i < std::min(end * unit, a.n); i += unit)
      for (std::int64_t j = upper ? i : 0; j < b.n; j += unit) {
        double* const block = out + (i * b.n + j) * t * t;
        products(a, i * t, std::min(unit, a.n - i) * t, b, j * t, std::min(unit, b.n - j) * t,
                 block, t == 1 ? b.n : t);
        if (upper && i < j) transpose(t, t, block, t, out + (j * b.n + i) * t * t, t);
      }
  });
  return k;
}

/// [N] or [N, T, T]: the diagonal of inner_products(a, a), computed by the same products. If the
/// two differed in the last bit, equal vectors would have an angle of 1e-8 instead of 0, and the
/// derivative of an arc-cosine kernel would have an error of that size.
Tensor self_products(const Rows& a) {
  const std::int64_t n = a.n, t = a.t, unit = vector_unit;
  Tensor k = empty(t == 1 ? Shape{n} : Shape{n, t, t}, f64);
  double* out = k.mutable_data<double>();
  if (t != 1) {  // also for t = 0, where [N, 0, 0] has no elements
    parallel::for_range(n, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        products(a, i * t, t, a, i * t, t, out + i * t * t, t);
    });
    return k;
  }
  parallel::for_range((n + unit - 1) / unit, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> square(unit * unit);
    for (std::int64_t i = begin * unit; i < std::min(n, end * unit); i += unit) {
      const std::int64_t rows = std::min(unit, n - i);
      products(a, i, rows, a, i, rows, square.data(), rows);
      for (std::int64_t r = 0; r < rows; ++r) out[i + r] = square[r * (rows + 1)];
    }
  });
  return k;
}

/// Products of each position of input i of a with the same position of input j of b: T numbers.
void products_at_positions(const Rows& a, std::int64_t i, const Rows& b, std::int64_t j,
                           double* k) {
  const std::int64_t t = a.t, size = t * a.d;
  if (a.indices()) {
    const std::int64_t *x = a.x.data<std::int64_t>() + i * t, *y = b.x.data<std::int64_t>() + j * t;
    for (std::int64_t p = 0; p < t; ++p) k[p] = x[p] == y[p] ? 1 : 0;
    return;
  }
  const auto channels = [&](const Rows& r, std::int64_t at) {  // [d, T]; for one position [1, d]
    return (r.columns.defined() ? r.columns : r.x).data<double>() + at * size;
  };
  kernels::loops().column_products(channels(a, i), channels(b, j), a.d, t,
                                   1.0 / static_cast<double>(a.d), k);
}

/// products_at_positions() for all pairs of inputs, [N1, N2, T].
Tensor diagonal_products(const Rows& a, const Rows& b) {
  Tensor k = empty({a.n, b.n, a.t}, f64);
  double* out = k.mutable_data<double>();
  const std::int64_t work = std::max<std::int64_t>(1, a.t * a.d);
  if (k.count() > 0)
    parallel::for_range(a.n * b.n, std::max<std::int64_t>(1, 20000 / work),
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t p = begin; p < end; ++p)
                            products_at_positions(a, p / b.n, b, p % b.n, out + p * a.t);
                        });
  return k;
}

/// [N, T]: the diagonal of diagonal_products(a, a).
Tensor diagonal_selves(const Rows& a) {
  Tensor k = empty({a.n, a.t}, f64);
  double* out = k.mutable_data<double>();
  if (k.count() > 0)
    parallel::for_range(a.n, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) products_at_positions(a, i, a, i, out + i * a.t);
    });
  return k;
}

/// The products of all pairs in differentiable operations: [N1, N2], [N1, N2, T, T] or [N1, N2, T].
Tensor composed_products(const Rows& a, const Rows& b, bool positions, Entries entries) {
  const double scale = 1.0 / static_cast<double>(a.d);
  const Tensor x = unsqueeze(a.source, 1),
               y = unsqueeze(b.source, 0);  // [N1, 1, T, d], [1, N2, T, d]
  if (!positions) return scale * matmul(squeeze(a.source, 1), transpose(squeeze(b.source, 1)));
  if (entries == Entries::diagonal) return scale * sum(x * y, -1);
  return scale * matmul(x, transpose(y));
}

/// [N], [N, T, T] or [N, T]: products of each input with itself.
Tensor composed_selves(const Rows& a, bool positions, Entries entries) {
  const double scale = 1.0 / static_cast<double>(a.d);
  if (!positions) return scale * sum(square(squeeze(a.source, 1)), -1);
  if (entries == Entries::diagonal) return scale * sum(square(a.source), -1);
  return scale * matmul(a.source, transpose(a.source));
}

void check_mask(const Inputs& in, const Shape& positions) {
  if (!in.mask.defined()) return;
  LADON_CHECK(positions.rank() > 0, "input_kernel", "inputs of shape ", in.x.shape(),
              " have no positions, but a mask of shape ", in.mask.shape(),
              " is given; leave out the mask");
  const Shape wanted = {in.count(), positions.count()};
  LADON_CHECK(in.mask.dtype() == boolean && in.mask.shape() == wanted, "input_kernel",
              "the mask of inputs of shape ", in.x.shape(), " must be bool ", wanted, ", got ",
              in.mask.dtype(), " ", in.mask.shape());
}

/// NNGP kernels of each input with itself: [N], [N, T, T] or [N, T].
Tensor self_of(const Kernel& k, const Rows& rows) {
  return fast_or_composed(
      "input_selves", {rows.source},
      [&] {
        if (k.entries == Entries::diagonal) return diagonal_selves(rows);
        const Tensor cov = self_products(rows);
        return k.has_positions() && cov.rank() == 1 ? reshape(cov, {rows.n, 1, 1}) : cov;
      },
      [&] { return composed_selves(rows, k.has_positions(), k.entries); });
}

Tensor pairs_of(const Kernel& k, const Rows& a, const Rows& b) {
  return fast_or_composed(
      "input_kernel", {a.source, b.source},
      [&] {
        if (k.entries == Entries::diagonal) return diagonal_products(a, b);
        const Tensor y = inner_products(a, b);  // without axes of positions if T = 1
        return k.has_positions() && y.rank() == 2 ? reshape(y, {a.n, b.n, 1, 1}) : y;
      },
      [&] { return composed_products(a, b, k.has_positions(), k.entries); });
}

/// Means over channels: [N, T], or [N] for vectors; undefined for indices. The source is made
/// contiguous, so that the sum of a row does not depend on other rows.
Tensor means_of(const Rows& rows, bool positions) {
  if (rows.indices()) return {};
  const Tensor y = sum(contiguous(rows.source), -1) / static_cast<double>(rows.d);
  return positions ? y : squeeze(y, 1);
}

/// X/sqrt(d), [N, T, d]; its product with itself is the kernel.
Tensor coordinates_of(const Rows& rows) {
  return rows.source / std::sqrt(static_cast<double>(rows.d));
}

/// Hashes of the visible tokens of each input in order, i64 [N], never 0 (FNV-1a, a word at a
/// time). Equal inputs have equal hashes, with any amount of padding around their tokens.
Tensor names_of(const Rows& rows, const Tensor& mask) {
  const std::int64_t size = rows.t * rows.d;
  const Tensor may = mask.defined() ? contiguous(mask) : mask;
  Tensor names = empty({rows.n}, i64);
  for (std::int64_t n = 0; n < rows.n; ++n) {
    std::uint64_t key = 0xcbf29ce484222325;
    const auto add = [&key](std::uint64_t word) {
      key = (key ^ word) * 0x100000001b3;
      key ^= key >> 29;
    };
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t token = n * rows.t + i / rows.d;
      if (may.defined() && !may.data<bool>()[token]) continue;
      if (rows.indices())
        add(static_cast<std::uint64_t>(rows.x.data<std::int64_t>()[n * size + i]));
      else
        add(detail::bit_cast<std::uint64_t>(rows.x.data<double>()[n * size + i] + 0.0));  // −0 as 0
    }
    names.mutable_data<std::int64_t>()[n] = static_cast<std::int64_t>(key | 1);
  }
  return names;
}

}  // namespace

Inputs Inputs::rows(std::int64_t begin, std::int64_t end) const {
  const Slice range{.start = begin, .stop = end};
  return {slice(x, 0, range), mask.defined() ? slice(mask, 0, range) : mask};
}

Inputs Inputs::blanked() const {
  if (!mask.defined()) return *this;
  Shape shape = mask.shape();  // [N, T], and the channels
  shape.append(x.count() / std::max<std::int64_t>(1, mask.count()));
  const Tensor tokens = where(unsqueeze(mask, -1), reshape(x, shape), scalar(0, x.dtype()));
  return {reshape(tokens, x.shape()), mask};
}

InputKind kind_of(const Inputs& a) {
  LADON_CHECK(a.x.defined(), "input_kernel", "a block of inputs is undefined; give a tensor");
  const Shape positions = positions_of(a);
  check_mask(a, positions);
  const bool indices = a.x.dtype() == i64;
  return {.law = indices ? Law() : Law::data(a.x.size(-1)),
          .positions = positions,
          .masked = a.mask.defined(),
          .has_means = !indices};
}

InputKind kind_of(const Inputs& a, const Inputs& b) {
  InputKind kind = kind_of(a);
  kind.masked = kind_of(b).masked || kind.masked;
  LADON_CHECK(
      a.x.shape().sub(1, a.x.rank()) == b.x.shape().sub(1, b.x.rank()) &&
          (a.x.dtype() == i64) == (b.x.dtype() == i64),
      "input_kernel",
      "both blocks must be indices or both numbers, and may differ only in the first axis, the "
      "number of inputs; got shapes ",
      a.x.shape(), " and ", b.x.shape());
  return kind;
}

Beginning begin(const Inputs& a, const Inputs* b, const BeginningOptions& options) {
  const InputKind kind = b ? kind_of(a, *b) : kind_of(a);
  const bool positions = kind.positions.rank() > 0;
  Beginning y;
  Kernel& k = y.kernel;
  k.positions = kind.positions;
  k.entries = positions ? options.entries : Entries::full;
  k.law = kind.law;
  const auto take = [&](const Inputs& in, int block, const Rows& rows) {
    (block == 0 ? k.cov1 : k.cov2) =
        options.cov[block].defined() ? options.cov[block] : self_of(k, rows);
    (block == 0 ? k.mean1 : k.mean2) = means_of(rows, positions);
    Tensor& mask = block == 0 ? k.mask1 : k.mask2;
    mask = in.mask;
    if (kind.masked && !mask.defined())  // only the other block has padding
      mask = ones({in.count(), kind.positions.count()}, boolean);
    if (options.names) y.names[block] = names_of(rows, in.mask);
    if (options.coordinates && !rows.indices()) y.coordinates[block] = coordinates_of(rows);
  };
  const Rows rows1(a, kind.positions);
  take(a, 0, rows1);
  if (b) {
    const Rows rows2(*b, kind.positions);
    take(*b, 1, rows2);
    if (options.pairs) k.nngp = pairs_of(k, rows1, rows2);
  } else {
    k.cov2 = k.cov1;
    k.mean2 = k.mean1;
    k.mask2 = k.mask1;
    y.names[1] = y.names[0];
    y.coordinates[1] = y.coordinates[0];
    if (options.pairs) {
      k.nngp = pairs_of(k, rows1, rows1);
      k.same = cast(eye(a.count(), f64), boolean);
    }
  }
  if (options.pairs && options.get == Get::ntk) k.ntk = zeros(k.nngp.shape(), f64);
  k.check("input_kernel", a.count(), b ? b->count() : a.count());
  return y;
}

Kernel input_kernel(const Inputs& a, const Inputs& b, const KernelOptions& options) {
  return begin(a, &b, {.get = options.get, .entries = options.entries}).kernel;
}

Kernel input_kernel(const Inputs& a, const KernelOptions& options) {
  return begin(a, nullptr, {.get = options.get, .entries = options.entries}).kernel;
}

}  // namespace ladon::infinite
