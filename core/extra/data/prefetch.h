#pragma once
// Makes the next batch while the program computes on the current one.

#include <future>
#include <memory>
#include <utility>

#include "ladon/core/extra/data/loader.h"
#include "ladon/core/held.h"
#include "ladon/core/machine/background.h"

namespace ladon {

/// A source of batches that works one batch ahead of the program. Source is a Loader, or a class
/// with its `Batch`, next(), size(), position() and seek() (and state_dict() and load_state_dict(),
/// if these are called here). Only one thread at a time may use it.
///
/// Batches are those of the source, in its order, bit for bit: only *when* they are made differs.
/// next() rethrows exceptions of the source. The following call of next() then tries to make the
/// same batch again, if the source keeps its position on an exception, as a Loader does. If Ladon
/// uses one thread (set_num_threads), batches are made in next(). The destructor waits for the
/// batch in progress.
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
  /// Position of the batch that next() will return. Save this position, although the source may
  /// have made a later batch already.
  DataPosition position() const { return position_; }
  void seek(const DataPosition& position) {
    go_back();
    source().seek(position);
    position_ = position;
    start();
  }
  /// State of the source at position(). A batch that was made ahead is discarded and made again.
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
  /// Waits for the batch in progress, discards it, and moves the source back to the position of the
  /// batch that next() will return.
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
  mutable std::future<Batch> coming_;  // after source_, so destroyed before it
};

/// A Prefetch of the source: auto batches = prefetch(tensor_loader({x, y}, {}, rng)).
template <class Source>
Prefetch<Source> prefetch(Source source) {
  return Prefetch<Source>(std::move(source));
}

}  // namespace ladon
