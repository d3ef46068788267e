#pragma once
// Data-parallel training: ranks (core/extra/ranks/ranks.h) train one model, each on a part of every
// batch.
//
//   broadcast_state(model);                        // all start with the first rank's parameters
//   for (…) {
//     const ranks::Share mine = ranks::share_of(N);  // items of this batch
//     adam.zero_grad();
//     backward(mse_loss(model(rows(x, mine)), rows(y, mine)) * double(mine.last - mine.first) / N);
//     sum_gradients(model.parameters());
//     adam.step();                                 // the same step in all ranks
//   }
//
// An optimizer stores moments for each parameter, Adam two. They can be divided between ranks
// (ZeRO, stage 1; Rajbhandari et al. 2020): each rank has an optimizer for its own parameters only,
//
//   Adam adam(own_parameters(model));              // 1/count() of the state in each rank
//   …
//     model.zero_grad();                           // of all parameters, not only its own
//     …
//     sum_gradients(model.parameters());
//     adam.step();
//     share_parameters(model);                     // the same bits as with complete optimizers
//
// Gradients add up over ranks as they do over parts of a batch in one process (optimizer.h), to the
// same bits. Randomness that differs between ranks, such as dropout or the order of a batch, needs
// a separate generator per rank: rng.split(ranks::rank()).

#include <cstdint>
#include <future>
#include <vector>

#include "ladon/autograd/hook.h"
#include "ladon/layers/module.h"
#include "ladon/optim/particles/particles.h"

namespace ladon {

/// Replaces the gradient of each parameter by the sum over ranks, in rank order, f32 or f64. Call
/// it after backward() and before anything that reads gradients: particle methods, clipping,
/// step(). A gradient missing in one rank counts as zeros; one missing in all stays missing. Throws
/// Error, in all ranks, if parameters differ between ranks: names, dtypes, shapes, order, or which
/// are frozen.
void sum_gradients(const ParameterSet& parameters);

/// sum_gradients() that starts during the backward sweep: a bucket of parameters is summed on a
/// background thread as soon as all its gradients are known, the last layers first (Li et al. 2020,
/// "PyTorch Distributed"). With one thread (set_num_threads) everything happens in finish().
///
///   OverlappedSum sum(model);                      // once, after broadcast_state()
///   …
///     adam.zero_grad();
///     backward(loss);                              // one sweep
//     sum.finish();                                // the same bits as sum_gradients()
///     adam.step();
///
/// From the start of the sweep to finish() ranks must not communicate otherwise.
class OverlappedSum {
 public:
  /// Buckets have about `bucket` elements each, all of one dtype. Throws Error, in all ranks, as
  /// sum_gradients() does, and if bucket sizes differ between ranks.
  explicit OverlappedSum(const ParameterSet& parameters, std::int64_t bucket = 1 << 20);
  ~OverlappedSum();  ///< Waits for sums that have started.
  OverlappedSum(const OverlappedSum&) = delete;
  OverlappedSum& operator=(const OverlappedSum&) = delete;

  /// Waits, and sets every parameter's gradient to its sum, as sum_gradients() does. Throws Error
  /// as that does; the sweep throws Error for a parameter that still has a gradient of an earlier
  /// sweep.
  void finish();

 private:
  struct Bucket {
    std::vector<Tensor> parameters, gradients;  // gradients are undefined until known
    std::shared_future<Tensor> sum = {};        // of all gradients, concatenated
    bool complete() const;
  };
  void take(Bucket& bucket, std::size_t place, const Tensor& gradient);
  void begin(std::size_t bucket);

  ParameterSet parameters_;  // in the order of the buckets
  std::vector<Bucket> buckets_;
  std::size_t begun_ = 0;  // buckets started, in the order common to all ranks
  std::vector<HookHandle> hooks_;
};

/// The parameters that this rank's optimizer updates, in order: each parameter that is not frozen
/// belongs to one rank, and ranks have about equal numbers of elements. Freezing or unfreezing
/// parameters changes the division: call it, and make the optimizer, again. Throws Error for fewer
/// trained parameters than ranks and, in all ranks, if parameters differ between ranks.
ParameterSet own_parameters(const ParameterSet& parameters);
/// Copies each parameter from the rank that owns it to all others. Call it after step() and before
/// zero_grad(). Throws Error, in all ranks, if parameters differ between ranks, and if a rank has
/// updated a parameter that another rank owns.
void share_parameters(const ParameterSet& parameters);

/// Copies parameters and buffers from rank `from` to all others. Throws Error, in all ranks, if
/// tensors differ between ranks: names, dtypes, shapes.
void broadcast_state(const Module& model, int from = 0);

/// Gives all ranks (core/extra/ranks/ranks.h) the exact gradients of all particles, after each rank
/// has run backward() for its share of the particles of a block, share_of(M). Call it before
/// apply(): then all ranks move all particles alike, while each computes only its own gradients.
/// Throws Error if blocks differ between ranks.
///   const ranks::Share mine = ranks::share_of(models.size());
///   for (i = mine.first; i < mine.last; ++i) backward(loss(*models[i]));
///   share_gradients(repulsion.particles());
///   repulsion.apply();
void share_gradients(const Particles& particles);

}  // namespace ladon
