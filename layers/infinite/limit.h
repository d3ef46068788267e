#pragma once
// The infinitely wide limit of a model, as a function of inputs.
//
//   Sequential net = ...;                                   // one description
//   Tensor y = net(x);                                      // the finite network
//   infinite::Kernel k = infinite::limit(net)(x, x_test);   // its Gaussian process

#include <concepts>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "ladon/layers/infinite/kernel/evaluate.h"
#include "ladon/layers/layer.h"

namespace ladon::infinite {

/// Composes the layers' own limits into a graph. Holds a reference to the model (of a temporary:
/// the model), whose hyper-parameters count as they are when it is called.
class Limit {
 public:
  explicit Limit(const Layer& model) : model_(&model) {}
  template <std::derived_from<Layer> M>
  requires(!std::is_reference_v<M>) explicit Limit(M&& model)
      : owned_(std::make_shared<M>(std::move(model))), model_(owned_.get()) {}

  /// Kernels between two blocks of inputs, or of one with itself (then dropout knows which pairs
  /// are one input). Of a model that ends with positions `wanted` says which pairs of them are
  /// computed. Where a layer averages over draws, as softmax attention, the landmarks are of `b`,
  /// and the result is the mean of replicates(b) estimates, with its standard error. (gram() is the
  /// cheaper call of many inputs.) Throws Error where no limit of a layer is known, and naming the
  /// layer where a kernel overflows.
  Kernel operator()(const Inputs& a, const Inputs& b, Get get = Get::ntk,
                    Entries wanted = Entries::full) const;
  Kernel operator()(const Inputs& a, Get get = Get::ntk, Entries wanted = Entries::full) const;
  /// Output kernels for any kernels of inputs. Throws Error where a layer averages over draws.
  Kernel operator()(const Kernel& inputs) const;

  /// Graph of the layers on inputs of this kind, step by step, before there are numbers. Throws
  /// Error where no limit of a layer is known, or its inputs have not the law that it needs. The
  /// model must outlive it, unless this limit owns it.
  std::shared_ptr<const KernelGraph> graph(const InputKind& inputs, Get get = Get::ntk,
                                           bool finite_heads = false) const;
  /// Graph of the layers on data of unknown size: vectors, sequences or images, the first of these
  /// that the model takes.
  std::shared_ptr<const KernelGraph> graph(Get get = Get::ntk) const;

  /// For models that average over draws (draws()): kernels of one model are those of one Gaussian
  /// process only if the same tokens stand for all of them (kernel/roots.h). These are taken from
  /// x; without, from the second block of each call.
  Limit with_landmarks(const Inputs& x) const;
  /// Limit whose calls make the independent estimate of that number, and that one alone: without a
  /// standard error, at 1/replicates(x) of the time. For gram() it is the first of those averaged.
  Limit with_replicate(std::uint64_t replicate) const;
  /// Limit whose calls average that many estimates, from replicate() on. The standard error is
  /// undefined of one. (gram() has GramOptions::replicates.) Throws Error for count < 1.
  Limit with_replicates(int count) const;
  /// Number of estimates that a call with the landmarks of x averages. Unless it is given: 1 where
  /// nothing is drawn and where all layers' numbers of draws are given (LimitDraws::samples);
  /// otherwise 4096/(visible tokens of the landmarks), at least 4 and at most 16, so that small
  /// inputs are within about 1%. It depends on the landmarks alone, so that blocks of one Gram
  /// matrix agree.
  int replicates(const Inputs& x) const;
  /// Limit with landmarks(x) whose coordinates stay with the tokens that span them now, in `count`
  /// replicates from replicate() on. So its kernels are continuous in the model's hyper-parameters.
  /// Otherwise any change of these may choose other tokens, and so other draws. Other replicates
  /// choose tokens anew.
  Limit with_pivots(const Inputs& x, int count) const;
  /// Unexplained share of a token's variance, the mean over the visible tokens of x, per layer that
  /// draws, in their order: what the landmarks' coordinates do not explain, and each input draws
  /// independently. At 0 the average is over the layer's own law; otherwise covariances between
  /// inputs are too small by up to that share. More coordinates (LimitDraws), or landmarks that
  /// resemble x, make it smaller.
  std::vector<double> unexplained(const Inputs& x) const;
  /// Largest unexplained share of any one token, per layer; 1: its coordinates are all 0.
  std::vector<double> most_unexplained(const Inputs& x) const;
  /// Whether kernels are averages over draws, of inputs of this kind; or of those of graph().
  bool draws(const InputKind& inputs) const { return graph(inputs, Get::nngp)->draws(); }
  bool draws() const { return graph(Get::nngp)->draws(); }

