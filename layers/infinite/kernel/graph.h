#pragma once
// The limit of a model as a graph of steps, described before there is a number.
//
// Layer::limit is to infinite width what forward is to finite width. It is called once, with a
// KernelNode that stands for the kernels of the layer's inputs, and returns the KernelNode of its
// outputs; map_pairs() and combine() add the steps in between, as operations of autograd add theirs
// to its graph. What a step needs of the law of its inputs is checked there and then, before any
// kernel is computed. Evaluators (evaluate.h) walk the steps with numbers, as often and in as many
// parts as they like, and a graph tells its own derivation, line by line (derivation.h).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/layers/infinite/kernel/kernel.h"
#include "ladon/layers/infinite/kernel/kernel_matrix.h"

namespace ladon {
class Layer;
}

namespace ladon::infinite {

class KernelGraph;

/// The kernels of a layer's outputs, before they are numbers.
struct KernelNode {
  Law law;                 ///< Law of the channels, as far as it is known.
  Shape positions;         ///< {} for vectors, {T} or {H, W}; −1: not known yet.
  bool masked = false;     ///< Whether positions may be padding.
  bool has_means = false;  ///< Whether Pairs::left_mean will be there.
  int depth = 0;           ///< Branches (of sums, products) that this lies within.
  std::weak_ptr<KernelGraph> graph;
  int step = 0;  ///< Of the graph, which makes the kernels.

  bool has_positions() const { return positions.rank() > 0; }
  /// 1 for vectors; −1: not known yet.
  std::int64_t position_count() const;
  /// Whether tangent kernels are wanted.
  bool ntk() const;
  /// Whether attention is to have finitely many heads (finite/heads.h).
  bool finite_heads() const;
  /// Throws Error unless inputs have positions; `layer` is named.
  void need_positions(std::string_view layer) const;
  /// The graph that this is part of. Throws Error for a node that was kept after its graph.
  std::shared_ptr<KernelGraph> owner() const;
};

/// Which pairs of positions a step takes to make its outputs.
enum class Needs {
  full,      ///< All of them, blocks [T, T].
  diagonal,  ///< Each position with the same one of the other input, blocks [T].
  wanted     ///< Those that are wanted of its outputs: the map is written for both layouts.
};

/// Description of the draws of a step that averages over them.
struct Draws {
  /// Inputs of the step for whose tokens it draws: Pairs::left_root and right_root hold their
  /// coordinates. None: the step draws without.
  std::vector<int> of = {};
  std::int64_t coordinates = 0;  ///< At most that many.
  bool automatic = false;        ///< Whether their number is left to the limit (LimitDraws).
  /// Attention of its heads, where they are finitely many: of coordinates of tokens, and a mask.
  std::function<HeadMap(const Drawn& drawn, const Tensor& tokens, const Tensor& mask)> head_map =
      {};
};

/// Formulas of a step, in which $k and $t stand for the NNGP kernel and the NTK of its input ($k2
/// and $t2 of the second), and $K for its own NNGP kernel.
struct Formula {
  std::string nngp, ntk = {};
};
/// "0.5·$k"; of the factors 1 and 0 "$k" and "0".
std::string times(double factor, const std::string& kernel);
/// " + 0.1" or " − 0.1", for what follows a term; of 0 nothing.
std::string plus(double summand);

/// The means over channels behind a step, of those before it (undefined: 0).
using MeanMap = std::function<Tensor(const std::vector<Tensor>&)>;

/// A step as its layer describes it, beside the map.
struct Step {
  Law makes;  ///< Of its outputs.
  std::function<Formula()> formula = {};
  Needs needs = Needs::full;
  std::optional<Shape> positions = {};  ///< Of the outputs of a step that mixes positions, …
  std::function<Tensor(const Tensor&)> mask = {};  ///< … and their masks, unless these stay.
  std::optional<Draws> draws = {};
  /// Unless it is said otherwise, means pass a step that leaves channels and positions where they
  /// are, and are not known behind one that mixes positions. An empty function: they are 0, or not
  /// known.
  std::optional<MeanMap> means = {};
  /// Whether the step's self-kernels are kept for all pairs; false where they are cheap to compute.
  bool kept = true;
};

/// Adds a step to the graph of k: a map of pairs of inputs, which is applied to pairs between two
/// blocks and to each input with itself. The map runs later, more than once and in several threads:
/// what it needs, it holds by value (or by the layer's `this`). The result has k's masks, if it has
/// positions. Throws Error where the step cannot give all pairs of its positions.
KernelNode map_pairs(const KernelNode& k, const Step& step,
                     const std::function<PairKernels(const Pairs&)>& map);
/// Adds a step with two inputs, the kernels a and b of the same network inputs. The result has a's
/// positions and masks.
KernelNode map_pairs(const KernelNode& a, const KernelNode& b, const Step& step,
                     const std::function<PairKernels(const Pairs&, const Pairs&)>& map);
/// Combines kernels of branches entry by entry. Throws Error where they differ in positions.
KernelNode combine(const std::vector<KernelNode>& branches, const Step& step,
                   const std::function<PairKernels(const std::vector<PairKernels>&)>& rule);

/// Shape and law of a network's inputs, without their numbers.
struct InputKind {
  Law law = Law::data();
  Shape positions = {};
  bool masked = false, has_means = true;
};

/// A layer's path in a model ("layers.0.attention", "" for the model itself) and its description.
struct LayerPlace {
  std::string path, description;
};

class KernelGraph {
 public:
  /// A step as it stands in the graph. The first has no inputs: it is the network's.
  struct Placed {
    Step step;
    std::vector<int> inputs;
    std::function<PairKernels(const std::vector<Pairs>&)> map;
    Shape positions;
    bool masked = false;
    const Layer* layer = nullptr;  ///< The innermost that it is part of, as a name: it may be gone.
    int slot = 0;                  ///< Of Selves, the first of slot_count().
    int roots = 0;                 ///< Inputs that steps before this one draw for.
    int drawn = 0;                 ///< Drawn::number of a step that draws.
    bool draws() const { return step.draws.has_value(); }
    int root_count() const;
    int slot_count() const;
  };

