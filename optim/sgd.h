#pragma once
// Stochastic gradient descent.

#include "ladon/optim/optimizer.h"

namespace ladon {

struct SgdOptions {
  double lr = 1e-2;
  double momentum = 0;      ///< μ in [0, 1)
  bool nesterov = false;    ///< Requires momentum > 0 and dampening = 0 (Error otherwise).
  double weight_decay = 0;  ///< λ: adds λ·(parameter) to the gradient (L2).
  double dampening = 0;     ///< τ in [0, 1]; requires momentum > 0 (Error otherwise).
};

/// SGD for each parameter x with gradient g and momentum buffer m:
///   g ← g + λx;  m ← μm + (1−τ)g, at the first update m ← g;
///   x ← x − lr·m; with Nesterov x ← x − lr·(g + μm); without momentum x ← x − lr·g.
/// (Sutskever et al. 2013, as in PyTorch)
class Sgd : public Optimizer {
 public:
  explicit Sgd(ParameterGroups groups, SgdOptions options = {});

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override;

 private:
  SgdOptions options_;
};

}  // namespace ladon
