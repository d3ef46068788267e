#include "ladon/examples/lessons/15_paths/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/15_paths/exercises/overlap_cost.cpp"
#include "ladon/examples/lessons/15_paths/exercises/overlap_slope.cpp"
#include "ladon/examples/lessons/15_paths/exercises/path_overlaps.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/15_paths/exercises/solutions/overlap_cost.cpp"
#include "ladon/examples/lessons/15_paths/exercises/solutions/overlap_slope.cpp"
#include "ladon/examples/lessons/15_paths/exercises/solutions/path_overlaps.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

/// The same with other data: without a prior, or with the kernels changed.
PathData with(PathData data, const Tensor& kernels, double width) {
  data.kernels = kernels;
  data.width = width;
  return data;
}

// The page's laws for one layer of large width: N·(U − 1) → −g where the readout is given, and −g −
// tr g·1 where it is drawn, at the layer's own width.
TEST(LessonPaths, ReadoutOfTheSameWidthIsAnOrderParameter) {
  Generator rng(1);
  constexpr std::int64_t paths = 2, chains = 20, dim = 30, width = 100'000;
  constexpr double noise = 0.05;
  const Tensor xi = normal({paths * chains, dim}, rng, 0, 1, f64);
  const Tensor products = matmul(xi, transpose(xi)) / static_cast<double>(dim);
  const Tensor c = permute(reshape(products, {paths, chains, paths, chains}), {0, 2, 1, 3});
  const Tensor y =
      2 / std::sqrt(dim) * matmul(slice(xi, 0, {0, chains}), normal({dim}, rng, 0, 1, f64));
  const Tensor one = eye(paths, f64);
  const Tensor k = sum(sum(reshape(one, {paths, paths, 1, 1}) * c, 0), 0) / double(paths);
  const Tensor inverse = solve(k + noise * eye(chains, f64), eye(chains, f64));
  const Tensor alpha = matmul(inverse, unsqueeze(y, 1));
  const Tensor g =
      sum(sum((inverse - matmul(alpha, transpose(alpha))) * c, -1), -1) / double(paths);
  ASSERT_LT(sum(diagonal(g)).item(), -40);  // data that ask for longer readouts
  const auto moved = [&](std::int64_t readout) {
    const PathOptions layer{.heads = {paths}, .widths = {width}, .readout = readout};
    return width * (path_saddle(c, y, noise, layer).order[0] - one);
  };
  EXPECT_TRUE(all_close(moved(1'000'000'000), -g, 1e-3, 0.01));
  EXPECT_TRUE(all_close(moved(width), -g - sum(diagonal(g)) * one, 1e-3, 0.01));
}

TEST(LessonPaths, PathOverlaps) {
  const Exercise exercise(check_path_overlaps);
  exercise.is_open(hole::path_overlaps);
  exercise.accepts(solution::path_overlaps);
  exercise.refuses(
      [](const PathWeights& w) {
        return solution::path_overlaps(
            {transpose(w.first), contiguous(transpose(w.second)), w.readout});
      },
      "not V₁·V₂·a");
  exercise.refuses(
      [](const PathWeights& w) {
        const Tensor u = reshape(solution::path_overlaps(w), {2, 3, 2, 3});
        return reshape(contiguous(permute(u, {1, 0, 3, 2})), {6, 6});
      },
      "the outer index");
  exercise.refuses(
      [](const PathWeights& w) {
        const Tensor u = solution::path_overlaps(w);
        return u * eye(u.size(0), f64);
      },
      "only the diagonal");
  exercise.refuses(
      [](const PathWeights& w) {
        return solution::path_overlaps(w) * static_cast<double>(w.readout.size(0));
      },
      "not divided by N");
}

TEST(LessonPaths, OverlapCost) {
  const Exercise exercise(check_overlap_cost);
  exercise.is_open(hole::overlap_cost);
  exercise.accepts(solution::overlap_cost);
  exercise.refuses(
      [](const PathData& data, const Tensor& u) {
        return solution::overlap_cost(with(data, data.kernels, 0), u);
      },
      "the prior's part is left out");
  exercise.refuses(
      [](const PathData& data, const Tensor& u) {
        return solution::overlap_cost(with(data, data.kernels, data.width / 2), u);
      },
      "not N/2");
  exercise.refuses(
      [](const PathData& data, const Tensor& u) {
        return solution::overlap_cost(with(data, 3 * data.kernels, data.width), u);
      },
      "divided by the number P");
  exercise.refuses(
      [](const PathData& data, const Tensor& u) {
        const Tensor same = reshape(eye(3, f64), {3, 3, 1, 1});
        return solution::overlap_cost(with(data, data.kernels * same, data.width), u);
      },
      "pairs of different paths");
}

TEST(LessonPaths, OverlapSlope) {
  const Exercise exercise(check_overlap_slope);
  exercise.is_open(hole::overlap_slope);
  exercise.accepts(solution::overlap_slope);
  exercise.refuses(
      [](const PathData& data, const Tensor& u) {
        return solution::overlap_slope(with(data, data.kernels, 0), u);
      },
      "is left out");
  exercise.refuses(
      [](const PathData& data, const Tensor& u) {
        const Tensor force = solution::overlap_slope(with(data, data.kernels, 0), u);
        return force + data.width * (eye(3, f64) - u);
      },
      "U⁻¹, not U");
  exercise.refuses(
      [](const PathData& data, const Tensor& u) {
        PathData silent = data;
        silent.y = zeros_like(data.y);
        return solution::overlap_slope(silent, u);
      },
      "the targets have no effect");
  exercise.refuses(
      [](const PathData& data, const Tensor& u) {
        const Tensor prior = solution::overlap_slope(with(data, 0 * data.kernels, data.width), u);
        const Tensor slope = solution::overlap_slope(data, u);
        return (slope - prior) * eye(3, f64) + prior;
      },
      "pairs of different paths");
}

}  // namespace
}  // namespace ladon::test
