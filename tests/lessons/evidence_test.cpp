#include "ladon/examples/lessons/08_evidence/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/08_evidence/exercises/estimate_evidence.cpp"
#include "ladon/examples/lessons/08_evidence/exercises/evidence_by_prediction.cpp"
#include "ladon/examples/lessons/08_evidence/exercises/log_mean_exp.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/08_evidence/exercises/solutions/estimate_evidence.cpp"
#include "ladon/examples/lessons/08_evidence/exercises/solutions/evidence_by_prediction.cpp"
#include "ladon/examples/lessons/08_evidence/exercises/solutions/log_mean_exp.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

using Logs = std::vector<double>;

double sum_of(const Logs& logs, double power = 1, double shift = 0) {
  double sum = 0;
  for (const double l : logs) sum += std::exp(power * (l - shift));
  return sum;
}

/// The product rule with mistakes: noise of the known targets and of the next, weight of ln v.
double by_prediction(const Tensor& kernel, const Tensor& y, double known, double next, double log) {
  double sum = 0;
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    double mean = 0, variance = at(kernel, {i, i}).item() + next;
    if (i > 0) {
      const Slice before{.stop = i};
      const Tensor k = at(kernel, {before, i});
      const Tensor a = solve(at(kernel, {before, before}) + known * eye(i, f64), k);
      mean = dot(a, slice(y, 0, before)).item();
      variance -= dot(a, k).item();
    }
    const double error = at(y, {i}).item() - mean;
    sum -= 0.5 * error * error / variance + log * std::log(variance) +
           0.5 * std::log(2 * std::numbers::pi);
  }
  return sum;
}

TEST(LessonEvidence, LogMeanExp) {
  const Exercise exercise(check_log_mean_exp);
  exercise.is_open(hole::log_mean_exp);
  exercise.accepts(solution::log_mean_exp);
  exercise.refuses(
      [](const Logs& logs) { return std::accumulate(logs.begin(), logs.end(), 0.0) / logs.size(); },
      "the mean of the logarithms");
  exercise.refuses([](const Logs& logs) { return std::log(sum_of(logs) / logs.size()); },
                   "leaves the range of double");
  exercise.refuses([](const Logs& logs) { return std::log(sum_of(logs)); }, "ln of the sum");
  exercise.refuses(
      [](const Logs& logs) {
        const double largest = *std::max_element(logs.begin(), logs.end());
        return std::log(sum_of(logs, 1, largest) / logs.size());
      },
      "not put back");
  exercise.refuses(
      [](const Logs& logs) {
        const double largest = *std::max_element(logs.begin(), logs.end());
        return largest + std::log(sum_of(logs, 1, largest) / logs.size());
      },
      "is not a number");
  exercise.refuses(
      [](const Logs& logs) {
        Logs possible;
        for (const double l : logs)
          if (!std::isinf(l)) possible.push_back(l);
        return solution::log_mean_exp(possible);
      },
      "counts in the mean");
}

double largest(const Logs& logs) { return *std::max_element(logs.begin(), logs.end()); }

/// ln of the mean after e^m is taken out, where that is possible at all.
double mean_after(const Logs& logs, double m) {
  if (std::isinf(largest(logs))) return largest(logs);
  if (std::isinf(m)) m = largest(logs);
  return m + std::log(sum_of(logs, 1, m) / logs.size());
}

double median(Logs logs) {
  std::sort(logs.begin(), logs.end());
  return logs[logs.size() / 2];
}

double average(const Logs& logs) {
  return std::accumulate(logs.begin(), logs.end(), 0.0) / logs.size();
}

// Only the largest logarithm is safe to take out.
TEST(LessonEvidence, LogMeanExpRefusesAnotherShift) {
  const Exercise exercise(check_log_mean_exp);
  const std::string reason = "m is the largest logarithm";
  exercise.accepts([](const Logs& logs) { return mean_after(logs, largest(logs)); });
  exercise.refuses([](const Logs& logs) { return mean_after(logs, logs.front()); }, reason);
  exercise.refuses([](const Logs& logs) { return mean_after(logs, logs.back()); }, reason);
  exercise.refuses([](const Logs& logs) { return mean_after(logs, average(logs)); }, reason);
  exercise.refuses([](const Logs& logs) { return mean_after(logs, median(logs)); }, reason);
}

