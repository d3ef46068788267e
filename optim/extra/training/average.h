#pragma once
// Averages of a model's parameters over training, which often generalize better than the final
// parameters.
//
//   WeightAverage average(model, {.decay = 0.999});
//   for (…) { …; adam.step(); average.update(); }
//   {
//     const WeightAverage::Scope averaged = average.apply();  // the model holds the average
//     evaluate(model);
//   }                                                // the model holds its own parameters again

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/state.h"
#include "ladon/layers/module.h"

namespace ladon {

struct WeightAverageOptions {
  /// In [0, 1]. A value below 1 gives an exponential moving average (EMA) with a memory of 1/(1 −
  /// decay) updates, and the value 1 gives the mean over all updates with equal weights (stochastic
  /// weight averaging: Izmailov et al. 2018, arXiv 1803.05407).
  double decay = 0.999;
};

/// Running average a of parameters x: a ← a + w·(x − a) at update n = 1, 2, …, with w = max(1 −
/// decay, 1/n). This is the plain mean until n exceeds the memory 1/(1 − decay), so that the first
/// value of x has no more weight than later values. Averages are f64. Buffers (statistics of batch
/// norm) are not averaged: the model keeps its own.
class WeightAverage {
 public:
  /// Averages the given parameters, which may be all or some of the parameters of a model. Throws
  /// Error if decay is not in [0, 1], if there is no parameter, or if two parameters share memory.
  explicit WeightAverage(const ParameterSet& parameters, WeightAverageOptions options = {});
  WeightAverage(const WeightAverage&) = delete;
  WeightAverage& operator=(const WeightAverage&) = delete;

  /// Adds the parameters' current values to the average. Throws Error, and changes nothing, if a
  /// parameter was replaced by Module::to, or while a Scope of apply() exists.
  void update();
  std::int64_t updates() const { return updates_; }

  /// Writes the average into parameters with the same names and shapes, usually those of a clone.
  /// Throws Error, and changes nothing, if names or shapes differ, or before the first update.
  void copy_to(const ParameterSet& others) const;

  /// Scope in which the parameters hold the average. Its destructor restores the parameters' own
  /// values, even if the WeightAverage was destroyed before. Values written to the parameters in
  /// the meantime are lost; a warning on std::cerr reports this once per process.
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
    std::vector<std::uint32_t> versions_;  // Storage::version() of the parameters after apply()
    std::shared_ptr<const bool> alive_;
  };
  /// Replaces the values of the parameters by the average until the result is destroyed. Until
  /// then, operations whose effect would be lost, or that would use the average as if it were the
  /// model's own values, throw Error: steps of optimizers, update() and another apply() on these
  /// parameters; Module::to, share_with, replace and LowRankUpdate::merge; TrainingRun::save and
  /// load. apply() throws Error before the first update, and if Module::to replaced parameters.
  [[nodiscard]] Scope apply() const;

  /// State to resume from: "updates" (i64) and for each parameter its average "parameter.NAME"
  /// (f64), zeros before the first update. NAME is the parameter's name, or a number if it has
  /// none, as in Optimizer::state_dict.
  StateDict state_dict() const;
  /// Restores a state. Throws Error, and changes nothing, if the state belongs to other parameters
  /// (the message lists them), and for the first entry that does not fit. A state of version 0.1
  /// with 0 updates, which has no entries for parameters, is accepted.
  void load_state_dict(const StateDict& state);

 private:
  void check_ready() const;
  void write_to(const std::vector<Tensor>& parameters) const;

  ParameterSet parameters_;
  mutable std::weak_ptr<const bool> applied_;  // expired unless a Scope of this average is alive
  std::vector<Tensor> means_;
  WeightAverageOptions options_;
  std::int64_t updates_ = 0;
};

}  // namespace ladon
