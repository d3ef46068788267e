#pragma once
// Lion: steps along the sign of the momentum.

#include "ladon/optim/optimizer.h"

namespace ladon {

/// All elements of a Lion step have the same size: use rates of a third to a tenth of AdamW's, and
/// three to ten times its weight decay.
struct LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;  ///< λ: subtracts lr·λ·x in addition to the update (decoupled).
};

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
