#include "ladon/core/modes.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace ladon::detail {

/// The living scopes of one thread in the order in which they were made. If scopes outlive the
/// thread, the list outlives it too, and the last of these scopes frees it.
struct LivingScope::Thread {
  std::mutex mutex;
  std::vector<LivingScope*> living;
  bool ended = false;  // the thread has ended: its modes are gone

  static Thread& here();
};

LivingScope::Thread& LivingScope::Thread::here() {
  static constinit thread_local Thread* mine = nullptr;
  struct End {
    ~End() {
      Thread* const thread = std::exchange(mine, nullptr);
      std::unique_lock lock(thread->mutex);
      thread->ended = true;
      const bool unused = thread->living.empty();
      lock.unlock();
      if (unused) delete thread;
    }
  };
  if (!mine) {
    mine = new Thread;
    static thread_local const End end;
  }
  return *mine;
}

LivingScope::LivingScope(void* mode, const void* value, std::size_t size)
    : thread_(&Thread::here()), mode_(mode), size_(size) {
  const std::lock_guard lock(thread_->mutex);
  thread_->living.push_back(this);
  std::memcpy(before_, mode_, size_);
  std::memcpy(mode_, value, size_);
}

LivingScope::~LivingScope() {
  std::unique_lock lock(thread_->mutex);
  std::vector<LivingScope*>& living = thread_->living;
  const auto own = std::find(living.begin(), living.end(), this);
  const auto above = std::find_if(own + 1, living.end(),
                                  [this](const LivingScope* s) { return s->mode_ == mode_; });
  if (above != living.end())
    std::memcpy((*above)->before_, before_, size_);
  else if (!thread_->ended)
    std::memcpy(mode_, before_, size_);
  living.erase(own);
  const bool unused = thread_->ended && living.empty();
  lock.unlock();
  if (unused) delete thread_;
}

}  // namespace ladon::detail
