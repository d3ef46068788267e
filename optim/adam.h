#pragma once
// Adam and AdamW, with AMSGrad.

#include "ladon/optim/optimizer.h"

namespace ladon {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< λ: adds λ·(parameter) to the gradient (L2), as PyTorch's Adam does.
  bool amsgrad = false;     ///< Divide by the largest v so far (Reddi, Kale and Kumar 2018).
};

/// Adam for each parameter x with gradient g, first moment m and second moment v (0 at first):
/// g ← g + λx;  m ← β₁m + (1−β₁)g;  v ← β₂v + (1−β₂)g²;
/// x ← x − lr·(m/(1−β₁ᵗ)) / (sqrt(v/(1−β₂ᵗ)) + eps), with t = number of this parameter's updates.
/// AMSGrad uses u ← max(u, v) instead of v in the square root. In f32 the squares of gradients
/// below 1e-22 underflow to 0 in v, so an eps below 1e-22 has no effect.
/// (Kingma and Ba 2015)
class Adam : public Optimizer {
 public:
  explicit Adam(ParameterGroups groups, AdamOptions options = {});

 protected:
  enum class Decay { coupled, decoupled };
  Adam(ParameterGroups groups, const AdamOptions& options, Decay decay);
  void update(Item& item, const Tensor& gradient, double lr) override;
  bool squares_gradients() const override { return true; }

 private:
  AdamOptions options_;
  Decay decay_;
};

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;  ///< λ: also subtracts lr·λ·(parameter) at each update (decoupled).
  bool amsgrad = false;
};

/// Adam with decoupled weight decay: x ← (1 − lr·λ)x, then Adam's update with λ = 0.
/// (Loshchilov and Hutter 2019)
class AdamW : public Adam {
 public:
  explicit AdamW(ParameterGroups groups, AdamWOptions options = {});
};

}  // namespace ladon
