#pragma once
// Draws kept while a sampler runs: of predictions, or of any tensors.
//
//   Collect kept({.after = 1000, .every = 10});
//   for (int step = 0; step < 5000; ++step) {
//     …
//     sgld.step();
//     if (kept.due(step)) kept.add(softmax(model(x), -1));
//   }
//   const Tensor predicted = mean(kept.draws(), 0);
//
// The posterior of a network's function is what is wanted of it; draws of predictions on test
// inputs say it, and need less memory than those of all weights.

#include <cstdint>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/module.h"

namespace ladon {

struct CollectOptions {
  std::int64_t after = 0;  ///< Steps that are passed over: until the chain has forgotten its start.
  std::int64_t every =
      1;  ///< One step of so many is kept. Draws that are close in time say the same.
  /// At most so many are held; 0: no bound, else at least 2. One too many drops every second draw,
  /// and doubles `every`: what is kept then still covers the run evenly, however long it gets.
  std::int64_t most = 0;
};

class Collect {
 public:
  /// Throws Error unless after ≥ 0, every ≥ 1, and `most` is 0 or at least 2.
  explicit Collect(CollectOptions options = {});

  /// Whether the draw of this step (from 0) is kept: step = after, after + every, after + 2·every,
  /// ….
  bool due(std::int64_t step) const;
  /// Keeps a copy, without history. Throws Error for an undefined tensor, and unless it has the
  /// shape and dtype of those before.
  void add(const Tensor& draw);

  /// Draws held, S.
  std::int64_t count() const { return static_cast<std::int64_t>(draws_.size()); }
  /// The distance in steps between them.
  std::int64_t every() const { return every_; }
  /// All of them [S, ...], in their order. Throws Error where there is none.
  Tensor draws() const;

  /// "every" (i64) and, unless there is none, "draws".
  StateDict state_dict() const;
  /// Restores such a state, of a Collect with the same options. Throws Error, and changes nothing,
  /// for entries that are missing, unknown, or of another dtype or rank; if `every` is not the
  /// option's, or with a bound its double, …; and for more draws than the bound.
  void load_state_dict(const StateDict& state);

 private:
  CollectOptions options_;
  std::int64_t every_;
  std::vector<Tensor> draws_;
};

}  // namespace ladon
