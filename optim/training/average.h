#pragma once
// Averages of a model's parameters over training, which often generalize better than the last ones.
//
//   WeightAverage average(model, {.decay = 0.999});
//   for (…) { …; adam.step(); average.update(); }
//   {
//     const WeightAverage::Scope averaged = average.apply();  // the model has the average …
//     evaluate(model);
//   }                                                   // … and here its own parameters again

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/state.h"
#include "ladon/layers/module.h"

namespace ladon {

struct WeightAverageOptions {
  /// In [0, 1]. Below 1 an exponential moving average, with a memory of 1/(1 − decay) updates
  /// (EMA); 1: the mean of all updates, of equal weight (SWA: Izmailov et al. 2018, arXiv
  /// 1803.05407).
  double decay = 0.999;
};

/// a ← a + w·(x − a) at update n = 1, 2, …, with w = max(1 − decay, 1/n): the plain mean until that
/// is as long as the memory, so that the start x₁ counts no more than what comes after it. Kept in
/// f64. Buffers (statistics of batch norm) are not averaged: the model keeps its own.
class WeightAverage {
 public:
  /// Average of the tensors that are a model's parameters now, or of a part of them. Throws Error
  /// unless decay is in [0, 1], where there is no parameter, and where two share memory.
  explicit WeightAverage(const ParameterSet& parameters, WeightAverageOptions options = {});
  WeightAverage(const WeightAverage&) = delete;
  WeightAverage& operator=(const WeightAverage&) = delete;

  /// Takes the parameters' present values in. Throws Error, and changes nothing, if one was
  /// replaced by Module::to, or while a scope of apply() is alive.
  void update();
  std::int64_t updates() const { return updates_; }

  /// Writes the average into parameters of the same names and shapes: a clone's, mostly. Throws
  /// Error, and changes nothing, where names or shapes differ, or before the first update.
  void copy_to(const ParameterSet& others) const;

  /// Restores the parameters' own values when it ends, also after the average itself has ended.
  /// Values that others wrote to the parameters meanwhile are lost; a line on std::cerr says so,
  /// once per process.
  class Scope {
   public:
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class WeightAverage;
    explicit Scope(const WeightAverage& average);
    void give_back() const;
    ParameterSet parameters_;
    std::vector<Tensor> before_;
    std::vector<std::uint32_t> versions_;  // with the average in their places
    std::shared_ptr<const bool> alive_;
  };
  /// The model itself with the average in place of its parameters, for as long as the result lives.
  /// Meanwhile what would be lost with it, or take it for the model, throws Error: steps of
  /// optimizers, update() and another apply() on them; Module::to, share_with, replace and
  /// LowRankUpdate::merge; TrainingRun::save and load. Throws Error
  /// before the first update, and where Module::to replaced parameters.
  [[nodiscard]] Scope apply() const;

  /// "updates" (i64) and "parameter.NAME" (f64), 0 before the first. Names, and what is alone, as
  /// in an Optimizer's state.
  StateDict state_dict() const;
  /// Throws Error, and changes nothing, where the state is of other parameters, which it lists, and
  /// for the first entry that does not fit. A state of version 0.1 with 0 updates has no
  /// parameters.
  void load_state_dict(const StateDict& state);

 private:
  void check_ready() const;
  void write_to(const std::vector<Tensor>& parameters) const;

  ParameterSet parameters_;
  mutable std::weak_ptr<const bool> applied_;  // expired unless a Scope is alive
  std::vector<Tensor> means_;
  WeightAverageOptions options_;
  std::int64_t updates_ = 0;
};

}  // namespace ladon
