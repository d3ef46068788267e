#pragma once
// Which items come next: an endless walk through a dataset in batches, that can be resumed anywhere.
//
//   Passes passes(images.size(0), 64, rng);
//   for (…) {
//     const Tensor chosen = passes.next();
//     const Tensor x = index_select(images, 0, chosen), y = index_select(labels, 0, chosen);

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/state.h"

namespace ladon {

/// Passes through 0 … count − 1, each in a random order of its own, cut into batches. The last batch of a
/// pass may be smaller; none is dropped. The order of pass e follows from rng.split(e) alone.
class Passes {
 public:
  /// Throws Error unless count and batch_size are at least 1.
  Passes(std::int64_t count, std::int64_t batch_size, const Generator& rng);

  /// The items of the next batch, i64 [B].
  Tensor next();

  /// Batches in a pass.
  std::int64_t size() const { return (count_ - 1) / batch_size_ + 1; }
  /// The pass that the next batch is of, from 0, and how many batches of it came before.
  std::int64_t pass() const { return pass_; }
  std::int64_t position() const { return position_; }

  /// "pass", "position", "count" and "batch_size" (i64, rank 0), and "generator" (i64 [3]).
  StateDict state_dict() const;
  /// Goes on there, with that generator. Throws Error, and changes nothing, where an entry does not fit,
  /// and for a state of another count or batch size.
  void load_state_dict(const StateDict& state);

 private:
  std::int64_t count_, batch_size_;
  Generator rng_;
  std::int64_t pass_ = 0, position_ = 0;
  Tensor order_;  ///< Of this pass; undefined before its first batch.
};

}  // namespace ladon
