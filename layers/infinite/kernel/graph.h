#pragma once
// The limit of a model as a graph of steps, built before any number is computed.
//
// Layer::limit describes a layer at infinite width, as forward does at finite width. It is called
// once, with a KernelNode that stands for the kernels of the layer's inputs, and returns the
// KernelNode of its outputs; map_pairs() and combine() add the steps in between to the graph, as
// operations of autograd do to theirs. What a step needs of the distribution of its inputs is
// checked at that time, before any kernel is computed. evaluate.h then computes the kernels of all
// steps, as often and for as many blocks of inputs as needed, and derivation.h prints the formulas
// of a graph line by line.

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

/// Symbolic kernels of a layer's outputs, before they have numbers.
struct KernelNode {
  Law law;                 ///< Distribution of the channels, as far as it is known.
  Shape positions;         ///< {} for vectors, {T} or {H, W}; −1 if not yet known.
  bool masked = false;     ///< Whether positions may be padding.
  bool has_means = false;  ///< Whether Pairs::left_mean will be defined.
  int depth = 0;           ///< Number of branches (of sums, products) around this node.
  std::weak_ptr<KernelGraph> graph;
  int step = 0;  ///< Index of the step of the graph that computes the kernels.

  bool has_positions() const { return positions.rank() > 0; }
  /// Number of positions: 1 for vectors, −1 if it is not yet known.
  std::int64_t position_count() const;
  /// Whether tangent kernels are computed.
  bool ntk() const;
  /// Whether attention has finitely many heads (finite/heads.h).
  bool finite_heads() const;
  /// Throws Error naming `layer` unless the inputs have positions.
  void need_positions(std::string_view layer) const;
  /// The graph that this node is part of. Throws Error if the graph no longer exists.
  std::shared_ptr<KernelGraph> owner() const;
};

/// Pairs of positions that a step needs to compute its outputs.
enum class Needs {
  full,      ///< All of them, blocks [T, T].
  diagonal,  ///< Each position with the same position of the other input, blocks [T].
  wanted     ///< Those requested of the step's outputs; its map handles both layouts.
};

/// Description of the draws of a step that averages over draws.
struct Draws {
  /// Indices of the step's inputs for which it needs the coordinates of tokens (Pairs::left_root
  /// and right_root). If empty, its draws need no coordinates.
  std::vector<int> of = {};
  std::int64_t coordinates = 0;  ///< Largest number of coordinates.
  bool automatic = false;        ///< Whether Limit chooses how many estimates to average.
  /// Attention weights of finitely many heads, for inputs with these tokens' coordinates and mask.
  std::function<HeadMap(const Drawn& drawn, const Tensor& tokens, const Tensor& mask)> head_map =
      {};
};

/// Formulas of a step, as text. $k and $t are the NNGP kernel and the NTK of its input ($k2 and $t2
/// of its second input), and $K is its own NNGP kernel.
struct Formula {
  std::string nngp, ntk = {};
};
/// Text of factor·kernel, such as "0.5·$k"; for the factors 1 and 0 "$k" and "0".
std::string times(double factor, const std::string& kernel);
/// Text that adds a number to a term, " + 0.1" or " − 0.1"; empty for 0.
std::string plus(double summand);

/// Maps the means over channels of a step's inputs to those of its outputs. An undefined tensor
/// stands for means of 0.
using MeanMap = std::function<Tensor(const std::vector<Tensor>&)>;

/// Description of a step, which its layer gives together with the map of the kernels.
struct Step {
  Law makes;  ///< Distribution of its outputs.
  std::function<Formula()> formula = {};
  Needs needs = Needs::full;
  std::optional<Shape> positions = {};  ///< Positions of the outputs, if the step mixes positions.
  /// Maps the masks of the inputs to those of the outputs; if empty, they are unchanged.
  std::function<Tensor(const Tensor&)> mask = {};
  std::optional<Draws> draws = {};
  /// Map of the means over channels. With nullopt, means pass unchanged through a step that keeps
  /// channels and positions, and are unknown after a step that mixes positions. With an empty
  /// function, the means of the outputs are 0 or unknown.
  std::optional<MeanMap> means = {};
  /// Whether the step's self-kernels are cached for use by all pairs; false if they are cheap to
  /// compute.
  bool kept = true;
};