  /// Graph of `model` on inputs of this kind; it is called once. `find` tells where in the
  /// model a layer is, if it is in there.
  static std::shared_ptr<const KernelGraph> of(
      const InputKind& inputs, Get get, bool finite_heads,
      const std::function<KernelNode(const KernelNode&)>& model,
      std::function<std::optional<LayerPlace>(const Layer*)> find);

  const std::vector<Placed>& steps() const { return steps_; }
  const InputKind& inputs() const { return inputs_; }
  const KernelNode& output() const { return output_; }
  Get get() const { return get_; }
  bool finite_heads() const { return finite_heads_; }
  /// Whether a step that the output depends on draws.
  bool draws() const;
  /// Whether one of these leaves the number of its draws to the limit.
  bool draws_automatically() const;
  /// For each step, whether the output depends on it.
  std::vector<char> needed() const;
  /// Number of slots in the cache of self-kernels (Selves).
  int slots() const;

  /// Adds a step whose inputs are of one graph. What it says of positions and means holds for the
  /// first.
  static KernelNode add(const std::vector<KernelNode>& inputs, const Step& step,
                        std::function<PairKernels(const std::vector<Pairs>&)> map);
  /// The steps from `begin` on that are nobody's yet are this layer's.
  void name(std::size_t begin, const Layer* layer);
  /// Place of a step's layer in the model; nothing where the model does not list the layer.
  std::optional<LayerPlace> place(const Placed& step) const { return find_(step.layer); }

 private:
  std::vector<Placed> steps_;
  InputKind inputs_;
  KernelNode output_;
  std::function<std::optional<LayerPlace>(const Layer*)> find_;
  Get get_ = Get::ntk;
  bool finite_heads_ = false;
};

}  // namespace ladon::infinite
