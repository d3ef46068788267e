#include "ladon/optim/particles/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/core/machine/parallel.h"
#include "ladon/optim/particles/rows.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::kernel_test {
namespace {

double h2_of(Bandwidth rule, const Tensor& theta, double given = 1) {
  return bandwidth(rule, rows::squared_distances(theta), given);
}

TEST(Rows, MatchTheirDefinitions) {
  Generator rng(1);
  for (const auto& [m, d] : {std::pair{1, 1}, {2, 7}, {5, 1029}, {17, 3000}})
    for (const DType dtype : {f32, f64}) {
      const Tensor x = normal({m, d}, rng, 0, 1, dtype), w = normal({m, m}, rng, 0, 1, f64);
      const Tensor wide = cast(x, f64);
      const Tensor difference = unsqueeze(wide, 1) - unsqueeze(wide, 0);  // [M, M, D]
      EXPECT_TRUE(all_close(rows::squared_distances(x), sum(square(difference), 2),
                            dtype == f64 ? 1e-13 : 3e-7, 0));
      EXPECT_TRUE(all_close(rows::inner_products(x), matmul(wide, transpose(wide)), 1e-12, 1e-11));
      const double rounding = dtype == f64 ? 1e-12 : 2e-6;  // particles are mixed in their dtype
      const Tensor mixed = rows::mix(w, x), apart = rows::mix_differences(w, x);
      EXPECT_TRUE(mixed.dtype() == dtype && apart.dtype() == dtype);
      EXPECT_TRUE(all_close(cast(mixed, f64), matmul(w, wide), rounding, rounding));
      EXPECT_TRUE(
          all_close(cast(apart, f64), sum(unsqueeze(w, 2) * difference, 1), rounding, rounding));
      const auto norms = norm(wide, 1).to_vector();
      for (std::int64_t i = 0; i < m; ++i) EXPECT_NEAR(rows::norms(x)[i], norms[i], 1e-12);
    }
}

TEST(Rows, DistancesAreSymmetricAndZeroBetweenEqualRows) {
  Generator rng(2);
  const Tensor x = normal({6, 1001}, rng, 100, 1);
  copy_(select(x, 0, 4), select(x, 0, 1));
  const Tensor d2 = rows::squared_distances(x);
  EXPECT_TRUE(same_bits(d2, transpose(d2)));
  EXPECT_EQ(d2.to_vector()[4 * 6 + 1], 0);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(d2.to_vector()[i * 6 + i], 0);
}

// Weights beyond the range of f32 act on differences that bring the sum back into it.
TEST(Rows, BearWeightsBeyondSinglePrecision) {
  const Tensor x = tensor({0, 1e-30, 3e-30}, {3, 1}), w = full({3, 3}, 1e50, f64);
  const Tensor y = rows::mix_differences(w, x);
  EXPECT_EQ(y.dtype(), f32);
  expect_values(y / 1e20, {-4, -1, 5}, 1e-5);
  const Tensor far = tensor({0, 1e30, 3e30}, {3, 1}), small = full({3, 3}, 1e-50, f64);
  expect_values(rows::mix_differences(small, far) * 1e20, {-4, -1, 5}, 1e-5);
}

TEST(Rows, ReadTransposedParticles) {
  Generator rng(2);
  const Tensor x = transpose(normal({30, 4}, rng, 0, 1, f64));
  EXPECT_TRUE(same_bits(rows::squared_distances(x), rows::squared_distances(clone(x))));
  EXPECT_TRUE(same_bits(rows::mix(eye(4, f64), x), clone(x)));
}

TEST(Rows, RefuseOtherShapes) {
  expect_error([] { rows::squared_distances(zeros({3})); }, "got f32 [3]");
  expect_error([] { rows::inner_products(zeros({3, 2}, i64)); }, "got i64 [3, 2]");
  expect_error([] { rows::norms(Tensor()); }, "undefined");
  expect_error([] { rows::mix(eye(2, f64), zeros({0, 2})); }, "got f32 [0, 2]");
}

// Independent float64 values; squared distances 10, 13, 37, 41, 90, 100.
TEST(Bandwidth, FollowsTheNamedRules) {
  const Tensor p = four_points();
  EXPECT_NEAR(h2_of(Bandwidth::median, p), 12.116031223912431, 1e-14);
  EXPECT_NEAR(h2_of(Bandwidth::liu, p), 7.766686681995148, 1e-14);
  EXPECT_NEAR(h2_of(Bandwidth::paper, p), 4.038677074637477, 1e-14);
  EXPECT_NEAR(h2_of(Bandwidth::nips, p), 14.057022515285203, 1e-14);
  EXPECT_EQ(h2_of(Bandwidth::fixed, p, 3.5), 3.5);
}

TEST(Bandwidth, OfTwoParticles) {
  const Tensor p = tensor({1.3, -1.1}, {2, 1}, f64);  // d² = 5.76; with the diagonal 0, 0, d², d²
  EXPECT_NEAR(h2_of(Bandwidth::median, p), 2.88 / std::log(3), 1e-14);
  EXPECT_NEAR(h2_of(Bandwidth::liu, p), 1.44 / std::log(3), 1e-14);
  EXPECT_EQ(h2_of(Bandwidth::paper, p), 0);
  EXPECT_NEAR(h2_of(Bandwidth::nips, p), 2.88 / std::log(2), 1e-14);
}

// Every pair counts twice, and the diagonal where a rule says so: by sorting the whole matrix.
TEST(Bandwidth, OfManyIsOfTheWholeMatrix) {
  Generator rng(5);
  for (std::int64_t m = 2; m < 12; ++m) {
    const Tensor p = normal({m, 2}, rng, 0, 1, f64), d2 = rows::squared_distances(p);
    std::vector<double> all = d2.to_vector(), apart;
    for (std::int64_t i = 0; i < m * m; ++i)
      if (i / m != i % m) apart.push_back(all[static_cast<std::size_t>(i)]);
    std::sort(all.begin(), all.end());
    std::sort(apart.begin(), apart.end());
    const auto low = [](const std::vector<double>& v) { return v[(v.size() - 1) / 2]; };
    const auto median = [&](const std::vector<double>& v) {
      return low(v) + (v[v.size() / 2] - low(v)) / 2;
    };
    const double log_m = std::log(double(m) + 1);
    EXPECT_EQ(h2_of(Bandwidth::median, p), 0.5 * median(apart) / log_m) << m;
    EXPECT_EQ(h2_of(Bandwidth::liu, p), 0.5 * median(all) / log_m) << m;
    EXPECT_EQ(h2_of(Bandwidth::paper, p), 0.5 * low(all) / log_m) << m;
  }
}

TEST(Bandwidth, IsZeroWithoutAScale) {
  for (const Bandwidth rule :
       {Bandwidth::median, Bandwidth::liu, Bandwidth::paper, Bandwidth::nips}) {
    EXPECT_EQ(h2_of(rule, ones({1, 3})), 0);
    EXPECT_EQ(h2_of(rule, ones({4, 3})), 0);
  }
}

TEST(Bandwidth, HasNames) {
  for (const Bandwidth rule :
       {Bandwidth::median, Bandwidth::liu, Bandwidth::paper, Bandwidth::nips, Bandwidth::fixed})
    EXPECT_EQ(bandwidth_from_name(to_string(rule)), rule);
  EXPECT_EQ(to_string(Bandwidth::liu), "liu");
  expect_error([] { bandwidth_from_name("mean"); },
               "unknown name `mean`; choose one of median, liu, paper, nips, fixed");
}

TEST(Bandwidth, RefusesWhatGivesNone) {
  expect_error([] { h2_of(Bandwidth::fixed, ones({2, 2}), 0); }, "fixed h² is 0");
  expect_error([] { bandwidth(Bandwidth::liu, zeros({2, 3}, f64)); }, "got [2, 3]");
  expect_error([] { bandwidth(Bandwidth::liu, zeros({0, 0}, f64)); }, "got [0, 0]");
  const Tensor bad = tensor({1, std::nan("")}, {2, 1});
  for (const Bandwidth rule : {Bandwidth::median, Bandwidth::fixed})
    expect_error([&] { h2_of(rule, bad); }, "particles 0 and 1 is nan");
  expect_error([&] { values_at(linear_kernel(), bad); }, "particles 0 and 1 is nan");
}

TEST(Rbf, HasTheReferenceValues) {
  const KernelValues v = values_at(rbf(), four_points());
  EXPECT_NEAR(v.h2, 12.116031223912431, 1e-14);
  EXPECT_EQ(v.k.dtype(), f64);
  const double k01 = 0.02437767583608919, k02 = 0.2172073970997956, k03 = 0.6618764394624396,
               k12 = 0.5848035476425731, k13 = 0.01613500928476027, k23 = 0.18415579088967246;
  expect_values(v.k, {1, k01, k02, k03, k01, 1, k12, k13, k02, k12, 1, k23, k03, k13, k23, 1},
                1e-15);
  expect_values(
      v.repulsion,
      {-0.18029995666193116, 0.1399211393936821, 0.1735625933003788, 0.11056014578917671,
       0.03875961405518502, -0.01780917617650242, -0.03202225069363267, -0.23267210900635635},
      1e-15);
}

TEST(Imq, HasTheReferenceValues) {
  const KernelValues v = values_at(imq(), four_points());
  const double k01 = 0.34445558295245005, k02 = 0.4966707206375324, k03 = 0.7401616763982188,
               k12 = 0.694551869759202, k13 = 0.32873529421177955, k23 = 0.4776033706926044;
  expect_values(v.k, {1, k01, k02, k03, k01, 1, k12, k13, k02, k12, 1, k23, k03, k13, k23, 1},
                1e-15);
  expect_values(
      v.repulsion,
      {-0.1244989564218058, 0.08016987829822556, 0.13677657715405808, 0.08301958241465383,
       0.02267046455126657, -0.00922846583100156, -0.03494808528351884, -0.1539609948818778},
      1e-15);
}

// Computed with forty digits from d² = 90, 37, 10, 13, 100, 41 and h² = 39/(2 ln 5), by
// k = e^−r, (1 + r)e^−r, (1 + r + r²/3)e^−r with r² = 2ν·d²/h², and R_i = Σ_j w_ij (θ_i − θ_j) with
// w = e^−r/(r·h²), 3e^−r/h², (5/3)(1 + r)e^−r/h².
TEST(Matern, HasTheReferenceValues) {
  struct Case {
    double nu, k01, k02, k03, k12, k13, k23;
    std::vector<double> repulsion;
  };
  for (const Case& c : {Case{0.5,
                             0.06551554435088212,
                             0.17420647843405535,
                             0.40313278416814713,
                             0.3549291264063207,
                             0.05653500013866562,
                             0.15888881599236898,
                             {-0.10384697790261835, 0.09569273618313866, 0.11569160734401063,
                              0.07225851550853887, 0.00016911249757824728, -0.019818045507730118,
                              -0.012013741938970535, -0.14813320618394743}},
                        Case{1.5,
                             0.05096752767899651,
                             0.19518347497638752,
                             0.533517458966386,
                             0.46458792631343243,
                             0.04124401942756928,
                             0.1730105228989048,
                             {-0.14319552370977318, 0.13537218522027555, 0.15703589743118884,
                              0.09921179514614117, -0.0003337284268991397, -0.02940565523972739,
                              -0.013506645294516513, -0.20517832512668935}},
                        Case{2.5,
                             0.04392730631018257,
                             0.20083902992861533,
                             0.577964748439219,
                             0.5035429230057072,
                             0.034357389188779244,
                             0.17584537834111838,
                             {-0.15587090321674985, 0.14389874341419337, 0.16806494780428963,
                              0.10654402220431886, 0.003882335662388043, -0.030429422879063413,
                              -0.01607638024992783, -0.22001334273944884}}}) {
    const KernelValues v = values_at(matern(c.nu), four_points());
    expect_values(v.k,
                  {1, c.k01, c.k02, c.k03, c.k01, 1, c.k12, c.k13, c.k02, c.k12, 1, c.k23, c.k03,
                   c.k13, c.k23, 1},
                  1e-15);
    expect_values(v.repulsion, c.repulsion, 1e-15);
  }
  expect_error([] { matern(1); }, "the smoothness ν is 1; it must be 0.5, 1.5 or 2.5");
}

// κ′(0) is infinite for ν = ½ and NaN by the graph for the others: a particle feels the one that
// differs as if its equal were not there.
TEST(Matern, EqualParticlesDoNotRepelEachOther) {
  for (const double nu : {0.5, 1.5, 2.5}) {
    const SteinKernel kernel = matern(nu, {Bandwidth::fixed, 2});
    const auto three = values_at(kernel, tensor({1, 1, 4}, {3, 1}, f64)).repulsion.to_vector();
    const auto two = values_at(kernel, tensor({1, 4}, {2, 1}, f64)).repulsion.to_vector();
    EXPECT_LT(two[0], 0);
    EXPECT_EQ(three, (std::vector<double>{two[0], two[0], 2 * two[1]}));
  }
}

TEST(LinearKernel, IsTheInnerProductPlusOne) {
  const KernelValues v = values_at(linear_kernel(), tensor({1, 2, 10, 5}, {2, 2}, f64));
  expect_values(v.k, {6, 21, 21, 126}, 0);
  expect_values(v.repulsion, {2, 4, 20, 10}, 0);
}

// R_i = Σ_j ∇_{θ_j} k(θ_j, θ_i): central differences of the kernel's formula, θ_i and h² held.
using Formula = double (*)(double squared_distance, double inner_product, double h2);
void expect_repulsion(const SteinKernel& kernel, Formula formula) {
  Generator rng(7);
  const std::int64_t m = 5, d = 3;
  const Tensor theta = normal({m, d}, rng, 0, 1, f64);
  const KernelValues v = values_at(kernel, theta);
  const auto x = theta.to_vector(), r = v.repulsion.to_vector(), k = v.k.to_vector();
  const auto value = [&](std::int64_t j, std::int64_t i, std::int64_t axis, double shift) {
    double d2 = 0, inner = 0;
    for (std::int64_t c = 0; c < d; ++c) {
      const double moved = x[j * d + c] + (c == axis ? shift : 0);
      d2 += (moved - x[i * d + c]) * (moved - x[i * d + c]);
      inner += moved * x[i * d + c];
    }
    return formula(d2, inner, v.h2);
  };
  const double step = 1e-5;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t c = 0; c < d; ++c) {
      double slope = 0;
      for (std::int64_t j = 0; j < m; ++j) {
        EXPECT_NEAR(k[j * m + i], value(j, i, c, 0), 1e-14);
        slope += (value(j, i, c, step) - value(j, i, c, -step)) / (2 * step);
      }
      EXPECT_NEAR(r[i * d + c], slope, 1e-7 * std::abs(slope) + 1e-9) << kernel.name;
    }
}

