#pragma once
// What a model makes of each input alone, layer by layer: N kernels of an input with itself, which
// every one of the N² pairs needs. One pass over the inputs records them, and passes over pairs read
// what stands there, in the same order, since a model's layers are called in one order. Steps are told
// apart by their number alone: a pass that takes more or fewer of them is an Error.

#include <functional>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// The self kernels of every step, [N] or [N, T, T] or [N, T] each, f64.
using Selves = std::vector<Tensor>;

/// One pass through the steps, shared by all kernels of the pass.
class SelfSteps {
 public:
  virtual ~SelfSteps() = default;
  /// The self kernel of the next step; `compute` computes it.
  virtual Tensor next(const std::function<Tensor()>& compute) = 0;
  /// The pass ends. Throws Error where a pass before it took more steps.
  virtual void finish() const = 0;
};

/// Computes each step and writes it into rows [begin, ..) of `selves`, which it makes for `count`
/// inputs where they are not there yet; of all inputs at once with the graph of their gradients.
/// `selves` must outlive it.
class RecordSelves : public SelfSteps {
 public:
  RecordSelves(Selves& selves, std::int64_t begin, std::int64_t count);
  Tensor next(const std::function<Tensor()>& compute) override;
  void finish() const override;

 private:
  Selves& selves_;
  std::int64_t begin_, count_;
  std::size_t step_ = 0, known_;  // steps of the blocks before; 0: this is the first
};

/// Reads rows [begin, end) of `selves`.
class RecallSelves : public SelfSteps {
 public:
  RecallSelves(Selves selves, std::int64_t begin, std::int64_t end);
  Tensor next(const std::function<Tensor()>& compute) override;
  void finish() const override;

 private:
  Selves selves_;
  std::int64_t begin_, end_;
  std::size_t step_ = 0;
};

}  // namespace ladon::infinite
