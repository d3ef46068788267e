#pragma once
// Owning pointer that can be copied; containers hold their layers through it.

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "ladon/core/error.h"

namespace ladon {

/// Owns an object of T or of a type derived from it. Copying it copies the object with its original
/// type, so that containers can be copied like all other layers.
template <class T>
class Owned {
 public:
  Owned() = default;
  /// Takes ownership of an object, given by value or by unique_ptr.
  template <std::derived_from<T> M>
  Owned(M object) : Owned(std::make_unique<M>(std::move(object))) {}  // NOLINT: implicit conversion
  template <std::derived_from<T> M>
  Owned(std::unique_ptr<M> object) : object_(std::move(object)) {  // NOLINT
    if constexpr (std::is_copy_constructible_v<M>)
      copy_ = [](const T& x) -> std::unique_ptr<T> {
        return std::make_unique<M>(static_cast<const M&>(x));
      };
  }

  /// Copies the object. Throws Error if its type is unknown (it was given as a pointer to T) or not
  /// copyable.
  Owned(const Owned& other) : copy_(other.copy_) {
    if (!other.object_) return;
    LADON_CHECK(
        copy_ != nullptr, "copy", "`", other.object_->describe(),
        "` cannot be copied: its type is not copyable, or it was given as a pointer to its base "
        "class; pass layers by value");
    object_ = copy_(*other.object_);
  }
  Owned(Owned&&) noexcept = default;
  Owned& operator=(Owned other) noexcept {
    std::swap(object_, other.object_);
    std::swap(copy_, other.copy_);
    return *this;
  }

  T* get() const { return object_.get(); }
  /// Both throw Error if this owns no object, for example after being moved from.
  T* operator->() const { return &**this; }
  T& operator*() const {
    LADON_CHECK(object_ != nullptr, "Owned",
                "there is no layer: its owner was moved from, or was never given one");
    return *object_;
  }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::unique_ptr<T> object_;
  std::unique_ptr<T> (*copy_)(const T&) = nullptr;
};

}  // namespace ladon
