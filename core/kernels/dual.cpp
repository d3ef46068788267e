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

/// Access to p, q and c as rows along the last axis of c. c is contiguous; p and q are each
/// contiguous or constant along a row.
class Entries {
 public:
  Entries(const Tensor& p, const Tensor& q, const Tensor& c)
      : c_(contiguous(c)),
        shape_(c.rank() ? c.shape() : Shape{1}),
        p_(beside(p)),
        q_(beside(q)),
        columns_(shape_[shape_.rank() - 1]) {}

  int64_t count() const { return c_.count(); }
  int64_t columns() const { return columns_; }
  const double* c() const { return c_.data<double>(); }
  const double* p() const { return p_.x.strided_data<double>(); }
  const double* q() const { return q_.x.strided_data<double>(); }

  /// Elements of p (or q) for a piece of a row: consecutive elements from index `at` on, or, if
  /// `constant`, the element at `at` repeated.
  struct Piece {
    int64_t at;
    bool constant;
  };
  /// Splits entries [begin, end) into pieces of rows, and calls body(entry, n, p, q) for each
  /// piece: n entries from `entry` on, with Piece p and Piece q.
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
      for (int axis = rows - 1; axis >= 0; --axis) {  // advances to the next row
        p += p_.strides[axis];
        q += q_.strides[axis];
        if (++index[axis] < shape_[axis]) break;
        p -= shape_[axis] * p_.strides[axis];
        q -= shape_[axis] * q_.strides[axis];
        index[axis] = 0;
      }
    }
  }

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

/// Copies the n elements of x that `piece` describes to a block; a constant is repeated n times.
void gather(const double* x, Entries::Piece piece, int64_t n, double* block) {
  if (piece.constant)
    std::fill_n(block, n, x[piece.at]);
  else
    std::copy_n(x + piece.at, n, block);
}

/// Runs `loop` over all blocks of entries; an incomplete last block is computed in buffers.
/// `second` may be null.
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

/// Number of places at which a series of n terms may end: after n/4, n/2 or n terms. If n is not a
/// multiple of 32, all three are n.
constexpr int ends = 3;
int64_t end_of(int which, int64_t n) { return n % 32 == 0 ? n >> (ends - 1 - which) : n; }

/// One side of a series (a with p, or b with q): rows of coefficients, square roots of variances,
/// and `reach`, one number per row and per end n. If |x| is at most the product of the reach of
/// both rows, the terms from n on may be dropped. Let r_a and r_b be the norms of the dropped
/// coefficients of a row of a and of b. The dropped part of Σ_k a_k·b_k·x^k is at most
/// |x|^n·r_a·r_b. With the reach (2^−27·|a|/r_a)^(1/n) for a, and likewise for b, this is at most
/// 2^−54·|a|·|b|.
struct SeriesSide {
  SeriesSide(const Tensor& rows, const double* variance)
      : held(contiguous(rows)), a(held.data<double>()), terms(held.size(-1)) {
    const int64_t count = terms > 0 ? held.count() / terms : 0;
    for (int64_t i = 0; i < count; ++i) {
      root.push_back(std::sqrt(variance[i]));
      double parts[ends] = {};
      for (int which = 0; which < ends; ++which)
        for (int64_t k = which > 0 ? end_of(which - 1, terms) : 0; k < end_of(which, terms); ++k)
          parts[which] += row(i)[k] * row(i)[k];
      const double rests[] = {parts[1] + parts[2], parts[2]}, all = parts[0] + rests[0];
      for (int which = 0; which + 1 < ends; ++which)
        reach.push_back(rests[which] > 0 ? std::pow(0x1p-54 * all / rests[which],
                                                    0.5 / static_cast<double>(end_of(which, terms)))
                                         : HUGE_VAL);
    }
  }
  const double* row(int64_t i) const { return a + i * terms; }
  double root_of(int64_t i) const { return root[i]; }
  double reach_of(int64_t i, int which) const { return reach[i * (ends - 1) + which]; }

  Tensor held;
  const double* a;
  int64_t terms;
  std::vector<double> root, reach;
};

