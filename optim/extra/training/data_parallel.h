#pragma once
// Data-parallel training: several processes, called ranks (core/extra/ranks/ranks.h), train copies
// of one model, each rank on a part of every batch.
//
//   broadcast_state(model);                        // all ranks start with the parameters of rank 0
//   for (…) {
//     const ranks::Share mine = ranks::share_of(N);  // items of this batch
//     adam.zero_grad();
//     backward(mse_loss(model(rows(x, mine)), rows(y, mine)) * double(mine.last - mine.first) / N);
//     sum_gradients(model.parameters());
//     adam.step();                                 // the same step in all ranks
//   }
//
// An optimizer stores moments for each parameter (Adam stores two). The moments can be divided
// between ranks (ZeRO, stage 1; Rajbhandari et al. 2020): each rank has an optimizer for its own
// parameters only,
//
//   Adam adam(own_parameters(model));              // 1/ranks::count() of the state per rank
//   …
//     model.zero_grad();                           // of all parameters, not only this rank's
//     …
//     sum_gradients(model.parameters());
//     adam.step();
//     share_parameters(model);                     // the same bits as with complete optimizers
//
// Gradients summed over ranks are equal, bit for bit, to gradients accumulated over the same parts
// of a batch in one process (optimizer.h). Randomness that must differ between ranks, such as
// dropout or the order of a batch, needs a separate generator per rank: rng.split(ranks::rank()).

#include <cstdint>
#include <future>
#include <vector>

#include "ladon/autograd/hook.h"
#include "ladon/layers/module.h"
#include "ladon/optim/particles/particles.h"

namespace ladon {

/// Replaces the gradient of each parameter, f32 or f64, by its sum over ranks, in rank order. Call
/// it after backward() and before anything that reads gradients: particle methods, clipping,
/// step(). A gradient that is missing in some ranks counts as zeros there; a gradient that is
/// missing in all ranks stays missing. Throws Error, in all ranks, if parameters differ between
/// ranks in names, dtypes, shapes, order, or in which are frozen, and if a parameter was replaced
/// in any rank after the set was made (ParameterSet::check_in_place).
void sum_gradients(const ParameterSet& parameters);

/// sum_gradients() that runs during the backward pass: a bucket of parameters is summed on a
/// background thread as soon as all its gradients are known, the last layers first (Li et al. 2020,
/// "PyTorch Distributed"). With one thread (set_num_threads) all sums are computed in finish().
///
///   OverlappedSum sum(model);                      // once, after broadcast_state()
///   …
///     adam.zero_grad();
///     backward(loss);                              // exactly one backward pass
///     sum.finish();                                // the same bits as sum_gradients()
///     adam.step();
///
/// From the start of the backward pass until finish() ranks must not communicate in any other way.
class OverlappedSum {
 public:
  /// Divides the parameters into buckets of about `bucket` elements of one dtype. Throws, in all
  /// ranks, the Errors of sum_gradients(), and an Error if bucket sizes differ between ranks.
  explicit OverlappedSum(const ParameterSet& parameters, std::int64_t bucket = 1 << 20);
  ~OverlappedSum();  ///< Waits for sums that have started.
  OverlappedSum(const OverlappedSum&) = delete;
  OverlappedSum& operator=(const OverlappedSum&) = delete;

  /// Waits for all sums, and sets every parameter's gradient to its sum over ranks, as
  /// sum_gradients() does. Throws the Errors of sum_gradients(), and leaves the gradients as they
  /// are then. Construct the object again after Module::to, share_with or replace(), which put
  /// other tensors into the model. backward() throws Error for a parameter that still has a
  /// gradient of an earlier backward pass.
  void finish();

 private:
  struct Bucket {
    std::vector<Tensor> parameters, gradients;  // gradients are undefined until known
    std::shared_future<Tensor> sum = {};        // concatenated gradients, summed over ranks
    bool complete() const;
  };
  void take(Bucket& bucket, std::size_t place, const Tensor& gradient);
  void begin(std::size_t bucket);

  ParameterSet parameters_;  // in the order of the buckets
  std::vector<Bucket> buckets_;
  std::size_t begun_ = 0;  // number of sums started; all ranks start them in the order of buckets_
  std::vector<HookHandle> hooks_;
};

/// The parameters that this rank's optimizer is to update, in order. Each parameter that is not
/// frozen belongs to exactly one rank, and ranks have about equal numbers of elements. Freezing or
/// thawing parameters changes the division; then call own_parameters() and construct the optimizer
/// again. Throws Error if there are fewer trained parameters than ranks, and, in all ranks, if
/// parameters differ between ranks.
ParameterSet own_parameters(const ParameterSet& parameters);
/// Copies each parameter from the rank that owns it (own_parameters()) to all other ranks. Call it
/// after step() and before zero_grad(). Throws Error, in all ranks, if parameters differ between
/// ranks, and if a rank has updated a parameter that another rank owns.
void share_parameters(const ParameterSet& parameters);

/// Copies parameters and buffers from rank `from` to all other ranks. Throws Error, in all ranks,
/// if tensors differ between ranks in names, dtypes or shapes.
void broadcast_state(const Module& model, int from = 0);

/// Copies the gradients of particles between ranks, so that all ranks have the gradients of all M
/// particles of each block. Before this call, each rank must have run backward() for its part of
/// the particles, ranks::share_of(M). Call share_gradients() before apply(): then all ranks move
/// all particles in the same way, although each computes only a part of the gradients. Throws Error
/// if blocks differ between ranks.
///   const ranks::Share mine = ranks::share_of(models.size());
///   for (i = mine.first; i < mine.last; ++i) backward(loss(*models[i]));
///   share_gradients(repulsion.particles());
///   repulsion.apply();
void share_gradients(const Particles& particles);

}  // namespace ladon
