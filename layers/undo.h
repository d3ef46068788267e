#pragma once
// Restores the arguments that a call changes, such as a cache, if the call throws.

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace ladon::detail {

/// A type whose objects can be put back into an earlier state, which x.snapshot() returns.
template <class T>
concept HasSnapshot = std::is_nothrow_move_assignable_v<T> && requires(const T& x) {
  { x.snapshot() } -> std::same_as<T>;
};

/// An argument of type `Argument` during a call. If an exception leaves the block in which this
/// object lives, an argument that the call may change (an lvalue that is not const) and that has
/// snapshots is restored to its value at the beginning. Other arguments are left as they are.
template <class Argument>
class Undo {
 public:
  explicit Undo(const std::remove_reference_t<Argument>&) {}
};

template <HasSnapshot T>
class Undo<T&> {
 public:
  explicit Undo(T& x) : x_(x), before_(x.snapshot()) {}
  ~Undo() {
    if (std::uncaught_exceptions() > exceptions_) x_ = std::move(before_);
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

 private:
  T& x_;
  T before_;
  // Not 0 if the call is made by a destructor while an earlier exception unwinds the stack.
  int exceptions_ = std::uncaught_exceptions();
};
template <class T>
Undo(T&) -> Undo<T&>;

}  // namespace ladon::detail