TEST(LessonEvidence, EvidenceByPrediction) {
  const Exercise exercise(check_evidence_by_prediction);
  exercise.is_open(hole::evidence_by_prediction);
  exercise.accepts(solution::evidence_by_prediction);
  exercise.refuses([](const Tensor& k, const Tensor& y,
                      double noise) { return by_prediction(k, y, noise, 0, 0.5); },
                   "noise of the predicted target");
  exercise.refuses([](const Tensor& k, const Tensor& y,
                      double noise) { return by_prediction(k, y, 1e-9, noise, 0.5); },
                   "noise of the targets before it");
  exercise.refuses([](const Tensor& k, const Tensor& y,
                      double noise) { return by_prediction(k, y, noise, noise, 1); },
                   "ln of the variance counts in full");
  exercise.refuses([](const Tensor& k, const Tensor& y,
                      double noise) { return by_prediction(k, y, noise, noise, -0.5); },
                   "wrong sign");
  exercise.refuses(
      [](const Tensor& k, const Tensor& y, double noise) {
        return solution::evidence_by_prediction(k, y, noise) +
               0.5 * y.size(0) * std::log(2 * std::numbers::pi);
      },
      "½ ln 2π of each target is missing");
  exercise.refuses(
      [](const Tensor& k, const Tensor& y, double noise) {
        return y.size(0) == 1 ? solution::evidence_by_prediction(k, y, noise)
                              : GaussianProcess(k, y, {.noise = noise}).leave_one_out().log_density;
      },
      "leave one out");
  exercise.refuses(
      [](const Tensor& k, const Tensor& y, double noise) {
        return solution::evidence_by_prediction(eye(y.size(0), f64) * k, y, noise);
      },
      "predicted alone");
}

TEST(LessonEvidence, EstimateEvidence) {
  const Exercise exercise(check_estimate_evidence);
  exercise.is_open(hole::estimate_evidence);
  exercise.accepts(solution::estimate_evidence);
  exercise.refuses(
      [](const Logs& logs) {
        EvidenceEstimate all = solution::estimate_evidence(logs);
        all.error *= std::sqrt(logs.size());
        return all;
      },
      "1/√S of it");
  exercise.refuses(
      [](const Logs& logs) {
        EvidenceEstimate all = solution::estimate_evidence(logs);
        all.error *= std::exp(all.log_evidence);
        return all;
      },
      "is that over Ẑ");
  exercise.refuses(
      [](const Logs& logs) {
        EvidenceEstimate all = solution::estimate_evidence(logs);
        all.error = stddev(from_vector(logs, {std::ssize(logs)})).item() / std::sqrt(logs.size());
        return all;
      },
      "of the mean of the logarithms");
  exercise.refuses(
      [](const Logs& logs) {
        EvidenceEstimate all = solution::estimate_evidence(logs);
        all.effective /= logs.size();
        return all;
      },
      "this is the number over S");
  exercise.refuses(
      [](const Logs& logs) {
        const double n = logs.size(), z = sum_of(logs), squares = sum_of(logs, 2);
        return EvidenceEstimate{std::log(z / n), std::sqrt((n * squares / z / z - 1) / (n - 1)),
                                z * z / squares};
      },
      "leaves the range of double");
}

/// The estimate after all likelihoods are divided by e^m.
EvidenceEstimate estimate_after(const Logs& logs, double m) {
  const double n = logs.size(), sum = sum_of(logs, 1, m), squares = sum_of(logs, 2, m);
  const double effective = sum * sum / squares;
  return {m + std::log(sum / n), std::sqrt(std::max(0.0, (n / effective - 1) / (n - 1))),
          effective};
}

TEST(LessonEvidence, EstimateEvidenceRefusesAnotherShift) {
  const Exercise exercise(check_estimate_evidence);
  const std::string reason = "divide all likelihoods by the largest";
  exercise.accepts([](const Logs& logs) { return estimate_after(logs, largest(logs)); });
  exercise.refuses([](const Logs& logs) { return estimate_after(logs, logs.front()); }, reason);
  exercise.refuses([](const Logs& logs) { return estimate_after(logs, logs.back()); }, reason);
  exercise.refuses([](const Logs& logs) { return estimate_after(logs, average(logs)); }, reason);
  exercise.refuses([](const Logs& logs) { return estimate_after(logs, median(logs)); }, reason);
}

}  // namespace
}  // namespace ladon::test
