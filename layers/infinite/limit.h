#pragma once
// The infinite-width limit of a model, as a function of inputs.
//
//   Sequential net = ...;                                   // one description
//   Tensor y = net(x);                                      // the finite network
//   infinite::Kernel k = infinite::limit(net)(x, x_test);   // kernels of its Gaussian process

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

/// Composes the layers' limits into a graph. Refers to the model (owns a temporary one), whose
/// hyper-parameters are read at each call.
class Limit {
 public:
  explicit Limit(const Layer& model) : model_(&model) {}
  template <std::derived_from<Layer> M>
  requires(!std::is_reference_v<M>) explicit Limit(M&& model)
      : owned_(std::make_shared<M>(std::move(model))), model_(owned_.get()) {}

  /// Kernels between two blocks of inputs, or of one block with itself (dropout then knows which
  /// pairs are one input). If the model's outputs have positions, `wanted` selects the pairs of
  /// positions that are computed. If a layer averages over draws, as softmax attention does, the
  /// landmarks are taken from `b`, and the result is the mean of replicates(b) estimates, with its
  /// standard error. (gram() is faster for many inputs.) Throws Error if a layer has no known
  /// limit, and naming the layer if a kernel overflows.
  Kernel operator()(const Inputs& a, const Inputs& b, Get get = Get::ntk,
                    Entries wanted = Entries::full) const;
  Kernel operator()(const Inputs& a, Get get = Get::ntk, Entries wanted = Entries::full) const;
  /// Output kernels for given kernels of inputs. Throws Error if a layer averages over draws.
  Kernel operator()(const Kernel& inputs) const;

  /// Graph of the layers for inputs of this kind, step by step, without numbers. Throws Error if a
  /// layer has no known limit, or its inputs do not have the distribution that it needs. The model
  /// must outlive it, unless this limit owns it.
  std::shared_ptr<const KernelGraph> graph(const InputKind& inputs, Get get = Get::ntk,
                                           bool finite_heads = false) const;
  /// Graph of the layers for data of unknown size: vectors, sequences or images, the first of these
  /// that the model accepts.
  std::shared_ptr<const KernelGraph> graph(Get get = Get::ntk) const;

  /// For models that average over draws (draws()): the kernels of several calls belong to one
  /// Gaussian process only if all calls use the same landmarks (kernel/roots.h). Here they are
  /// taken from x; otherwise from the second block of each call.
  Limit with_landmarks(const Inputs& x) const;
  /// Limit whose calls compute only the independent estimate of this number: without a standard
  /// error, in 1/replicates(x) of the time. For gram() it is the first of those averaged.
  Limit with_replicate(std::uint64_t replicate) const;
  /// Limit whose calls average `count` estimates, from replicate() on. With one, the standard error
  /// is undefined. (gram() has GramOptions::replicates.) Throws Error for count < 1.
  Limit with_replicates(int count) const;
  /// Number of estimates that a call with the landmarks of x averages. Unless set: 1 if nothing is
  /// drawn, or if all layers set their number of draws (LimitDraws::samples); otherwise
  /// 4096/(visible tokens of the landmarks), at least 4 and at most 16, for an error of about 1% on
  /// small inputs. It depends on the landmarks alone, so that blocks of one Gram matrix agree.
  int replicates(const Inputs& x) const;
  /// Limit with landmarks(x) that keeps the tokens which span its coordinates now, in `count`
  /// replicates from replicate() on, so that kernels are continuous in the model's
  /// hyper-parameters. Otherwise any change of these may select other tokens, and so other draws.
  /// Further replicates select tokens anew.
  Limit with_pivots(const Inputs& x, int count) const;
  /// Unexplained share of a token's variance, averaged over the visible tokens of x, per layer that
  /// draws, in order: the part outside the landmarks' coordinates, which each input draws
  /// independently. At 0 the draws have the layer's exact distribution; otherwise covariances
  /// between inputs are too small by up to that share. More coordinates (LimitDraws), or landmarks
  /// that resemble x, reduce it.
  std::vector<double> unexplained(const Inputs& x) const;
  /// Largest unexplained share of any token, per layer; 1: all coordinates of that token are 0.
  std::vector<double> most_unexplained(const Inputs& x) const;
  /// Whether kernels are averages over draws, for inputs of this kind, or for those of graph().
  bool draws(const InputKind& inputs) const { return graph(inputs, Get::nngp)->draws(); }
  bool draws() const { return graph(Get::nngp)->draws(); }

  const Layer& model() const { return *model_; }
  std::uint64_t replicate() const { return replicate_; }
  /// Pivots that with_pivots() chose for replicate(); empty: each call chooses its own.
  Pivots pivots() const;
  /// Inputs whose tokens span the coordinates for all of `x`, unless with_landmarks() set some.
  Inputs landmarks(const Inputs& x) const;

 private:
  int replicates(const KernelGraph& graph, const Inputs& landmarks) const;
  std::vector<Remainder> remainders(const Inputs& x) const;

  std::shared_ptr<const Layer> owned_;
  const Layer* model_;
  std::optional<Inputs> landmarks_;
  std::shared_ptr<const std::map<std::uint64_t, Pivots>> pivots_;  // per replicate
  std::uint64_t replicate_ = 0;
  int count_ = 0;  // number of replicates; 0: replicates()
};

inline Limit limit(const Layer& model) { return Limit(model); }
template <std::derived_from<Layer> M>
requires(!std::is_reference_v<M>) Limit limit(M&& model) { return Limit(std::move(model)); }

/// Derivation of the limit, layer by layer (kernel/derivation.h):  std::cout << limit(model);
std::ostream& operator<<(std::ostream& out, const Limit& limit);

/// The passes over one graph for one estimate: over the landmarks, if the model averages over
/// draws; over single inputs; and over pairs of inputs.
class Passes {
 public:
  /// Runs the pass over the landmarks, which may be empty if the graph draws nothing.
  Passes(Limit limit, std::shared_ptr<const KernelGraph> graph, const Inputs& landmarks,
         Entries wanted);

  /// Pass over inputs [begin, end): stores each step's self-kernels in rows of `selves`, which is
  /// made for `count` inputs. Returns the kernels of the model's outputs. Steps that draw add the
  /// inputs' variance outside the coordinates to `remainders`, unless null.
  Kernel record(const Inputs& in, std::int64_t begin, std::int64_t end, std::int64_t count,
                Selves& selves, std::vector<Remainder>* remainders = nullptr) const;
  /// Self-kernels of all inputs, computed for `at_once` inputs at a time.
  Selves selves(const Inputs& in, std::int64_t at_once,
                std::vector<Remainder>* remainders = nullptr) const;

  /// Rows [begin, end) of inputs, and what record() stored for all inputs (or empty).
  struct Rows {
    const Inputs& inputs;
    const Selves& selves;
    std::int64_t begin, end;
  };
  /// Pass over the pairs between two blocks, or of one block with itself.
  Kernel pairs(const Rows& a, const Rows& b) const;
  Kernel pairs(const Rows& a) const;

  const KernelGraph& graph() const { return *graph_; }
  /// Landmarks; null if nothing is drawn.
  const Landmarks* landmarks() const { return landmarks_.get(); }
  /// These passes with other landmarks in place of those of the first pass.
  Passes with(Landmarks landmarks) const;

 private:
  Walk walk() const;

  Limit limit_;
  std::shared_ptr<const KernelGraph> graph_;
  Inputs inputs_;  // the landmarks
  Entries wanted_;
  std::shared_ptr<Landmarks> landmarks_;  // null if nothing is drawn
};

}  // namespace ladon::infinite
