#include "ladon/examples/bnn_regression/study.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <numeric>

#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// Numbers of a text file; index files hold integers, written as floating-point numbers.
template <class T>
std::vector<T> numbers_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  const bool opened = file.is_open();
  std::vector<T> numbers;
  for (double number; file >> number;) numbers.push_back(static_cast<T>(number));
  LADON_CHECK(opened, "bnn_regression", path.string(),
              ": cannot be opened; is --data the folder of the UCI sets?");
  LADON_CHECK(file.eof(), "bnn_regression", path.string(),
              ": has something other than a number after ", numbers.size(),
              " numbers; a file of a UCI set holds numbers only");
  LADON_CHECK(!numbers.empty(), "bnn_regression", path.string(),
              ": is empty; a file of a UCI set holds at least one number");
  return numbers;
}

Tensor rows(const Tensor& x, const std::vector<std::int64_t>& indices) {
  return index_select(x, 0, from_vector(indices, {std::ssize(indices)}));
}

/// Reads a UCI set; the target is the last number of each row.
DataSet read_uci(const std::filesystem::path& files, const char* name, std::int64_t inputs,
                 std::int64_t splits) {
  const std::vector<double> numbers = numbers_of<double>(files / "data.txt");
  const Tensor all = from_vector(numbers, {std::ssize(numbers) / (inputs + 1), inputs + 1});
  DataSet set{name, clone(slice(all, 1, {.stop = inputs})), clone(select(all, 1, inputs)), {}};
  for (std::int64_t i = 0; i < splits; ++i)
    set.splits.push_back({numbers_of<std::int64_t>(files / join("index_train_", i, ".txt")),
                          numbers_of<std::int64_t>(files / join("index_test_", i, ".txt"))});
  return set;
}

DataSet friedman(std::int64_t splits, const Generator& rng) {
  constexpr std::int64_t n = 200;
  Generator inputs = rng.split(0), noise = rng.split(1);
  DataSet set{"friedman", uniform({n, 10}, inputs, 0, 1, f64), {}, {}};
  const auto x = [&](std::int64_t i) { return select(set.x, 1, i); };
  set.y = 10 * sin(std::numbers::pi * x(0) * x(1)) + 20 * square(x(2) - 0.5) + 10 * x(3) +
          5 * x(4) + normal({n}, noise, 0, 1, f64);
  Fold all{std::vector<std::int64_t>(n), {}};
  std::iota(all.train.begin(), all.train.end(), 0);
  for (std::int64_t i = 0; i < splits; ++i) {
    Generator own = rng.split(2 + static_cast<std::uint64_t>(i));
    set.splits.push_back(inner_fold(all, 0.1, own));
  }
  return set;
}

/// The UCI sets in Gal and Ghahramani's folder; without the folder, 200 examples of Friedman's
/// function (1991), y = 10·sin(πx₁x₂) + 20(x₃ − ½)² + 10x₄ + 5x₅ + N(0, 1), with ten uniform
/// inputs.
std::vector<DataSet> data_sets(const Settings& s) {
  if (s.data.empty()) return {friedman(s.splits, Generator(s.common.seed).split(0))};
  return {read_uci(s.data / "bostonHousing", "boston", 13, s.splits),
          read_uci(s.data / "concrete", "concrete", 8, s.splits),
          read_uci(s.data / "energy", "energy", 8, s.splits),
          read_uci(s.data / "wine-quality-red", "wine", 11, s.splits),
          read_uci(s.data / "yacht", "yacht", 6, s.splits)};
}

Problem problem(const DataSet& set, const Fold& split, Generator rng) {
  const Fold parts = inner_fold(split, 0.1, rng);
  const auto all = [&](const Tensor& of) {
    return concat({rows(of, parts.train), rows(of, parts.test)}, 0);
  };
  const Tensor x = all(set.x), y = all(set.y), mean_x = mean(x, 0);
  const Tensor sd = stddev(x, 0, Dims::drop, 0), sd_x = where(sd > 1e-9, sd, ones(sd.shape(), f64));
  const double center = mean(y).item(), scale = stddev(y, {}, Dims::drop, 0).item();
  const auto part = [&](const std::vector<std::int64_t>& of) -> Problem::Part {
    return {cast((rows(set.x, of) - mean_x) / sd_x, f32),
            cast((rows(set.y, of) - center) / scale, f32)};
  };
  return {part(parts.train), part(parts.test), part(split.test), center, scale};
}

