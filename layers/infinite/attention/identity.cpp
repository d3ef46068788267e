// Attention with ζ(G) = G and sqrt scaling, with infinitely many heads (Hron et al. 2020), in the
// notation of limit.h.
//
// E[G_ai·G'_bj] = QK²·k_ab·k_ij and ∂ζ_ai/∂G_ac = 1{i = c}, so that
//   value   = QK²·k_ab·⟨k, v⟩
//   tangent = QK²·[ k_ab·⟨k, u⟩ + (2·k_ab + t_ab)·⟨k, v⟩ + k_ab·⟨t, v⟩ ],
// where ⟨x, y⟩ = Σ_ij x_ij·y_ij over the keys i and j that a and b see.

#include <algorithm>
#include <vector>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/attention/limit_blocks.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/attention/pair_blocks.h"

namespace ladon::infinite {
namespace {

/// The formulas for value and tangent above, in differentiable operations.
AttentionMoments composed(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  const Tensor &k = seen.queries.nngp, &t = seen.queries.ntk, &keys = seen.keys.nngp;
  const auto may = [&](const Tensor& mask) {
    return visible(layer, mask, k.size(-1), keys.size(-1));
  };
  const Tensor left = may(seen.keys.left_mask), right = transpose(may(seen.keys.right_mask));
  const auto inner = [&](const Tensor& x, const Tensor& y) {
    return matmul(matmul(left, x * y), right);
  };
  const Tensor kv = inner(keys, values.nngp), qk2 = square(layer.query_key);
  AttentionMoments m{qk2 * k * kv, {}};
  if (!values.ntk.defined()) return m;
  m.tangent = qk2 * (k * inner(keys, values.ntk) +
                     (layer.query_key_trained * k + t + layer.query_bias_trained) * kv +
                     k * inner(seen.keys.ntk + layer.key_bias_trained, values.nngp));
  return m;
}

/// Evaluates the formulas above for one pair at a time, so that its numbers stay in the cache.
class Identity {
 public:
  Identity(const AttentionLimit& layer, std::int64_t positions)
      : causal_(layer.causal),
        by_{.qk2 = number_of("MultiHeadAttention", layer.query_key) *
                   number_of("MultiHeadAttention", layer.query_key),
            .query_key_trained = layer.query_key_trained,
            .query_bias_trained = layer.query_bias_trained},
        key_bias_(layer.key_bias_trained),
        t_(positions) {
    column_.resize(t_);
    for (auto* sums : {&kv_, &ku_, &tv_}) sums->resize(static_cast<std::size_t>(t_ * t_));
  }

  void operator()(const PairBlocks& x, double* value, double* tangent) {
    inner(x.k, x.v, x, kv_.data());
    if (tangent) {
      inner(x.k, x.u, x, ku_.data());
      moved_.assign(x.t, x.t + t_ * t_);
      for (double& t : moved_) t += key_bias_;
      inner(moved_.data(), x.v, x, tv_.data());
    }
    kernels::identity_block(t_ * t_, by_, x.k, x.t, {kv_.data(), ku_.data(), tv_.data()}, !causal_,
                            value, tangent);
  }

 private:
  /// ⟨x, y⟩ for every (a, b). The products x_ij·y_ij of visible rows i ≤ a are added to one vector
  /// over the columns j, whose running sum over j ≤ b is the result. (Without causality all rows
  /// and columns count.)
  void inner(const double* x, const double* y, const PairBlocks& pair, double* sums) {
    // Masks are read from the last query's row, since it sees every key that any query sees.
    const double *rows = pair.left_may + (t_ - 1) * t_, *columns = pair.right_may + (t_ - 1) * t_;
    std::fill(column_.begin(), column_.end(), 0);
    double* column = column_.data();
    const auto running = [&](double* to) {
      double sum = 0;
      for (std::int64_t b = 0; b < t_; ++b) to[b] = sum += columns[b] * column[b];
      return sum;
    };
    if (!causal_) {
      kernels::add_column_products(t_, t_, rows, x, y, column);
      *sums = running(sums);
      return;
    }
    for (std::int64_t a = 0; a < t_; ++a) {
      kernels::add_column_products(1, t_, rows + a, x + a * t_, y + a * t_, column);
      running(sums + a * t_);
    }
  }

  bool causal_;
  kernels::IdentityFactors by_;
  double key_bias_;
  std::int64_t t_;
  std::vector<double> column_, kv_, ku_, tv_, moved_;
};

AttentionMoments pair_by_pair(const AttentionLimit& layer, const Pairs& seen, const Pairs& values) {
  const BlockList blocks(layer, seen, values);
  const std::int64_t t = blocks.positions(), size = t * t;
  AttentionMoments m{empty(seen.nngp.shape(), f64), {}};
  if (values.ntk.defined()) m.tangent = empty(seen.nngp.shape(), f64);
  double* value = m.value.mutable_data<double>();
  double* tangent = m.tangent.defined() ? m.tangent.mutable_data<double>() : nullptr;
  const bool upper = upper_triangle(seen);
  const std::vector<std::int64_t> pairs = blocks.list(upper);
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    Identity identity(layer, t);
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t p = pairs[at];
      identity(blocks[p], value + p * size, tangent ? tangent + p * size : nullptr);
      if (!upper) continue;
      blocks.mirror(p, value);
      if (tangent) blocks.mirror(p, tangent);
    }
  };
  if (size > 0) parallel::for_range(std::ssize(pairs), pairs_per_task(16 * size), some);
  return m;
}

}  // namespace

AttentionMoments identity_moments(const AttentionLimit& layer, const Seen& seen,
                                  const Pairs& values) {
  if (!seen.self()) return composed(layer, seen, values);
  const Pairs& both = seen.keys;
  return fast_or_composed(
      "identity_moments", {layer.query_key, both.nngp, both.ntk, values.nngp, values.ntk},
      [&] { return pair_by_pair(layer, both, values); },
      [&] { return composed(layer, seen, values); });
}

}  // namespace ladon::infinite
