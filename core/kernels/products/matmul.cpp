#include "ladon/core/kernels/products/matmul.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ladon/core/cxx20.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/products/packed_product.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"
#include "ladon/core/modes.h"
#include "ladon/core/rowwise.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

/// Whether BLAS can read the last two axes in place: one of them has stride 1, and the stride of
/// the other is at least the size of the first.
bool readable(const Tensor& x) {
  const int r = x.rank();
  const std::int64_t rows = x.shape()[r - 2], columns = x.shape()[r - 1];
  const std::int64_t row = x.strides()[r - 2], column = x.strides()[r - 1];
  const bool by_rows = (columns <= 1 || column == 1) && (rows <= 1 || row >= columns);
  const bool by_columns = (rows <= 1 || row == 1) && (columns <= 1 || column >= rows);
  return by_rows || by_columns;
}

/// x as a blas::Matrix, with valid strides also along axes of one element.
template <class T>
blas::Matrix<const T> matrix(const Tensor& x) {
  const int r = x.rank();
  const std::int64_t rows = x.shape()[r - 2], columns = x.shape()[r - 1];
  std::int64_t row = x.strides()[r - 2], column = x.strides()[r - 1];
  const bool by_rows = (columns <= 1 || column == 1) && (rows <= 1 || row >= columns);
  if (by_rows) {
    column = 1;
    if (rows <= 1) row = std::max<std::int64_t>(1, columns);
  } else {
    row = 1;
    if (columns <= 1) column = std::max<std::int64_t>(1, rows);
  }
  return {x.strided_data<T>(), row, column};
}

/// The leading axes of a product, with each operand's strides (0 where it is broadcast). Adjacent
/// axes that both operands step through evenly are merged.
struct Batch {
  Batch(const Shape& lead, const Tensor& a, const Tensor& b) {
    for (int i = 0; i < lead.rank(); ++i) {
      if (lead[i] == 1) continue;
      const std::int64_t sa = a.strides()[i], sb = b.strides()[i];
      const int last = sizes.rank() - 1;
      if (last >= 0 && a_strides[last] == sa * lead[i] && b_strides[last] == sb * lead[i]) {
        sizes[last] *= lead[i];
        a_strides[last] = sa;
        b_strides[last] = sb;
      } else {
        sizes.append(lead[i]);
        a_strides.append(sa);
        b_strides.append(sb);
      }
    }
  }
  Shape sizes, a_strides, b_strides;
};

/// y ← a·b + beta·y, [.., m, k] · [.., k, n], where y [.., m, n] is contiguous.
template <class T>
void multiply(T* y, const Shape& lead, const Tensor& a, const Tensor& b, T beta) {
  const std::int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  const blas::Matrix<const T> left = matrix<T>(a), right = matrix<T>(b);
  const blas::Matrix<T> out{y, n, 1};
  const Batch batch(lead, a, b);
  const int axes = batch.sizes.rank();
  if (axes == 0) return blas::gemm(m, n, k, T(1), left, right, beta, out);
  const int last = axes - 1;
  const std::int64_t inner = batch.sizes[last], outer = batch.sizes.sub(0, last).count();
  const auto run = [&](std::int64_t i) {
    blas::Matrix<const T> ai = left, bi = right;
    for (std::int64_t rest = i, d = last - 1; d >= 0; --d) {
      const std::int64_t at = rest % batch.sizes[static_cast<int>(d)];
      rest /= batch.sizes[static_cast<int>(d)];
      ai.data += at * batch.a_strides[static_cast<int>(d)];
      bi.data += at * batch.b_strides[static_cast<int>(d)];
    }
    blas::gemm_batched(inner, m, n, k, T(1), ai, batch.a_strides[last], bi, batch.b_strides[last],
                       beta, blas::Matrix<T>{y + i * inner * m * n, n, 1}, m * n);
  };
  if (outer == 1) return run(0);
  const std::int64_t grain = 1 + (1 << 18) / std::max<std::int64_t>(1, inner * m * n * k);
  parallel::for_range(outer, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) run(i);
  });
}

/// Leading axes [..] of a product [.., m, k] · [.., k, n].
Shape leading_shape(const Tensor& a, const Tensor& b) {
  return broadcast_shapes("matmul", a.shape().sub(0, a.rank() - 2), b.shape().sub(0, b.rank() - 2));
}

/// Shape [.., m, n] of [.., m, k] · [.., k, n]. Throws Error if the operands have no product.
Shape product_shape(const Tensor& a, const Tensor& b) {
  const std::int64_t k = a.size(-1);
  LADON_CHECK(k == b.size(-2), "matmul", "inner sizes differ: ", a.shape(), " · ", b.shape(),
              k == b.size(-1) ? "; did you mean to transpose the right operand?" : "");
  LADON_CHECK(a.dtype() == b.dtype(), "matmul", "operands must have the same dtype, but are ",
              a.dtype(), " and ", b.dtype());
  Shape shape = leading_shape(a, b);
  shape.append(a.size(-2));
  shape.append(b.size(-1));
  return shape;
}