TEST(SteinKernel, RepulsionIsTheDerivative) {
  for (const BandwidthOptions& options : {BandwidthOptions{}, {Bandwidth::fixed, 0.7}}) {
    expect_repulsion(rbf(options),
                     [](double d2, double, double h2) { return std::exp(-d2 / (2 * h2)); });
    expect_repulsion(imq(options),
                     [](double d2, double, double h2) { return 1 / std::sqrt(1 + d2 / h2); });
    expect_repulsion(radial("cauchy", options, [](const Tensor& t) { return 1 / (1 + t); }),
                     [](double d2, double, double h2) { return 1 / (1 + d2 / h2); });
    expect_repulsion(matern(0.5, options),
                     [](double d2, double, double h2) { return std::exp(-std::sqrt(d2 / h2)); });
    expect_repulsion(matern(1.5, options), [](double d2, double, double h2) {
      const double r = std::sqrt(3 * d2 / h2);
      return (1 + r) * std::exp(-r);
    });
    expect_repulsion(matern(2.5, options), [](double d2, double, double h2) {
      const double r = std::sqrt(5 * d2 / h2);
      return (1 + r + r * r / 3) * std::exp(-r);
    });
  }
  expect_repulsion(linear_kernel(), [](double, double inner, double) { return inner + 1; });
}

