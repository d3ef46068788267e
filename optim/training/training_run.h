#pragma once
// A whole training run in one file, so that one that was killed goes on as if it had not been.
//
//   TrainingRun run;
//   run.add("model", model);          // with the generators of its dropout
//   run.add("optimizer", adam);       // whose schedule follows from its steps
//   run.add("average", average);
//   run.add("data", data);            // which batch comes next (core/data/loader.h)
//   run.add("noise", rng);
//   if (std::filesystem::exists(path)) run.load(path);
//   while (data.position().epoch < 10) {
//     …;
//     adam.step();
//     if (adam.steps() % 100 == 0) run.save(path);
//   }
//
// Between steps that is all there is: gradients are not saved, so save after step(), and not amid
// the parts of an accumulated batch. From the same file, the same program then gets the same bits.

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ladon/core/random.h"
#include "ladon/core/state.h"
#include "ladon/layers/module.h"

namespace ladon {

/// Part of a run that saves and restores itself: optimizers, samplers, Lbfgs, Plateau,
/// WeightAverage, Loader, Collect, a class of one's own. load_state_dict must check all before it
/// changes anything.
template <class T>
concept Stateful = requires(T& part, const StateDict& state) {
  { std::as_const(part).state_dict() } -> std::convertible_to<StateDict>;
  part.load_state_dict(state);
};

/// Refers to its parts, which must outlive it.
class TrainingRun {
 public:
  /// Adds a part under a name of its own. Each throws Error for a name that is empty, taken, or has
  /// a '/'.
  ///
  /// Parameters, buffers and generators of a module. (Whether it trains or evaluates is not saved.)
  /// While parameters have the values of an average (WeightAverage::apply), save and load throw
  /// Error: those would be taken for the model's, or end with it.
  void add(const std::string& name, Module& module);
  void add(const std::string& name, Generator& rng);
  void add(const std::string& name, std::int64_t& number);
  void add(const std::string& name, double& number);
  /// Any shape, which may be another when it is loaded: the losses so far. Throws Error if it
  /// requires a gradient.
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

  /// Writes all parts into a safetensors file, in which entry "x" of the part "model" is "model/x".
  /// The file appears whole or not at all: a full disk or a folder that cannot be written in is an
  /// Error, and an old file of that name is left as it was.
  void save(const std::string& path) const;
  /// Puts all parts where they were. Throws Error, and changes nothing, if the file is none that
  /// save wrote, has other parts than this run, or one of them does not fit: also another dtype.
  void load(const std::string& path);
  /// One part of a run that was saved, for who uses what was trained without training on: the state
  /// that its load_state_dict takes (of a tensor or a number: its one entry). Throws Error if the
  /// file is none that save wrote, or has no such part.
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
