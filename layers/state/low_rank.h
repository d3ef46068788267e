#pragma once
// Low-rank adapters: a trained map that stays as it is, and a small one beside it that learns.
//
//   model.freeze();
//   const ParameterSet adapters = add_low_rank(model, "*.expand", {.rank = 4}, rng);
//   AdamW adam(adapters, {.lr = 1e-3});
//   …
//   adapters.save("adapters.safetensors");       // them alone
//   const auto apart = merge_low_rank(model);    // one product a map again, for use and to_names()
//   unmerge_low_rank(model, apart);              // and back, bit for bit

#include <map>
#include <string>

#include "ladon/layers/linear.h"
#include "ladon/layers/part.h"

namespace ladon {

struct LowRankOptions {
  std::int64_t rank = 8;
  double alpha = 8;
  /// Whether the scale is alpha/√rank, with which the adapter learns alike at any rank
  /// (Kalajdzievski 2023, arXiv 2312.03732), instead of alpha/rank, as published, with which it
  /// learns the less the larger it is.
  bool stabilized = false;
};

/// y = base(x) + s·x·Aᵀ·Bᵀ, A [rank, in], B [out, rank]   (Hu et al. 2022, "LoRA", arXiv
/// 2106.09685). A ~ N(0, 1/in) and B = 0, so that it begins as the base alone. Whether the base
/// learns, too, is yours to say: freeze() it.
struct LowRank : Layer {
  Linear base;
  Tensor lora_A, lora_B;
  double scale;  ///< s

  /// Throws Error unless 1 ≤ rank ≤ min(in, out) and alpha is finite.
  LowRank(Linear base, const LowRankOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// Limit at the beginning: k' = k_base, t' = t_base + s²·rank·k (t_base of a base in training;
  /// only B has a gradient yet). It is the mean over A at any rank, and the kernel itself as rank →
  /// ∞: the deviations are O(1/√rank). Throws Error once B is not 0, and as the base's.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;

  /// Single Linear that equals this layer: weight W + (s/base.scale())·B·A, tensors of its own,
  /// frozen where the base is.
  Linear merged() const;
};

/// Low-rank updates W + s·B·A of parameters of any layer, such as the queries and values of
/// attention (as published). W is a parameter seen as a matrix of all its axes but the last, by the
/// last. The layers know nothing of the updates; their model is run with the updated values:
///   LowRankUpdate update(model.choose({"*.query", "*.value"}), {.rank = 4}, rng);
///   backward(functional_call(model, update.set, update.values(), loss));
struct LowRankUpdate {
  ParameterSet set;       ///< The W, which it leaves as they are.
  ParameterSet adapters;  ///< NAME.lora_A, NAME.lora_B of each, drawn as LowRank's.
  double scale;           ///< s

  /// Throws Error as LowRank does, for no parameter, for one of fewer than two axes, and for one
  /// that the set has twice or that was replaced (ParameterSet::check_in_place).
  LowRankUpdate(const ParameterSet& set, const LowRankOptions& options, Generator& rng);
  /// In the order of the set, recorded. Throws Error as check_in_place does.
  std::vector<Tensor> values() const;
  /// Writes them into the parameters; B is 0 from then on. Throws Error while a parameter has the
  /// value of an average (WeightAverage::apply), whose end would lose them.
  void merge() const;
};

/// Puts a LowRank in the place of each Linear whose path matches (replace.h), around that Linear.
/// Returns all their A and B, to be trained. Throws Error where no path matches, or one is of
/// another kind.
ParameterSet add_low_rank(Module& model, const std::string& pattern, const LowRankOptions& options,
                          Generator& rng);

/// Puts merged() in the place of each LowRank. Returns what stood there, by path. Until it is put
/// back, sets and optimizers of the adapters, taken before, are of replaced parameters (replace.h):
/// save adapters first.
std::map<std::string, LowRank> merge_low_rank(Module& model);
/// And puts it back, in the dtype that the model has by then. Throws Error, and changes nothing,
/// where another layer than a Linear of that shape stands there.
void unmerge_low_rank(Module& model, const std::map<std::string, LowRank>& apart);

}  // namespace ladon
