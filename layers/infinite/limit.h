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

/// Infinite-width limit of a model, composed from the limits of its layers. Keeps a reference to
/// the model (or owns it, if it is constructed from a temporary), and reads the model's
/// hyper-parameters at each call.
class Limit {
 public:
  explicit Limit(const Layer& model) : model_(&model) {}
  template <std::derived_from<Layer> M>
  requires(!std::is_reference_v<M>) explicit Limit(M&& model)
      : owned_(std::make_shared<M>(std::move(model))), model_(owned_.get()) {}

  /// NNGP kernel and, for Get::ntk, NTK between two blocks of inputs, or of one block with itself.
  /// In the latter case, layers such as dropout know which pairs are the same input twice. If the
  /// model's outputs have positions, `wanted` selects the pairs of positions that are computed. If
  /// a layer averages over draws, as softmax attention does, the landmarks (kernel/roots.h) are
  /// taken from `b`, and the result is the mean of replicates(b) estimates, with its standard
  /// error. (gram() is faster for many inputs.) Throws Error if a layer has no known limit, or if a
  /// kernel overflows (the message names the layer).
  Kernel operator()(const Inputs& a, const Inputs& b, Get get = Get::ntk,
                    Entries wanted = Entries::full) const;
  Kernel operator()(const Inputs& a, Get get = Get::ntk, Entries wanted = Entries::full) const;
  /// Kernels of the outputs for given kernels of the inputs, whose nngp, cov1 and cov2 must be
  /// defined. Throws Error if a layer averages over draws, if a member does not have the shape or
  /// dtype that Kernel says, for values that are not finite, and for variances and covariances that
  /// check_covariances() (dual.h) refuses.
  Kernel operator()(const Kernel& inputs) const;

  /// Graph of the steps that compute the kernels for inputs of this kind; no kernel is computed
  /// yet. `finite_heads`: attention has finitely many heads (finite/heads.h). Throws Error if a
  /// layer has no known limit, or if its inputs do not have the distribution that it needs. The
  /// model must outlive the graph, unless this limit owns the model.
  std::shared_ptr<const KernelGraph> graph(const InputKind& inputs, Get get = Get::ntk,
                                           bool finite_heads = false) const;
  /// Graph for data of unknown size: vectors, sequences or images, the first of these that the
  /// model accepts.
  std::shared_ptr<const KernelGraph> graph(Get get = Get::ntk) const;

  /// Limit whose calls all take their landmarks (kernel/roots.h) from x; by default, each call
  /// takes them from its second block. If the model averages over draws (draws()), the kernels of
  /// several calls belong to one Gaussian process only if all calls use the same landmarks.
  Limit with_landmarks(const Inputs& x) const;
  /// Limit whose calls compute only the independent estimate with this index: without a standard
  /// error, in 1/replicates(x) of the time. gram() averages GramOptions::replicates estimates, from
  /// this index on.
  Limit with_replicate(std::uint64_t replicate) const;
  /// Limit whose calls average `count` independent estimates, from index replicate() on. The
  /// standard error of a single estimate is undefined. gram() uses GramOptions::replicates instead.
  /// Throws Error for count < 1.
  Limit with_replicates(int count) const;
  /// Number of independent estimates that a call with the landmarks of x averages. If
  /// with_replicates() has not set the number, it is 1 if no layer averages over draws, or if all
  /// that do set their number of draws (LimitDraws::samples); otherwise it is 4096/(visible tokens
  /// of the landmarks), at least 4 and at most 16, for an error of about 1% on small inputs. It
  /// depends only on the landmarks, so that all blocks of one Gram matrix average equally many
  /// estimates.
  int replicates(const Inputs& x) const;
  /// Limit with landmarks(x) and fixed pivots: the landmark tokens that a pivoted Cholesky factor
  /// selects, and that define the coordinates of the draws (kernel/roots.h). The `count` replicates
  /// with the indices replicate(), replicate() + 1, ... keep the pivots that they choose for the
  /// current hyper-parameters, so that their kernels are continuous in the model's
  /// hyper-parameters. Without fixed pivots, any change of a hyper-parameter may select other
  /// pivots, and so other draws. All other replicates still choose their pivots at each call.
  Limit with_pivots(const Inputs& x, int count) const;
  /// For each layer whose kernel is estimated from random draws, in order: the share of a token's
  /// variance that coordinates with respect to the landmarks do not explain, averaged over the
  /// visible tokens of x. (Cross-attention has two entries: tokens of queries, then of keys.) This
  /// part is drawn independently for each input. At a share of 0 the draws have the layer's exact
  /// distribution; otherwise covariances between inputs are too small by up to that share. More
  /// coordinates (LimitDraws), or landmarks that resemble x, reduce it.
  std::vector<double> unexplained(const Inputs& x) const;
  /// For each entry of unexplained(x): the largest unexplained share of any visible token of x. If
  /// it is 1, all coordinates of that token are 0.
  std::vector<double> most_unexplained(const Inputs& x) const;
  /// Whether kernels are averages over random draws, for inputs of this kind, or for the inputs
  /// that graph() assumes.
  bool draws(const InputKind& inputs) const { return graph(inputs, Get::nngp)->draws(); }
  bool draws() const { return graph(Get::nngp)->draws(); }