/// Operands that are ready to be multiplied: BLAS can read them, and they have the product's
/// leading axes.
struct Operands {
  Operands(const Tensor& left, const Tensor& right)
      : a(readable(left) ? left : clone(left)),
        b(readable(right) ? right : clone(right)),
        lead(leading_shape(a, b)) {
    collapse();
    stretch(a);
    stretch(b);
  }

  Tensor a, b;
  Shape lead;  // leading axes of both operands and of the product

 private:
  // Replaces a batch of products with the same b, [.., m, k] · [k, n], by one product of all rows.
  void collapse() {
    if (lead.rank() == 0 || b.shape().sub(0, b.rank() - 2).count() != 1) return;
    const std::int64_t k = a.size(-1);
    const Shape flat{lead.count() * a.size(-2), k};
    const Tensor rows = view::try_reshape(a, flat);
    const bool fit = rows.defined() && readable(rows);
    if (!fit && !detail::modes.rowwise) return;  // the batch is multiplied in place
    a = fit ? rows : view::try_reshape(clone(a), flat);
    while (b.rank() > 2) b = view::squeeze(b, 0);
    lead = Shape();
  }
  void stretch(Tensor& x) const {
    if (x.rank() == 2 && lead.rank() == 0) return;
    Shape to = lead;
    to.append(x.size(-2));
    to.append(x.size(-1));
    x = view::expand(x, to);
  }
};

/// y ← x, or y ← y + x if `add`, for x [m, n].
template <class T>
void put(std::int64_t m, std::int64_t n, const T* x, std::int64_t x_row, bool add, T* y,
         std::int64_t y_row) {
  for (std::int64_t i = 0; i < m; ++i, x += x_row, y += y_row)
    for (std::int64_t j = 0; j < n; ++j) y[j] = add ? y[j] + x[j] : x[j];
}

/// y ← a·b, or y ← y + a·b if `add`, for few rows of a: columns of b are vector lanes, and b is
/// read once. Sums add their terms in the same order as multiply_rowwise(). Returns false, and does
/// nothing, if a has too many rows or b has an unsuitable layout.
template <class T>
bool multiply_few_rows(T* y, const Tensor& a, const Tensor& b, bool add) {
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  const blas::Matrix<const T> left = matrix<T>(a), right = matrix<T>(b);
  const bool turned = right.row == 1, whole = right.column == 1 && n % tile_lanes<T> == 0;
  if (2 * m > tile_lanes<T> || !(turned || whole)) return false;
  const auto& loop = loops().of<T>().attention;
  const TileOperand<T> rows{left.data, left.row, left.column};
  constexpr std::int64_t columns = 64;
  const std::int64_t grain = 1 + (1 << 14) / std::max<std::int64_t>(1, columns * k);
  parallel::for_range((n + columns - 1) / columns, grain, [&](auto begin, auto end) {
    T block[tile_lanes<T> / 2 * columns];
    for (std::int64_t j = begin * columns; j < std::min(n, end * columns); j += columns) {
      const std::int64_t width = std::min(columns, n - j);
      const T* from = right.data + j * right.column;
      if (turned)
        loop.multiply_turned(m, width, k, rows, from, right.column, block, columns);
      else
        loop.multiply(m, width, k, rows, from, right.row, nullptr, block, columns);
      put(m, width, block, columns, add, y + j, n);
    }
  });
  return true;
}

/// y ← a·b, or y ← y + a·b if `add`, computed as yᵀ = bᵀ·aᵀ by the vector loops of attention, whose
/// lanes are then rows of a; so rows do not depend on each other. A task is a block of rows of a
/// and a stripe of columns of b; a block of few rows is padded to whole vectors.
template <class T>
void multiply_rowwise(T* y, const Tensor& a, const Tensor& b, bool add) {
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  const auto& loop = loops().of<T>().attention;
  const blas::Matrix<const T> left = matrix<T>(a), right = matrix<T>(b);
  constexpr std::int64_t rows = 64, columns = 64;
  const std::int64_t stripes = (n + columns - 1) / columns, blocks = (m + rows - 1) / rows;
  const std::vector<T> ones(k, T(1));
  parallel::for_range(blocks, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first * rows; i < std::min(m, last * rows); i += rows) {
      const std::int64_t here = std::min(rows, m - i);
      const std::int64_t lanes = (here + tile_lanes<T> - 1) / tile_lanes<T> * tile_lanes<T>;
      std::vector<T> turned(k * lanes);  // aᵀ [k, lanes]
      loop.transpose(here, k, {left.data + i * left.row, left.row, left.column}, ones.data(),
                     turned.data(), lanes);
      const std::int64_t grain = 1 + (1 << 18) / std::max<std::int64_t>(1, columns * k * lanes);
      parallel::for_range(stripes, grain, [&](std::int64_t begin, std::int64_t end) {
        const auto block =
            detail::array_for_overwrite<T>(static_cast<std::size_t>(columns * lanes));
        for (std::int64_t j = begin * columns; j < std::min(n, end * columns); j += columns) {
          const std::int64_t width = std::min(columns, n - j);
          loop.multiply(width, lanes, k, {right.data + j * right.column, right.column, right.row},
                        turned.data(), lanes, nullptr, block.get(), lanes);
          for (std::int64_t r = 0; r < here; ++r)
            for (std::int64_t c = 0; c < width; ++c) {
              T& to = y[(i + r) * n + j + c];
              to = add ? to + block[c * lanes + r] : block[c * lanes + r];
            }
        }
      });
    }
  });
}

