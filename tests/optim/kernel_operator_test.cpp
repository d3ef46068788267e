// User-defined Stein kernels that are not matrices [M, M], but linear operators on the particles Θ.

#include <cmath>

#include "ladon/optim/particles/rows.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::kernel_operator_test {
namespace {

/// K(θ, θ′)_cc = exp(−(θ_c − θ′_c)²/(2h²_c)): one bandwidth a coordinate, by the median rule.
SteinKernel coordinate_rbf() {
  return {"coordinate_rbf", [](const Tensor& theta) {
            std::vector<double> h2;
            for (std::int64_t c = 0; c < theta.size(1); ++c)
              h2.push_back(
                  bandwidth(Bandwidth::median,
                            rows::squared_distances(slice(theta, 1, {.start = c, .stop = c + 1}))));
            const Tensor scale = from_vector(h2, {theta.size(1)});
            const Tensor apart = unsqueeze(theta, 1) - unsqueeze(theta, 0);  // θ_i − θ_j [M, M, D]
            const Tensor k = exp(square(apart) / (-2 * scale));
            return KernelAt{.share = [=](const Tensor& s) { return sum(k * s, 1); },
                            .repel = [=] { return sum(k * apart / scale, 1); }};
          }};
}

/// One kernel for the coordinates before `cut`, another for the rest, each with its own bandwidth.
SteinKernel two_blocks(const SteinKernel& first, const SteinKernel& rest, std::int64_t cut) {
  const auto left = [cut](const Tensor& x) { return slice(x, 1, {.stop = cut}); };
  const auto right = [cut](const Tensor& x) { return slice(x, 1, {.start = cut}); };
  return {first.name + " and " + rest.name, [=](const Tensor& theta) {
            const KernelAt a = first.at(left(theta)), b = rest.at(right(theta));
            return KernelAt{.share =
                                [=](const Tensor& s) {
                                  return concat({a.share(left(s)), b.share(right(s))}, 1);
                                },
                            .repel =
                                [=] {
                                  return concat({a.repel(), b.repel()}, 1);
                                }};
          }};
}

/// The entries K(θ_j, θ_i)_cc of a kernel that is diagonal, from its formula.
using Row = std::vector<double>;
using Diagonal = std::function<double(const Row& theta_j, const Row& theta_i, std::size_t c)>;

/// Shares as the formula, and repels as its central differences: R_ic = Σ_j ∂K_cc(θ_j, θ_i)/∂θ_jc.
void expect_operator(const SteinKernel& kernel, const Tensor& theta, const Diagonal& formula) {
  const auto m = static_cast<std::size_t>(theta.size(0)),
             d = static_cast<std::size_t>(theta.size(1));
  Generator rng(5);
  const Tensor s = normal(theta.shape(), rng, 0, 1, f64);
  const auto x = theta.to_vector(), given = s.to_vector();
  const auto row = [&](std::size_t i) { return Row(x.begin() + i * d, x.begin() + (i + 1) * d); };
  const KernelAt at = checked_at(kernel, "rows", theta, 1);
  const auto shared = at.share(s).to_vector(), repulsion = at.repel().to_vector();
  const double step = 1e-5;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t c = 0; c < d; ++c) {
      double share = 0, slope = 0;
      for (std::size_t j = 0; j < m; ++j) {
        share += formula(row(j), row(i), c) * given[j * d + c];
        Row up = row(j), down = row(j);
        up[c] += step;
        down[c] -= step;
        slope += (formula(up, row(i), c) - formula(down, row(i), c)) / (2 * step);
      }
      EXPECT_NEAR(shared[i * d + c], share, 1e-13) << kernel.name;
      EXPECT_NEAR(repulsion[i * d + c], slope, 1e-7 * std::abs(slope) + 1e-9) << kernel.name;
    }
}

Tensor random_rows(std::int64_t m, std::int64_t d, std::uint64_t seed) {
  Generator rng(seed);
  return normal({m, d}, rng, 0, 1, f64);
}

