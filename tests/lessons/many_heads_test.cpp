#include "ladon/examples/lessons/04_many_heads/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/04_many_heads/exercises/combine_heads.cpp"
#include "ladon/examples/lessons/04_many_heads/exercises/kernel_of_heads.cpp"
#include "ladon/examples/lessons/04_many_heads/exercises/kurtosis_of_sum.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/04_many_heads/exercises/solutions/combine_heads.cpp"
#include "ladon/examples/lessons/04_many_heads/exercises/solutions/kernel_of_heads.cpp"
#include "ladon/examples/lessons/04_many_heads/exercises/solutions/kurtosis_of_sum.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

using Heads = std::vector<HeadOutput>;

double size(const Heads& heads) { return static_cast<double>(heads.size()); }

TEST(LessonManyHeads, CombineHeads) {
  const Exercise exercise(check_combine_heads);
  exercise.is_open(hole::combine_heads);
  exercise.accepts(solution::combine_heads);
  exercise.refuses(
      [](const Tensor& contexts, const Tensor& output) {
        return mean(matmul(contexts, output), 0) / std::sqrt(double(contexts.size(2)));
      },
      "with 1/H (a mean)");
  exercise.refuses(
      [](const Tensor& contexts, const Tensor& output) {
        return sum(matmul(contexts, output), 0) / std::sqrt(double(contexts.size(0)));
      },
      "1/√w is missing");
  exercise.refuses(
      [](const Tensor& contexts, const Tensor& output) {
        return sum(matmul(contexts, output), 0) / std::sqrt(double(contexts.size(2)));
      },
      "variance grows as H");
  exercise.refuses(
      [](const Tensor& contexts, const Tensor& output) {
        return solution::combine_heads(contexts, expand(slice(output, 0, {0, 1}), output.shape()));
      },
      "weights of the first");
}

TEST(LessonManyHeads, KurtosisOfSum) {
  const Exercise exercise(check_kurtosis_of_sum);
  exercise.is_open(hole::kurtosis_of_sum);
  exercise.accepts(solution::kurtosis_of_sum);
  exercise.refuses([](const Heads& heads) { return solution::kurtosis_of_sum(heads) + 3; },
                   "3 is not subtracted");
  static const auto of_one = [](const Heads& heads) {
    double mean = 0;
    for (const HeadOutput& f : heads) mean += f.fourth / (f.second * f.second) - 3;
    return mean / size(heads);
  };
  exercise.refuses([](const Heads& heads) { return of_one(heads) / std::sqrt(size(heads)); },
                   "it falls as 1/√H,");
  exercise.refuses([](const Heads& heads) { return of_one(heads) / std::pow(size(heads), 2); },
                   "it falls as 1/H²;");
  exercise.refuses([](const Heads& heads) { return of_one(heads) / size(heads); },
                   "identically distributed heads");
  exercise.refuses(
      [](const Heads& heads) {
        double second = 0, fourth = 0;
        for (const HeadOutput& f : heads) second += f.second, fourth += f.fourth;
        return fourth / (second * second) - 3;
      },
      "pairs f_h² f_g² are missing");
}

TEST(LessonManyHeads, KernelOfHeads) {
  const Exercise exercise(check_kernel_of_heads);
  exercise.is_open(hole::kernel_of_heads);
  exercise.accepts(solution::kernel_of_heads);
  exercise.refuses([](const Tensor& x, double qk,
                      double ov) { return solution::kernel_of_heads(x, qk, ov) / (qk * ov); },
                   "each scale occurs in both factors");
  exercise.refuses(
      [](const Tensor& x, double query_key_std, double value_output_std) {
        const Tensor k = matmul(unsqueeze(x, 1), transpose(unsqueeze(x, 0))) / double(x.size(2));
        const Tensor g = query_key_std * matmul(x, transpose(x)) / double(x.size(2));
        return std::pow(value_output_std, 2) *
               matmul(matmul(unsqueeze(g, 1), k), transpose(unsqueeze(g, 0)));
      },
      "not E[G_ai] E[G_bj]");
  exercise.refuses(
      [](const Tensor& x, double, double value_output_std) {
        return solution::kernel_of_heads(x, 1, value_output_std);
      },
      "QK², is forgotten");
  exercise.refuses(
      [](const Tensor& x, double query_key_std, double value_output_std) {
        return solution::kernel_of_heads(x * std::sqrt(double(x.size(2))), query_key_std,
                                         value_output_std);
      },
      "number of channels, d, is forgotten");
  exercise.refuses(
      [](const Tensor& x, double query_key_std, double value_output_std) {
        const Tensor k = matmul(unsqueeze(x, 1), transpose(unsqueeze(x, 0))) / double(x.size(2));
        return std::pow(query_key_std * value_output_std, 2) * k * sum(k, {2, 3}, keep_dims);
      },
      "occurs twice in the sum over keys");
}

}  // namespace
}  // namespace ladon::test
