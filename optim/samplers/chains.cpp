// W is the variance within halves of chains, var⁺ the estimated variance of all draws, and R̂ the
// potential scale reduction (split_rhat() in chains.h); ρ_t is the autocorrelation at lag t, and τ
// the autocorrelation time (effective_sample_size()).

#include "ladon/optim/samplers/chains.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/inverse_erf.h"
#include "ladon/core/kernels/reductions/lane_sum.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Draws as doubles [C, S, D].
struct Draws {
  Draws(const char* operation, const Tensor& draws) {
    LADON_CHECK(draws.defined() && (draws.rank() == 2 || draws.rank() == 3) && draws.size(0) > 0 &&
                    (draws.rank() == 2 || draws.size(2) > 0),
                operation,
                "draws must be [C, S, D] or [C, S] with at least one chain and dimension, got ",
                detail::shape_in_words(draws));
    visit_floating(operation, draws.dtype(), []<class T>() {});
    const NoGrad off;  // so that check_plain() throws for tangents, but not for gradients
    check_plain(operation, draws, "draws");
    x = contiguous(cast(draws.detach(), f64));
    chains = draws.size(0), length = draws.size(1);
    numbers = draws.rank() == 3 ? draws.size(2) : 1;
  }
  double at(std::int64_t c, std::int64_t s, std::int64_t d) const {
    return x.data<double>()[(c * length + s) * numbers + d];
  }
  Tensor x;
  std::int64_t chains, length, numbers;
};

/// Divides x by the power of two that brings its largest |x_i| into [½, 1), and returns the
/// exponent of that power: sums of squares then neither overflow nor underflow, and the division is
/// exact.
int to_unit_scale(std::vector<double>& x) {
  const int exponent = rows::largest_exponent(x.data(), static_cast<std::int64_t>(x.size()));
  for (double& v : x) v = std::ldexp(v, -exponent);
  return exponent;
}

/// The draws of one dimension d in all halves of chains, scaled to |x| < 1: half h begins at
/// x[h·length].
struct Halves {
  Halves(const Draws& draws, std::int64_t d) : count(2 * draws.chains), length(draws.length / 2) {
    x.reserve(count * length);
    for (std::int64_t c = 0; c < draws.chains; ++c)
      for (const std::int64_t start : {std::int64_t{0}, draws.length - length})
        for (std::int64_t s = 0; s < length; ++s) x.push_back(draws.at(c, start + s, d));
    to_unit_scale(x);
  }
  /// Whether diagnostics are defined: halves have at least two draws, all finite and not all equal.
  bool fit() const {
    return length >= 2 &&
           std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); }) &&
           std::any_of(x.begin(), x.end(), [&](double v) { return v != x[0]; });
  }
  std::int64_t count, length;
  std::vector<double> x;
};

double mean_of(const double* x, std::int64_t n) {
  return kernels::lane_sum(n, [=](std::int64_t i) { return x[i]; }) / double(n);
}

/// Replaces x by its rank-normalized values (ChainScale::ranks).
void to_ranks(std::vector<double>& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  std::vector<double> scores(x.size());
  for (std::size_t i = 0, end; i < order.size(); i = end) {
    for (end = i + 1; end < order.size() && x[order[end]] == x[order[i]];) ++end;
    const double rank = 0.5 * double(i + 1 + end);  // mean of the ranks i + 1 … end
    const double p = (rank - 0.375) / (double(x.size()) + 0.25);
    const double score = std::numbers::sqrt2 * kernels::inverse_erf(2 * p - 1);
    for (std::size_t j = i; j < end; ++j) scores[order[j]] = score;
  }
  x = std::move(scores);
}

/// Replaces x by |x − median|.
void fold(std::vector<double>& x) {
  std::vector<double> sorted = x;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double upper = *middle,
               lower = *std::max_element(sorted.begin(), middle);  // x.size() is even
  for (double& v : x) v = std::abs(v - (lower + 0.5 * (upper - lower)));
}

