#pragma once
// Computations whose function must be the same at each call.

namespace ladon::detail {

/// While it lives, what runs on this thread must be a function of inputs and parameters: dropout
/// and whatever else draws or counts in training mode throw Error, and name `operation`. With
/// `examples_alone` so does what normalizes by the statistics of a batch, since then the output of
/// one example depends on the others. May stand within another, whose demands hold too.
class EvaluationScope {
 public:
  explicit EvaluationScope(const char* operation, bool examples_alone = false);
  ~EvaluationScope();
  EvaluationScope(const EvaluationScope&) = delete;
  EvaluationScope& operator=(const EvaluationScope&) = delete;

 private:
  friend void refuse_in_evaluation(const char* who, bool training, bool batch_statistics);
  const char* operation_;
  bool examples_alone_;
  EvaluationScope* outer_;
};

/// Throws Error inside an EvaluationScope for what `who` would do: draw at random or edit running
/// statistics, as in training mode, or take the statistics of the batch.
void refuse_in_evaluation(const char* who, bool training, bool batch_statistics);

}  // namespace ladon::detail
