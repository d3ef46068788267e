#pragma once
// Adagrad: learning rates divided by the root of the sum of all squared gradients.

#include "ladon/optim/optimizer.h"

namespace ladon {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;  ///< δ: the t-th update of a parameter uses the rate lr/(1 + (t − 1)·δ).
  double eps = 1e-10;
  double weight_decay = 0;  ///< λ: adds λ·(parameter) to the gradient (L2).
  double initial = 0;       ///< Value of v before the first update.
};

/// Adagrad for each parameter x with gradient g and sum of squares v:
/// g ← g + λx;  v ← v + g²;  x ← x − lr·g/(sqrt(v) + eps).
/// (Duchi, Hazan and Singer 2011, the variant with diagonal matrices; as in PyTorch)
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(ParameterGroups groups, AdagradOptions options = {});

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;
  bool squares_gradients() const override { return true; }
  Tensor initial(std::size_t which, const Tensor& parameter) const override;

 private:
  AdagradOptions options_;
};

}  // namespace ladon
