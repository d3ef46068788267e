#pragma once
// What the example measures.

#include <functional>
#include <string>
#include <vector>

#include "ladon/examples/nngp_compare/settings.h"
#include "ladon/layers/attention.h"
#include "ladon/layers/infinite/compare.h"

namespace ladon::example {

AttentionScaling scaling_from_name(const std::string& name);
Zeta zeta_from_name(const std::string& name);

/// One attention layer in NTK parameterization on inputs of `in` channels. With linear scaling
/// queries and keys are tied (their logits would vanish), with sqrt scaling independent.
struct Attention {
  AttentionScaling scaling;
  Zeta zeta;
  std::int64_t in;
  std::int64_t out = 0;  ///< Channels; 0: as wide as a head.

  std::unique_ptr<Layer> operator()(const infinite::NetworkSize& size, Generator& rng) const;
};

/// Networks of several widths: how far one is from the limit.
struct WidthSeries {
  std::string name;
  infinite::Comparison comparison;
  std::vector<double>
      reference;  ///< Single-network errors of the NTK reported elsewhere; or empty.
};

/// Networks of several numbers of heads: how Gaussian their outputs are.
struct HeadSeries {
  std::string name;
  AttentionScaling scaling;
  infinite::Comparison comparison;
  /// The kurtosis that theory expects, a row each: at this width (NaN where it is not known), and
  /// for infinitely wide heads, 6ρ/H.
  std::vector<infinite::Measured> law, wide_law;
};

struct Study {
  std::vector<WidthSeries> by_width;
  std::vector<HeadSeries> by_heads;
};

/// [N, T, d] from the file, or 3 inputs of 4 tokens of 8 channels. Throws Error for other shapes.
Tensor load_inputs(const Settings& settings);

/// Runs everything. Networks compute in f32.
Study run_study(const Settings& settings, const Tensor& x);

}  // namespace ladon::example
