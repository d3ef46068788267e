#include "ladon/autograd/ops/index.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/index.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {
namespace {

// Two linear maps, adjoint to each other: rows of an axis, and their sum back (kernels/index.h).
Tensor add_rows(const Tensor& x, int axis, const Tensor& rows, std::int64_t n);

Tensor take_rows(const Tensor& x, int axis, const Tensor& rows) {
  return record(
      "take_rows", kernels::take_rows(x, axis, rows), {x},
      [axis, rows, n = x.shape()[axis]](const Tensor& g) { return add_rows(g, axis, rows, n); });
}
Tensor add_rows(const Tensor& x, int axis, const Tensor& rows, std::int64_t n) {
  return record("add_rows", kernels::add_rows(x, axis, rows, n), {x},
                [axis, rows](const Tensor& g) { return take_rows(g, axis, rows); });
}

Tensor zeros_of(const Shape& shape, DType dtype) { return expand(scalar(0, dtype), shape); }

/// Checks that index fits x as gather needs it.
Tensor places(const char* operation, const Tensor& x, int axis, const Tensor& index) {
  check_defined(operation, {index});
  LADON_CHECK(index.rank() == x.rank(), operation, "the index of shape ", index.shape(),
              " has not the rank of the tensor of shape ", x.shape());
  for (int i = 0; i < x.rank(); ++i)
    LADON_CHECK(i == axis || index.shape()[i] <= x.shape()[i], operation, "the index of shape ",
                index.shape(), " is larger than the tensor of shape ", x.shape(), " at axis ", i);
  return kernels::checked_indices(operation, index, x.shape()[axis]);
}

void check_source(const char* operation, const Tensor& x, const Tensor& index,
                  const Tensor& source) {
  LADON_CHECK(source.shape() == index.shape(), operation, "the source has shape ", source.shape(),
              ", the index ", index.shape());
  LADON_CHECK(source.dtype() == x.dtype(), operation, "the source is ", source.dtype(),
              ", the tensor ", x.dtype());
}

}  // namespace

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  check_defined("index_select", {x, index});
  axis = normalize_axis("index_select", axis, x.rank());
  LADON_CHECK(index.rank() == 1, "index_select", "the index has one axis, got shape ",
              index.shape());
  const Tensor rows = kernels::checked_indices("index_select", index, x.shape()[axis]);
  return record("index_select", kernels::take_rows(x, axis, rows), {x},
                [axis, rows, n = x.shape()[axis]](const Tensor& g) {
                  return add_rows(g, axis, rows, n);  // ∂y_i/∂x_rows[i] = 1
                });
}

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  check_defined("gather", {x, index});
  axis = normalize_axis("gather", axis, x.rank());
  const Tensor at = places("gather", x, axis, index);
  return record("gather", kernels::gather(x, axis, at), {x},
                [axis, at, shape = x.shape()](const Tensor& g) {
                  return scatter_add(zeros_of(shape, g.dtype()), axis, at, g);
                });
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
  check_defined("scatter_add", {x, index, source});
  axis = normalize_axis("scatter_add", axis, x.rank());
  check_source("scatter_add", x, index, source);
  const Tensor at = places("scatter_add", x, axis, index);
  Tensor y = kernels::clone(x);
  kernels::scatter(kernels::Scatter::add, y, axis, at, source);
  return record(
      "scatter_add", y, {x, source}, [](const Tensor& g) { return g; },
      [axis, at](const Tensor& g) { return gather(g, axis, at); });
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
  check_defined("scatter", {x, index, source});
  axis = normalize_axis("scatter", axis, x.rank());
  check_source("scatter", x, index, source);
  const Tensor at = places("scatter", x, axis, index);
  Tensor y = kernels::clone(x);
  kernels::scatter(kernels::Scatter::write, y, axis, at, source);
  return record(
      "scatter", y, {x, source},
      [axis, at](const Tensor& g) {  // 0 where something was written
        return scatter(g, axis, at, zeros_of(at.shape(), g.dtype()));
      },
      [axis, at, shape = x.shape()](const Tensor& g) {
        // Of several writes to one place only the last one counts: the one found there.
        const Tensor writes = reshape(arange(at.count()), at.shape());
        const Tensor last = scatter(zeros_of(shape, i64), axis, at, writes);
        const Tensor lost = not_equal(gather(last, axis, at), writes);
        return masked_fill(gather(g, axis, at), lost, 0);
      });
}

Tensor embedding(const Tensor& weight, const Tensor& index, EmbeddingOptions options) {
  check_defined("embedding", {weight, index});
  LADON_CHECK(weight.rank() == 2, "embedding", "the table has shape [n, d], got ", weight.shape());
  const std::int64_t n = weight.shape()[0], d = weight.shape()[1];
  LADON_CHECK(options.padding_index < n, "embedding", "padding index ", options.padding_index,
              " is out of range for a table of ", n, " rows");
  Tensor rows = reshape(kernels::checked_indices("embedding", index, n), {index.count()});
  Shape shape = index.shape();
  shape.append(d);
  Tensor y = reshape(kernels::take_rows(weight.detach(), 0, rows), shape);
  if (options.padding_index >= 0)  // add_rows drops what belongs to row −1
    rows = where(equal(rows, static_cast<double>(options.padding_index)), scalar(-1, i64), rows);
  return record("embedding", y, {weight}, [rows, n, d](const Tensor& g) {
    return add_rows(reshape(g, {rows.count(), d}), 0, rows, n);
  });
}

Tensor one_hot(const Tensor& index, std::int64_t classes, DType dtype) {
  check_defined("one_hot", {index});
  LADON_CHECK(classes >= 0, "one_hot", "the number of classes, ", classes, ", is negative");
  const Tensor at = unsqueeze(kernels::checked_indices("one_hot", index, classes), -1);
  Shape shape = index.shape();
  shape.append(classes);
  Tensor y = zeros(shape, dtype);
  kernels::scatter(kernels::Scatter::write, y, index.rank(), at, ones(at.shape(), dtype));
  return y;
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  check_defined("masked_select", {x, mask});
  LADON_CHECK(mask.dtype() == boolean, "masked_select", "the mask is bool, got ", mask.dtype());
  LADON_CHECK(mask.shape() == x.shape(), "masked_select", "the mask has shape ", mask.shape(),
              ", the tensor ", x.shape());
  const Tensor chosen = kernels::nonzero(reshape(mask, {mask.count()}));
  return index_select(reshape(x, {x.count()}), 0, select(chosen, 1, 0));
}

Tensor nonzero(const Tensor& x) {
  check_defined("nonzero", {x});
  return kernels::nonzero(x);
}

}  // namespace ladon