/// W (`within`) and var⁺ (`total`) of split_rhat. The constructor also subtracts from each half the
/// mean of that half.
struct Moments {
  explicit Moments(Halves& halves) {
    const double m = double(halves.count), n = double(halves.length);
    std::vector<double> means;
    for (std::int64_t h = 0; h < halves.count; ++h) {
      double* x = halves.x.data() + h * halves.length;
      means.push_back(mean_of(x, halves.length));
      for (std::int64_t s = 0; s < halves.length; ++s) x[s] -= means.back();
      within +=
          kernels::lane_sum(halves.length, [=](auto s) { return x[s] * x[s]; }) / (m * (n - 1));
    }
    const double centre = mean_of(means.data(), halves.count);
    double between = 0;
    for (const double mean : means) between += (mean - centre) * (mean - centre) / (m - 1);
    total = (n - 1) / n * within + between;
  }
  double within = 0, total = 0;
};

double rhat_of(Halves halves) {
  const Moments moments(halves);
  return std::sqrt(moments.total / moments.within);
}

double rhat_of_ranks(Halves halves) {
  Halves folded = halves;
  to_ranks(halves.x);
  fold(folded.x);
  if (!folded.fit()) return rhat_of(std::move(halves));  // |draw − median| is constant
  to_ranks(folded.x);
  return std::max(rhat_of(std::move(halves)), rhat_of(std::move(folded)));
}

using Complex = std::complex<double>;

/// Fast Fourier transform in place: x_k ← Σ_s x_s·e^(−2πi·ks/n), where the length n is a power of
/// two (Cooley and Tukey 1965).
void fourier(std::vector<Complex>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, reversed = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; reversed & bit; bit /= 2) reversed -= bit;
    reversed += bit;
    if (i < reversed) std::swap(x[i], x[reversed]);
  }
  std::vector<Complex> roots;
  for (std::size_t k = 0; k < n / 2; ++k)
    roots.push_back(std::polar(1.0, -2 * std::numbers::pi * double(k) / double(n)));
  for (std::size_t half = 1; half < n; half *= 2)
    for (std::size_t start = 0; start < n; start += 2 * half)
      for (std::size_t k = start; k < start + half; ++k) {
        const Complex turned = roots[(k - start) * (n / (2 * half))] * x[k + half];
        x[k + half] = x[k] - turned;
        x[k] += turned;
      }
}

/// Σ_h Σ_s x_hs·x_h,s+t over halves h at every lag t, computed in O(n log n) operations as the
/// Fourier transform of the power spectrum. Two halves are transformed together as the real and
/// imaginary parts of a complex series z, for which Re Σ_s z_s·z̄_s+t is the sum over both halves.
std::vector<double> lagged_products(const Halves& halves) {
  const auto n = static_cast<std::size_t>(halves.length), size = std::bit_ceil(2 * n);
  std::vector<Complex> power(size);
  for (std::int64_t h = 0; h < halves.count; h += 2) {
    const double *first = halves.x.data() + h * halves.length, *second = first + n;
    std::vector<Complex> z(size);
    for (std::size_t s = 0; s < n; ++s) z[s] = {first[s], second[s]};
    fourier(z);
    for (std::size_t k = 0; k < size; ++k) power[k] += std::norm(z[k]);
  }
  fourier(power);
  std::vector<double> products;
  for (std::size_t t = 0; t < n; ++t) products.push_back(power[t].real() / double(size));
  return products;
}

