#pragma once
// A pointer to a layer that belongs to one container.

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "ladon/core/error.h"

namespace ladon {

/// Owns an object of T or of a type derived from it. Copying copies the object with the type it had
/// when it was given, so that containers are copied as all other layers are.
template <class T>
class Owned {
 public:
  Owned() = default;
  /// Takes an object, by value or by unique_ptr.
  template <std::derived_from<T> M>
  Owned(M object)
      : Owned(std::make_unique<M>(std::move(object))) {}  // NOLINT: implicit, as both are
  template <std::derived_from<T> M>
  Owned(std::unique_ptr<M> object) : object_(std::move(object)) {  // NOLINT
    if constexpr (std::is_copy_constructible_v<M>)
      copy_ = [](const T& x) -> std::unique_ptr<T> {
        return std::make_unique<M>(static_cast<const M&>(x));
      };
  }

  /// Throws Error for an object whose type is not known (it came as a pointer to T) or has no
  /// copies.
  Owned(const Owned& other) : copy_(other.copy_) {
    if (!other.object_) return;
    LADON_CHECK(copy_ != nullptr, "copy", "`", other.object_->describe(),
                "` cannot be copied: its type has no copies, or was not known to its container; "
                "give layers by value");
    object_ = copy_(*other.object_);
  }
  Owned(Owned&&) noexcept = default;
  Owned& operator=(Owned other) noexcept {
    std::swap(object_, other.object_);
    std::swap(copy_, other.copy_);
    return *this;
  }

  T* get() const { return object_.get(); }
  /// Throw Error where there is none, as in a moved-from owner.
  T* operator->() const { return &**this; }
  T& operator*() const {
    LADON_CHECK(object_ != nullptr, "Owned", "there is no layer: its owner was moved from");
    return *object_;
  }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::unique_ptr<T> object_;
  std::unique_ptr<T> (*copy_)(const T&) = nullptr;
};

}  // namespace ladon
