// The logits of a pair of inputs (n, m) are drawn jointly. With the joint kernel of their 2T
// positions C = [k(n,n) k(n,m); k(m,n) k(m,m)] = L·Lᵀ, L lower triangular, and Z [2T, 2T] standard
// normal,
//   G(n) = QK·(L·Z·Lᵀ) at rows and columns of n,   G(m) = the same at those of m,
// have Cov(G_ai(n), G_bj(m)) = QK²·k_ab·k_ij. All pairs use the same Z, so that G(n) does not depend
// on m, and errors are alike over a Gram matrix. Each Z counts twice, as Z and −Z.
//
// With P = ζ(G(n)), P' = ζ(G(m)) and softmax's Jacobian ∂ζ_ai/∂G_ac = P_ai·(1{i = c} − P_ac),
//   Σ_ij v_ij Σ_ce ∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be·X_ce
//     = Σ_ce P_ac·P'_be·X_ce·[v_ce − (P·v)_ae − (v·P'ᵀ)_cb + (P·v·P'ᵀ)_ab]
//     = [(P·(X∘v) − (P·v)∘(P·X))·P'ᵀ − P·((X·P'ᵀ)∘(v·P'ᵀ)) + (P·X·P'ᵀ)∘(P·v·P'ᵀ)]_ab.

#include "ladon/layers/infinite/attention/draws.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/blas.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/parallel.h"
#include "ladon/core/random.h"

namespace ladon::infinite {
namespace {

using Block = std::vector<double>;

/// Lower L with C ≈ L·Lᵀ for positive semi-definite C [n, n], in place. A column whose pivot is
/// lost in rounding (inputs that repeat) is zero; the error is at most 1e-6 of the largest entry.
void factorize(Block& c, std::int64_t n) {
  double* l = c.data();
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, l[i * n + i]);
  for (std::int64_t j = 0; j < n; ++j) {
    double pivot = l[j * n + j];
    for (std::int64_t i = 0; i < j; ++i) pivot -= l[j * n + i] * l[j * n + i];
    const double root = pivot > 1e-12 * largest ? std::sqrt(pivot) : 0;
    for (std::int64_t r = j; r < n; ++r) {
      double x = l[r * n + j];
      for (std::int64_t i = 0; i < j; ++i) x -= l[r * n + i] * l[j * n + i];
      l[r * n + j] = root > 0 ? x / root : 0;
    }
    std::fill(l + j * n + j + 1, l + (j + 1) * n, 0.0);
  }
}

/// The average of one pair; its buffers serve pair after pair.
class Average {
 public:
  Average(const AttentionLimit& layer, std::int64_t positions)
      : layer_(layer), t_(positions), size_(positions * positions) {
    for (Block* b : {&p1_, &p2t_, &g1_, &g2_, &pv_, &vp_, &px_, &xp_, &pxp_, &pvp_, &w_, &xv_,
                     &sum_k_, &sum_t_})
      b->resize(static_cast<std::size_t>(size_));
    for (Block* b : {&joint_, &turned_}) b->resize(static_cast<std::size_t>(4 * size_));
    half_.resize(static_cast<std::size_t>(2 * size_));
  }

  /// z: [draws, 2T, 2T].
  void operator()(const PairBlocks& x, const Tensor& z, double* value, double* tangent) {
    std::fill_n(value, size_, 0);
    if (tangent) std::fill_n(tangent, size_, 0);
    std::fill(sum_k_.begin(), sum_k_.end(), 0);
    std::fill(sum_t_.begin(), sum_t_.end(), 0);
    const bool moving = tangent && std::any_of(x.t, x.t + size_, [](double t) { return t != 0; });
    factorize_joint(x);
    for (std::int64_t draw = 0; draw < z.size(0); ++draw) {
      draw_logits(z.data<double>() + draw * 4 * size_);
      for (const double sign : {1.0, -1.0}) {
        weights(g1_, sign, x.left_may, p1_);
        weights(g2_, sign, x.right_may, w_);
        transpose_into(w_.data(), t_, p2t_.data());
        add(x, value, tangent, moving);
      }
    }
    finish(x, 2 * static_cast<double>(z.size(0)), value, tangent);
  }

 private:
  // alpha·[T,T]·[T,T] + beta·y
  void product(const double* a, const double* b, double* y, double alpha = 1, double beta = 0) {
    blas::gemm_serial<double>(t_, t_, t_, alpha, {a, t_, 1}, {b, t_, 1}, beta, {y, t_, 1});
  }

  void factorize_joint(const PairBlocks& x) {
    for (std::int64_t i = 0; i < t_; ++i)
      for (std::int64_t j = 0; j < t_; ++j) {
        double* corner = joint_.data() + i * 2 * t_ + j;
        corner[0] = x.left[i * t_ + j];
        corner[2 * size_] = x.k[j * t_ + i];  // k(m, n)
        corner[2 * size_ + t_] = x.right[i * t_ + j];
      }
    factorize(joint_, 2 * t_);
    transpose_into(joint_.data(), 2 * t_, turned_.data());
  }