/// Adds a step to the graph of k: a map that is applied to the pairs between two blocks of inputs,
/// and to each input with itself. The map runs later, more than once and in several threads, so it
/// must hold what it needs by value (or by the layer's `this`). The result has k's masks, if it has
/// positions. Throws Error if the step has Needs::diagonal but its outputs have positions.
KernelNode map_pairs(const KernelNode& k, const Step& step,
                     const std::function<PairKernels(const Pairs&)>& map);
/// Adds a step with two inputs: kernels a and b of the same network inputs. The result has a's
/// positions and masks.
KernelNode map_pairs(const KernelNode& a, const KernelNode& b, const Step& step,
                     const std::function<PairKernels(const Pairs&, const Pairs&)>& map);
/// Adds a step that combines the kernels of branches elementwise by `rule`. Throws Error if their
/// positions differ, or if there are no branches.
KernelNode combine(const std::vector<KernelNode>& branches, const Step& step,
                   const std::function<PairKernels(const std::vector<PairKernels>&)>& rule);

/// Shape and distribution of a network's inputs, without their numbers.
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
  /// A step in the graph. The first step stands for the network's inputs, and has no input steps.
  struct Placed {
    Step step;
    std::vector<int> inputs;  ///< Indices of the steps whose kernels this step maps.
    std::function<PairKernels(const std::vector<Pairs>&)> map;
    Shape positions;
    bool masked = false;
    /// Innermost layer around the step. Only its address is used: it may no longer exist.
    const Layer* layer = nullptr;
    int slot = 0;   ///< First of its slot_count() indices in Selves.
    int roots = 0;  ///< First of its root_count() indices in Landmarks::factors.
    int drawn = 0;  ///< Drawn::number of the step, if it averages over draws.
    bool draws() const { return step.draws.has_value(); }
    int root_count() const;
    int slot_count() const;
  };

  /// Graph of `model` for inputs of this kind; `model` is called once. `find` returns the path and
  /// description of a layer in the model, or nullopt.
  static std::shared_ptr<const KernelGraph> of(
      const InputKind& inputs, Get get, bool finite_heads,
      const std::function<KernelNode(const KernelNode&)>& model,
      std::function<std::optional<LayerPlace>(const Layer*)> find);

  // A graph is shared: before a loop over steps(), keep the pointer that graph() returns in a
  // variable.
  const std::vector<Placed>& steps() const& { return steps_; }
  const InputKind& inputs() const& { return inputs_; }
  const KernelNode& output() const& { return output_; }
  void steps() && = delete;
  void inputs() && = delete;
  void output() && = delete;
  Get get() const { return get_; }
  bool finite_heads() const { return finite_heads_; }
  /// Whether the output depends on a step that averages over draws (Step::draws).
  bool draws() const;
  /// Whether the output depends on such a step with Draws::automatic.
  bool draws_automatically() const;
  /// For each step, whether the output depends on it.
  std::vector<char> needed() const;
  /// Number of slots in the cache of self-kernels (Selves).
  int slots() const;

  /// Adds a step whose inputs are nodes of the same graph. Positions, masks and means that `step`
  /// does not set follow the first input.
  static KernelNode add(const std::vector<KernelNode>& inputs, const Step& step,
                        std::function<PairKernels(const std::vector<Pairs>&)> map);
  /// Assigns the steps from `begin` on that have no layer yet to this layer.
  void name(std::size_t begin, const Layer* layer);
  /// Place of a step's layer in the model; nullopt if the model does not list the layer.
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
