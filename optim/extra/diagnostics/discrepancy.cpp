#include "ladon/optim/extra/diagnostics/discrepancy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/lane_sum.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/optim/particles/bandwidth.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

using kernels::lane_sum;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Checks that x is a finite matrix [M, D] with M, D > 0, and returns it as contiguous f64.
Tensor checked(const char* operation, const char* what, const Tensor& x) {
  LADON_CHECK(x.defined() && x.rank() == 2 && x.count() > 0 && is_floating(x.dtype()), operation,
              what, " must be floating [M, D] with M, D > 0, got ",
              ladon::detail::kind_in_words(x));
  const Tensor rows = contiguous(cast(x.detach(), f64));
  const double* value = rows.data<double>();
  for (std::int64_t p = 0; p < rows.count(); ++p)
    LADON_CHECK(std::isfinite(value[p]), operation, what, " must be finite, but row ",
                p / rows.size(1), " has ", value[p]);
  return rows;
}

double chosen_h2(const char* operation, const DiscrepancyOptions& options, const Tensor& x) {
  if (options.h2) {
    LADON_CHECK(*options.h2 > 0 && std::isfinite(1 / *options.h2) && std::isfinite(*options.h2),
                operation, "h² is ", *options.h2, "; it must be positive and finite");
    return *options.h2;
  }
  // bandwidth() returns the median divided by 2 ln(M + 1), which suits repulsive forces; the median
  // heuristic of tests is the median itself.
  const double h2 = bandwidth(Bandwidth::median, rows::squared_distances(x)) * 2 *
                    std::log(static_cast<double>(x.size(0)) + 1);
  LADON_CHECK(std::isfinite(1 / h2), operation, "the median distance of the ", x.size(0),
              " samples is ", std::sqrt(h2), ", but must be positive; set h2 in the options");
  return h2;
}

/// κ(t), κ′(t) and κ″(t) of a kernel k(x, y) = κ(t) with t = |x − y|²/h².
struct Profile {
  double value, slope, curvature;
};
Profile profile(DiscrepancyKernel kernel, double t) {
  if (kernel == DiscrepancyKernel::rbf) {
    const double k = std::exp(-0.5 * t);
    return {k, -0.5 * k, 0.25 * k};
  }
  const double k = 1 / std::sqrt(1 + t), k3 = k * k * k;
  return {k, -0.5 * k3, 0.75 * k3 * k * k};
}

/// u_p of ksd() between samples i and j. With the differences Δx of samples and Δs of scores,
///   ∇_x k = (2κ′/h²)·Δx = −∇_y k   and   tr ∇_x∇_yᵀ k = −(2/h²)(κ′·D + 2κ″·t),   so that
///   u_p = κ·s_xᵀs_y − (2/h²)[κ′·(Δx·Δs + D) + 2κ″·t].
class SteinKernelOf {
 public:
  SteinKernelOf(const Tensor& x, const Tensor& score, DiscrepancyKernel kernel, double h2)
      : x_(x.data<double>()), s_(score.data<double>()), d_(x.size(1)), kernel_(kernel), h2_(h2) {}

  double operator()(std::int64_t i, std::int64_t j) const {
    const double *a = x_ + i * d_, *b = x_ + j * d_, *sa = s_ + i * d_, *sb = s_ + j * d_;
    const double d2 = lane_sum(d_, [=](auto c) { return (a[c] - b[c]) * (a[c] - b[c]); });
    const double cross = lane_sum(d_, [=](auto c) { return (a[c] - b[c]) * (sa[c] - sb[c]); });
    const double scores = lane_sum(d_, [=](auto c) { return sa[c] * sb[c]; });
    const double t = d2 / h2_;
    const Profile k = profile(kernel_, t);
    return k.value * scores -
           2 / h2_ * (k.slope * (cross + static_cast<double>(d_)) + 2 * k.curvature * t);
  }

 private:
  const double *x_, *s_;
  std::int64_t d_;
  DiscrepancyKernel kernel_;
  double h2_;
};

/// Sums over row i of the matrix u_p: its diagonal element, the sum of its other elements, and the
/// sum of their squares.
struct RowSums {
  double self, others, squares;
};
std::vector<RowSums> row_sums(const SteinKernelOf& u, std::int64_t m, std::int64_t d) {
  std::vector<RowSums> sums(m);
  const std::int64_t grain = 1 + (1 << 15) / (m * d + 1);
  parallel::for_range(m, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      RowSums row{.self = u(i, i), .others = 0, .squares = 0};
      for (std::int64_t j = 0; j < m; ++j) {
        if (j == i) continue;
        const double value = u(i, j);
        row.others += value;
        row.squares += value * value;
      }
      sums[i] = row;
    }
  });
  return sums;
}

