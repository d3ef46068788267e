#include "ladon/examples/lessons/03_one_head/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/03_one_head/exercises/covariance_given_maps.cpp"
#include "ladon/examples/lessons/03_one_head/exercises/kurtosis_of_layers.cpp"
#include "ladon/examples/lessons/03_one_head/exercises/wide_head_kernel.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/03_one_head/exercises/solutions/covariance_given_maps.cpp"
#include "ladon/examples/lessons/03_one_head/exercises/solutions/kurtosis_of_layers.cpp"
#include "ladon/examples/lessons/03_one_head/exercises/solutions/wide_head_kernel.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

using In = const Tensor&;

TEST(LessonOneHead, CovarianceGivenMaps) {
  const Exercise exercise(check_covariance_given_maps);
  exercise.is_open(hole::covariance_given_maps);
  exercise.accepts(solution::covariance_given_maps);
  exercise.refuses(
      [](In a, In x, In b, In y) {
        return solution::covariance_given_maps(a, x, b, y) * double(x.size(1));
      },
      "divided by d");
  exercise.refuses(
      [](In a, In x, In b, In y) {
        return solution::covariance_given_maps(a, x, b, y) * double(a.size(0));
      },
      "are added");
  exercise.refuses(
      [](In a, In x, In b, In y) {
        return solution::covariance_given_maps(transpose(a), x, transpose(b), y);
      },
      "maps are transposed");
  exercise.refuses(
      [](In a, In x, In b, In y) {
        return solution::covariance_given_maps(mean(a, 0, keep_dims), x, mean(b, 0, keep_dims), y);
      },
      "averaged before");
  exercise.refuses([](In a, In x, In, In y) { return solution::covariance_given_maps(a, x, a, y); },
                   "taken for y too");
  exercise.refuses([](In a, In, In b, In) { return mean(matmul(a, transpose(b)), 0); },
                   "kernel of the values");
}

TEST(LessonOneHead, KurtosisOfLayers) {
  const Exercise exercise(check_kurtosis_of_layers);
  exercise.is_open(hole::kurtosis_of_layers);
  exercise.accepts(solution::kurtosis_of_layers);
  exercise.refuses(
      [](In f) {
        Measured answer = solution::kurtosis_of_layers(f);
        answer.value += 3;
        return answer;
      },
      "is not subtracted");
  exercise.refuses(
      [](In f) {
        const Tensor within = mean(square(square(f)), 1) / square(mean(square(f), 1)) - 3;
        return Measured{mean(within).item(), solution::kurtosis_of_layers(f).se};
      },
      "within each layer");
  exercise.refuses(
      [](In f) {
        return solution::kurtosis_of_layers(reshape(f, {f.count(), 1}));
      },
      "share its map");
  exercise.refuses([](In f) { return solution::kurtosis_of_layers(f - mean(f)); }, "known to be 0");
  exercise.refuses(
      [](In f) {
        Measured answer = solution::kurtosis_of_layers(f);
        answer.se /= std::sqrt(double(f.size(0) - 1));
        return answer;
      },
      "lacks the factor n − 1");
}

/// As the solution, with logits divided by `by`, and with other matrices for y where `apart`.
Tensor kernel(In x, In y, int draws, Generator& rng, double by, bool apart = false) {
  const Shape forms{draws, x.size(1), x.size(1)};
  const Tensor b = normal(forms, rng, f64), other = apart ? normal(forms, rng, f64) : b;
  const auto maps = [&](In tokens, In form) {
    return softmax(matmul(matmul(tokens, form), transpose(tokens)) / by);
  };
  const Tensor values = matmul(x, transpose(y)) / double(x.size(1));
  return mean(matmul(matmul(maps(x, b), values), transpose(maps(y, other))), 0);
}

TEST(LessonOneHead, WideHeadKernel) {
  const Exercise exercise(check_wide_head_kernel);
  exercise.is_open(hole::wide_head_kernel);
  exercise.accepts(solution::wide_head_kernel);
  exercise.refuses([](In x, In y, int draws,
                      Generator& rng) { return kernel(x, y, draws, rng, double(x.size(1)), true); },
                   "both inputs meet the same head");
  exercise.refuses(
      [](In x, In y, int draws, Generator& rng) { return kernel(x, y, draws, rng, 1); },
      "not divided by d");
  exercise.refuses(
      [](In x, In y, int draws, Generator& rng) {
        return kernel(x, y, draws, rng, std::sqrt(double(x.size(1))));
      },
      "divided by √d");
  exercise.refuses(
      [](In x, In y, int draws, Generator& rng) { return kernel(x, y, draws, rng, 1e5); },
      "the maps are uniform");
  exercise.refuses(
      [](In x, In y, int draws, Generator& rng) {
        return solution::wide_head_kernel(x, y, draws, rng) * double(x.size(1));
      },
      "division by d is missing");
  exercise.refuses(
      [](In x, In y, int draws, Generator&) {
        Generator same(1);
        return solution::wide_head_kernel(x, y, draws, same);
      },
      "draw from rng");
  exercise.refuses(
      [](In x, In y, int draws, Generator& rng) {
        return solution::wide_head_kernel(x, y, draws, rng) * double(draws);
      },
      "not their sum");
  exercise.refuses(
      [](In x, In y, int, Generator& rng) { return solution::wide_head_kernel(x, y, 1, rng); },
      "average over `draws`");
  exercise.refuses(
      [](In x, In y, int draws, Generator& rng) {
        const std::int64_t d = x.size(1);
        const Tensor b = normal({draws, d, d}, rng, f64) / double(d);
        const Tensor of_x = matmul(matmul(x, b), transpose(x)),
                     of_y = matmul(matmul(y, b), transpose(y));
        return mean(matmul(matmul(of_x, matmul(x, transpose(y)) / double(d)), transpose(of_y)), 0);
      },
      "softmax is missing");
}

}  // namespace
}  // namespace ladon::test
