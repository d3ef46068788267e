#pragma once
// Collection of draws while a sampler runs: of predictions, or of any tensors.
//
//   Collect kept({.after = 1000, .every = 10});
//   for (int step = 0; step < 5000; ++step) {
//     …
//     sgld.step();
//     if (kept.due(step)) kept.add(softmax(model(x), -1));
//   }
//   const Tensor predicted = mean(kept.draws(), 0);
//
// The quantity of interest is the posterior of a network's function; draws of predictions on test
// inputs represent it, and need less memory than draws of all weights.

#include <cstdint>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"

namespace ladon {

struct CollectOptions {
  std::int64_t after = 0;  ///< Number of initial steps to skip: until the chain has forgotten its
                           ///< start.
  std::int64_t every = 1;  ///< Keep one step in this many: draws close in time are correlated.
  /// Maximum number of draws held, at least 2; 0: no bound. When exceeded, every second draw is
  /// dropped and `every` is doubled, so that the draws kept cover the run evenly, however long it
  /// gets.
  std::int64_t most = 0;
};

class Collect {
 public:
  /// Throws Error unless after ≥ 0, every ≥ 1, and `most` is 0 or at least 2.
  explicit Collect(CollectOptions options = {});

  /// Whether to keep the draw of this step (from 0): step = after, after + every, after + 2·every,
  /// ….
  bool due(std::int64_t step) const;
  /// Keeps a copy, without history. Throws Error for an undefined tensor, and unless shape and
  /// dtype are those of the earlier draws.
  void add(const Tensor& draw);

  /// Number of draws held, S.
  std::int64_t count() const { return static_cast<std::int64_t>(draws_.size()); }
  /// Number of steps between held draws.
  std::int64_t every() const { return every_; }
  /// All draws held, [S, ...], in order. Throws Error if there is none.
  Tensor draws() const;

  /// "every" (i64) and, if there are any, "draws".
  StateDict state_dict() const;
  /// Restores such a state, of a Collect with the same options. Throws Error, and changes nothing,
  /// for entries that are missing, unknown, or of another dtype or rank; if `every` is not the
  /// option's (with a bound: nor 2, 4, … times it); and for more draws than the bound.
  void load_state_dict(const StateDict& state);

 private:
  CollectOptions options_;
  std::int64_t every_;
  std::vector<Tensor> draws_;
};

}  // namespace ladon
