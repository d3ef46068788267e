#pragma once
// Saves a whole training run in one file, so that a run that was killed can be resumed and
// continues bit for bit.
//
//   TrainingRun run;
//   run.add("model", model);          // includes the generators of its dropout
//   run.add("optimizer", adam);       // without its schedule: set it again
//   run.add("average", average);
//   run.add("data", data);            // Loader: which batch comes next (core/extra/data/loader.h)
//   run.add("noise", rng);
//   if (std::filesystem::exists(path)) run.load(path);
//   while (data.position().epoch < 10) {
//     …;
//     adam.step();
//     if (adam.steps() % 100 == 0) run.save(path);
//   }
//
// Gradients are not saved, so save after step(), not between the parts of an accumulated batch.
// Resumed from the same file, the same program then computes the same bits.

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ladon/core/random.h"
#include "ladon/core/state.h"
#include "ladon/layers/module.h"

namespace ladon {

/// Part of a run that can save and restore its state: optimizers, samplers, Lbfgs, Plateau,
/// WeightAverage, Loader, Collect, or a user's class. load_state_dict must check the whole state
/// before it changes anything.
template <class T>
concept Stateful = requires(T& part, const StateDict& state) {
  { std::as_const(part).state_dict() } -> std::convertible_to<StateDict>;
  part.load_state_dict(state);
};

/// The parts of a training run and their names. Refers to the parts, which must outlive it.
class TrainingRun {
 public:
  /// Adds a part of the run under a unique name. All overloads throw Error for a name that is
  /// empty, already used, or contains a '/'.
  ///
  /// This overload adds the parameters, buffers and generators of a module. (Training or evaluation
  /// mode is not saved.) While parameters hold the values of an average (WeightAverage::apply),
  /// save and load throw Error: the average would be saved as the model's parameters, or loaded
  /// values would be lost.
  void add(const std::string& name, Module& module);
  void add(const std::string& name, Generator& rng);
  void add(const std::string& name, std::int64_t& number);
  void add(const std::string& name, double& number);
  /// Adds a tensor, such as the losses so far; its shape may change when loaded. Throws Error if
  /// the tensor is undefined or requires a gradient.
  void add(const std::string& name, Tensor& x);
  template <Stateful T>
  requires(!std::derived_from<T, Module>) void add(const std::string& name, T& part) {
    const auto check = []([[maybe_unused]] const T& of) {
      if constexpr (std::same_as<T, ParameterSet>) of.check_own_values("training_run");
    };
    add_part(name, {[&part, check] {
                      check(part);
                      return StateDict(std::as_const(part).state_dict());
                    },
                    [&part, check](const StateDict& state) {
                      check(part);
                      part.load_state_dict(state);
                    }});
  }

  /// Writes all parts into a safetensors file, in which entry "x" of the part "model" is named
  /// "model/x". The write is atomic: a full disk or an unwritable folder is an Error, and an
  /// existing file of that name stays unchanged.
  void save(const std::string& path) const;
  /// Restores all parts. Throws Error, and changes nothing, if the file was not written by save,
  /// has other parts than this run, or if a part does not fit, for instance because of a dtype.
  void load(const std::string& path);
  /// State of one part of a saved run, to be passed to that part's load_state_dict, for programs
  /// that use a trained part without resuming the run. (For a tensor or a number the state has one
  /// entry.) Throws Error if the file was not written by save, or has no such part.
  ///   average.load_state_dict(TrainingRun::saved(path, "average"));
  static StateDict saved(const std::string& path, const std::string& name);

 private:
  struct Part {
    std::function<StateDict()> state;
    std::function<void(const StateDict&)> load;
  };
  void add_part(const std::string& name, Part part);
  std::map<std::string, StateDict> read(const std::string& path) const;

  std::map<std::string, Part> parts_;
};

}  // namespace ladon
