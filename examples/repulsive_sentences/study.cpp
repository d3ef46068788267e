#include "ladon/examples/repulsive_sentences/study.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"
#include "ladon/core/io/tensors/npz.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

struct Job {
  Arm arm;
  double value;
  Fold fold;
  Generator rng;
  std::string name;
};

/// Fits that are finished, by their names, in a file from which a later run goes on.
class Checkpoint {
 public:
  explicit Checkpoint(const Settings& s)
      : path_(s.checkpoint),
        run_(join(s.format, s.epochs, '-', s.batch_size, '-', s.folds, '-', s.common.seed, ' ')) {
    if (!path_.empty() && std::filesystem::exists(path_)) kept_ = load_npz(path_);
  }
  bool has(const std::string& name) const { return kept_.contains(run_ + name); }
  Fit at(const std::string& name) const {
    const auto figures = kept_.at(run_ + name + " figures").to_vector();
    return {kept_.at(run_ + name), figures[0], figures[1], figures[2]};
  }
  void keep(const std::string& name, const Fit& fit) {
    kept_[run_ + name] = fit.probabilities;
    kept_[run_ + name + " figures"] = tensor({fit.redundancy, fit.size, fit.ratio}, f64);
  }
  void save() const {
    if (!path_.empty()) save_npz(path_, kept_);
  }

 private:
  std::string path_, run_;
  std::map<std::string, Tensor> kept_;
};

class Course {
 public:
  Course(const Sentences& data, const Settings& s)
      : data_(data), s_(s), root_(s.common.seed), checkpoint_(s) {
    const auto wanted = [&](const Arm& arm) {
      return s_.arms.empty() || arm.name == "plain" ||
             std::ranges::find(s_.arms, arm.name) != s_.arms.end();
    };
    std::ranges::copy_if(arms(), std::back_inserter(arms_), wanted);
    Generator split = root_.split(0);
    study_.folds = folds(data.count(), s.folds, split);
  }

  Study run() {
    std::int64_t fits = s_.seeds * s_.folds * std::ssize(arms_);
    for (const Arm& arm : arms_) fits += s_.trials * std::ssize(arm.values);
    Progress progress(static_cast<double>(fits));
    study_.interrupted = !ran_to_the_end([&] {
      tune(progress);
      for (std::int64_t seed = 0; seed < s_.seeds; ++seed) ask_all(seed, progress);
    });
    for (Answers& a : study_.arms) {
      a.log_likelihood = log(gather(a.probability, 2, labels_of(a.probability)));
      a.log_likelihood = reshape(a.log_likelihood, a.right.shape());
    }
    return std::move(study_);
  }

 private:
  /// All jobs, several beside each other; use(job, fit) in their order.
  void run_jobs(const std::vector<Job>& jobs, Progress& progress,
                const std::function<void(const Job&, const Fit&)>& use) {
    constexpr std::int64_t held = 8;
    std::int64_t next = 0;
    const auto at = [&](std::int64_t i) -> const Job& { return jobs[static_cast<std::size_t>(i)]; };
    parallel::in_order(
        std::ssize(jobs), held,
        [&](std::int64_t i) {
          stop_if_interrupted();
          const Job& job = at(i);
          return checkpoint_.has(job.name) ? checkpoint_.at(job.name)
                                           : fit(data_, s_, job.fold, job.arm, job.value, job.rng);
        },
        [&](const Fit& fit) {
          const Job& job = at(next++);
          checkpoint_.keep(job.name, fit);
          if (next % held == 0 || next == std::ssize(jobs)) checkpoint_.save();
          use(job, fit);
          progress.step(job.name);
        });
  }

