#include "ladon/examples/lessons/16_copy_head/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/16_copy_head/exercises/birth_terms.cpp"
#include "ladon/examples/lessons/16_copy_head/exercises/copy_strength.cpp"
#include "ladon/examples/lessons/16_copy_head/exercises/strength_evidence.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/16_copy_head/exercises/solutions/birth_terms.cpp"
#include "ladon/examples/lessons/16_copy_head/exercises/solutions/copy_strength.cpp"
#include "ladon/examples/lessons/16_copy_head/exercises/solutions/strength_evidence.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

/// The evidence with mistakes: factors of the determinant and of the quadratic form.
Tensor evidence(const Tensor& strength, const CopyPairs& data, double determinant, double form) {
  const double v = static_cast<double>(data.x.size(1)), k = sum(square(data.x)).item() / (v - 1);
  const double c2 = data.spread * data.spread / (data.noise * v);
  const double overlap = sum(square(matmul(transpose(data.x), data.y))).item();
  const Tensor u = 1.0 + c2 * k * square(strength);
  return form * c2 / data.noise * overlap * square(strength) / u - determinant * log(u);
}

TEST(LessonCopyHead, CopyStrength) {
  const Exercise exercise(check_copy_strength);
  exercise.is_open(hole::copy_strength);
  exercise.accepts(solution::copy_strength);
  exercise.refuses([](const Tensor& g, double scale,
                      std::int64_t length) { return sigmoid(scale * g - std::log(length - 1.0)); },
                   "this is the weight of the right token");
  exercise.refuses([](const Tensor& g, double,
                      std::int64_t length) { return solution::copy_strength(g, 1, length); },
                   "the logit is scale·g");
  exercise.refuses(
      [](const Tensor& g, double scale, std::int64_t length) {
        const Tensor a = sigmoid(scale * g);
        return a - (1.0 - a) / (length - 1.0);
      },
      "T − 1 other tokens compete");
  exercise.refuses(
      [](const Tensor& g, double scale, std::int64_t length) {
        return sigmoid(scale * g - std::log(length - 1.0)) - 1.0 / static_cast<double>(length);
      },
      "the weight less its mean");
}

TEST(LessonCopyHead, StrengthEvidence) {
  const Exercise exercise(check_strength_evidence);
  exercise.is_open(hole::strength_evidence);
  exercise.accepts(solution::strength_evidence);
  exercise.refuses([](const Tensor& r, const CopyPairs& d) { return evidence(r, d, 0, 0.5); },
                   "the determinant is missing");
  exercise.refuses(
      [](const Tensor& r, const CopyPairs& d) {
        return evidence(r, d, 0.5 * (d.x.size(1) - 1.0), 0.5);
      },
      "each of the V outputs has a determinant");
  exercise.refuses(
      [](const Tensor& r, const CopyPairs& d) {
        const double v = static_cast<double>(d.x.size(1));
        return evidence(r, d, 0.5 * v * v, 0.5);
      },
      "adds nothing");
  exercise.refuses(
      [](const Tensor& r, const CopyPairs& d) {
        const double v = static_cast<double>(d.x.size(1));
        return evidence(r, d, v * (v - 1), 1);
      },
      "the factor ½");
  exercise.refuses(
      [](const Tensor& r, const CopyPairs& d) {
        const double v = static_cast<double>(d.x.size(1));
        return evidence(r, d, 0.5 * v * (v - 1), 0.5 * d.noise);
      },
      "σ⁴ in the denominator");
}

TEST(LessonCopyHead, BirthTerms) {
  const Exercise exercise(check_birth_terms);
  exercise.is_open(hole::birth_terms);
  exercise.accepts(solution::birth_terms);
  // Right terms, and a mistake in one of them.
  exercise.refuses(
      [](double gain, double scale, std::int64_t length) {
        BirthTerms terms = solution::birth_terms(gain, scale, length);
        terms.quadratic += 0.5;
        return terms;
      },
      "the prior's −½ is missing");
  exercise.refuses(
      [](double gain, double scale, std::int64_t length) {
        BirthTerms terms = solution::birth_terms(gain, scale, length);
        terms.cubic = 0;
        return terms;
      },
      "the mixed term of the square is missing");
  exercise.refuses(
      [](double gain, double scale, std::int64_t length) {
        BirthTerms terms = solution::birth_terms(gain, scale, length);
        terms.cubic *= 0.5;
        return terms;
      },
      "occurs twice");
  exercise.refuses(
      [](double gain, double scale, std::int64_t length) {
        BirthTerms terms = solution::birth_terms(gain, scale, length);
        terms.cubic *= 2;
        return terms;
      },
      "half the second derivative");
}

}  // namespace
}  // namespace ladon::test
