#include "ladon/layers/infinite/attention/key_sums.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {
namespace {

using kernels::power_terms;
using kernels::RectifierSums;
using std::int64_t;

constexpr double strong = 0.9;  // where both |ρ_ab| and |ρ_ij| exceed it, no series is used

/// α² and β² of ζ(x) = αx + β|x|.
struct Squares {
  double alpha2, beta2;
};

Squares squares_of(Weighting zeta) {
  return zeta == Weighting::relu ? Squares{0.25, 0.25} : Squares{0, 1};
}

/// Correlations ρ and weights w_m of some pairs of keys, as plain arrays. Below, a key is such a
/// pair: key i of the first input and key j of the second.
struct KeyList {
  const double* correlation;
  const double* weight[4];

  KeyList from(int64_t at) const {
    KeyList y{correlation + at, {}};
    for (int m = 0; m < 4; ++m) y.weight[m] = weight[m] + at;
    return y;
  }
  void add(const Squares& zeta, double r, bool tangent, int64_t n, RectifierSums& sums) const {
    kernels::loops().rectifier.sums(zeta.alpha2, zeta.beta2, r, correlation, weight, tangent, n,
                                    sums);
  }
};

// --- direct sums over all keys ---

/// Sums over the pairs of keys (i, j) that the queries at positions (a, b) may attend to: all T²
/// pairs, or, if attention is causal, those with i ≤ a and j ≤ b.
RectifierSums sum_all(const Squares& zeta, const KeyList& keys, bool causal, bool tangent,
                      int64_t t, int64_t a, int64_t b) {
  const double r = keys.correlation[a * t + b];
  RectifierSums sums{};
  if (!causal) keys.add(zeta, r, tangent, t * t, sums);
  for (int64_t i = 0; causal && i <= a; ++i) keys.from(i * t).add(zeta, r, tangent, b + 1, sums);
  return sums;
}

// --- sums from moments of the keys ---

/// Coefficients of the power series of abs: κ(x) = (2/π)·(√(1−x²) + x·asin x) = Σ c_k·x^2k and
/// κ'(x) = (2/π)·asin x = x·Σ d_k·x^2k, as rows c, c, d, d.
std::vector<double> series_factors() {
  std::vector<double> y(4 * power_terms);
  double even = 2 / std::numbers::pi, odd = even;
  for (int64_t k = 0; k < power_terms; ++k) {
    for (int m = 0; m < 2; ++m) {
      y[m * power_terms + k] = even;
      y[static_cast<std::size_t>((2 + m) * power_terms + k)] = odd;
    }
    const auto n = static_cast<double>(k);
    even = odd / (2 * n + 2);
    odd *= (2 * n + 1) * (2 * n + 1) / ((2 * n + 2) * (2 * n + 3));
  }
  return y;
}

/// Moments of some keys: for each power k, Σ w_m·(ρ²)^k for the weights of κ and Σ w_m·ρ·(ρ²)^k for
/// those of κ'; and for the linear part of ζ, Σ w_m·ρ and Σ w_m.
class Moments {
 public:
  explicit Moments(bool tangent) : count_(tangent ? 4 : 1), sums_(4 + 4 * power_terms) {}

  void add(const KeyList& key) {
    const double rho = *key.correlation;
    double weight[4];
    for (int m = 0; m < count_; ++m) {
      const double w = *key.weight[m];
      weight[m] = m < 2 ? w : w * rho;
      sums_[m] += m < 2 ? w * rho : w;
    }
    kernels::loops().rectifier.add_powers(rho * rho, weight, count_, sums_.data() + 4);
  }
  void add(const Moments& other) {
    kernels::loops().f64.axpby(1, sums_.data(), 1, other.sums_.data(), 4 + count_ * power_terms);
  }
  void clear() { std::fill(sums_.begin(), sums_.end(), 0); }

  void evaluate(const Squares& zeta, double r, RectifierSums& sums) const {
    static const std::vector<double> factors = series_factors();
    double series[4] = {};
    kernels::loops().rectifier.power_series(r * r, factors.data(), sums_.data() + 4, count_,
                                            series);
    for (std::size_t m = 0; m < 2; ++m) {
      sums.value[m] += zeta.alpha2 * r * sums_[m] + zeta.beta2 * series[m];
      sums.slope[m] += zeta.alpha2 * sums_[2 + m] + zeta.beta2 * r * series[2 + m];
    }
  }

 private:
  int count_;
  std::vector<double> sums_;  // the four linear sums, then [count, power_terms]
};

/// Moments of the keys with |correlation| up to `strong` (0.9), and of all other keys.
struct SplitMoments {
  explicit SplitMoments(bool tangent) : mild(tangent), strong(tangent) {}
  void add(const KeyList& key) {
    (std::abs(*key.correlation) <= infinite::strong ? mild : strong).add(key);
  }
  void add(const SplitMoments& other) {
    mild.add(other.mild);
    strong.add(other.strong);
  }
  void clear() {
    mild.clear();
    strong.clear();
  }
  Moments mild, strong;
};

/// The keys (i, j) with |correlation| above `strong`, stored contiguously: those of row i have the
/// indices [begins_[i], begins_[i + 1]).
class StrongKeys {
 public:
  void take(const KeyList& keys, int64_t t) {
    for (std::vector<double>& column : columns_) column.clear();
    positions_.clear();
    begins_.assign(1, 0);
    for (int64_t i = 0; i < t; ++i) {
      for (int64_t j = 0; j < t; ++j) {
        const KeyList key = keys.from(i * t + j);
        if (std::abs(*key.correlation) <= strong) continue;
        columns_[0].push_back(*key.correlation);
        for (std::size_t m = 0; m < 4; ++m) columns_[1 + m].push_back(*key.weight[m]);
        positions_.push_back(j);
      }
      begins_.push_back(static_cast<int64_t>(positions_.size()));
    }
  }

