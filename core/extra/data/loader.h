#pragma once
// Batches, epoch after epoch, starting at any position.
//
// A batch depends only on the generator that its loader was made with, and on its position. So it
// suffices to save the position, two integers: a loader that is made in the same way and moved
// there continues bit for bit. (state_dict() saves the generator too.)
//
//   Loader<std::vector<Tensor>> train = tensor_loader({x, y}, {.batch_size = 64}, rng);
//   while (train.position().epoch < 10) {
//     const std::vector<Tensor> batch = train.next();
//     …
//   }

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/core/state.h"
#include "ladon/core/tensor.h"

namespace ladon {

struct LoaderOptions {
  std::int64_t batch_size = 32;
  bool shuffle = true;     ///< in a new order every epoch; otherwise in the items' order
  bool drop_last = false;  ///< leaves out a last batch of fewer items
  /// Batches of similar lengths when shuffled, for less padding: within every run of 32 batches of
  /// the random order, items are sorted by length before they are cut into batches.
  bool by_length = false;
};

/// Position of a loader: the batch that it gives next.
struct DataPosition {
  std::int64_t epoch = 0;  ///< starts at 0
  std::int64_t batch = 0;  ///< in the epoch, in [0, size())
  bool operator==(const DataPosition&) const = default;
};

/// Indices of the items of a batch.
using ItemIndices = std::vector<std::int64_t>;

/// Items 0 … n−1 in batches, with the remaining items in the last one: in order, or in a random
/// order that depends on the generator alone. `lengths`, one per item or none, act as by_length.
std::vector<ItemIndices> ordered_batches(std::int64_t n, std::int64_t batch_size);
std::vector<ItemIndices> random_batches(std::int64_t n, std::int64_t batch_size, Generator& rng,
                                        const std::vector<std::int64_t>& lengths = {});

/// Assignment of the items to the batches of each epoch.
class BatchPlan {
 public:
  /// Takes one block of the generator. Throws Error for a batch_size below 1, for no items, for
  /// fewer items than a batch with drop_last, and for `by_length` without a length per item.
  BatchPlan(std::int64_t items, const LoaderOptions& options, Generator& rng,
            std::vector<std::int64_t> lengths = {});

  /// Number of batches in an epoch.
  std::int64_t size() const { return size_; }
  std::vector<ItemIndices> epoch(std::int64_t epoch) const;
  /// A generator for one batch alone, for random draws while the batch is made.
  Generator generator(const DataPosition& position) const;
  /// Throws Error unless there is a batch at this position.
  void check(const DataPosition& position) const;

  /// "epoch" and "batch" of a position, "items", "batches" and "batch_size" (i64, rank 0), and
  /// "generator" (i64 [3]).
  StateDict state(const DataPosition& position) const;
  /// Restores the generator of a state, and returns the position in it. Throws Error, and changes
  /// nothing, if an entry does not fit or the state has another number of items or batches, or
  /// another batch_size.
  DataPosition restore(const StateDict& state);

 private:
  std::int64_t items_, size_;
  LoaderOptions options_;
  Generator rng_;
  std::vector<std::int64_t> lengths_;
};

/// An endless source of batches. Copies continue independently.
template <class T>
class Loader {
 public:
  using Batch = T;
  /// Makes the batch of these items; its random draws come from `rng`.
  using Make = std::function<Batch(const ItemIndices& items, Generator& rng)>;

  Loader(BatchPlan plan, Make make) : plan_(std::move(plan)), make_(std::move(make)) {}

  /// The batch at position(), which then advances, after the last batch to the next epoch. Where
  /// making the batch throws, the position stays.
  Batch next() {
    LADON_CHECK(make_, "Loader",
                "has no function that makes batches: it was moved from, or made with an empty one");
    if (planned_ != position_.epoch) {
      batches_ = plan_.epoch(position_.epoch);
      planned_ = position_.epoch;
    }
    Generator rng = plan_.generator(position_);
    Batch batch = make_(batches_[static_cast<std::size_t>(position_.batch)], rng);
    position_ = position_.batch + 1 < size() ? DataPosition{position_.epoch, position_.batch + 1}
                                             : DataPosition{position_.epoch + 1, 0};
    return batch;
  }
  /// Number of batches in an epoch.
  std::int64_t size() const { return plan_.size(); }
  DataPosition position() const { return position_; }
  /// Throws Error, and keeps its position, if no epoch has this position.
  void seek(const DataPosition& position) {
    plan_.check(position);
    position_ = position;
  }
  /// Position and plan, as BatchPlan::state(); a loader that loads the state continues from there.
  StateDict state_dict() const { return plan_.state(position_); }
  void load_state_dict(const StateDict& state) {
    position_ = plan_.restore(state);
    planned_ = -1;
  }

 private:
  BatchPlan plan_;
  Make make_;
  DataPosition position_;
  std::vector<ItemIndices> batches_;  // of the epoch `planned_`
  std::int64_t planned_ = -1;
};

/// Tensors [N, …] of equal N → batches of as many tensors [B, …], with row b of each from the same
/// item; any dtypes, copies without history. Throws Error if there is no tensor or their N differ,
/// and as BatchPlan does.
Loader<std::vector<Tensor>> tensor_loader(const std::vector<Tensor>& tensors,
                                          const LoaderOptions& options, Generator& rng);

}  // namespace ladon