/// y ← a·b for [m, 1] · [1, n]. This product is bound by memory, and BLAS would first copy both
/// operands. Returns false for other shapes.
template <class T>
bool multiply_outer(T* y, const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.size(0), n = b.size(1), whole = n / tile_lanes<T> * tile_lanes<T>;
  const blas::Matrix<const T> left = matrix<T>(a), right = matrix<T>(b);
  if (a.size(1) != 1 || right.column != 1) return false;
  const auto multiply = loops().of<T>().attention.multiply;
  parallel::for_range(m, 1 + (1 << 15) / n, [=](std::int64_t begin, std::int64_t end) {
    multiply(end - begin, whole, 1, {left.data + begin * left.row, left.row, left.column},
             right.data, n, nullptr, y + begin * n, n);
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = whole; j < n; ++j)
        y[i * n + j] = T(0) + left.data[i * left.row] * right.data[j];
  });
  return true;
}

void multiply(Tensor& y, const Operands& o, double beta) {
  if (y.count() == 0) return;
  visit_floating("matmul", y.dtype(), [&]<class T>() {
    if (beta == 0 && o.lead.rank() == 0 && multiply_outer<T>(y.mutable_data<T>(), o.a, o.b)) return;
    if (detail::modes.rowwise && o.lead.rank() == 0) {
      if (!multiply_few_rows<T>(y.mutable_data<T>(), o.a, o.b, beta != 0))
        multiply_rowwise<T>(y.mutable_data<T>(), o.a, o.b, beta != 0);
      return;
    }
    multiply<T>(y.mutable_data<T>(), o.lead, o.a, o.b, static_cast<T>(beta));
  });
}

/// y ← a·b + row in one pass, if a·b is a single product that is worth packing; else returns false.
template <class T>
bool affine_packed(Tensor& y, const Operands& o, const Tensor& row) {
  const std::int64_t n = row.count(), k = o.a.size(-1), m = n == 0 ? 0 : y.count() / n;
  const bool dense_rows = o.b.strides()[o.b.rank() - 1] == 1;
  if (detail::modes.rowwise || o.lead.rank() != 0 || !packs(m, n, k, dense_rows)) return false;
  packed_product<T>(On::all_threads, m, n, k, T(1), matrix<T>(o.a), matrix<T>(o.b), T(0),
                    blas::Matrix<T>{y.mutable_data<T>(), n, 1}, row.data<T>());
  return true;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (mapped::any(a, b)) return mapped::broadcast(matmul, a, b);
  if (detail::modes.packed)
    if (Tensor y = multiply_packed(a, b, {}); y.defined()) return y;
  Tensor y = empty(product_shape(a, b), a.dtype());  // checks shapes before operands are copied
  multiply(y, Operands(a, b), 0);
  return y;
}

Tensor affine(const Tensor& a, const Tensor& b, const Tensor& row) {
  if (mapped::any(a, b, row)) {
    const auto one_row = [](const Tensor& x) { return x.mapped() ? view::unsqueeze(x, 0) : x; };
    return binary(Binary::add, matmul(a, b), one_row(row));
  }
  if (detail::modes.packed)
    if (Tensor y = multiply_packed(a, b, row); y.defined()) return y;
  Tensor y = empty(product_shape(a, b), a.dtype());
  const Operands operands(a, b);
  const std::int64_t n = b.size(-1);
  detail::require(row.contiguous() && row.count() == n,
                  "the row of affine has the product's columns");
  visit_floating("affine", y.dtype(), [&]<class T>() {
    if (affine_packed<T>(y, operands, row)) return;
    const T* from = row.data<T>();
    T* to = y.mutable_data<T>();
    const std::int64_t rows = n == 0 ? 0 : y.count() / n;
    parallel::for_range(rows, 1 + (1 << 15) / std::max<std::int64_t>(1, n),
                        [=](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t i = begin; i < end; ++i)
                            std::copy_n(from, n, to + i * n);
                        });
    multiply(y, operands, 1);
  });
  return y;
}

}  // namespace ladon::kernels
