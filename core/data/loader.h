#pragma once
// Batches, epoch after epoch, from any place on.
//
// Everything about a batch follows from the generator that its loader was made with and from the
// batch's position. So a position, two integers, is all there is to save: a loader that is made in
// the same way again and put there goes on bit for bit. (state_dict has the generator too.)
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
  bool shuffle = true;     ///< in a new order every epoch; otherwise the items' own
  bool drop_last = false;  ///< leaves out the batch of fewer items, where there is one
  /// Batches of similar lengths when shuffled, for less padding: within every run of 32 batches of
  /// the random order, items are sorted by length before they are cut into batches.
  bool by_length = false;
};

/// Position of a loader: the batch that it gives next.
struct DataPosition {
  std::int64_t epoch = 0;  ///< from 0 on
  std::int64_t batch = 0;  ///< in the epoch, in [0, size())
  bool operator==(const DataPosition&) const = default;
};

/// The numbers of some items.
using ItemIndices = std::vector<std::int64_t>;

/// The items 0 … n−1 in batches, the last of them of what is left: in order, or in an order that
/// depends on the generator alone, by `lengths` (one per item) unless that is empty.
std::vector<ItemIndices> ordered_batches(std::int64_t n, std::int64_t batch_size);
std::vector<ItemIndices> random_batches(std::int64_t n, std::int64_t batch_size, Generator& rng,
                                        const std::vector<std::int64_t>& lengths = {});

/// Which items each batch of each epoch has.
class BatchPlan {
 public:
  /// Takes one block of the generator. Throws Error for a batch_size below 1, for no items, for
  /// fewer than a batch where the last is dropped, and for `by_length` without a length per item.
  BatchPlan(std::int64_t items, const LoaderOptions& options, Generator& rng,
            std::vector<std::int64_t> lengths = {});

  /// Number of batches in an epoch.
  std::int64_t size() const { return size_; }
  std::vector<ItemIndices> epoch(std::int64_t epoch) const;
  /// A generator for one batch alone, for what is drawn as it is made.
  Generator generator(const DataPosition& position) const;
  /// Throws Error unless there is such a batch.
  void check(const DataPosition& position) const;

  /// "epoch" and "batch" of a position, "items", "batches" and "batch_size" (i64, rank 0), and
  /// "generator" (i64 [3]).
  StateDict state(const DataPosition& position) const;
  /// Takes the generator of a state, and returns its position. Throws Error, and changes nothing,
  /// where an entry does not fit, and for a state of another number of items, batches, or items a
  /// batch.
  DataPosition restore(const StateDict& state);

 private:
  std::int64_t items_, size_;
  LoaderOptions options_;
  Generator rng_;
  std::vector<std::int64_t> lengths_;
};

/// A source of batches that does not end. Copies go on by themselves.
template <class T>
class Loader {
 public:
  using Batch = T;
  /// Makes the batch of these items; what it draws comes from the generator given.
  using Make = std::function<Batch(const ItemIndices& items, Generator& rng)>;

  Loader(BatchPlan plan, Make make) : plan_(std::move(plan)), make_(std::move(make)) {}

  /// The batch at position(), which moves on; to the next epoch after the last. If making it
  /// throws, the position stays.
  Batch next() {
    LADON_CHECK(make_, "Loader",
                "nothing makes its batches: it was moved from, or made of an empty function");
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
  /// Throws Error, and stays where it is, for a position that no epoch has.
  void seek(const DataPosition& position) {
    plan_.check(position);
    position_ = position;
  }
  /// Position and plan, as BatchPlan's state; the loader that it is given to goes on from there.
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

/// Tensors [N, …] with one N → batches of as many [B, …], row b of each being of the same item; any
/// dtypes, copies without history. Throws Error unless there are tensors, of one N, and as
/// BatchPlan.
Loader<std::vector<Tensor>> tensor_loader(const std::vector<Tensor>& tensors,
                                          const LoaderOptions& options, Generator& rng);

}  // namespace ladon
