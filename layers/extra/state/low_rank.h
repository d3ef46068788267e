#pragma once
// Low-rank adapters: a linear map whose weights stay fixed, and a small trained map in parallel to
// it.
//
//   model.freeze();
//   const ParameterSet adapters = add_low_rank(model, "*.expand", {.rank = 4}, rng);
//   AdamW adam(adapters, {.lr = 1e-3});
//   …
//   adapters.save("adapters.safetensors");       // only the adapters
//   const auto apart = merge_low_rank(model);    // plain Linears, also for to_names()
//   unmerge_low_rank(model, apart);              // restores the adapters, bit for bit

#include <map>
#include <string>

#include "ladon/layers/linear.h"
#include "ladon/layers/part.h"

namespace ladon {

struct LowRankOptions {
  std::int64_t rank = 8;
  double alpha = 8;
  /// If true, the scale is alpha/√rank, and adapters of any rank learn equally fast (Kalajdzievski
  /// 2023, arXiv 2312.03732). If false, it is alpha/rank, as in Hu et al. 2022, and larger ranks
  /// learn more slowly.
  bool stabilized = false;
};

/// y = base(x) + s·x·Aᵀ·Bᵀ, A [rank, in], B [out, rank]   (Hu et al. 2022, "LoRA", arXiv
/// 2106.09685). At first A ~ N(0, 1/in) and B = 0, so that the layer starts equal to its base. The
/// base is trained too, unless you freeze() it.
struct LowRank : Layer {
  Linear base;
  Tensor lora_A, lora_B;
  double scale;  ///< s

  /// Throws Error unless 1 ≤ rank ≤ min(in, out) and alpha is finite.
  LowRank(Linear base, const LowRankOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// Limit at initialization: the base's NNGP kernel, and the NTK t' = t_base + s²·rank·k, where k
  /// is the NNGP kernel of the inputs, and t_base is the base's NTK even if its parameters are
  /// frozen. The gradient of A is 0 at first, since B is 0. At finite rank this is the mean of the
  /// kernel over A, from which the kernel deviates by O(1/√rank). Throws Error once B is not 0, and
  /// whenever the base's limit() does.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;

  /// Single Linear that equals this layer, with weight W + (s/base.scale())·B·A, in new tensors,
  /// which are frozen if those of the base are.
  Linear merged() const;
};

/// Low-rank updates W + s·B·A of parameters of any layer, such as the queries and values of
/// attention (as in Hu et al. 2022). W is a parameter, reshaped to a matrix with the last axis as
/// columns. The layers themselves do not change; the model is run with the updated values:
///   LowRankUpdate update(model.choose({"*.query", "*.value"}), {.rank = 4}, rng);
///   backward(functional_call(model, update.set, update.values(), loss));
struct LowRankUpdate {
  ParameterSet set;       ///< The parameters W, which stay unchanged.
  ParameterSet adapters;  ///< NAME.lora_A and NAME.lora_B for each, drawn as in LowRank.
  double scale;           ///< s

  /// Throws Error whenever LowRank does, for an empty set, for a parameter of fewer than two axes,
  /// and for one that the set has twice or that was replaced (ParameterSet::check_in_place).
  LowRankUpdate(const ParameterSet& set, const LowRankOptions& options, Generator& rng);
  /// Updated values in the order of the set, recorded. Throws Error whenever check_in_place() does.
  std::vector<Tensor> values() const;
  /// Writes the updated values into the parameters, and sets B to 0. Throws Error while a parameter
  /// holds an averaged value (WeightAverage::apply): restoring its own value would undo the merge.
  void merge() const;
};

/// Replaces each Linear whose path matches (replace.h) by a LowRank around it. Returns the
/// parameters A and B of all of them, to be trained. Throws Error if no path matches, or a matching
/// part is not a Linear.
ParameterSet add_low_rank(Module& model, const std::string& pattern, const LowRankOptions& options,
                          Generator& rng);

/// Replaces each LowRank by merged(). Returns the LowRanks, by path. Until they are put back, sets
/// and optimizers of their adapters hold replaced parameters (replace.h): save adapters first.
std::map<std::string, LowRank> merge_low_rank(Module& model);
/// Puts the LowRanks of merge_low_rank() back, in the dtype that the model has by then. Throws
/// Error, and changes nothing, if the layer at a path is not a Linear of that shape.
void unmerge_low_rank(Module& model, const std::map<std::string, LowRank>& apart);

}  // namespace ladon
