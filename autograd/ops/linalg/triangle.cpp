// tril() and triu() of shape.h: lower and upper triangles of matrices.

#include <algorithm>

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

/// A copy of x in which each row i is zero in the columns [from(i), to(i)), clipped to the row.
template <class From, class To>
Tensor zero_columns(const Tensor& x, From from, To to) {
  if (x.mapped())
    return mapped::batched([&](const Tensor& all) { return zero_columns(all, from, to); }, x);
  Tensor y = kernels::clone(x);
  const std::int64_t rows = x.size(-2), columns = x.size(-1);
  if (y.count() == 0) return y;
  visit_dtype(x.dtype(), [&]<class T>() {
    T* data = y.mutable_data<T>();
    const std::int64_t grain = 1 + (1 << 15) / columns;
    parallel::for_range(y.count() / columns, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t first = std::clamp<std::int64_t>(from(r % rows), 0, columns);
        const std::int64_t last = std::clamp<std::int64_t>(to(r % rows), first, columns);
        std::fill(data + r * columns + first, data + r * columns + last, T(0));
      }
    });
  });
  return y;
}

void check_matrix(const char* operation, const Tensor& x) {
  check_defined(operation, {x});
  LADON_CHECK(x.rank() >= 2, operation, "needs at least 2 axes, got shape ", x.shape());
}

}  // namespace

Tensor tril(const Tensor& x, std::int64_t offset) {
  check_matrix("tril", x);
  const std::int64_t n = x.size(-1), limit = std::clamp(offset, -x.size(-2), n);
  const Tensor y = zero_columns(
      x, [limit](std::int64_t i) { return i + limit + 1; }, [n](std::int64_t) { return n; });
  return record("tril", y, {x}, [offset](const Tensor& g) { return tril(g, offset); });
}

Tensor triu(const Tensor& x, std::int64_t offset) {
  check_matrix("triu", x);
  const std::int64_t limit = std::clamp(offset, -x.size(-2), x.size(-1));
  const Tensor y = zero_columns(
      x, [](std::int64_t) { return 0; }, [limit](std::int64_t i) { return i + limit; });
  return record("triu", y, {x}, [offset](const Tensor& g) { return triu(g, offset); });
}

}  // namespace ladon