  RectifierSums sum(const Squares& zeta, double r, bool causal, bool tangent, int64_t a,
                    int64_t b) const {
    const KeyList keys{
        columns_[0].data(),
        {columns_[1].data(), columns_[2].data(), columns_[3].data(), columns_[4].data()}};
    RectifierSums sums{};
    if (!causal) keys.add(zeta, r, tangent, begins_.back(), sums);
    for (std::size_t i = 0; causal && i <= static_cast<std::size_t>(a); ++i) {
      const auto first = positions_.begin() + begins_[i],
                 last = positions_.begin() + begins_[i + 1];
      const int64_t n = std::upper_bound(first, last, b) - first;
      if (n > 0) keys.from(begins_[i]).add(zeta, r, tangent, n, sums);
    }
    return sums;
  }

 private:
  std::vector<double> columns_[5];  // ρ and the weights
  // The column j of each key, and the index of the first key of each row i.
  std::vector<int64_t> positions_, begins_;
};

/// Computes the sums over keys from moments of the keys' correlations, one pair of inputs per call.
/// Calls to(a, b, sums) for each position a of the first input and b of the second.
class ByMoments {
 public:
  ByMoments(const Squares& zeta, bool causal, bool tangent, int64_t t)
      : zeta_(zeta),
        causal_(causal),
        tangent_(tangent),
        t_(t),
        seen_(tangent),
        columns_(causal ? static_cast<std::size_t>(t) : 0, SplitMoments(tangent)) {}

  template <class To>
  void operator()(const KeyList& keys, const To& to) {
    strong_keys_.take(keys, t_);
    seen_.clear();
    for (SplitMoments& column : columns_) column.clear();
    for (int64_t ij = 0; !causal_ && ij < t_ * t_; ++ij) seen_.add(keys.from(ij));
    for (int64_t a = 0; a < t_; ++a) {
      // Sums over the rows i ≤ a and columns j ≤ b: moments per column, added from column 0 to b.
      if (causal_) {
        seen_.clear();
        for (int64_t j = 0; j < t_; ++j) column(j).add(keys.from(a * t_ + j));
      }
      for (int64_t b = 0; b < t_; ++b) {
        if (causal_) seen_.add(column(b));
        to(a, b, at(keys.correlation[a * t_ + b], a, b));
      }
    }
  }

 private:
  SplitMoments& column(int64_t j) { return columns_[j]; }

  RectifierSums at(double r, int64_t a, int64_t b) const {
    const bool mild = std::abs(r) <= strong;
    RectifierSums sums =
        mild ? RectifierSums{} : strong_keys_.sum(zeta_, r, causal_, tangent_, a, b);
    seen_.mild.evaluate(zeta_, r, sums);
    if (mild) seen_.strong.evaluate(zeta_, r, sums);
    return sums;
  }

  Squares zeta_;
  bool causal_, tangent_;
  int64_t t_;
  StrongKeys strong_keys_;
  SplitMoments seen_;
  std::vector<SplitMoments> columns_;
};

}  // namespace

KeySums key_sums(Weighting zeta, bool causal, const KeyFactors& keys) {
  // With at least this many positions, ByMoments is faster than sum_all() for each (a, b).
  constexpr int64_t least = 16;
  const int64_t t = keys.correlation.size(-1), size = t * t;
  const bool tangent = keys.weight[1].defined();
  const Squares squares = squares_of(zeta);
  KeySums y;
  double* out[4] = {};
  KeyList all{keys.correlation.data<double>(), {}};
  for (int m = 0; m < 4; ++m) {
    all.weight[m] = keys.weight[tangent ? m : 0].data<double>();
    if (m > 0 && !tangent) continue;
    y.of[m] = empty(keys.correlation.shape(), f64);
    out[m] = y.of[m].mutable_data<double>();
  }
  const auto put = [&](int64_t at, const RectifierSums& s) {
    out[0][at] = s.value[0];
    if (!tangent) return;
    out[1][at] = s.value[1];
    out[2][at] = s.slope[0];
    out[3][at] = s.slope[1];
  };
  if (size == 0) return y;
  const int64_t pairs = keys.correlation.count() / size;
  if (t >= least) {
    parallel::for_range(pairs, pairs_per_task(size * power_terms), [&](int64_t p, int64_t end) {
      ByMoments sums(squares, causal, tangent, t);
      for (; p < end; ++p)
        sums(all.from(p * size),
             [&](int64_t a, int64_t b, const RectifierSums& s) { put(p * size + a * t + b, s); });
    });
    return y;
  }
  parallel::for_range(pairs * size, pairs_per_task(size), [&](int64_t at, int64_t end) {
    for (; at < end; ++at)
      put(at,
          sum_all(squares, all.from(at / size * size), causal, tangent, t, at % size / t, at % t));
  });
  return y;
}

}  // namespace ladon::infinite