  /// Every value on the same inner folds of the first fold's training part.
  void tune(Progress& progress) {
    std::vector<Job> jobs;
    for (const Arm& arm : arms_)
      for (const double value : arm.values) {
        study_.tried.push_back({arm.name, value});
        for (std::int64_t t = 0; t < s_.trials; ++t) {
          const Generator own = root_.split(1).split(static_cast<std::uint64_t>(t));
          Generator split = own.split(0);
          jobs.push_back({arm, value, inner_fold(study_.folds[0], 0.2, split), own.split(1),
                          join("tuning ", arm.name, ' ', value, ", trial ", t)});
        }
      }
    std::int64_t done = 0;
    run_jobs(jobs, progress, [&](const Job& job, const Fit& fit) {
      Tried& tried = study_.tried[static_cast<std::size_t>(done++ / s_.trials)];
      const auto n = static_cast<double>(s_.trials);
      const std::vector<std::int64_t> labels = data_.choose(job.fold.test).labels;
      const Tensor right = from_vector(labels, {std::ssize(labels)});
      tried.accuracy += metrics::accuracy(fit.probabilities, right) / n;
      tried.nll += metrics::nll(fit.probabilities, right) / n;
      tried.size += fit.size / n;
      tried.redundancy += fit.redundancy / n;
    });
    choose();
  }

  /// The value with the highest accuracy on the inner folds; of equals the lower nll.
  void choose() {
    for (const Arm& arm : arms_) {
      Tried* best = nullptr;
      for (Tried& t : study_.tried)
        if (t.arm == arm.name && (best == nullptr || t.accuracy > best->accuracy ||
                                  (t.accuracy == best->accuracy && t.nll < best->nll)))
          best = &t;
      best->chosen = true;
      chosen_.push_back(best->value);
    }
  }

  /// All folds and arms under one seed; joined to the study when they are there.
  void ask_all(std::int64_t seed, Progress& progress) {
    std::vector<Job> jobs;
    for (std::size_t f = 0; f < study_.folds.size(); ++f)
      for (std::size_t a = 0; a < arms_.size(); ++a)
        jobs.push_back({arms_[a], chosen_[a], study_.folds[f],
                        root_.split(2).split(static_cast<std::uint64_t>(seed)).split(f),
                        join(arms_[a].name, ' ', chosen_[a], ", fold ", f, ", seed ", seed)});
    const std::int64_t n = data_.count(), classes = data_.classes();
    std::vector<Answers> all;
    for (std::size_t a = 0; a < arms_.size(); ++a)
      all.push_back(
          {arms_[a], chosen_[a], zeros({1, n}, f64), {}, zeros({1, n, classes}, f64), {}, {}, {}});
    std::size_t next = 0;
    run_jobs(jobs, progress,
             [&](const Job& job, const Fit& fit) { note(job, fit, all[next++ % all.size()]); });
    study_.seeds = seed + 1;
    if (seed == 0) {
      study_.arms = std::move(all);
      return;
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
      Answers& into = study_.arms[a];
      into.right = concat({into.right, all[a].right}, 0);
      into.probability = concat({into.probability, all[a].probability}, 0);
      for (auto part : {&Answers::redundancy, &Answers::size, &Answers::ratio})
        (into.*part).insert((into.*part).end(), (all[a].*part).begin(), (all[a].*part).end());
    }
  }

  void note(const Job& job, const Fit& fit, Answers& answers) const {
    const Tensor guesses = argmax(fit.probabilities, 1);
    const std::int64_t* guess = guesses.data<std::int64_t>();
    const Tensor rows = contiguous(fit.probabilities);
    const std::int64_t classes = data_.classes();
    for (std::size_t i = 0; i < job.fold.test.size(); ++i) {
      const std::int64_t question = job.fold.test[i];
      answers.right.mutable_data<double>()[question] =
          guess[i] == data_.texts.labels[static_cast<std::size_t>(question)];
      std::copy_n(rows.data<double>() + static_cast<std::int64_t>(i) * classes, classes,
                  answers.probability.mutable_data<double>() + question * classes);
    }
    answers.redundancy.push_back(fit.redundancy);
    answers.size.push_back(fit.size);
    answers.ratio.push_back(fit.ratio);
  }

  Tensor labels_of(const Tensor& probability) const {
    const Tensor labels = from_vector(data_.texts.labels, {1, data_.count(), 1});
    return contiguous(expand(labels, {probability.size(0), data_.count(), 1}));
  }

  const Sentences& data_;
  const Settings& s_;
  const Generator root_;
  Checkpoint checkpoint_;
  std::vector<Arm> arms_;
  std::vector<double> chosen_;
  Study study_;
};

}  // namespace

Study run_study(const Sentences& data, const Settings& settings) {
  return Course(data, settings).run();
}

}  // namespace ladon::example
