#include "ladon/layers/infinite/finite/compare.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/unread.h"

namespace ladon::infinite {
namespace {

double frobenius(const Tensor& x) { return std::sqrt(number_of("compare", sum(square(x)))); }

/// An NNGP kernel [N, N] or [N, N, T, T] as the covariance matrix of all outputs of one channel,
/// [N, N] or [N·T, N·T].
Tensor covariance(const Tensor& nngp) {
  if (nngp.rank() == 2) return nngp;
  const std::int64_t all = nngp.size(0) * nngp.size(2);
  return reshape(permute(nngp, {0, 2, 1, 3}), {all, all});
}

/// The visible positions [V], i64, as rows of covariance(nngp); undefined if all rows count:
/// without padding, and for outputs without positions.
Tensor visible_rows(const Tensor& mask, const Tensor& nngp) {
  if (!mask.defined() || nngp.rank() != 4 || mask.size(1) != nngp.size(2)) return {};
  const std::vector<bool> visible = mask.to_vector<bool>();
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < visible.size(); ++i)
    if (visible[i]) rows.push_back(static_cast<std::int64_t>(i));
  LADON_CHECK(!rows.empty() || visible.empty(), "compare", "all ", visible.size(),
              " positions are masked; at least one must be visible");
  if (rows.size() == visible.size()) return {};
  return from_vector(rows, {static_cast<std::int64_t>(rows.size())});
}

/// Running moments of one kernel of the networks.
struct Running {
  Tensor limit, limit_se;  // limit_se may be undefined
  Tensor rows;             // visible_rows()
  RunningMoments kernel, error;

  /// The entries of a kernel that count, those whose two positions are both visible.
  Tensor counted(const Tensor& k) const {
    if (!rows.defined()) return k;
    return index_select(index_select(covariance(k), 0, rows), 1, rows);
  }

  void add(const Tensor& k) {
    kernel.add(k);
    error.add(scalar(frobenius(counted(k - limit)) / frobenius(counted(limit)), f64));
  }

  Agreement result() const {
    Agreement a;
    a.limit = limit;
    a.mean = kernel.mean();
    a.se = kernel.standard_error();
    if (limit_se.defined()) a.se = sqrt(square(a.se) + square(limit_se));
    const Tensor expected = counted(limit), miss = counted(a.mean) - expected;
    // An entry that is the same in every network has a standard error of 0 and only rounding
    // errors; its z is set to 0.
    const Tensor floor = 1e-9 * (1.0 + abs(expected));
    const Tensor z = where(less_equal(abs(miss), floor), zeros_like(miss), miss / counted(a.se));
    a.largest_z = number_of("compare", amax(abs(z)));
    a.rms_z = std::sqrt(number_of("compare", mean(square(z))));
    a.mean_error = frobenius(miss) / frobenius(expected);
    a.single_error = {number_of("compare", error.mean()),
                      number_of("compare", error.standard_error())};
    return a;
  }
};

KolmogorovSmirnov farthest(const Tensor& outputs, const Tensor& k) {
  KolmogorovSmirnov worst{.distance = -1};
  const auto variances = numbers_of("compare", diagonal(k));
  for (std::size_t n = 0; n < variances.size(); ++n) {
    if (variances[n] <= 0) continue;
    const auto one = kolmogorov_smirnov(flatten(select(outputs, 1, static_cast<std::int64_t>(n))),
                                        std::sqrt(variances[n]));
    if (one.distance > worst.distance) worst = one;
  }
  worst.p_value = std::min(1.0, worst.p_value * static_cast<double>(variances.size()));
  return worst;
}

/// Gaussianity of outputs [draws, N, C]. In the limit channels are independent, so each counts as a
/// sample.
Gaussianity gaussianity(const Tensor& outputs, const Tensor& k, std::int64_t mmd_samples) {
  const Tensor vectors = reshape(permute(outputs, {0, 2, 1}), {-1, outputs.size(1)});
  const std::int64_t kept = std::min(vectors.size(0), mmd_samples);
  return {.kurtosis = excess_kurtosis(outputs),
          .kolmogorov_smirnov = farthest(outputs, k),
          .mmd = mmd(slice(vectors, 0, {.stop = kept}), k)};
}

/// The first channels of a network's outputs at the given rows (undefined: all), [1, N, C].
Tensor kept_outputs(const Tensor& outputs, const Tensor& rows, std::int64_t most) {
  const Tensor flat = reshape(outputs, {1, -1, outputs.size(-1)});
  const Tensor kept = slice(flat, 2, {.stop = std::min(most, flat.size(2))});
  return rows.defined() ? index_select(kept, 1, rows) : clone(kept);
}

ComparisonRow compare_point(const SizedFactory& make_network, const Inputs& x,
                            const SweepPoint& point, Generator& rng, const CompareOptions& o) {
  LADON_CHECK(point.draws >= 3, "compare", "needs at least 3 draws per point, got ", point.draws);
  const auto start = std::chrono::steady_clock::now();
  ComparisonRow row;
  row.point = point;
  MonteCarloOptions networks = o.networks;
  networks.draws = point.draws;

  Generator any = rng.split(0);
  const Get get = networks.kernel.get;
  Running nngp, ntk;
  {
    const auto network = make_network(point.size, any);
    LADON_CHECK(network != nullptr, "compare",
                "the factory returned no network (null); it must return one");
    row.parameters = network->parameter_count();
    GramOptions options = o.limit;
    options.get = get;
    const Gram k = gram(limit(*network), x, options);
    nngp.limit = k.nngp;
    nngp.limit_se = k.nngp_se;
    ntk.limit = k.ntk;
    ntk.limit_se = k.ntk_se;
    nngp.rows = ntk.rows = visible_rows(x.mask, k.nngp);
  }
  std::mutex telling;
  const auto make = [&](Generator& own) {
    auto network = make_network(point.size, own);
    if (!o.progress) return network;
    const std::lock_guard lock(telling);
    o.progress(point);
    return network;
  };
  std::vector<Tensor> outputs;
  for_each_network(make, x, x, networks, rng, [&](const EmpiricalKernel& k) {
    LADON_CHECK(k.nngp.shape() == nngp.limit.shape(), "compare",
                "kernels of networks and limit must have the same shape, but networks have ",
                k.nngp.shape(), " and the limit ", nngp.limit.shape());
    nngp.add(k.nngp);
    if (get == Get::ntk) ntk.add(k.ntk);
    outputs.push_back(kept_outputs(k.outputs, nngp.rows, o.gaussian_channels));
  });
  row.nngp = nngp.result();
  if (get == Get::ntk) row.ntk = ntk.result();
  row.outputs = concat(outputs, 0);
  row.gaussianity = gaussianity(row.outputs, covariance(nngp.counted(nngp.limit)), o.mmd_samples);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row;
}

Slope slope_of(const std::vector<ComparisonRow>& rows, Agreement ComparisonRow::*which) {
  std::vector<double> widths;
  std::vector<Measured> errors;
  for (const ComparisonRow& row : rows) {
    widths.push_back(static_cast<double>(row.point.size.width));
    errors.push_back((row.*which).single_error);
  }
  return fit_slope(widths, errors);
}

}  // namespace

