#include "ladon/layers/infinite/attention/pair_products.h"

#include <algorithm>
#include <vector>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {

PairIndex::PairIndex(const Tensor& pairs) : rows_(1), columns_(1), positions_(pairs.size(-1)) {
  detail::require(pairs.rank() >= 2 && pairs.rank() <= 4 && pairs.size(-2) == positions_,
                  "pairs must have shape [P, T, T] or [P1, P2, T, T]");
  if (pairs.rank() == 4) rows_ = pairs.size(0);
  if (pairs.rank() >= 3) columns_ = pairs.size(-3);
}

PairIndex::Steps PairIndex::steps(const Tensor& x, std::int64_t own) const {
  const std::int64_t parts = x.count() / own;  // rows × columns, rows × 1, 1 × columns or 1 × 1
  if (parts == count()) return {columns_ * own, own};
  if (parts == 1) return {};
  return x.size(0) == rows_ ? Steps{own, 0} : Steps{0, own};
}

std::int64_t pairs_per_task(std::int64_t work) {
  return std::max<std::int64_t>(1, 200000 / std::max<std::int64_t>(1, work));
}

namespace {

Tensor composed(const Tensor& left, const Tensor& x, const Tensor& right,
                const SandwichTerms& terms) {
  const Tensor y = terms.scale * matmul(matmul(left, x), transpose(right)) + terms.offset;
  return terms.added.defined() ? y + terms.added_scale * terms.added : y;
}

Tensor pair_by_pair(const Tensor& left, const Tensor& x, const Tensor& right,
                    const SandwichTerms& terms) {
  const Tensor a = contiguous(left), k = contiguous(x);
  // small products are fastest with row-major factors
  const Tensor b = contiguous(transpose(right));
  const Tensor added = terms.added.defined() ? contiguous(terms.added) : terms.added;
  const PairIndex index(k);
  const std::int64_t t = index.positions(), size = t * t;
  Tensor y = empty(k.shape(), f64);
  const double *ap = a.data<double>(), *kp = k.data<double>(), *bp = b.data<double>();
  const double* plus = added.defined() ? added.data<double>() : nullptr;
  const double scale = number_of("pair_products", terms.scale),
               offset = number_of("pair_products", terms.offset);
  double* yp = y.mutable_data<double>();
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> half(size);
    for (std::int64_t p = begin; p < end; ++p) {
      const double* from_left = ap + index.offset(a, size, p);
      const double* from_right = bp + index.offset(b, size, p);
      double* to = yp + p * size;
      for (std::int64_t i = 0; i < size; ++i)
        to[i] = plus ? terms.added_scale * plus[p * size + i] + offset : offset;
      // [T,T] · [T,T] → [T,T], then · [T,T]
      blas::gemm_serial<double>(t, t, t, 1, {from_left, t, 1}, {kp + p * size, t, 1}, 0,
                                {half.data(), t, 1});
      blas::gemm_serial<double>(t, t, t, scale, {half.data(), t, 1}, {from_right, t, 1}, 1,
                                {to, t, 1});
    }
  };
  if (size > 0) parallel::for_range(index.count(), pairs_per_task(4 * size * t), some);
  return y;
}

}  // namespace

Tensor sandwich(const Tensor& left, const Tensor& x, const Tensor& right,
                const SandwichTerms& terms) {
  if (left.size(-2) != left.size(-1)) return composed(left, x, right, terms);
  return fast_or_composed(
      "sandwich", {left, x, right, terms.scale, terms.offset, terms.added},
      [&] { return pair_by_pair(left, x, right, terms); },
      [&] { return composed(left, x, right, terms); });
}

}  // namespace ladon::infinite
