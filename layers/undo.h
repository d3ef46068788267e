#pragma once
// Undoes what a call that throws has done to the arguments that it changes, such as a cache.

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
/// snapshots is again what it was at the beginning. Nothing is done about other arguments.
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
  int exceptions_ = std::uncaught_exceptions();  // a call may be made while another one unwinds
};
template <class T>
Undo(T&) -> Undo<T&>;

}  // namespace ladon::detail
