#pragma once
// Words in which an exercise's check says what is wrong with a solution.
//
// An exercise NAME of a lesson is a function of that name. `exercises/exercises.h` declares it with
// its check, check_NAME(function); `exercises/NAME.cpp` is the student's file, with a hole;
// `exercises/solutions/NAME.cpp` has the hole filled. Solutions need no include besides.

#include <cmath>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ladon/ladon.h"

namespace ladon::lessons {

/// Reason why a solution is wrong, in the terms of the subject.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Error of an exercise whose hole is not filled yet.
class Hole : public Wrong {
 public:
  using Wrong::Wrong;
};

/// Stands in a hole, and says what is to be written there.
[[noreturn]] void to_do(const std::string& what);

/// Result of a typical wrong solution, and the reason that a check gives for it: "keys and queries
/// are swapped".
struct Mistake {
  Mistake(Tensor is, std::string because) : result(std::move(is)), reason(std::move(because)) {}
  Mistake(double is, std::string because) : Mistake(scalar(is, f64), std::move(because)) {}

  Tensor result;
  std::string reason;
};

/// Throws Wrong unless `yours` equals `right` in shape, and in every element within `tolerance` of
/// the largest element's size. The reason is that of the first mistake whose result it equals; of
/// anything else it is where both differ most. `what` names the result: "the gradient of b".
void compare(const std::string& what, const Tensor& yours, const Tensor& right,
             const std::vector<Mistake>& mistakes = {}, double tolerance = 1e-9);

/// The same of numbers.
void compare(const std::string& what, double yours, double right,
             const std::vector<Mistake>& mistakes = {}, double tolerance = 1e-9);

/// Throws Wrong with the reason unless the condition holds.
void require(bool condition, const std::string& reason);

/// An argument in words: "tensor [2, 3]", "{1, 0.5}", "24 numbers", and what can be printed as it
/// is.
std::string described(const Tensor& x);
std::string described(const std::vector<double>& numbers);
template <class T>
std::string described(const T& x) {
  if constexpr (requires(std::ostream & out) { out << x; })
    return detail::join(x);
  else
    return "…";
}

/// Prints "call 3: (tensor [2, 3], 0.5)" in a line of its own, and counts on.
void announce(const std::string& arguments);

/// A student's function, which announces each call first: of one that crashes or never ends this
/// line is all that is left.
template <auto function, class Result, class... Arguments>
Result announced(Arguments... arguments) {
  std::string all;
  ((all += (all.empty() ? "" : ", ") + described(arguments)), ...);
  announce(all);
  return function(std::forward<Arguments>(arguments)...);
}

/// Runs a check, prints its outcome in one line, and returns the exit status: 0 when passed.
int verdict(const std::function<void()>& check);

}  // namespace ladon::lessons
