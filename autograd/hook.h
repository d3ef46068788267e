#pragma once
// Handle of a registered hook.

#include <functional>
#include <memory>
#include <utility>

namespace ladon {

/// Handle of a registered hook, by which it can be removed. Copies refer to the same hook;
/// destroying a handle does not remove the hook.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::function<void()> remove)
      : remove_(std::make_shared<std::function<void()>>(std::move(remove))) {}
  /// Removes the hook, if it is still registered.
  void remove() {
    if (remove_ && *remove_) std::exchange(*remove_, nullptr)();
  }

 private:
  std::shared_ptr<std::function<void()>> remove_;
};

}  // namespace ladon