SteinDiscrepancy statistics(const std::vector<RowSums>& rows, double h2) {
  const auto m = static_cast<double>(rows.size());
  double self = 0, others = 0, squares = 0;
  for (const RowSums& row : rows) {
    self += row.self;
    others += row.others;
    squares += row.squares;
  }
  const double pairs = m * (m - 1), v = (self + others) / (m * m);
  if (rows.size() < 2) return {v, nan, nan, nan, h2};
  const double u = others / pairs;
  // Jackknife: leaving out sample i changes u to u + 2(u − mean_{j≠i} u_p(x_i, x_j))/(M − 2).
  double spread = 0;
  for (const RowSums& row : rows) spread += std::pow(u - row.others / (m - 1), 2);
  const double se = rows.size() < 3 ? nan : 2 / (m - 2) * std::sqrt((m - 1) / m * spread);
  return {v, u, se, std::sqrt(2 * squares) / pairs, h2};
}

}  // namespace

SteinDiscrepancy ksd(const Tensor& x, const Tensor& score, const DiscrepancyOptions& options) {
  const Tensor points = checked("ksd", "samples", x), scores = checked("ksd", "scores", score);
  LADON_CHECK(points.shape() == scores.shape(), "ksd", "samples ", points.shape(), " and scores ",
              scores.shape(), " differ in shape; pass one score per sample");
  const double h2 = chosen_h2("ksd", options, points);
  const SteinKernelOf u(points, scores, options.kernel, h2);
  return statistics(row_sums(u, points.size(0), points.size(1)), h2);
}

SteinDiscrepancy ksd(const Tensor& x, const LogDensity& p, const DiscrepancyOptions& options) {
  return ksd(x, p.score(x).gradient, options);
}

namespace {

/// Kernel values between all samples of two sets; the first M rows are the first set.
struct TwoSets {
  TwoSets(const char* operation, const Tensor& x, const Tensor& y,
          const DiscrepancyOptions& options) {
    const NoGrad off;
    const Tensor a = checked(operation, "samples", x), b = checked(operation, "samples", y);
    LADON_CHECK(a.size(1) == b.size(1), operation, "samples ", a.shape(), " and ", b.shape(),
                " differ in dimension; both must be [.., D] with the same D");
    first = a.size(0);
    count = first + b.size(0);
    const Tensor all = concat({a, b}, 0);
    h2 = chosen_h2(operation, options, all);
    const Tensor t = rows::squared_distances(all) / h2;
    kernel = options.kernel == DiscrepancyKernel::rbf ? exp(-0.5 * t) : rsqrt(1 + t);
    totals = contiguous(sum(kernel, 1));
    total = number_of("mmd", sum(totals));
  }

  /// MMD² for the partition in which samples of weight 1 form the first set, and samples of weight
  /// 0 the second.
  SampleMmd split(const std::vector<double>& weight) const {
    const double *k = kernel.data<double>(), *row_total = totals.data<double>();
    double xx = 0, xy = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (weight[i] == 0) continue;
      const double* row = k + i * count;
      const double inside = lane_sum(count, [&](auto j) { return weight[j] * row[j]; });
      xx += inside;
      xy += row_total[i] - inside;
    }
    const double yy = total - xx - 2 * xy;
    const auto m = static_cast<double>(first), n = static_cast<double>(count - first);
    const double between = 2 * xy / (m * n), biased = xx / (m * m) + yy / (n * n) - between;
    const bool pairs = first > 1 && count - first > 1;
    const double unbiased = (xx - m) / (m * (m - 1)) + (yy - n) / (n * (n - 1)) - between;
    return {biased, pairs ? unbiased : nan, h2};
  }
  SampleMmd given() const {
    std::vector<double> weight(count);
    std::fill_n(weight.begin(), first, 1);
    return split(weight);
  }
  SampleMmd dealt(Generator rng) const {
    const Tensor order = permutation(count, rng);
    std::vector<double> weight(count);
    for (std::int64_t i = 0; i < first; ++i) weight[order.data<std::int64_t>()[i]] = 1;
    return split(weight);
  }

  std::int64_t first, count;  // M and M + N
  double h2;
  Tensor kernel, totals;  // kernel values [M + N, M + N], and the sum of each row [M + N]
  double total;           // sum of all kernel values
};

}  // namespace

SampleMmd sample_mmd(const Tensor& x, const Tensor& y, const DiscrepancyOptions& options) {
  return TwoSets("sample_mmd", x, y, options).given();
}

double mmd_p_value(const Tensor& x, const Tensor& y, std::int64_t permutations,
                   const DiscrepancyOptions& options, Generator& rng) {
  const TwoSets sets("mmd_p_value", x, y, options);
  LADON_CHECK(sets.first > 1 && sets.count - sets.first > 1, "mmd_p_value",
              "needs at least two samples in each set, got ", sets.first, " and ",
              sets.count - sets.first);
  LADON_CHECK(permutations >= 1 && permutations <= 1'000'000, "mmd_p_value", "there are ",
              permutations, " permutations; there must be 1 to 1,000,000");
  constexpr double rounding = 1e-12;  // error of `unbiased` by the order of summation
  const double observed = sets.given().unbiased - rounding;
  const Generator deals = rng.split(rng.reserve(1));
  std::vector<char> as_large(permutations);
  parallel::for_range(permutations, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      as_large[p] = sets.dealt(deals.split(p)).unbiased >= observed;
  });
  const auto larger = std::accumulate(as_large.begin(), as_large.end(), std::int64_t{0});
  return static_cast<double>(1 + larger) / static_cast<double>(1 + permutations);
}

}  // namespace ladon
