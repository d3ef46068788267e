#pragma once
// Batches, epoch after epoch, starting at any position.
//
// A batch depends only on its position and on the generator that its loader was made with. So it
// suffices to save the position, two integers: a loader that is made in the same way and moved to
// this position (seek) continues bit for bit. (state_dict() saves the generator too.)
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
  bool shuffle = true;     ///< a new random order in every epoch; if false, the order of the items
  bool drop_last = false;  ///< leaves out the last batch of an epoch if it has fewer items
  /// Makes batches of items of similar lengths, for less padding: the items of every 32 batches of
  /// the random order are sorted by length before they are cut into batches. Needs shuffle.
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

/// Items 0 … n−1 cut into batches; the last batch may be smaller. Items are in order, or in a
/// random order that depends on the generator alone. If `lengths` is not empty, it has one length
/// per item, and batches have similar lengths as with LoaderOptions::by_length.
std::vector<ItemIndices> ordered_batches(std::int64_t n, std::int64_t batch_size);
std::vector<ItemIndices> random_batches(std::int64_t n, std::int64_t batch_size, Generator& rng,
                                        const std::vector<std::int64_t>& lengths = {});

/// Assignment of the items to the batches of each epoch.
class BatchPlan {
 public:
  /// Draws one block of random words from `rng` (random.h), which seeds all epochs. Throws Error if
  /// batch_size < 1, if items < 1, if drop_last is set and there are fewer items than batch_size,
  /// if by_length is set without shuffle or without a length for each item, or if lengths are given
  /// but not one for each item.
  BatchPlan(std::int64_t items, const LoaderOptions& options, Generator& rng,
            std::vector<std::int64_t> lengths = {});

  /// Number of batches in an epoch.
  std::int64_t size() const { return size_; }
  std::vector<ItemIndices> epoch(std::int64_t epoch) const;
  /// A generator for one batch alone, for random draws while the batch is made.
  Generator generator(const DataPosition& position) const;
  /// Throws Error unless there is a batch at this position.
  void check(const DataPosition& position) const;

  /// State with the entries "epoch" and "batch" (of the position), "items", "batches", "batch_size"
  /// and "order" (0: the items' order, 1: random, 2: random and by length), all i64 of rank 0, and
  /// "generator" (i64 [3]).
  StateDict state(const DataPosition& position) const;
  /// Restores the generator of a state, and returns the position of the state. Throws Error, and
  /// changes nothing, if an entry is missing or has another dtype or shape, or if the number of
  /// items or batches, batch_size, or the kind of order differs from that of this plan.
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

  /// Returns the batch at position() and advances the position; after the last batch of an epoch
  /// comes the first of the next epoch. If making the batch throws, the position does not change.
  Batch next() {
    LADON_CHECK(make_, "Loader",
                "has no function that makes batches: it was moved from, or made with an empty "
                "function");
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
  /// Moves to a position. Throws Error, and does not move, if no epoch has this position.
  void seek(const DataPosition& position) {
    plan_.check(position);
    position_ = position;
  }
  /// State of the position and the plan (BatchPlan::state()). A loader that loads this state
  /// continues from the saved position.
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

/// Loader of items that are the rows of one or more tensors [N, …] with the same N. A batch has one
/// tensor [B, …] for each of them, and row b of all of these tensors belongs to the same item. Any
/// dtypes; batches are copies without history. Throws Error if there is no tensor or if N differs,
/// and whenever BatchPlan throws it.
Loader<std::vector<Tensor>> tensor_loader(const std::vector<Tensor>& tensors,
                                          const LoaderOptions& options, Generator& rng);

}  // namespace ladon
