#include "ladon/layers/infinite/kernel.h"

#include <algorithm>

#include "ladon/autograd/ops.h"
#include "ladon/core/blas.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/parallel.h"

namespace ladon::infinite {
namespace {

Tensor variance(const Tensor& self, bool has_positions, int axis) {
  return has_positions ? unsqueeze(diagonal(self), axis) : self;
}

/// [N, ..] → [N, 1, ..] or [1, N, ..]: one side of the pairs between two blocks.
Tensor side(const Tensor& x, int axis) { return x.defined() ? unsqueeze(x, axis) : x; }

Pairs cross_pairs(const Kernel& k) {
  return {.nngp = k.nngp,
          .ntk = k.ntk,
          .left = side(k.cov1, 1),
          .right = side(k.cov2, 0),
          .left_mask = side(k.mask1, 1),
          .right_mask = side(k.mask2, 0),
          .same = k.same,
          .has_positions = k.has_positions(),
          .replicate = k.replicate};
}

Pairs self_pairs(const Kernel& k, const Tensor& cov, const Tensor& mask) {
  return {.nngp = cov,
          .ntk = {},
          .left = cov,
          .right = cov,
          .left_mask = mask,
          .right_mask = mask,
          .same = ones({cov.size(0)}, boolean),
          .has_positions = k.has_positions(),
          .replicate = k.replicate};
}

}  // namespace

Tensor Pairs::left_variance() const { return variance(left, has_positions, -1); }
Tensor Pairs::right_variance() const { return variance(right, has_positions, -2); }

Tensor Pairs::visible(const Tensor& block) const {
  if (!left_mask.defined()) return block;
  return block * cast(unsqueeze(left_mask, -1), f64) * cast(unsqueeze(right_mask, -2), f64);
}

PairKernels Pairs::each(const std::function<Tensor(const Tensor&)>& map) const {
  return {map(nngp), ntk.defined() ? map(ntk) : Tensor()};
}

Kernel map_pairs(const Kernel& k, const std::function<PairKernels(const Pairs&)>& layer) {
  return map_pairs(k, k.positions, layer);
}

Kernel map_pairs(const Kernel& k, const Shape& positions,
                 const std::function<PairKernels(const Pairs&)>& layer) {
  Kernel result = k;
  const PairKernels cross = layer(cross_pairs(k));
  result.nngp = cross.nngp;
  result.ntk = cross.ntk;
  result.cov1 = layer(self_pairs(k, k.cov1, k.mask1)).nngp;
  result.cov2 = layer(self_pairs(k, k.cov2, k.mask2)).nngp;
  result.positions = positions;
  if (!result.has_positions()) result.mask1 = result.mask2 = Tensor();
  return result;
}

Kernel combine(const std::vector<Kernel>& branches,
               const std::function<PairKernels(const std::vector<PairKernels>&)>& rule) {
  check(!branches.empty(), "combine", "there are no branches");
  Kernel result = branches.front();
  std::vector<PairKernels> cross, self1, self2;
  for (const Kernel& k : branches) {
    check(k.nngp.shape() == result.nngp.shape() && k.positions == result.positions, "combine",
          "branches end in kernels of shapes ", result.nngp.shape(), " and ", k.nngp.shape());
    cross.push_back({k.nngp, k.ntk});
    self1.push_back({k.cov1, {}});
    self2.push_back({k.cov2, {}});
    result.sampled = result.sampled || k.sampled;
    result.centered = result.has_mean_zero() && k.has_mean_zero();
    result.gaussian = result.gaussian && k.gaussian;
  }
  result.independent = false;  // the rule's affair
  const PairKernels both = rule(cross);
  result.nngp = both.nngp;
  result.ntk = both.ntk;
  result.cov1 = rule(self1).nngp;
  result.cov2 = rule(self2).nngp;
  return result;
}

Inputs Inputs::rows(std::int64_t begin, std::int64_t end) const {
  const Slice range{.start = begin, .stop = end};
  return {slice(x, 0, range), mask.defined() ? slice(mask, 0, range) : mask};
}

// --- the kernel of the inputs ---

namespace {

Shape positions_of(const Inputs& in) {
  const Shape& s = in.x.shape();
  if (in.x.dtype() == i64) {
    check(s.rank() == 1 || s.rank() == 2, "input_kernel", "indices are [N] or [N, T], got shape ",
          s);
    return s.sub(1, s.rank());
  }
  check(is_floating(in.x.dtype()), "input_kernel",
        "inputs are floating numbers or i64 indices, got ", in.x.dtype());
  check(s.rank() >= 2 && s.rank() <= 4, "input_kernel",
        "inputs are [N, d], [N, T, d] or [N, H, W, d], got shape ", s);
  check(s[s.rank() - 1] > 0, "input_kernel", "inputs have no channels: shape ", s);
  return s.sub(1, s.rank() - 1);
}

/// f64 [N, T, d]; T = 1 for vectors. Indices stay i64, with d = 1.
Tensor rows_of(const Inputs& in, const Shape& positions) {
  NoGrad no_grad;
  const Tensor x = in.x.dtype() == i64 ? in.x : cast(in.x, f64);
  const std::int64_t channels = in.x.dtype() == i64 ? 1 : x.size(-1);
  return contiguous(reshape(x, {x.size(0), positions.count(), channels}));
}

/// x·x'ᵀ/d of rows i of a with rows j of b, [n, d] each, into k [.., row stride].
void products(const double* a, const double* b, std::int64_t n, std::int64_t m, std::int64_t d,
              double* k, std::int64_t row) {
  blas::gemm_serial<double>(n, m, d, 1.0 / static_cast<double>(d), {a, d, 1}, {b, 1, d}, 0,
                            {k, row, 1});
}

void matches(const std::int64_t* a, const std::int64_t* b, std::int64_t n, std::int64_t m,
             double* k, std::int64_t row) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) k[i * row + j] = a[i] == b[j] ? 1 : 0;
}

