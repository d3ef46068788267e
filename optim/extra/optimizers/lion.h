#pragma once
// Lion: steps along the sign of the momentum.

#include "ladon/optim/optimizer.h"

namespace ladon {

/// Every element of a Lion step has absolute value lr. So use a learning rate of a third to a tenth
/// of AdamW's, and three to ten times its weight decay.
struct LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;  ///< λ: also subtracts lr·λ·(parameter) at each update (decoupled).
};

/// Lion for each parameter x with gradient g and momentum m:
/// x ← (1 − lr·λ)x − lr·sign(β₁m + (1−β₁)g);  m ← β₂m + (1−β₂)g.
/// (Chen et al. 2023, arXiv 2302.06675)
class Lion : public Optimizer {
 public:
  explicit Lion(ParameterGroups groups, LionOptions options = {});

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;

 private:
  LionOptions options_;
};

}  // namespace ladon
