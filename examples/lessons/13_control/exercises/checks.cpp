#include "13_control/exercises/exercises.h"

using namespace ladon;
using lessons::compare;
using lessons::Mistake;
using lessons::require;

namespace {

using Numbers = std::vector<double>;

Tensor row_of(const Numbers& values) {
  return from_vector(values, {static_cast<std::int64_t>(values.size())});
}

/// Right and wrong answers of two arms for which the same questions are hard.
std::pair<Numbers, Numbers> answers(int questions, Generator& rng) {
  std::pair<Numbers, Numbers> both;
  for (int i = 0; i < questions; ++i) {
    const double easy = rng.uniform() < 0.7 ? 0.95 : 0.3;
    both.first.push_back(rng.uniform() < easy);
    both.second.push_back(rng.uniform() < easy);
  }
  return both;
}

/// Mean difference in each fold.
Tensor means_of(const Numbers& differences, const std::vector<int>& fold) {
  const int folds = *std::ranges::max_element(fold) + 1;
  Numbers sums(static_cast<std::size_t>(folds), 0);
  for (std::size_t i = 0; i < fold.size(); ++i) sums[fold[i]] += differences[i];
  return row_of(sums) * (folds / static_cast<double>(fold.size()));
}

/// p values of a family, each multiplied by the factor of its rank (from 0), then replaced by the
/// running maximum from the smallest p value on (Running::maximum), or by the running minimum from
/// the largest on (Running::minimum), and limited to `cap`. `restore` puts them back into the given
/// order.
enum class Running { none, maximum, minimum };
Numbers adjusted(const Numbers& p, const std::function<double(double rank)>& factor,
                 Running running, bool restore = true, double cap = 1) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  Numbers sorted;
  for (std::size_t rank = 0; rank < p.size(); ++rank)
    sorted.push_back(factor(static_cast<double>(rank)) * p[order[rank]]);
  if (running == Running::maximum)
    std::partial_sum(sorted.begin(), sorted.end(), sorted.begin(),
                     [](double a, double b) { return std::max(a, b); });
  if (running == Running::minimum)
    std::partial_sum(sorted.rbegin(), sorted.rend(), sorted.rbegin(),
                     [](double a, double b) { return std::min(a, b); });
  Numbers all(p.size());
  for (std::size_t rank = 0; rank < p.size(); ++rank)
    all[restore ? order[rank] : rank] = std::min(cap, sorted[rank]);
  return all;
}

}  // namespace

void check_paired_difference(decltype(paired_difference)* yours) {
  const auto check = [&](const std::string& what, const Numbers& arm, const Numbers& base) {
    const Tensor a = row_of(arm), b = row_of(base), d = a - b;
    const Measured answer = yours(arm, base);
    const double difference = mean(d).item(), n = static_cast<double>(arm.size());
    compare(what + ", difference", answer.value, difference,
            {{-difference, what + ", difference: the sign is wrong; it is arm − base"},
             {difference * n, what + ", difference: this is the sum over questions"},
             {mean(abs(d)).item(),
              what + ", difference: the share of questions on which the arms disagree; where base "
                     "is right and arm is wrong the difference is −1"}});
    const double se = std::sqrt(var(d).item() / n), p = mean(a).item(), q = mean(b).item();
    const std::string error = what + ", error: ";
    compare(error.substr(0, error.size() - 2), answer.se, se,
            {{std::sqrt((var(a).item() + var(b).item()) / n),
              error + "the arms are treated as independent, as if each had its own questions; the "
                      "covariance of their answers is missing"},
             {std::sqrt((p * (1 - p) + q * (1 - q)) / n),
              error + "the arms are treated as independent, as if each had its own questions; the "
                      "covariance of their answers is missing"},
             {std::sqrt(var(d).item()),
              error + "this is the standard deviation of one difference; a mean of n has 1/√n of "
                      "it"},
             {se * se, error + "this is the variance; take its root"},
             {std::sqrt(var(d, {}, Dims::drop, 0).item() / n),
              error + "the variance has the divisor n, not n − 1"},
             {std::sqrt(mean(square(d)).item() / n),
              error + "the squared mean is not subtracted: these are squares of differences, not "
                      "of "
                      "their deviations"},
             {std::sqrt(var(d).item() / (2 * n)),
              error + "2n answers, but n questions: the difference of a question is one "
                      "observation"}});
  };
  check("of six questions", {1, 1, 0, 1, 1, 1}, {1, 0, 0, 1, 0, 1});
  Generator rng(13);
  const auto [arm, base] = answers(400, rng);
  check("of 400 questions", arm, base);
  check("of log-likelihoods", {-0.1, -2.3, -0.4, -1.1}, {-0.3, -2.1, -0.9, -1.0});
  check("of equal arms", base, base);
}

