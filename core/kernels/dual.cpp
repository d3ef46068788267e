#include "ladon/core/kernels/dual.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

using std::int64_t;

/// p, q and c as rows along c's last axis. c is contiguous; along a row p (q) is contiguous or one
/// number.
class Entries {
 public:
  Entries(const Tensor& p, const Tensor& q, const Tensor& c)
      : c_(contiguous(c)),
        shape_(c.rank() ? c.shape() : Shape{1}),
        p_(beside(p)),
        q_(beside(q)),
        columns_(shape_[shape_.rank() - 1]) {}

  int64_t count() const { return c_.count(); }
  const double* c() const { return c_.data<double>(); }

  /// Calls body(entry, n, p, q) for the pieces of rows that entries [begin, end) are: n entries
  /// from `entry`, whose p (q) is the elements from p.at on, or that one element.
  struct Piece {
    int64_t at;
    bool constant;
  };
  template <class F>
  void visit(int64_t begin, int64_t end, const F& body) const {
    const int rows = shape_.rank() - 1;
    int64_t index[Shape::max_rank];
    int64_t column = begin % columns_, left = begin / columns_, p = 0, q = 0;
    for (int axis = rows - 1; axis >= 0; --axis) {
      index[axis] = left % shape_[axis];
      left /= shape_[axis];
      p += index[axis] * p_.strides[axis];
      q += index[axis] * q_.strides[axis];
    }
    for (;;) {
      const int64_t n = std::min(columns_ - column, end - begin);
      body(begin, n, Piece{p_.constant ? p : p + column, p_.constant},
           Piece{q_.constant ? q : q + column, q_.constant});
      begin += n;
      if (begin == end) return;
      column = 0;
      for (int axis = rows - 1; axis >= 0; --axis) {  // the next row
        p += p_.strides[axis];
        q += q_.strides[axis];
        if (++index[axis] < shape_[axis]) break;
        p -= shape_[axis] * p_.strides[axis];
        q -= shape_[axis] * q_.strides[axis];
        index[axis] = 0;
      }
    }
  }

  const double* p() const { return p_.x.data<double>(); }
  const double* q() const { return q_.x.data<double>(); }

 private:
  struct Beside {
    Tensor x;
    Shape strides;
    bool constant;  // along the last axis
  };
  Beside beside(const Tensor& x) const {
    Tensor dense = contiguous(x);
    const Shape strides = view::expand(dense, shape_).strides();
    const int last = shape_.rank() - 1;
    return {std::move(dense), strides, strides[last] == 0};
  }

  Tensor c_;
  Shape shape_;
  Beside p_, q_;
  int64_t columns_;
};

/// x spread over n elements of a block.
void gather(const double* x, Entries::Piece piece, int64_t n, double* block) {
  if (piece.constant)
    std::fill_n(block, n, x[piece.at]);
  else
    std::copy_n(x + piece.at, n, block);
}

/// Runs `loop` over all blocks of entries; the last is filled up in buffers. `second` may be null.
void run(DualLoops::Loop loop, const std::vector<double>& parameters, const Entries& entries,
         double* first, double* second) {
  const int64_t count = entries.count(), blocks = (count + dual_block - 1) / dual_block;
  const double *c = entries.c(), *p = entries.p(), *q = entries.q();
  const auto range = [&](int64_t begin, int64_t end) {
    alignas(64) double ps[dual_block] = {}, qs[dual_block] = {}, cs[dual_block] = {};
    alignas(64) double firsts[dual_block], seconds[dual_block];
    for (int64_t block = begin; block < end; ++block) {
      const int64_t start = block * dual_block, n = std::min(dual_block, count - start);
      entries.visit(start, start + n,
                    [&](int64_t entry, int64_t m, Entries::Piece at_p, Entries::Piece at_q) {
                      gather(p, at_p, m, ps + (entry - start));
                      gather(q, at_q, m, qs + (entry - start));
                    });
      if (n == dual_block) {
        loop(parameters.data(), ps, qs, c + start, first + start,
             second ? second + start : seconds);
        continue;
      }
      std::copy_n(c + start, n, cs);
      loop(parameters.data(), ps, qs, cs, firsts, seconds);
      std::copy_n(firsts, n, first + start);
      if (second) std::copy_n(seconds, n, second + start);
    }
  };
  constexpr int64_t grain = task_length / dual_block;
  if (blocks > 0) parallel::for_range(blocks, grain, range);
}

DualPair run(DualLoops::Loop loop, const DualForm& form, const Tensor& p, const Tensor& q,
             const Tensor& c, bool both) {
  const Entries entries(p, q, c);
  DualPair result{empty(c.shape(), f64), both ? empty(c.shape(), f64) : Tensor()};
  run(loop, form.parameters, entries, result.first.mutable_data<double>(),
      both ? result.second.mutable_data<double>() : nullptr);
  return result;
}

}  // namespace

DualPair dual(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c,
              bool with_derivative) {
  return run(loops().dual.values[int(form.family)], form, p, q, c, with_derivative);
}

DualPair dual_slopes(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c) {
  return run(loops().dual.slopes[int(form.family)], form, p, q, c, true);
}

Tensor dual_series(const Tensor& a, const Tensor& b, const Tensor& p, const Tensor& q,
                   const Tensor& c) {
  const Entries entries(p, q, c);
  const Tensor left = contiguous(a), right = contiguous(b);
  const int64_t terms = a.size(-1);
  require(terms % 8 == 0 && b.size(-1) == terms, "both sides of a dual series have 8·n terms");
  Tensor result = empty(c.shape(), f64);
  const auto series = loops().dual.series;
  const double *ps = entries.p(), *qs = entries.q(), *cs = entries.c();
  const double *as = left.data<double>(), *bs = right.data<double>();
  double* y = result.mutable_data<double>();
  const auto range = [&](int64_t begin, int64_t end) {
    entries.visit(
        begin, end, [&](int64_t entry, int64_t n, Entries::Piece at_p, Entries::Piece at_q) {
          for (int64_t i = 0; i < n; ++i) {
            const int64_t ip = at_p.constant ? at_p.at : at_p.at + i;
            const int64_t iq = at_q.constant ? at_q.at : at_q.at + i;
            const double scale = std::sqrt(ps[ip]) * std::sqrt(qs[iq]);
            const double rho = scale > 0 ? std::clamp(cs[entry + i] / scale, -1.0, 1.0) : 0.0;
            y[entry + i] = series(as + ip * terms, bs + iq * terms, rho, terms);
          }
        });
  };
  if (entries.count() > 0) parallel::for_range(entries.count(), task_length / 8, range);
  return result;
}

}  // namespace ladon::kernels
