#include "ladon/examples/repulsive_sentences/study.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/core/extra/io/npz.h"
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

class Course {
 public:
  Course(const Sentences& data, const Settings& s) : data_(data), s_(s) {
    for (const Arm& arm : arms())
      if (s.arms.empty() || arm.name == "plain" || std::ranges::count(s.arms, arm.name) > 0)
        arms_.push_back(arm);
    Generator split = root_.split(0);
    study_.folds = folds(data.count(), s.folds, split);
    if (std::filesystem::exists(s.checkpoint)) kept_ = load_npz(s.checkpoint);
  }

  Study run() {
    Progress progress(static_cast<double>((s_.seeds * s_.folds + 3) * std::ssize(arms_) - 2));
    study_.interrupted = !ran_to_the_end([&] {
      tune(progress);
      for (; study_.seeds < s_.seeds; ++study_.seeds) ask_all(progress);
    });
    return std::move(study_);
  }

 private:
  /// The fit of a job, computed or from the checkpoint. The job's name contains everything that the
  /// fit depends on.
  Fit run_job(const Job& job) const {
    stop_if_interrupted();
    if (!kept_.contains(job.name)) return fit(data_, s_, job.fold, job.arm, job.value, job.rng);
    const auto figures = kept_.at(job.name + " figures").to_vector();
    return {kept_.at(job.name), figures[0], figures[1], figures[2]};
  }

  /// The fits of all jobs, several in parallel.
  std::vector<Fit> run_jobs(const std::vector<Job>& jobs, Progress& progress) {
    constexpr std::int64_t held = 8;
    std::vector<Fit> fits;
    parallel::in_order(
        std::ssize(jobs), held, [&](std::int64_t i) { return run_job(jobs[i]); },
        [&](const Fit& fit) {
          const Job& job = jobs[fits.size()];
          fits.push_back(fit);
          kept_[job.name] = fit.probabilities;
          kept_[job.name + " figures"] = tensor({fit.redundancy, fit.size, fit.ratio}, f64);
          const bool pause = std::ssize(fits) % held == 0 || fits.size() == jobs.size();
          if (pause && !s_.checkpoint.empty()) save_npz(s_.checkpoint, kept_);
          progress.step(job.name);
        });
    return fits;
  }

  /// Tries every value on the same inner fold of the first fold's training part. Chooses for each
  /// arm the value with the highest accuracy, and of equal accuracies the lowest nll.
  void tune(Progress& progress) {
    const Generator own = root_.split(1).split(0);
    Generator split = own.split(0);
    const Fold inner = inner_fold(study_.folds[0], 0.2, split);
    std::vector<Job> jobs;
    for (const Arm& arm : arms_)
      for (const double value : arm.values)
        jobs.push_back(
            {arm, value, inner, own.split(1), join(run_, "tuning ", arm.name, ' ', value)});
    const auto right = data_.choose(inner.test).labels;
    const Tensor labels = from_vector(right, {std::ssize(right)});
    for (const Fit& fit : run_jobs(jobs, progress)) {
      const Job& job = jobs[study_.tried.size()];
      study_.tried.push_back({job.arm.name, job.value, metrics::accuracy(fit.probabilities, labels),
                              metrics::nll(fit.probabilities, labels), fit});
    }
    for (const Arm& arm : arms_) {
      const auto best = std::ranges::max_element(study_.tried, {}, [&](const Tried& t) {
        return std::tuple(t.arm == arm.name, t.accuracy, -t.nll);
      });
      best->chosen = true;
      chosen_.push_back(best->value);
    }
  }

  /// Runs all folds and arms with the next seed; adds them to the study when all are finished.
  void ask_all(Progress& progress) {
    std::vector<Job> jobs;
    std::vector<std::int64_t> order;
    const Generator own = root_.split(2).split(static_cast<std::uint64_t>(study_.seeds));
    for (std::size_t f = 0; f < study_.folds.size(); ++f) {
      const Fold& fold = study_.folds[f];
      order.insert(order.end(), fold.test.begin(), fold.test.end());
      for (std::size_t a = 0; a < arms_.size(); ++a)
        jobs.push_back(
            {arms_[a], chosen_[a], fold, own.split(f),
             join(run_, arms_[a].name, ' ', chosen_[a], ", fold ", f, ", seed ", study_.seeds)});
    }
    const std::vector<Fit> fits = run_jobs(jobs, progress);
    const Tensor place = sort(from_vector(order, {data_.count()})).indices,
                 labels = from_vector(data_.texts.labels, {data_.count(), 1});
    for (std::size_t a = 0; a < arms_.size(); ++a) {
      if (study_.seeds == 0) study_.arms.push_back({arms_[a], chosen_[a]});
      Answers& into = study_.arms[a];
      std::vector<Tensor> parts;
      for (std::size_t i = a; i < fits.size(); i += arms_.size()) {
        parts.push_back(fits[i].probabilities);
        into.redundancy.push_back(fits[i].redundancy);
        into.size.push_back(fits[i].size);
        into.ratio.push_back(fits[i].ratio);
      }
      const Tensor all = index_select(concat(parts, 0), 0, place);
      into.probability.push_back(all);
      into.right.push_back(cast(equal(argmax(all, 1), select(labels, 1, 0)), f64));
      into.nll.push_back(select(-log(gather(all, 1, labels)), 1, 0));
    }
  }

  const Sentences& data_;
  const Settings& s_;
  const Generator root_ = Generator(s_.common.seed);
  const std::string run_ =
      join(s_.format, s_.epochs, '-', s_.batch_size, '-', s_.folds, '-', s_.common.seed, ' ');
  std::vector<Arm> arms_;
  std::vector<double> chosen_;
  std::map<std::string, Tensor> kept_;  // contents of the checkpoint
  Study study_;
};

}  // namespace

Study run_study(const Sentences& data, const Settings& settings) {
  return Course(data, settings).run();
}

}  // namespace ladon::example