struct Job {
  std::size_t set, arm, split;
  double rate;
  bool inner;  // train and test within the training part only
};

/// Log density of the mixture (see infer()) at y [M], with the variances in its row `which`.
Tensor log_density(const Tensor& mixture, int which, const Tensor& y) {
  const Tensor v = select(mixture, 1, which), squares = square(select(mixture, 1, 0) - y);
  return logsumexp(-0.5 * (squares / v + log(2 * std::numbers::pi * v)), 0) -
         std::log(static_cast<double>(mixture.size(0)));
}

/// Runs one job: trains a method on a split of a data set, and returns its answers for the test
/// part. Within a split all methods share initialization, batches and development part.
Answers answer(const Settings& s, const Study& study, const Job& job) {
  stop_if_interrupted();
  const DataSet& set = study.sets[job.set];
  const Generator rng =
      Generator(s.common.seed).split(1 + job.set).split(job.split).split(job.inner ? 1 : 0);
  Generator inner = rng.split(0);
  const Fold& split = set.splits[job.split];
  const Problem p = problem(set, job.inner ? inner_fold(split, 0.2, inner) : split, rng.split(1));
  const Tensor mixture = infer(study.arms[job.arm], p, s, job.rate, rng.split(2));
  const Tensor y = cast(p.test.y, f64), f = select(mixture, 1, 0), m = mean(f, 0);
  return {job.rate,
          {{"rmse", {p.scale * sqrt(mean(square(m - y)))}},
           {"targets", {p.mean + p.scale * y}},
           {"mean", {p.mean + p.scale * m}},
           {"sd", {p.scale * sqrt(mean(square(f - m) + select(mixture, 1, 2), 0))}},
           {"ll", {log_density(mixture, 2, y) - std::log(p.scale)}},
           {"ll_own", {log_density(mixture, 1, y) - std::log(p.scale)}}}};
}

/// Chooses learning rates by the error on an inner fold, a split of the training part of split 0;
/// then runs all splits in order.
void run_all(const Settings& s, Study& study) {
  std::vector<Job> tuning, runs;
  for (std::size_t split = 0; split < static_cast<std::size_t>(s.splits); ++split)
    for (std::size_t set = 0; set < study.sets.size(); ++set)
      for (std::size_t arm = 0; arm < study.arms.size(); ++arm) {
        runs.push_back({set, arm, split, 0, false});
        for (const double rate : study.arms[arm].rates)
          if (split == 0 && rate > 0) tuning.push_back({set, arm, split, rate, true});
      }
  Progress progress(static_cast<double>(tuning.size() + runs.size()));
  const auto work = [&](const std::vector<Job>& jobs, const auto& use) {
    auto next = jobs.begin();
    parallel::in_order(
        std::ssize(jobs), 8, [&](std::int64_t i) { return answer(s, study, jobs.begin()[i]); },
        [&](const Answers& answers) {
          use(*next, answers);
          progress.step(study.arms[next++->arm].name);
        });
  };
  const auto of = [&](const Job& job) -> Answers& {
    return study.of[study.sets[job.set].name][study.arms[job.arm].name];
  };
  std::map<Answers*, double> smallest;
  work(tuning, [&](const Job& job, const Answers& answers) {
    const double error = answers.bits.at("rmse")[0].item();
    double& least = smallest.try_emplace(&of(job), error).first->second;
    if (error <= least) of(job).rate = job.rate;
    least = std::min(least, error);
  });
  for (Job& job : runs) job.rate = of(job).rate;
  std::size_t done = 0;
  work(runs, [&](const Job& job, const Answers& answers) {
    for (const auto& [name, one] : answers.bits) of(job).bits[name].push_back(one[0]);
    study.splits = ++done / (study.sets.size() * study.arms.size());
  });
}

}  // namespace

Study run_study(const Settings& s) {
  Study study{data_sets(s), {}, {}};
  for (const Method& method : methods())  // the first three always run
    if (s.methods.empty() || study.arms.size() < 3 || std::ranges::count(s.methods, method.name))
      study.arms.push_back(method);
  ran_to_the_end([&] { run_all(s, study); });
  for (auto& [set, arms] : study.of)  // drop answers of an unfinished split
    for (auto& [arm, answers] : arms)
      for (auto& [name, each] : answers.bits) each.resize(study.splits);
  return study;
}

}  // namespace ladon::example
