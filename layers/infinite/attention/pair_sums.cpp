// Sums over draws of P·v·P'ᵀ, P·u·P'ᵀ, J(k) and J(t), in the notation of draws.cpp: P and P' are
// the attention weights of the two inputs, J(X) is the sum over softmax's Jacobians.
//
// Several ways give the same sums up to rounding; which is cheapest depends on the pair. A product
// takes T³ multiply-adds unless another cost is given.
// - J(X): 3 products, and 3 more for P·X, X·P'ᵀ and P·X·P'ᵀ; those for k also serve for v if k and
//   v are the same.
// - J(k) as an inner product of features (features.h): T²·R·(R + 1)/2 multiply-adds, and T²·R each
//   for P·v, v·P'ᵀ and P·v·P'ᵀ.
// - J(X) is linear in X, and 0 for a constant X: if t = α·k + β, J(t) = α·J(k). After the first
//   layers of a network on data, t has this form. Likewise P·u·P'ᵀ follows if u is such a function
//   of v, or of t.

#include "ladon/layers/infinite/attention/pair_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ladon/autograd/number.h"
#include "ladon/core/kernels/attention/limit_blocks.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {
namespace {

using Block = std::vector<double>;

/// y = slope·x + offset.
struct Line {
  double slope, offset;
};

/// The line on which the points (x_i, y_i) of all entries of two blocks lie, up to rounding;
/// nullopt if there is none.
std::optional<Line> line(const double* x, const double* y, std::int64_t size) {
  std::int64_t far = 0;
  for (std::int64_t i = 0; i < size; ++i)
    if (std::abs(x[i] - x[0]) > std::abs(x[far] - x[0])) far = i;
  const double slope = x[far] != x[0] ? (y[far] - y[0]) / (x[far] - x[0]) : 0;
  const Line all{slope, y[0] - slope * x[0]};
  double error = 0, largest = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    error = std::max(error, std::abs(y[i] - (slope * x[i] + all.offset)));
    largest = std::max(largest, std::abs(y[i]));
  }
  if (error > 1e-14 * largest) return {};
  return all;
}

}  // namespace

struct Upstream {
  std::optional<Line> t_of_k, u_of_v, u_of_t;

  Upstream() = default;
  explicit Upstream(const PairBlocks& x) {
    if (!x.u) return;
    const std::int64_t size = x.positions * x.positions;
    t_of_k = line(x.k, x.t, size);
    u_of_v = line(x.v, x.u, size);
    u_of_t = line(x.t, x.u, size);
  }
  /// Whether P·u·P'ᵀ follows from P·t·P'ᵀ, which is computed for J(t) in any case.
  bool u_by_t() const { return !u_of_v && !t_of_k && u_of_t; }
};

namespace {

/// Sums over draws for one pair (top of this file), [T, T] each: P·v·P'ᵀ (`value`), and with an NTK
/// also P·u·P'ᵀ (`tangent`; P·t·P'ᵀ instead if P·u·P'ᵀ follows from it), J(k) (`slope_k`) and J(t)
/// (`slope_t`).
struct Sums {
  double *value, *tangent, *slope_k, *slope_t;
  Sums from(std::int64_t at) const {
    const auto moved = [at](double* x) { return x ? x + at : x; };
    return {moved(value), moved(tangent), moved(slope_k), moved(slope_t)};
  }
};

/// Adds up the draws of a pair, several at a time: enough to make products long, but few enough to
/// stay in the cache. Its buffers are reused for every pair. The NNGP kernel has the same bits with
/// and without an NTK: an input's kernel with itself must equal its variance exactly, because the
/// dual of an activation may be steep at correlation 1.
class Average {
 public:
  Average(std::int64_t positions, std::int64_t count, std::int64_t rank, bool same, bool tangent)
      : t_(positions),
        size_(positions * positions),
        all_(count),
        s_(positions < 64 ? count : 1),
        r_(rank),
        same_(same) {
    const auto n = static_cast<std::size_t>(size_ * s_);
    v_.left.resize(n);
    if (!tangent) return;
    for (Block* b : {&v_.right, &v_.both, &x_.left, &x_.right, &x_.both, &w_}) b->resize(n);
    xv_.resize(size_);
  }

  void add(const PairBlocks& x, const Upstream& up, const DrawnPair& pair, const Sums& sums) {
    const bool around = x.u && !(pair.left_covariances && up.t_of_k);
    if (pair.left_covariances)
      inner(pair.left_covariances, pair.right_covariances, covariance_size(r_), sums.slope_k);
    if (pair.left_means) inner(pair.left_means, pair.right_means, r_, sums.value);
    for (std::int64_t first = 0; first < all_; first += s_) {
      const Weights w{pair.p + first * t_, pair.q + first * size_, pair.turned + first * size_};
      if (around && pair.left_means && r_ < t_)
        around_means(pair, first);
      else if (around)
        around_block(w, x.v, v_);
      else if (!pair.left_means)
        from_left(w.p, x.v, 0, v_.left);
      if (!pair.left_means) over_draws(v_.left.data(), s_ * t_, w.turned, 1, sums.value);
      if (around) add_slopes(x, up, w, !pair.left_covariances, sums);
      if (x.u && !up.u_of_v && !up.u_by_t()) between(w, x.u, sums.tangent);
    }
  }