  const Layer& model() const { return *model_; }
  std::uint64_t replicate() const { return replicate_; }
  /// Pivots that with_pivots() chose for replicate(); empty: each call chooses its own.
  Pivots pivots() const;
  /// Inputs that stand for all of `x`, unless with_landmarks() named some.
  Inputs landmarks(const Inputs& x) const;

 private:
  int replicates(const KernelGraph& graph, const Inputs& landmarks) const;
  std::vector<Remainder> remainders(const Inputs& x) const;

  std::shared_ptr<const Layer> owned_;
  const Layer* model_;
  std::optional<Inputs> landmarks_;
  std::shared_ptr<const std::map<std::uint64_t, Pivots>> pivots_;  // by replicate
  std::uint64_t replicate_ = 0;
  int count_ = 0;  // of replicates; 0: replicates()
};

inline Limit limit(const Layer& model) { return Limit(model); }
template <std::derived_from<Layer> M>
requires(!std::is_reference_v<M>) Limit limit(M&& model) { return Limit(std::move(model)); }

/// Derivation of the limit, layer by layer (kernel/derivation.h):  std::cout << limit(model);
std::ostream& operator<<(std::ostream& out, const Limit& limit);

/// The passes of one estimate, over one graph: over the landmarks, if the model averages over
/// draws; over inputs alone; and over pairs of them.
class Passes {
 public:
  /// Runs the pass over the landmarks. (Those of a graph that draws nothing may be empty.)
  Passes(Limit limit, std::shared_ptr<const KernelGraph> graph, const Inputs& landmarks,
         Entries wanted);

  /// Pass over inputs [begin, end): what steps make of them alone goes into rows of `selves`, which
  /// are made for `count` inputs. Returns the kernels of the model's outputs. Steps that draw add
  /// what coordinates leave out of these inputs to `remainders`, if there are any.
  Kernel record(const Inputs& in, std::int64_t begin, std::int64_t end, std::int64_t count,
                Selves& selves, std::vector<Remainder>* remainders = nullptr) const;
  /// Self-kernels of all inputs, recorded for `at_once` inputs at a time.
  Selves selves(const Inputs& in, std::int64_t at_once,
                std::vector<Remainder>* remainders = nullptr) const;

  /// Rows [begin, end) of inputs and, unless empty, what record() made of them all.
  struct Rows {
    const Inputs& inputs;
    const Selves& selves;
    std::int64_t begin, end;
  };
  /// Pass over the pairs between two blocks, or of one block with itself.
  Kernel pairs(const Rows& a, const Rows& b) const;
  Kernel pairs(const Rows& a) const;

  const KernelGraph& graph() const { return *graph_; }
  /// Landmarks; null where nothing is drawn.
  const Landmarks* landmarks() const { return landmarks_.get(); }
  /// These passes with other numbers in the place of what that pass made.
  Passes with(Landmarks landmarks) const;

 private:
  Walk walk() const;

  Limit limit_;
  std::shared_ptr<const KernelGraph> graph_;
  Inputs inputs_;  // the landmarks
  Entries wanted_;
  std::shared_ptr<Landmarks> landmarks_;  // null where nothing is drawn
};

}  // namespace ladon::infinite
