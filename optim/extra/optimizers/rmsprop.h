#pragma once
// RMSprop: gradients divided by a running root mean square.

#include "ladon/optim/optimizer.h"

namespace ladon {

struct RmspropOptions {
  double lr = 1e-2;
  double decay = 0.99;  ///< ρ in [0, 1)
  double eps = 1e-8;
  double weight_decay = 0;  ///< λ: adds λ·(parameter) to the gradient (L2).
  double momentum = 0;      ///< μ in [0, 1)
  bool centered =
      false;  ///< Divide by a running standard deviation of g instead of its root mean square.
};

/// RMSprop for each parameter x with gradient g:
/// g ← g + λx;  v ← ρv + (1−ρ)g²;  c ← ρc + (1−ρ)g if centered, else c = 0;
/// m ← μm + g/(sqrt(v − c²) + eps);  x ← x − lr·m.
/// (Tieleman and Hinton 2012; centered: Graves 2013, arXiv 1308.0850; as in PyTorch)
class Rmsprop : public Optimizer {
 public:
  explicit Rmsprop(ParameterGroups groups, RmspropOptions options = {});

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;
  bool squares_gradients() const override { return true; }

 private:
  RmspropOptions options_;
};

}  // namespace ladon