 private:
  /// Weights of S draws: P [a, s, i] (with `all_` draws per query in memory), P' [s, b, j] and P'ᵀ.
  struct Weights {
    const double *p, *rows, *turned;
  };
  /// Products of X with the weights: P·X [a, s, j], X·P'ᵀ [i, s, b] and P·X·P'ᵀ [s, a, b].
  struct Around {
    Block left, right, both;
  };

  /// y = beta·y + P·X:  [(a, s), i]·[i, j] → [a, s, j]
  void from_left(const double* p, const double* x, double beta, Block& y) const {
    const std::int64_t row = s_ == 1 ? all_ * t_ : t_;
    blas::gemm_serial<double>(t_ * s_, t_, t_, 1, {p, row, 1}, {x, t_, 1}, beta, {y.data(), t_, 1});
  }
  /// sum += sign·Σ_s Y·Z:  [a, (s, j)]·[(s, j), b] → [a, b]; rows of Y are `row` apart.
  void over_draws(const double* y, std::int64_t row, const double* z, double sign,
                  double* sum) const {
    blas::gemm_serial<double>(t_, t_, s_ * t_, sign, {y, row, 1}, {z, t_, 1}, 1, {sum, t_, 1});
  }
  /// sum += Σ_s ⟨F_a, F'_b⟩ over all draws, for the features (features.h) F_a of the left queries
  /// and F'_b of the right ones:  [a, (s, f)]·[(s, f), b] → [a, b]
  void inner(const double* left, const double* right, std::int64_t f, double* sum) const {
    blas::gemm_serial<double>(t_, t_, all_ * f, 1, {left, all_ * f, 1}, {right, t_, 1}, 1,
                              {sum, t_, 1});
  }
  /// sum += Σ_s P·X·P'ᵀ
  void between(const Weights& w, const double* x, double* sum) {
    from_left(w.p, x, 0, w_);
    over_draws(w_.data(), s_ * t_, w.turned, 1, sum);
  }

  void around_block(const Weights& w, const double* x, Around& y) const {
    from_left(w.p, x, 0, y.left);
    const std::int64_t row = s_ * t_;  // [i, j]·[j, (s, b)] → [i, s, b]
    blas::gemm_serial<double>(t_, row, t_, 1, {x, t_, 1}, {w.rows, 1, t_}, 0,
                              {y.right.data(), row, 1});
    for (std::int64_t s = 0; s < s_; ++s)
      blas::gemm_serial<double>(t_, t_, t_, 1, {y.left.data() + s * t_, row, 1},
                                {w.turned + s * size_, t_, 1}, 0,
                                {y.both.data() + s * size_, t_, 1});
  }
  /// Computes v_, the products of v = Φ·Φ'ᵀ with the weights, from features, for the draws from
  /// `first` on.
  void around_means(const DrawnPair& x, std::int64_t first) {
    const std::int64_t row = s_ * t_, own = all_ * r_;
    const double *left = x.left_means + first * r_, *right = x.right_means + first * r_ * t_;
    blas::gemm_serial<double>(row, t_, r_, 1, {left, s_ == 1 ? own : r_, 1},
                              {x.right_tokens, t_, 1}, 0, {v_.left.data(), t_, 1});
    for (std::int64_t s = 0; s < s_; ++s, left += r_, right += r_ * t_) {
      blas::gemm_serial<double>(t_, t_, r_, 1, {x.left_tokens, r_, 1}, {right, t_, 1}, 0,
                                {v_.right.data() + s * t_, row, 1});
      blas::gemm_serial<double>(t_, t_, r_, 1, {left, own, 1}, {right, t_, 1}, 0,
                                {v_.both.data() + s * size_, t_, 1});
    }
  }

  /// Adds to `sums` J(k) if `by_k` (otherwise features give it), J(t) unless it follows from J(k),
  /// and P·t·P'ᵀ if P·u·P'ᵀ follows from it.
  void add_slopes(const PairBlocks& x, const Upstream& up, const Weights& w, bool by_k,
                  const Sums& sums) {
    if (by_k && !same_) around_block(w, x.k, x_);
    if (by_k) add_jacobians(x.v, x.k, same_ ? v_ : x_, w, sums.slope_k);
    if (up.t_of_k) return;
    around_block(w, x.t, x_);
    add_jacobians(x.v, x.t, x_, w, sums.slope_t);
    if (up.u_by_t()) over_draws(x_.left.data(), s_ * t_, w.turned, 1, sums.tangent);
  }