void check_corrected_error(decltype(corrected_error)* yours) {
  const auto check = [&](const std::string& what, const Numbers& differences,
                         const std::vector<int>& fold) {
    const Tensor of_fold = means_of(differences, fold), all = row_of(differences);
    const double j = static_cast<double>(of_fold.count()), n = static_cast<double>(fold.size());
    const double variance = var(of_fold).item(),
                 right = std::sqrt((1 / j + 1 / (j - 1)) * variance);
    std::vector<int> blocks(fold.size());
    for (std::size_t i = 0; i < fold.size(); ++i)
      blocks[i] = static_cast<int>(static_cast<double>(i) * j / n);
    const auto by = [&](double factor, const std::string& reason, double of) {
      return Mistake(std::sqrt(factor * of), what + ": " + reason);
    };
    compare(
        what, yours(differences, fold), right,
        {by(1 / j, "1/J alone, as if folds were independent: the overlap n_test/n_train is missing",
            variance),
         by(1 / n,
            "the error over questions, which ignores how fits vary; the observations "
            "here are the J means of folds",
            var(all).item()),
         by(1 / j + 1 / (j - 1),
            "the variance of questions; the observations here are the J means "
            "of folds",
            var(all).item()),
         by(1 / (j - 1), "the overlap alone: the term 1/J is missing", variance),
         by(2 / j, "n_test over all n; it is over n_train, the size of a training set", variance),
         by(1 / j + j - 1, "the ratio is upside down: n_test/n_train is 1/(J − 1)", variance),
         by(1 + j / (j - 1), "not divided by J: 1/J + n_test/n_train is the whole factor",
            variance),
         by(1 / j + 1 / (j - 1), "the variance of folds has the divisor J, not J − 1",
            variance * (j - 1) / j),
         by(1 / j + 1 / (j - 1), "this is the variance; take its root", right * right * variance),
         by(1 / j + 1 / (j - 1),
            "questions are taken in order, a block per fold; fold[i] says where question i was "
            "tested",
            var(means_of(differences, blocks)).item())});
  };
  check("three folds of two questions", {0.5, -0.2, 0.1, 0.3, 0.4, 0}, {0, 1, 2, 0, 1, 2});
  Generator rng(4);
  Numbers normal_ones, right_or_wrong;
  std::vector<int> ten, two;
  const auto [arm, base] = answers(200, rng);
  for (std::size_t i = 0; i < 200; ++i) {
    normal_ones.push_back(0.1 + rng.normal());
    right_or_wrong.push_back(arm[i] - base[i]);
    ten.push_back(static_cast<int>(7 * i % 10));
    two.push_back(static_cast<int>(i / 3 % 2 == i % 2));
  }
  check("ten folds of 20 questions", normal_ones, ten);
  check("right and wrong answers in ten folds", right_or_wrong, ten);
  check("two folds", {0.3, 0.1, -0.4, 0.2}, {1, 0, 0, 1});
  check("folds with one mean", {0.5, 0, 0, 0.5}, {0, 0, 1, 1});
}

void check_holm(decltype(holm)* yours) {
  const auto check = [&](const std::string& what, const Numbers& p) {
    const auto m = static_cast<double>(p.size());
    const Numbers answer = yours(p);
    const auto down = [m](double rank) { return m - rank; };
    const auto mistake = [&](const Numbers& result, const std::string& reason) {
      return Mistake(row_of(result), what + ": " + reason);
    };
    compare(
        what, row_of(answer), row_of(adjusted(p, down, Running::maximum)),
        {mistake(p, "nothing is corrected"),
         mistake(adjusted(p, down, Running::maximum, false),
                 "they are in rising order; the first belongs to the first comparison given"),
         mistake(adjusted(
                     p, [m](double) { return m; }, Running::none),
                 "all are multiplied by m (Bonferroni); once k comparisons are found to be "
                 "differences, m − k are left"),
         mistake(adjusted(p, down, Running::none),
                 "a comparison comes out below one of a smaller p value, which would have stopped "
                 "the procedure before: take the largest so far"),
         mistake(adjusted(p, down, Running::maximum, true, 1e9), "a p value is at most 1"),
         mistake(adjusted(p, down, Running::minimum),
                 "the smallest from here on is Hochberg's step up, which needs independence; "
                 "Holm's goes from the smallest p value up, and takes the largest so far"),
         mistake(adjusted(
                     p, [m](double rank) { return m / (rank + 1); }, Running::minimum),
                 "m/rank bounds the share of false discoveries (Benjamini and Hochberg), not the "
                 "chance of any"),
         mistake(adjusted(
                     p, [m](double rank) { return m - rank - 1; }, Running::maximum),
                 "the factors are one too small: the smallest p value is multiplied by m, the "
                 "largest by 1"),
         mistake(adjusted(
                     p, [](double rank) { return rank + 1; }, Running::maximum),
                 "the factors are in the wrong order: the smallest p value is multiplied by m")});
  };
  check("of four arms", {0.01, 0.04, 0.03, 0.005});
  check("of five arms", {0.02, 0.3, 0.011, 0.012, 0.6});
  check("of equal p values", {0.02, 0.5, 0.02, 0.02});
  check("of arms without effect", {0.7, 0.9, 0.2, 0.4});
  check("of one comparison", {0.03});
  require(yours({}).empty(), "of no comparison: nothing is to be returned");
}