TEST(SteinKernel, TakesAGivenBandwidthUnderTheFixedRuleAlone) {
  expect_error([] { rbf({.h2 = 0.01}); },
               "`rbf` has h² = 0.01 and the bandwidth rule `median`, which computes h² itself");
  expect_error([] { matern(1.5, {.bandwidth = Bandwidth::liu, .h2 = 2}); },
               "the bandwidth rule `liu`");
  const Tensor theta = tensor({0, 1}, {2, 1}, f64);
  EXPECT_EQ(values_at(imq({.bandwidth = Bandwidth::fixed, .h2 = 0.3}), theta).h2, 0.3);
  EXPECT_EQ(values_at(imq({.bandwidth = Bandwidth::fixed}), theta).h2, 1);
}

TEST(SteinKernel, RadialRepulsionSumsToZero) {
  Generator rng(8);
  const Tensor theta = normal({7, 1100}, rng, 0, 1, f64);
  for (const SteinKernel& kernel : {rbf(), imq(), matern(0.5)}) {
    const Tensor r = values_at(kernel, theta).repulsion;
    EXPECT_GT(amax(abs(r)).item(), 1e-5);
    EXPECT_LT(amax(abs(sum(r, 0))).item(), 1e-16 * 7 * 7);
  }
}

TEST(SteinKernel, OneParticleHasNoRepulsion) {
  for (const SteinKernel& kernel :
       {rbf(), imq(), matern(0.5), rbf({.bandwidth = Bandwidth::nips})}) {
    const KernelValues v = values_at(kernel, tensor({3, -4}, {1, 2}));
    expect_values(v.k, {1}, 0);
    EXPECT_TRUE(same_bits(v.repulsion, zeros({1, 2})));
  }
}