  const Layer& model() const& { return *model_; }
  void model() && = delete;  // a temporary limit may own the model
  std::uint64_t replicate() const { return replicate_; }
  /// Pivots that with_pivots() chose for replicate(); if empty, each call chooses its pivots.
  Pivots pivots() const;
  /// Landmarks of calls with the inputs x: those that with_landmarks() or with_pivots() set,
  /// otherwise up to 64 inputs spread evenly over x.
  Inputs landmarks(const Inputs& x) const;

 private:
  int replicates(const KernelGraph& graph, const Inputs& landmarks) const;
  std::vector<Remainder> remainders(const Inputs& x) const;

  std::shared_ptr<const Layer> owned_;
  const Layer* model_;
  std::optional<Inputs> landmarks_;
  // pivots of each replicate, by its index
  std::shared_ptr<const std::map<std::uint64_t, Pivots>> pivots_;
  std::uint64_t replicate_ = 0;
  int count_ = 0;  // number of replicates; 0 if replicates() chooses it
};

inline Limit limit(const Layer& model) { return Limit(model); }
template <std::derived_from<Layer> M>
requires(!std::is_reference_v<M>) Limit limit(M&& model) { return Limit(std::move(model)); }

/// Derivation of the limit, layer by layer (kernel/derivation.h):  std::cout << limit(model);
std::ostream& operator<<(std::ostream& out, const Limit& limit);

/// Evaluates a graph for one independent estimate, in up to three passes: over the landmarks (if
/// the model averages over draws), over single inputs, and over pairs of inputs.
class Passes {
 public:
  /// Runs the pass over the landmarks. They may be empty if no step averages over draws.
  Passes(Limit limit, std::shared_ptr<const KernelGraph> graph, const Inputs& landmarks,
         Entries wanted);

  /// Runs the pass over the single inputs [begin, end) of `in`: stores the self-kernels of each
  /// step in rows [begin, end) of `selves`, which is allocated for `count` inputs, and returns the
  /// kernels of the model's outputs. Unless `remainders` is null, each step that averages over
  /// draws adds to it the shares of the tokens' variances that the coordinates do not explain.
  Kernel record(const Inputs& in, std::int64_t begin, std::int64_t end, std::int64_t count,
                Selves& selves, std::vector<Remainder>* remainders = nullptr) const;
  /// Self-kernels of all inputs, computed by record() for `at_once` inputs at a time.
  Selves selves(const Inputs& in, std::int64_t at_once,
                std::vector<Remainder>* remainders = nullptr) const;

  /// Rows [begin, end) of `inputs`, and the self-kernels that record() stored for all inputs (if
  /// empty, they are computed again).
  struct Rows {
    const Inputs& inputs;
    const Selves& selves;
    std::int64_t begin, end;
  };
  /// Runs the pass over all pairs between two blocks of inputs, or of one block with itself, and
  /// returns the kernels of the model's outputs.
  Kernel pairs(const Rows& a, const Rows& b) const;
  Kernel pairs(const Rows& a) const;

  const KernelGraph& graph() const& { return *graph_; }
  void graph() && = delete;
  /// Landmarks with their coordinates; null if no step averages over draws.
  const Landmarks* landmarks() const { return landmarks_.get(); }
  /// Copy of these passes that uses other landmarks than those of the constructor's pass.
  Passes with(Landmarks landmarks) const;

 private:
  Walk walk() const;

  Limit limit_;
  std::shared_ptr<const KernelGraph> graph_;
  Inputs inputs_;  // the landmarks
  Entries wanted_;
  std::shared_ptr<Landmarks> landmarks_;  // null if no step averages over draws
};

}  // namespace ladon::infinite
