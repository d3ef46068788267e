#include "ladon/layers/infinite/pair_products.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/blas.h"
#include "ladon/core/error.h"
#include "ladon/core/parallel.h"

namespace ladon::infinite {

PairIndex::PairIndex(const Tensor& pairs) : rows_(1), columns_(1), positions_(pairs.size(-1)) {
  require(pairs.rank() >= 2 && pairs.rank() <= 4 && pairs.size(-2) == positions_,
          "pairs are [P, T, T] or [P1, P2, T, T]");
  if (pairs.rank() == 4) rows_ = pairs.size(0);
  if (pairs.rank() >= 3) columns_ = pairs.size(-3);
}

std::int64_t PairIndex::offset(const Tensor& x, std::int64_t own, std::int64_t pair) const {
  const std::int64_t parts = x.count() / own;  // rows × columns, rows × 1, 1 × columns or 1 × 1
  if (parts == count()) return pair * own;
  if (parts == 1) return 0;
  return (x.size(0) == rows_ ? pair / columns_ : pair % columns_) * own;
}

namespace {

bool recorded(std::initializer_list<const Tensor*> operands) {
  return grad_enabled() && std::any_of(operands.begin(), operands.end(),
                                       [](const Tensor* x) { return x->requires_grad(); });
}

/// Pairs a task: enough work to be worth one, by T alone.
std::int64_t pairs_per_task(std::int64_t positions, std::int64_t work_a_pair) {
  return std::max<std::int64_t>(1, 200000 / std::max<std::int64_t>(1, work_a_pair * positions));
}

}  // namespace

Tensor sandwich(const Tensor& left, const Tensor& x, const Tensor& right,
                const SandwichTerms& terms) {
  if (recorded({&left, &x, &right, &terms.scale, &terms.offset, &terms.added})) {
    const Tensor y = terms.scale * matmul(matmul(left, x), transpose(right)) + terms.offset;
    return terms.added.defined() ? y + terms.added_scale * terms.added : y;
  }
  const Tensor a = contiguous(left), k = contiguous(x);
  const Tensor b = contiguous(transpose(right));  // small products are fastest row-major
  const Tensor added = terms.added.defined() ? contiguous(terms.added) : terms.added;
  const PairIndex index(k);
  const std::int64_t t = index.positions(), size = t * t;
  Tensor y = empty(k.shape(), f64);
  const double *ap = a.data<double>(), *kp = k.data<double>(), *bp = b.data<double>();
  const double* plus = added.defined() ? added.data<double>() : nullptr;
  const double scale = terms.scale.item(), offset = terms.offset.item();
  double* yp = y.mutable_data<double>();
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> half(static_cast<std::size_t>(size));
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
  if (size > 0) parallel::for_range(index.count(), pairs_per_task(t, 4 * size), some);
  return y;
}

Tensor visible(const Tensor& mask, std::int64_t positions, bool causal) {
  Tensor may = ones({positions, positions}, f64);
  if (causal) may = tril(may);
  return mask.defined() ? may * cast(unsqueeze(mask, -2), f64) : may;
}

namespace {

/// y_ab = Σ_ij over visible (i, j) of x_ij. The columns are summed first: into `column`, row after
/// row, and then along it.
void sum_visible(const double* x, const bool* rows, const bool* columns, bool causal,
                 std::int64_t t, double* column, double* y) {
  std::fill_n(column, t, 0);
  const auto running = [&](double* to) {  // Σ_{j ≤ b} over visible j
    double sum = 0;
    for (std::int64_t b = 0; b < t; ++b) {
      if (!columns || columns[b]) sum += column[b];
      to[b] = sum;
    }
    return sum;
  };
  for (std::int64_t a = 0; a < t; ++a) {
    if (!rows || rows[a])
      for (std::int64_t j = 0; j < t; ++j) column[j] += x[a * t + j];
    if (causal) running(y + a * t);
  }
  if (!causal) std::fill_n(y, t * t, running(y));
}

}  // namespace

Tensor visible_sums(const Tensor& x, const Tensor& left_mask, const Tensor& right_mask,
                    bool causal) {
  const std::int64_t t = x.size(-1), size = t * t;
  if (recorded({&x}))
    return matmul(matmul(visible(left_mask, t, causal), x),
                  transpose(visible(right_mask, t, causal)));
  const Tensor k = contiguous(x);
  const Tensor rows = left_mask.defined() ? contiguous(left_mask) : left_mask;
  const Tensor columns = right_mask.defined() ? contiguous(right_mask) : right_mask;
  const PairIndex index(k);
  Tensor y = empty(k.shape(), f64);
  const double* kp = k.data<double>();
  const bool* rp = rows.defined() ? rows.data<bool>() : nullptr;
  const bool* cp = columns.defined() ? columns.data<bool>() : nullptr;
  double* yp = y.mutable_data<double>();
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> column(static_cast<std::size_t>(t));
    for (std::int64_t p = begin; p < end; ++p)
      sum_visible(kp + p * size, rp ? rp + index.offset(rows, t, p) : nullptr,
                  cp ? cp + index.offset(columns, t, p) : nullptr, causal, t, column.data(),
                  yp + p * size);
  };
  if (size > 0) parallel::for_range(index.count(), pairs_per_task(t, 4 * t), some);
  return y;
}

}  // namespace ladon::infinite