TEST(SteinKernel, EqualParticlesStayFinite) {
  for (const std::int64_t m : {2, 4})
    for (const SteinKernel& kernel :
         {rbf(), imq(), matern(0.5), rbf({.bandwidth = Bandwidth::nips})}) {
      const KernelValues v = values_at(kernel, full({m, 3}, 0.1));
      EXPECT_TRUE(same_bits(v.k, ones({m, m}, f64)));
      EXPECT_TRUE(same_bits(v.repulsion, zeros({m, 3})));
    }
  // Four of five equal: the median is 0, and the limit h → 0 separates the fifth.
  const KernelValues v = values_at(rbf(), tensor({1, 1, 2, 1, 1}, {5, 1}));
  expect_values(select(v.k, 0, 0), {1, 1, 0, 1, 1}, 0);
  expect_values(select(v.k, 0, 2), {0, 0, 1, 0, 0}, 0);
  EXPECT_TRUE(same_bits(v.repulsion, zeros({5, 1})));
  // Distances whose square is subnormal.
  const KernelValues tiny = values_at(rbf(), tensor({0, 1e-158, 3e-158}, {3, 1}, f64));
  EXPECT_TRUE(all(isfinite(tiny.repulsion)).item<bool>());
}

TEST(SteinKernel, IsTheSameAtAnyNumberOfThreads) {
  Generator rng(9);
  const Tensor theta = normal({9, 5001}, rng);
  const int before = num_threads();
  set_num_threads(1);
  const KernelValues one = values_at(rbf(), theta);
  set_num_threads(2);
  const KernelValues two = values_at(rbf(), theta);
  set_num_threads(before);
  EXPECT_TRUE(same_bits(one.k, two.k));
  EXPECT_TRUE(same_bits(one.repulsion, two.repulsion));
}

}  // namespace
}  // namespace ladon::test::kernel_test
