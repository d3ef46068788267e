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
      "the targets do not pull");
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