// Inputs are taken in units of a fixed number: vectors `unit` at a time, so that the products are
// efficient; inputs with positions one at a time. A product so has the same shape wherever the
// block begins, as long as blocks begin at multiples of the unit.
Tensor inner_products(const Tensor& a, const Tensor& b) {
  const std::int64_t t = a.size(1), d = a.size(2), n1 = a.size(0), n2 = b.size(0);
  const std::int64_t unit = t == 1 ? vector_unit : 1;
  Tensor k = empty(t == 1 ? Shape{n1, n2} : Shape{n1, n2, t, t}, f64);
  double* out = k.mutable_data<double>();
  const auto block = [&](std::int64_t i, std::int64_t j) {
    const std::int64_t n = std::min(unit, n1 - i) * t, m = std::min(unit, n2 - j) * t;
    double* to = out + (i * n2 + j) * t * t;
    const std::int64_t row = t == 1 ? n2 : t;
    if (a.dtype() == i64)
      matches(a.data<std::int64_t>() + i * t, b.data<std::int64_t>() + j * t, n, m, to, row);
    else
      products(a.data<double>() + i * t * d, b.data<double>() + j * t * d, n, m, d, to, row);
  };
  const std::int64_t rows = (n1 + unit - 1) / unit;
  parallel::for_range(rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < n2; j += unit) block(i * unit, j);
  });
  return k;
}

/// [N] or [N, T, T]: the diagonal of inner_products(a, a) by the very products that make it. If the
/// two differed in the last bit, equal vectors would stand at an angle of 1e-8, and so far from its
/// value would be the derivative of an arc-cosine kernel.
Tensor self_products(const Tensor& a) {
  const std::int64_t n = a.size(0), t = a.size(1), d = a.size(2);
  const std::int64_t unit = t == 1 ? vector_unit : 1;
  Tensor k = empty(t == 1 ? Shape{n} : Shape{n, t, t}, f64);
  double* out = k.mutable_data<double>();
  const auto block = [&](std::int64_t i, std::int64_t rows, double* to) {
    if (a.dtype() == i64)
      matches(a.data<std::int64_t>() + i * t, a.data<std::int64_t>() + i * t, rows, rows, to, rows);
    else
      products(a.data<double>() + i * t * d, a.data<double>() + i * t * d, rows, rows, d, to, rows);
  };
  if (t > 1) {
    parallel::for_range(n, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) block(i, t, out + i * t * t);
    });
    return k;
  }
  parallel::for_range((n + unit - 1) / unit, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> square(static_cast<std::size_t>(unit * unit));
    for (std::int64_t i = begin * unit; i < std::min(n, end * unit); i += unit) {
      const std::int64_t rows = std::min(unit, n - i);
      block(i, rows, square.data());
      for (std::int64_t r = 0; r < rows; ++r)
        out[i + r] = square[static_cast<std::size_t>(r * (rows + 1))];
    }
  });
  return k;
}

void check_mask(const Inputs& in, const Shape& positions) {
  if (!in.mask.defined()) return;
  const Shape wanted = {in.count(), positions.count()};
  check(positions.rank() > 0 && in.mask.dtype() == boolean && in.mask.shape() == wanted,
        "input_kernel", "the mask of inputs of shape ", in.x.shape(), " must be bool ", wanted,
        ", got ", in.mask.dtype(), " ", in.mask.shape());
}

}  // namespace

Kernel input_kernel(const Inputs& a, const Inputs& b, Wanted wanted) {
  check(a.x.defined() && b.x.defined(), "input_kernel", "a block of inputs is undefined");
  const Shape positions = positions_of(a);
  check(a.x.shape().sub(1, a.x.rank()) == b.x.shape().sub(1, b.x.rank()) &&
            (a.x.dtype() == i64) == (b.x.dtype() == i64),
        "input_kernel", "the blocks must agree in all but their number; got shapes ", a.x.shape(),
        " and ", b.x.shape());
  check_mask(a, positions);
  check_mask(b, positions);
  const Tensor rows1 = rows_of(a, positions), rows2 = rows_of(b, positions);
  Kernel k;
  k.positions = positions;
  k.gaussian = false;  // data
  k.nngp = inner_products(rows1, rows2);
  if (positions.rank() > 0 && k.nngp.rank() == 2)  // a single position is an axis too
    k.nngp = reshape(k.nngp, {a.count(), b.count(), 1, 1});
  if (wanted == Wanted::ntk) k.ntk = zeros(k.nngp.shape(), f64);
  const auto self = [&](const Tensor& rows) {
    const Tensor cov = self_products(rows);
    return positions.rank() > 0 && cov.rank() == 1 ? reshape(cov, {rows.size(0), 1, 1}) : cov;
  };
  k.cov1 = self(rows1);
  k.cov2 = self(rows2);
  k.mask1 = a.mask;
  k.mask2 = b.mask;
  if (k.mask1.defined() != k.mask2.defined())  // one side has padding, the other none
    (k.mask1.defined() ? k.mask2 : k.mask1) =
        ones({(k.mask1.defined() ? b : a).count(), positions.count()}, boolean);
  return k;
}

Kernel input_kernel(const Inputs& a, Wanted wanted) {
  Kernel k = input_kernel(a, a, wanted);
  k.same = cast(eye(a.count(), f64), boolean);
  return k;
}

}  // namespace ladon::infinite
