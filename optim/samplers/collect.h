#pragma once
// Collects draws while a sampler runs: predictions, or any other tensors.
//
//   Collect kept({.after = 1000, .every = 10});
//   for (int step = 0; step < 5000; ++step) {
//     …
//     sgld.step();
//     if (kept.due(step)) kept.add(softmax(model(x), -1));
//   }
//   const Tensor predicted = mean(kept.draws(), 0);
//
// Usually the posterior of a network's function is of interest; draws of its predictions on test
// inputs represent it and need less memory than draws of all weights.

#include <cstdint>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"

namespace ladon {

struct CollectOptions {
  std::int64_t after = 0;  ///< Number of initial steps to skip (burn-in): enough for the chain to
                           ///< forget its start.
  std::int64_t every = 1;  ///< Thinning: keep one step in `every`, since successive draws are
                           ///< correlated.
  /// Maximum number of draws held, at least 2; 0 for no bound. When it is exceeded, every second
  /// draw is dropped and `every` is doubled, so that the draws held cover the run evenly, however
  /// long it gets.
  std::int64_t most = 0;
};

class Collect {
 public:
  /// Throws Error unless after ≥ 0, every ≥ 1, and `most` is 0 or at least 2.
  explicit Collect(CollectOptions options = {});

  /// Whether the draw of this step (counted from 0) is to be kept: true for step = after, after +
  /// every, after + 2·every, ….
  bool due(std::int64_t step) const;
  /// Keeps a copy of the draw, without history. Throws Error for an undefined tensor, and unless
  /// shape and dtype are those of the earlier draws.
  void add(const Tensor& draw);

  /// Number of draws held, S.
  std::int64_t count() const { return static_cast<std::int64_t>(draws_.size()); }
  /// Number of steps between held draws.
  std::int64_t every() const { return every_; }
  /// All draws held, stacked in order: [S, ...]. Throws Error if there is no draw yet.
  Tensor draws() const;

  /// State to resume from: "every" (i64) and, if there are draws, "draws" [S, ...].
  StateDict state_dict() const;
  /// Restores the state of a Collect with the same options. Throws Error, and changes nothing, for
  /// entries that are missing, unknown, or of another dtype or rank; if "every" in the state
  /// differs from the option `every` (with a bound on the number of draws, it may also be 2, 4, 8,
  /// … times the option); and for more draws than the bound.
  void load_state_dict(const StateDict& state);

 private:
  CollectOptions options_;
  std::int64_t every_;
  std::vector<Tensor> draws_;
};

}  // namespace ladon
