#include "ladon/examples/lessons/13_control/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/13_control/exercises/corrected_error.cpp"
#include "ladon/examples/lessons/13_control/exercises/holm.cpp"
#include "ladon/examples/lessons/13_control/exercises/paired_difference.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/13_control/exercises/solutions/corrected_error.cpp"
#include "ladon/examples/lessons/13_control/exercises/solutions/holm.cpp"
#include "ladon/examples/lessons/13_control/exercises/solutions/paired_difference.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

using Numbers = std::vector<double>;

/// Mean and standard error of numbers.
Measured estimate(const Numbers& x) { return solution::paired_difference(x, Numbers(x.size(), 0)); }

/// Means of two or more folds of equal size.
Numbers means_of_folds(const Numbers& differences, const std::vector<int>& fold) {
  const int folds = *std::ranges::max_element(fold) + 1;
  Numbers means(static_cast<std::size_t>(folds), 0);
  for (std::size_t i = 0; i < fold.size(); ++i)
    means[static_cast<std::size_t>(fold[i])] +=
        differences[i] * folds / static_cast<double>(fold.size());
  return means;
}

/// Holm's procedure where `change` acts on what it gives and on the p values.
template <class Change>
Numbers each(const Numbers& p, Change change) {
  Numbers all;
  for (const double one : p)
    all.push_back(change(one, static_cast<double>(std::ranges::count_if(
                                  p, [&](double other) { return other < one; }))));
  return all;
}

TEST(LessonControl, PairedDifference) {
  const Exercise exercise(check_paired_difference);
  exercise.is_open(hole::paired_difference);
  exercise.accepts(solution::paired_difference);
  exercise.refuses(
      [](const Numbers& arm, const Numbers& base) {
        return Measured{estimate(arm).value - estimate(base).value,
                        std::hypot(estimate(arm).se, estimate(base).se)};
      },
      "the arms are treated as independent");
  exercise.refuses(
      [](const Numbers& arm, const Numbers& base) {
        const Measured right = solution::paired_difference(arm, base);
        return Measured{right.value, right.se * std::sqrt(static_cast<double>(arm.size()))};
      },
      "the standard deviation of one difference");
  exercise.refuses(
      [](const Numbers& arm, const Numbers& base) {
        const auto n = static_cast<double>(arm.size());
        const Measured right = solution::paired_difference(arm, base);
        return Measured{right.value, right.se * std::sqrt((n - 1) / n)};
      },
      "divisor n, not n − 1");
  exercise.refuses([](const Numbers& arm,
                      const Numbers& base) { return solution::paired_difference(base, arm); },
                   "the sign is wrong");
  exercise.refuses(
      [](const Numbers& arm, const Numbers& base) {
        const Measured right = solution::paired_difference(arm, base);
        return Measured{right.value, right.se * right.se};
      },
      "take its root");
}

TEST(LessonControl, CorrectedError) {
  const Exercise exercise(check_corrected_error);
  exercise.is_open(hole::corrected_error);
  exercise.accepts(solution::corrected_error);
  exercise.refuses(
      [](const Numbers& differences, const std::vector<int>& fold) {
        return estimate(means_of_folds(differences, fold)).se;
      },
      "as if folds were independent");
  exercise.refuses(
      [](const Numbers& differences, const std::vector<int>&) { return estimate(differences).se; },
      "the error over questions");
  exercise.refuses(
      [](const Numbers& differences, const std::vector<int>& fold) {
        return estimate(means_of_folds(differences, fold)).se * std::sqrt(2);
      },
      "n_test over all n");
  exercise.refuses(
      [](const Numbers& differences, const std::vector<int>& fold) {
        std::vector<int> blocks = fold;
        std::ranges::sort(blocks);
        return solution::corrected_error(differences, blocks);
      },
      "questions are taken in order");
  exercise.refuses(
      [](const Numbers& differences, const std::vector<int>& fold) {
        return std::pow(solution::corrected_error(differences, fold), 2);
      },
      "this is the variance");
}

TEST(LessonControl, Holm) {
  const Exercise exercise(check_holm);
  exercise.is_open(hole::holm);
  exercise.accepts(solution::holm);
  exercise.refuses(
      [](const Numbers& p) {
        return each(p, [m = static_cast<double>(p.size())](double one, double) {
          return std::min(1.0, m * one);
        });
      },
      "Bonferroni");
  exercise.refuses(
      [](const Numbers& p) {
        return each(p, [m = static_cast<double>(p.size())](double one, double smaller) {
          return std::min(1.0, (m - smaller) * one);
        });
      },
      "take the largest so far");
  exercise.refuses(
      [](const Numbers& p) {
        Numbers sorted = solution::holm(p);
        std::ranges::sort(sorted);
        return sorted;
      },
      "they are in rising order");
  exercise.refuses(
      [](const Numbers& p) {
        Numbers uncapped = each(p, [](double one, double) { return one / 1000; });
        uncapped = solution::holm(uncapped);
        for (double& one : uncapped) one *= 1000;
        return uncapped;
      },
      "at most 1");
  exercise.refuses(
      [](const Numbers& p) {
        return each(p, [m = static_cast<double>(p.size())](double one, double smaller) {
          return std::min(1.0, m / (smaller + 1) * one);
        });
      },
      "the share of false discoveries");
}

}  // namespace
}  // namespace ladon::test