  // Products of few rows are fastest with both factors row-major, so Lᵀ and P'ᵀ are formed.
  static void transpose_into(const double* x, std::int64_t n, double* y) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) y[j * n + i] = x[i * n + j];
  }

  // L = [L_n 0; L_mn L_m]:  G(n) = QK·L_n·Z_nn·L_nᵀ,  G(m) = QK·[L_mn L_m]·Z·[L_mn L_m]ᵀ.
  void draw_logits(const double* z) {
    const std::int64_t row = 2 * t_;
    const double *top = joint_.data(), *bottom = joint_.data() + t_ * row;
    const double* turned = turned_.data();  // [L_nᵀ L_mnᵀ; 0 L_mᵀ]
    const double qk = layer_.query_key.item();
    blas::gemm_serial<double>(t_, t_, t_, qk, {top, row, 1}, {z, row, 1}, 0, {half_.data(), t_, 1});
    blas::gemm_serial<double>(t_, t_, t_, 1, {half_.data(), t_, 1}, {turned, row, 1}, 0,
                              {g1_.data(), t_, 1});
    // [T,2T] · [2T,2T] → [T,2T] · [T,2T]ᵀ → [T,T]
    blas::gemm_serial<double>(t_, row, row, qk, {bottom, row, 1}, {z, row, 1}, 0,
                              {half_.data(), row, 1});
    blas::gemm_serial<double>(t_, t_, row, 1, {half_.data(), row, 1}, {turned + t_, row, 1}, 0,
                              {g2_.data(), t_, 1});
  }

  /// P = softmax(±G) over the visible keys.
  void weights(const Block& g, double sign, const double* may, Block& p) {
    const auto softmax = kernels::loops().f64.softmax;
    for (std::int64_t i = 0; i < size_; ++i)
      p[static_cast<std::size_t>(i)] =
          may[i] > 0 ? sign * g[static_cast<std::size_t>(i)] : -INFINITY;
    for (std::int64_t a = 0; a < t_; ++a) softmax(p.data() + a * t_, p.data() + a * t_, t_);
  }

  void add(const PairBlocks& x, double* value, double* tangent, bool moving) {
    const double *p = p1_.data(), *qt = p2t_.data();
    product(p, x.v, pv_.data());
    product(pv_.data(), qt, pvp_.data());
    for (std::int64_t i = 0; i < size_; ++i) value[i] += pvp_[static_cast<std::size_t>(i)];
    if (!tangent) return;
    product(p, x.u, w_.data());
    product(w_.data(), qt, tangent, 1, 1);
    product(x.v, qt, vp_.data());
    add_jacobians(x.v, x.k, sum_k_);
    if (moving) add_jacobians(x.v, x.t, sum_t_);
  }

  /// The formula at the top of this file, for one X.
  void add_jacobians(const double* v, const double* x, Block& sum) {
    const double *p = p1_.data(), *qt = p2t_.data();
    const std::size_t n = static_cast<std::size_t>(size_);
    product(p, x, px_.data());
    product(px_.data(), qt, pxp_.data());
    product(x, qt, xp_.data());
    for (std::size_t i = 0; i < n; ++i) {
      xv_[i] = x[i] * v[i];
      w_[i] = pv_[i] * px_[i];
      xp_[i] *= vp_[i];
      sum[i] += pxp_[i] * pvp_[i];
    }
    product(p, xv_.data(), w_.data(), 1, -1);  // P·(X∘v) − (P·v)∘(P·X)
    product(w_.data(), qt, sum.data(), 1, 1);
    product(p, xp_.data(), sum.data(), -1, 1);
  }

  void finish(const PairBlocks& x, double count, double* value, double* tangent) {
    const double qk = layer_.query_key.item();
    for (std::int64_t i = 0; i < size_; ++i) {
      value[i] /= count;
      if (!tangent) continue;
      const std::size_t at = static_cast<std::size_t>(i);
      const double slopes =
          (layer_.query_key_trained * x.k[i] + x.t[i]) * sum_k_[at] + x.k[i] * sum_t_[at];
      tangent[i] = (tangent[i] + qk * qk * slopes) / count;
    }
  }

  const AttentionLimit& layer_;
  std::int64_t t_, size_;
  Block joint_, turned_, half_;   // L and Lᵀ [2T, 2T]; [T, 2T]
  Block g1_, g2_, p1_, p2t_;      // G(n), G(m), P, P'ᵀ
  Block pv_, vp_, pvp_;           // P·v, v·P'ᵀ, P·v·P'ᵀ
  Block px_, xp_, pxp_, w_, xv_;  // the same of X, and what is summed
  Block sum_k_, sum_t_;           // the sums for X = k and X = t
};

}  // namespace

void average_over_draws(const AttentionLimit& layer, const BlockList& blocks,
                        std::uint64_t replicate, double* value, double* tangent) {
  const std::int64_t t = blocks.positions(), draws = (layer.samples + 1) / 2;
  Generator rng = Generator(layer.seed).split(replicate);
  const Tensor z = normal({draws, 2 * t, 2 * t}, rng, 0, 1, f64);
  parallel::for_range(blocks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    Average average(layer, t);
    for (std::int64_t p = begin; p < end; ++p)
      average(blocks[p], z, value + p * t * t, tangent ? tangent + p * t * t : nullptr);
  });
}

}  // namespace ladon::infinite