  /// sum += Σ_s J(X): for each draw s, the sum over softmax's Jacobians with X = `x` in place of D,
  /// by the formula in head_moments.cpp. `around` holds the products of X with the weights.
  void add_jacobians(const double* v, const double* x, const Around& around, const Weights& w,
                     double* sum) {
    kernels::negative_products(s_ * size_, v_.left.data(), around.left.data(), w_.data());
    for (std::int64_t i = 0; i < size_; ++i) xv_[i] = x[i] * v[i];
    from_left(w.p, xv_.data(), 1, w_);
    over_draws(w_.data(), s_ * t_, w.turned, 1, sum);  // P·(X∘v) − (P·v)∘(P·X)
    kernels::products_by_draw(s_, t_, v_.right.data(), around.right.data(), w_.data());
    over_draws(w.p, all_ * t_, w_.data(), -1, sum);
    for (std::int64_t s = 0; s < s_; ++s)
      kernels::add_products(size_, v_.both.data() + s * size_, around.both.data() + s * size_, sum);
  }

  std::int64_t t_, size_, all_, s_, r_;  // T, T², all draws, draws at a time, R
  bool same_;                            // whether k and v are the same
  Around v_, x_;                         // products of v, and of k or t, with the weights
  Block w_, xv_;
};

/// AttentionMoments::tangent of one pair, from its sums over draws.
void finish_pair(const AttentionLimit& layer, const PairBlocks& x, const Upstream& up, double count,
                 const Sums& sums) {
  const std::int64_t t = x.positions;
  const auto sees = [&](const double* may, std::int64_t a) {
    return std::any_of(may + a * t, may + (a + 1) * t, [](double m) { return m > 0; });
  };
  const double qk = number_of("MultiHeadAttention", layer.query_key);
  const Line u = up.u_of_v ? *up.u_of_v : up.u_by_t() ? *up.u_of_t : Line{1, 0};
  for (std::int64_t a = 0; a < t; ++a)
    for (std::int64_t b = 0; b < t; ++b) {
      const std::int64_t i = a * t + b;
      const bool moved_alike = u.offset != 0 && sees(x.left_may, a) && sees(x.right_may, b);
      const double known = up.u_of_v ? sums.value[i] : sums.tangent[i] / count;
      const double slope_t = up.t_of_k ? up.t_of_k->slope * sums.slope_k[i] : sums.slope_t[i];
      const double moved = x.t[i] + layer.query_bias_trained;
      const double slopes =
          (layer.query_key_trained * x.k[i] + moved) * sums.slope_k[i] + x.k[i] * slope_t;
      sums.tangent[i] = u.slope * known + (moved_alike ? u.offset : 0) + qk * qk * slopes / count;
    }
}

}  // namespace

PairSums::PairSums(const AttentionLimit& layer, const BlockList& blocks, const PairForm& form,
                   double* value, double* tangent)
    : layer_(layer),
      blocks_(blocks),
      form_(form),
      value_(value),
      tangent_(tangent),
      pairs_(blocks.list(form.upper_triangle)),
      upstream_(pairs_.size()) {
  const std::int64_t all = blocks.count() * blocks.positions() * blocks.positions();
  std::fill_n(value, all, 0);
  if (!tangent) return;
  std::fill_n(tangent, all, 0);
  for (Block* slope : {&slope_k_, &slope_t_}) slope->resize(static_cast<std::size_t>(all));
}

PairSums::~PairSums() = default;

void PairSums::add(std::int64_t count, const std::function<DrawnPair(std::int64_t)>& drawn) {
  constexpr std::int64_t tasks = 64;  // few enough that their buffers cost little
  const std::int64_t t = blocks_.positions(), size = t * t, pairs = std::ssize(pairs_);
  const bool first = !begun_;
  begun_ = true;
  const std::int64_t grain = std::max<std::int64_t>(1, (pairs + tasks - 1) / tasks);
  const Sums all{value_, tangent_, slope_k_.data(), slope_t_.data()};
  parallel::for_range(pairs, grain, [&](std::int64_t at, std::int64_t end) {
    Average average(t, count, form_.rank, form_.same_kernels, tangent_ != nullptr);
    for (; at < end; ++at) {
      const std::int64_t pair = pairs_[at];
      const PairBlocks x = blocks_[pair];
      Upstream& up = upstream_[at];
      if (first) up = Upstream(x);
      average.add(x, up, drawn(pair), all.from(pair * size));
    }
  });
}

void PairSums::finish(double count) {
  const std::int64_t size = blocks_.positions() * blocks_.positions();
  const Sums all{value_, tangent_, slope_k_.data(), slope_t_.data()};
  const auto some = [&](std::int64_t at, std::int64_t end) {
    for (; at < end; ++at) {
      const std::int64_t pair = pairs_[at];
      const Sums sums = all.from(pair * size);
      for (std::int64_t i = 0; i < size; ++i) sums.value[i] /= count;
      if (tangent_) finish_pair(layer_, blocks_[pair], upstream_[at], count, sums);
      if (!form_.upper_triangle) continue;
      blocks_.mirror(pair, value_);
      if (tangent_) blocks_.mirror(pair, tangent_);
    }
  };
  parallel::for_range(std::ssize(pairs_), pairs_per_task(size), some);
}

}  // namespace ladon::infinite