/// Collects entries whose series have the same end, and computes them as soon as a group is full.
struct SeriesGroups {
  const Entries& entries;
  const double* c;
  const SeriesSide &left, &right;
  Powers powers;
  double slope2;
  double* result;
  void (*series)(const double* const*, const double* const*, const double*, double*, int64_t);

  struct Group {
    int64_t count = 0, at[dual_series_entries] = {};
    const double *a[dual_series_entries] = {}, *b[dual_series_entries] = {};
    double x[dual_series_entries] = {}, factor[dual_series_entries] = {},
           added[dual_series_entries] = {};
  };
  Group groups[ends] = {};

  /// Adds entries [begin, end) of a row.
  void add_row(int64_t begin, int64_t end) {
    entries.visit(begin, end, [&](int64_t i, int64_t n, Entries::Piece p, Entries::Piece q) {
      for (int64_t k = 0; k < n; ++k)
        add(i + k, p.constant ? p.at : p.at + k, q.constant ? q.at : q.at + k);
    });
  }
  /// Adds entry i of c, whose variances are elements ip of p and iq of q.
  void add(int64_t i, int64_t ip, int64_t iq) {
    const double scale = left.root_of(ip) * right.root_of(iq);
    const double rho = scale > 0 ? std::clamp(c[i] / scale, -1.0, 1.0) : 0.0;
    const double x = powers == Powers::all ? rho : rho * rho;
    int which = 0;
    while (which + 1 < ends &&
           !(std::abs(x) <= left.reach_of(ip, which) * right.reach_of(iq, which)))
      ++which;
    Group& g = groups[which];
    g.at[g.count] = i;
    g.x[g.count] = x;
    g.factor[g.count] = powers == Powers::odd ? rho : 1;
    g.added[g.count] = slope2 * rho * scale;
    g.a[g.count] = left.row(ip);
    g.b[g.count] = right.row(iq);
    if (++g.count == dual_series_entries) flush(which);
  }
  void flush(int which) {
    Group& g = groups[which];
    if (g.count == 0) return;
    for (int64_t e = g.count; e < dual_series_entries; ++e)
      g.a[e] = g.a[0], g.b[e] = g.b[0], g.x[e] = 0;
    double y[dual_series_entries];
    series(g.a, g.b, g.x, y, end_of(which, left.terms));
    for (int64_t e = 0; e < g.count; ++e) result[g.at[e]] = g.added[e] + g.factor[e] * y[e];
    g.count = 0;
  }
};

}  // namespace

DualPair dual(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c,
              bool with_derivative) {
  return run(loops().dual.values[int(form.family)], form, p, q, c, with_derivative);
}

DualPair dual_slopes(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c) {
  return run(loops().dual.slopes[int(form.family)], form, p, q, c, true);
}

DualPair dual_curvatures(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c) {
  return run(loops().dual.curvatures[int(form.family)], form, p, q, c, true);
}

Tensor dual_series(const Tensor& a, const Tensor& b, const Tensor& p, const Tensor& q,
                   const Tensor& c, Powers powers, double slope2) {
  const Entries entries(p, q, c);
  detail::require(a.size(-1) % 8 == 0 && b.size(-1) == a.size(-1),
                  "both sides of a dual series have 8·n terms");
  const SeriesSide left(a, entries.p()), right(b, entries.q());
  Tensor result = empty(c.shape(), f64);
  const SeriesGroups groups{entries,
                            entries.c(),
                            left,
                            right,
                            powers,
                            slope2,
                            result.mutable_data<double>(),
                            loops().dual.series};
  // Tiles of rows and columns, so that the coefficients of a tile stay in cache.
  constexpr int64_t side = 32;
  const int64_t columns = entries.columns(), rows = c.count() / std::max<int64_t>(1, columns);
  const int64_t across = (columns + side - 1) / side, down = (rows + side - 1) / side;
  parallel::for_range(across * down, 4, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      SeriesGroups mine = groups;
      const int64_t row = tile / across * side, column = tile % across * side;
      for (int64_t r = row; r < std::min(rows, row + side); ++r)
        mine.add_row(r * columns + column, r * columns + std::min(columns, column + side));
      for (int which = 0; which < ends; ++which) mine.flush(which);
    }
  });
  return result;
}

}  // namespace ladon::kernels