double ess_of(Halves halves) {
  const Moments moments(halves);
  const std::int64_t n = halves.length;
  const std::vector<double> products = lagged_products(halves);
  const auto rho = [&](std::int64_t lag) {
    return 1 -
           (moments.within - products[lag] / (double(halves.count) * double(n))) / moments.total;
  };
  double tau = -1, lowest = std::numeric_limits<double>::infinity();
  for (std::int64_t lag = 0; lag + 1 < n; lag += 2) {
    const double even = lag == 0 ? 1 : rho(lag), pair = even + rho(lag + 1);
    if (!(pair > 0)) {
      tau += std::max(0.0, even);  // ρ_2k alone: alternating chains have ρ_2k+1 < 0
      break;
    }
    lowest = std::min(lowest, pair);
    tau += 2 * lowest;
  }
  const double all = double(halves.count) * double(n);
  return all / std::max(tau, 1 / std::log10(all));
}

/// figure(halves) for each dimension, or NaN where it is not defined: f64 [D], or a scalar for
/// draws [C, S].
Tensor of_each(const char* operation, const Tensor& tensor,
               const std::function<double(Halves)>& figure) {
  const Draws draws(operation, tensor);
  Tensor result = empty(tensor.rank() == 3 ? Shape{draws.numbers} : Shape{}, f64);
  double* out = result.mutable_data<double>();
  parallel::for_range(draws.numbers, 1, [&](std::int64_t d, std::int64_t end) {
    for (; d < end; ++d) {
      Halves halves(draws, d);
      out[d] = halves.fit() ? figure(std::move(halves)) : nan;
    }
  });
  return result;
}

}  // namespace

Tensor split_rhat(const Tensor& draws, ChainScale scale) {
  return of_each("split_rhat", draws, scale == ChainScale::ranks ? rhat_of_ranks : rhat_of);
}

Tensor effective_sample_size(const Tensor& draws, ChainScale scale) {
  return of_each("effective_sample_size", draws, [scale](Halves halves) {
    if (scale == ChainScale::ranks) to_ranks(halves.x);
    return ess_of(std::move(halves));
  });
}

Tensor autocorrelation(const Tensor& tensor, std::int64_t lags) {
  const Draws draws("autocorrelation", tensor);
  const std::int64_t n = draws.length;
  LADON_CHECK(lags >= 0 && lags < n, "autocorrelation", "lags is ", lags,
              "; it must be at least 0 and less than the number of draws, ", n);
  Tensor result = empty({draws.chains, lags + 1, draws.numbers}, f64);
  double* out = result.mutable_data<double>();
  parallel::for_range(draws.chains * draws.numbers, 1, [&](std::int64_t i, std::int64_t end) {
    std::vector<double> x(n);
    for (; i < end; ++i) {
      const std::int64_t c = i / draws.numbers, d = i % draws.numbers;
      for (std::int64_t s = 0; s < n; ++s) x[s] = draws.at(c, s, d);
      to_unit_scale(x);
      const double centre = mean_of(x.data(), n);
      for (double& v : x) v -= centre;
      const auto products = [&](std::int64_t lag) {
        return kernels::lane_sum(n - lag, [&](auto s) { return x[s] * x[s + lag]; });
      };
      const double squares = products(0);
      for (std::int64_t lag = 0; lag <= lags; ++lag)
        out[(c * (lags + 1) + lag) * draws.numbers + d] = products(lag) / squares;
    }
  });
  return tensor.rank() == 3 ? result : reshape(result, {draws.chains, lags + 1});
}

Measured chain_mean(const Tensor& tensor) {
  LADON_CHECK(tensor.defined() && tensor.rank() == 2, "chain_mean", "draws must be [C, S], got ",
              detail::shape_in_words(tensor));
  const double effective =
      number_of("chain_mean", effective_sample_size(tensor, ChainScale::values));
  std::vector<double> x = numbers_of("chain_mean", Draws("chain_mean", tensor).x);
  const int exponent = to_unit_scale(x);
  const Tensor scaled = from_vector(x, {static_cast<std::int64_t>(x.size())});
  return {std::ldexp(number_of("chain_mean", mean(scaled)), exponent),
          std::ldexp(std::sqrt(number_of("chain_mean", var(scaled)) / effective), exponent)};
}

}  // namespace ladon
