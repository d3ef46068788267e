#pragma once
// Which networks the example compares with their limits.

#include <memory>
#include <string>
#include <vector>

#include "ladon/examples/nngp_compare/settings.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/infinite/finite/compare.h"

namespace ladon::example {

/// Attention in NTK parameterization on inputs [N, tokens, in]. With linear scaling queries and
/// keys are tied (their logits would vanish), with sqrt scaling independent.
struct AttentionNetwork {
  AttentionScaling scaling;
  Weighting weighting;
  std::int64_t tokens, in;
  std::int64_t out = 0;  ///< Channels of the output; 0: as wide as a head.
  /// The network whose errors are known from elsewhere: Linear(in → w) – attention – relu – mean
  /// over tokens – Linear(w → 1), with QK = .63, OV = .96 and σ_b = .5, values of width w/heads.
  bool known = false;

  std::unique_ptr<Layer> operator()(const infinite::NetworkSize& size, Generator& rng) const;
  /// What it costs to draw and run one, in about its parameters.
  double cost(const infinite::NetworkSize& size) const;
};

/// One comparison to make.
struct Plan {
  std::string name;
  AttentionNetwork network;
  std::vector<infinite::SweepPoint> sweep;
  infinite::CompareOptions options;
  /// The error of one network is expected to go as width to this power.
  double power = 0;
  std::vector<double> reference = {};  ///< Errors of one network reported elsewhere, a point each.
};

/// Sweeps of the width: with linear scaling one head, with sqrt scaling one and a number that
/// grows. The preset `reference` has sweeps of its own, of the network whose errors are known.
std::vector<Plan> width_plans(const Settings& settings, const Tensor& x);
/// Sweeps of the number of heads, one a scaling; none in the preset `reference`.
std::vector<Plan> head_plans(const Settings& settings, const Tensor& x);

}  // namespace ladon::example
