#pragma once
// Lion: the sign of a momentum.

#include "ladon/optim/optimizer.h"

namespace ladon {

/// Its steps are as long in every direction: rates a third to a tenth of AdamW's serve, with decays
/// three to ten times as large.
struct LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;  ///< λ: shrinks x by lr·λ·x beside the update (decoupled).
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