// The bandwidths by hand: ½·(the median of the six squared differences)/ln 5 in each column of
// (0, 10), (1, 20), (3, 50), (7, 90), which are 1, 4, 9, 16, 36, 49 and 100, 900, 1600, 1600, 4900,
// 6400.
TEST(KernelOperator, HoldsOneBandwidthACoordinate) {
  const Tensor theta = tensor({0, 10, 1, 20, 3, 50, 7, 90}, {4, 2}, f64);
  const double h2[] = {12.5 / 2 / std::log(5), 1600.0 / 2 / std::log(5)};
  expect_operator(coordinate_rbf(), theta, [&](const Row& a, const Row& b, std::size_t c) {
    return std::exp(-(a[c] - b[c]) * (a[c] - b[c]) / (2 * h2[c]));
  });
}

TEST(KernelOperator, HoldsTwoBlocks) {
  const SteinKernel kernel =
      two_blocks(rbf({Bandwidth::fixed, 0.7}), imq({Bandwidth::fixed, 2}), 2);
  expect_operator(kernel, random_rows(5, 5, 1), [](const Row& a, const Row& b, std::size_t c) {
    double d2 = 0;
    for (std::size_t e = c < 2 ? 0 : 2; e < (c < 2 ? 2 : a.size()); ++e)
      d2 += (a[e] - b[e]) * (a[e] - b[e]);
    return c < 2 ? std::exp(-d2 / 1.4) : 1 / std::sqrt(1 + d2 / 2);
  });
}

// In blocks of one coordinate the two are the same kernel.
TEST(KernelOperator, ComposesItsParts) {
  const Tensor theta = random_rows(6, 2, 2), s = random_rows(6, 2, 3);
  const KernelAt a = coordinate_rbf().at(theta), b = two_blocks(rbf(), rbf(), 1).at(theta);
  EXPECT_TRUE(all_close(a.share(s), b.share(s), 1e-13, 1e-14));
  EXPECT_TRUE(all_close(a.repel(), b.repel(), 1e-13, 1e-14));
}

TEST(KernelOperator, ServesSvgdAndTellsWgdThatItHasNoDensity) {
  const Tensor x = random_rows(5, 3, 1), g = random_rows(5, 3, 2);
  const SteinKernel kernel = coordinate_rbf();
  const KernelAt at = kernel.at(x);
  EXPECT_TRUE(all_close(rewritten<Svgd>(x, g, SvgdOptions{.kernel = kernel, .alpha = 0.3}),
                        (at.share(g) - 0.3 * at.repel()) / 5, 1e-14, 1e-15));
  expect_error([&] { rewritten<Wgd>(x, g, WgdOptions{.kernel = kernel}); },
               "`coordinate_rbf` on block \"rows\" has no density");
}

// A method asks once for what it needs, and for nothing else.
TEST(KernelOperator, IsAskedOnlyForWhatIsUsed) {
  struct Asked {
    int at = 0, share = 0, repel = 0, density = 0;
    bool operator==(const Asked&) const = default;
  };
  Asked asked;
  const SteinKernel kernel{
      "counting", [&asked](const Tensor& theta) {
        ++asked.at;
        const KernelAt inner = rbf().at(theta);
        return KernelAt{
            .share = [&asked, inner](const Tensor& s) { return ++asked.share, inner.share(s); },
            .repel = [&asked, inner] { return ++asked.repel, inner.repel(); },
            .density = [&asked, inner] { return ++asked.density, inner.density(); }};
      }};
  const Tensor x = random_rows(3, 2, 1), g = random_rows(3, 2, 2);
  const auto after = [&](const auto& apply) {
    asked = {};
    apply();
    return asked;
  };
  EXPECT_EQ(after([&] { rewritten<Svgd>(x, g, SvgdOptions{.kernel = kernel}); }),
            (Asked{1, 1, 1, 0}));
  EXPECT_EQ(
      after([&] { rewritten<Svgd>(x, g, SvgdOptions{.kernel = kernel, .smoothing = false}); }),
      (Asked{1, 0, 1, 0}));
  EXPECT_EQ(after([&] { rewritten<Wgd>(x, g, WgdOptions{.kernel = kernel}); }),
            (Asked{1, 0, 1, 1}));
}

}  // namespace
}  // namespace ladon::test::kernel_operator_test