Slope fit_slope(const std::vector<double>& widths, const std::vector<Measured>& errors) {
  LADON_CHECK(widths.size() == errors.size(), "fit_slope", "needs one error per width, got ",
              widths.size(), " widths and ", errors.size(), " errors");
  const bool weighted =
      std::all_of(errors.begin(), errors.end(), [](const Measured& e) { return e.se > 0; });
  double total = 0, x_mean = 0, y_mean = 0, xx = 0, xy = 0;
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const double relative = errors[i].value / errors[i].se;  // 1/se of the logarithm
      use(weighted ? relative * relative : 1, std::log(widths[i]), std::log(errors[i].value));
    }
  };
  each([&](double w, double x, double y) {
    total += w;
    x_mean += w * x;
    y_mean += w * y;
  });
  x_mean /= total;
  y_mean /= total;
  each([&](double w, double x, double y) {
    xx += w * (x - x_mean) * (x - x_mean);
    xy += w * (x - x_mean) * (y - y_mean);
  });
  if (!(xx > 1e-12 * total)) return {};
  return {.slope = {xy / xx, weighted ? 1 / std::sqrt(xx) : 0},
          .intercept = y_mean - xy / xx * x_mean};
}

Comparison compare(const SizedFactory& make_network, const Inputs& x,
                   const std::vector<SweepPoint>& sweep, const CompareOptions& options,
                   Generator& rng) {
  LADON_CHECK(!sweep.empty(), "compare", "the sweep has no points, but needs at least one");
  LADON_CHECK(!options.networks.kernel.full, "compare",
              "needs kernels averaged over channels, which full = true does not give; set "
              "networks.kernel.full = false");
  LADON_CHECK(
      options.networks.kernel.get == Get::nngp || options.limit.get == Get::ntk, "compare",
      "limit.get is nngp, but networks.kernel.get is ntk, which decides; leave limit.get at "
      "ntk, or set networks.kernel.get to nngp");
  detail::check_unread("compare", "networks.draws", options.networks.draws,
                       MonteCarloOptions{}.draws, "each point of the sweep has its own; set these");
  LADON_CHECK(options.gaussian_channels >= 1 && options.mmd_samples >= 3, "compare",
              "gaussian_channels must be at least 1 and mmd_samples at least 3, got ",
              options.gaussian_channels, " and ", options.mmd_samples);
  const NoGrad off;
  Comparison result;
  for (const SweepPoint& point : sweep)
    result.rows.push_back(compare_point(make_network, x, point, rng, options));
  result.nngp_slope = slope_of(result.rows, &ComparisonRow::nngp);
  if (options.networks.kernel.get == Get::ntk)
    result.ntk_slope = slope_of(result.rows, &ComparisonRow::ntk);
  return result;
}

}  // namespace ladon::infinite
