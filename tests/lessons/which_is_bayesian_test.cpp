#include "ladon/examples/lessons/12_which_is_bayesian/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/12_which_is_bayesian/exercises/central_coverage.cpp"
#include "ladon/examples/lessons/12_which_is_bayesian/exercises/combine_members.cpp"
#include "ladon/examples/lessons/12_which_is_bayesian/exercises/randomized_fits.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/12_which_is_bayesian/exercises/solutions/central_coverage.cpp"
#include "ladon/examples/lessons/12_which_is_bayesian/exercises/solutions/combine_members.cpp"
#include "ladon/examples/lessons/12_which_is_bayesian/exercises/solutions/randomized_fits.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

/// Fits with mistakes: standard deviations of the draws of prior and noise, and the ridge.
Tensor fits(const Tensor& features, const Tensor& y, std::int64_t members, Generator& rng,
            double prior_sd, double noise_sd, double ridge) {
  const std::int64_t n = features.size(0);
  const Tensor start = normal({members, features.size(1)}, rng, 0, prior_sd, f64);
  const Tensor targets = y + normal({members, n}, rng, 0, noise_sd, f64);
  const Tensor a = matmul(features, transpose(features)) + ridge * eye(n, f64);
  const Tensor residuals = targets - matmul(start, transpose(features));
  return start + matmul(transpose(solve(a, transpose(residuals))), features);
}

TEST(LessonWhichIsBayesian, CombineMembers) {
  const Exercise exercise(check_combine_members);
  exercise.is_open(hole::combine_members);
  exercise.accepts(solution::combine_members);
  exercise.refuses(
      [](const Tensor& m, const Tensor& v) {
        return CombinedMembers{mean(m, 0), mean(v, 0)};
      },
      "the disagreement of members is missing");
  exercise.refuses(
      [](const Tensor& m, const Tensor& v) {
        return CombinedMembers{mean(m, 0), var(m, 0, Dims::drop, 0)};
      },
      "each member's own uncertainty is missing");
  exercise.refuses(
      [](const Tensor& m, const Tensor& v) {
        return CombinedMembers{mean(m, 0), mean(v, 0) + var(m, 0)};
      },
      "the divisor of the means' variance is S");
  exercise.refuses(
      [](const Tensor& m, const Tensor& v) {
        const CombinedMembers right = solution::combine_members(m, v);
        return CombinedMembers{right.mean, right.variance / static_cast<double>(m.size(0))};
      },
      "does not narrow with more members");
  exercise.refuses(
      [](const Tensor& m, const Tensor& v) {
        return CombinedMembers{mean(m, 0), square(mean(sqrt(v), 0)) + var(m, 0, Dims::drop, 0)};
      },
      "standard deviations are averaged");
}

TEST(LessonWhichIsBayesian, CentralCoverage) {
  const Exercise exercise(check_central_coverage);
  exercise.is_open(hole::central_coverage);
  exercise.accepts(solution::central_coverage);
  exercise.refuses(
      [](const BelievedValue& belief, const BelievedValue& truth, double noise, double level) {
        return solution::central_coverage(belief, truth, noise, 2 * level - 1);
      },
      "a central interval leaves out half of it");
  exercise.refuses(
      [](const BelievedValue& belief, const BelievedValue& truth, double noise, double level) {
        return solution::central_coverage({belief.mean, belief.variance - noise}, truth, noise,
                                          level);
      },
      "the belief's interval is that of f");
  exercise.refuses([](const BelievedValue& belief, const BelievedValue& truth, double,
                      double level) { return solution::central_coverage(belief, truth, 0, level); },
                   "this is the coverage of f");
  exercise.refuses(
      [](const BelievedValue& belief, const BelievedValue& truth, double noise, double level) {
        return solution::central_coverage(truth, belief, noise, level);
      },
      "belief and truth are exchanged");
  exercise.refuses(
      [](const BelievedValue&, const BelievedValue&, double, double level) { return level; },
      "the level itself");
}

TEST(LessonWhichIsBayesian, RandomizedFits) {
  const Exercise exercise(check_randomized_fits);
  exercise.is_open(hole::randomized_fits);
  exercise.accepts(solution::randomized_fits);
  exercise.refuses([](const Tensor& x, const Tensor& y, double noise, std::int64_t members,
                      Generator& rng) { return fits(x, y, members, rng, 0, 0, noise); },
                   "all members are equal");
  exercise.refuses([](const Tensor& x, const Tensor& y, double noise, std::int64_t members,
                      Generator& rng) { return fits(x, y, members, rng, 1, 0, noise); },
                   "members share the targets' noise");
  exercise.refuses(
      [](const Tensor& x, const Tensor& y, double noise, std::int64_t members, Generator& rng) {
        return fits(x, y, members, rng, 0, std::sqrt(noise), noise);
      },
      "not to draws of the prior");
  exercise.refuses([](const Tensor& x, const Tensor& y, double noise, std::int64_t members,
                      Generator& rng) { return fits(x, y, members, rng, 1, noise, noise); },
                   "σ² is its variance");
  exercise.refuses([](const Tensor& x, const Tensor& y, double noise, std::int64_t members,
                      Generator& rng) { return fits(x, y, members, rng, 1, std::sqrt(noise), 1); },
                   "the penalty has no weight σ²");
  exercise.refuses(
      [](const Tensor& x, const Tensor&, double, std::int64_t members, Generator&) {
        return full({members, x.size(1)}, std::nan(""), f64);
      },
      "not finite");
}

}  // namespace
}  // namespace ladon::test
