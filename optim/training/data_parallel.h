#pragma once
// One model, trained by ranks (core/ranks/ranks.h) on a part each of every batch.
//
//   broadcast_state(model);                        // all begin with what the first has
//   for (…) {
//     const ranks::Share mine = ranks::share_of(N);  // items of this batch
//     adam.zero_grad();
//     backward(mse_loss(model(rows(x, mine)), rows(y, mine)) * double(mine.last - mine.first) / N);
//     sum_gradients(model.parameters());
//     adam.step();                                 // the same step in all
//   }
//
// An optimizer holds numbers beside each parameter, Adam two. Ranks can divide them (ZeRO, stage 1;
// Rajbhandari et al. 2020): each has an optimizer of its own parameters alone,
//
//   Adam adam(own_parameters(model));              // state/count() in each rank
//   …
//     model.zero_grad();                           // of all parameters, not of its own alone
//     …
//     sum_gradients(model.parameters());
//     adam.step();
//     share_parameters(model);                     // the same bits as with whole optimizers
//
// Gradients add up over ranks as they do over parts of a batch in one process (optimizer.h), to the
// same bits. What a rank draws itself, dropout or the order of a batch, comes from a generator of
// its own: rng.split(ranks::rank()).

#include <cstdint>
#include <future>
#include <vector>

#include "ladon/autograd/hook.h"
#include "ladon/layers/module.h"

namespace ladon {

/// Gradient of each parameter ← Σ over ranks of theirs, in the order of ranks, f32 or f64. Call it
/// after backward() and before whatever reads gradients: particle methods, clipping, step(). One
/// that a rank lacks counts as zeros there; one that all lack stays so. Throws Error, in all ranks,
/// where they bring other parameters: names, dtypes, shapes, order, and whether they are frozen.
void sum_gradients(const ParameterSet& parameters);

/// sum_gradients() that begins during the backward sweep: a bucket of parameters is summed on a
/// thread of its own as soon as all its gradients are there, the last layers' first (Li et al.
/// 2020, "PyTorch Distributed"). With one thread (set_num_threads) all is done in finish().
///
///   OverlappedSum sum(model);                      // once, after broadcast_state()
///   …
///     adam.zero_grad();
///     backward(loss);                              // one sweep
///     sum.finish();                                // the bits of sum_gradients()
///     adam.step();
///
/// From the sweep's begin to finish() ranks do nothing else together.
class OverlappedSum {
 public:
  /// Buckets have about so many numbers, of one dtype each. Throws Error, in all ranks, as
  /// sum_gradients() does, and for other buckets.
  explicit OverlappedSum(const ParameterSet& parameters, std::int64_t bucket = 1 << 20);
  ~OverlappedSum();  ///< Waits for what has begun.
  OverlappedSum(const OverlappedSum&) = delete;
  OverlappedSum& operator=(const OverlappedSum&) = delete;

  /// Waits, and gives every parameter its sum, as sum_gradients() does. Throws Error as that does;
  /// the sweep throws Error for a parameter with a gradient of an earlier one.
  void finish();

 private:
  struct Bucket {
    std::vector<Tensor> parameters, gradients;  // undefined until they are there
    std::shared_future<Tensor> sum = {};        // of all, one after the other
    bool complete() const;
  };
  void take(Bucket& bucket, std::size_t place, const Tensor& gradient);
  void begin(std::size_t bucket);

  ParameterSet parameters_;  // in the order of the buckets
  std::vector<Bucket> buckets_;
  std::size_t begun_ = 0;  // buckets, in their order: that of all ranks
  std::vector<HookHandle> hooks_;
};

/// The parameters that this rank's optimizer moves: each that is not frozen is one rank's, with
/// about as many numbers in each. In their order. Once parameters are frozen or thawed it is
/// another division: make it, and the optimizer, anew. Throws Error for fewer trained parameters
/// than ranks and, in all ranks, where they bring other parameters.
ParameterSet own_parameters(const ParameterSet& parameters);
/// Each parameter ← that of the rank whose own it is, after step() and before zero_grad(): in all
/// ranks the numbers of all. Throws Error, in all ranks, where they bring other parameters, and
/// where a rank has stepped a parameter that another rank owns.
void share_parameters(const ParameterSet& parameters);

/// Parameters and buffers ← those of rank `from`. Throws Error, in all ranks, where they hold other
/// tensors: names, dtypes, shapes.
void broadcast_state(const Module& model, int from = 0);

}  // namespace ladon
