#pragma once
// The next batch is made while the program computes on this one.

#include <future>
#include <memory>
#include <utility>

#include "ladon/core/data/loader.h"
#include "ladon/core/held.h"
#include "ladon/core/machine/background.h"

namespace ladon {

/// A source of batches, one batch ahead of the program: a Loader, or anything else with its
/// `Batch`, next(), size(), position() and seek() (and state_dict() and load_state_dict(), where
/// these are called here), of which one thread at a time makes use.
///
/// Batches are the source's own, in its order, bit for bit: only *when* they are made differs. What
/// the source throws comes out of next(); a source that keeps its position then, as a Loader does,
/// is asked again by the following next(). At one thread (set_num_threads) a batch is made when it
/// is asked for. The destructor waits for the batch that is being made.
template <class Source>
class Prefetch {
 public:
  using Batch = typename Source::Batch;

  explicit Prefetch(Source source)
      : source_(std::make_unique<Source>(std::move(source))), position_(source_->position()) {
    start();
  }
  Prefetch(Prefetch&&) noexcept = default;
  Prefetch& operator=(Prefetch&&) = delete;

  Batch next() {
    if (!coming_.valid()) start();
    Batch batch = coming_.get();
    position_ = source().position();
    start();
    return batch;
  }
  std::int64_t size() const { return source().size(); }
  /// Position of the batch that next() gives: the one to save, whatever has been made ahead.
  DataPosition position() const { return position_; }
  void seek(const DataPosition& position) {
    go_back();
    source().seek(position);
    position_ = position;
    start();
  }
  /// The source's, at position(). The batch that is being made is made again.
  StateDict state_dict() const {
    go_back();
    return source().state_dict();
  }
  void load_state_dict(const StateDict& state) {
    go_back();
    source().load_state_dict(state);
    position_ = source().position();
    start();
  }

 private:
  /// Waits, and forgets what was made.
  void go_back() const {
    coming_ = {};
    source().seek(position_);
  }
  void start() {
    coming_ = parallel::in_background([source = &source()] { return source->next(); });
  }

  Source& source() const { return detail::held("Prefetch", source_); }

  std::unique_ptr<Source> source_;
  DataPosition position_;
  mutable std::future<Batch> coming_;  // after source_: it is destroyed first, and waits
};

/// prefetch(tensor_loader({x, y}, {}, rng)).next()
template <class Source>
Prefetch<Source> prefetch(Source source) {
  return Prefetch<Source>(std::move(source));
}

}  // namespace ladon
