#pragma once
// Helpers for the checks of exercises: they compare results and say why a solution is wrong.
//
// In exercise NAME of a lesson the student writes a function of that name. `exercises/exercises.h`
// declares the function and its check, check_NAME(function); `exercises/NAME.cpp` is the student's
// file, with a hole, the part to be written; `exercises/solutions/NAME.cpp` has the hole filled.
// Solutions include only exercises.h.

#include <cmath>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ladon/ladon.h"

namespace ladon::lessons {

/// Error of a check that fails: why the solution is wrong, in the terms of the lesson.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Error of an exercise whose hole is not filled yet.
class Hole : public Wrong {
 public:
  using Wrong::Wrong;
};

/// Marks a hole: throws Hole with a description of what is to be written there.
[[noreturn]] void to_do(const std::string& what);

/// Result of a typical wrong solution, and the message for a student whose solution returns this
/// result: "keys and queries are swapped".
struct Mistake {
  Mistake(Tensor is, std::string because) : result(std::move(is)), reason(std::move(because)) {}
  Mistake(double is, std::string because) : Mistake(scalar(is, f64), std::move(because)) {}

  Tensor result;
  std::string reason;
};

/// Throws Wrong unless the student's result `yours` has the shape of the correct result `right` and
/// equals it in every element to within `tolerance` times the largest magnitude in `right`. The
/// message is that of the first of the `mistakes` whose result equals `yours`; if there is none, it
/// gives the position of the largest difference. `what` names the result: "the gradient of b".
void compare(const std::string& what, const Tensor& yours, const Tensor& right,
             const std::vector<Mistake>& mistakes = {}, double tolerance = 1e-9);

/// compare() for two numbers.
void compare(const std::string& what, double yours, double right,
             const std::vector<Mistake>& mistakes = {}, double tolerance = 1e-9);

/// Throws Wrong with the reason unless the condition holds.
void require(bool condition, const std::string& reason);

/// An argument of a call as text: "tensor [2, 3]", "{1, 0.5}", "24 numbers"; other types as their
/// operator<< prints them, or "…" if they have none.
std::string described(const Tensor& x);
std::string described(const std::vector<double>& numbers);
template <class T>
std::string described(const T& x) {
  if constexpr (requires(std::ostream & out) { out << x; })
    return detail::join(x);
  else
    return "…";
}

/// Prints a line with the number of this call and its arguments: "call 3: (tensor [2, 3], 0.5)".
void announce(const std::string& arguments);

/// Wraps a student's function so that each call is announced before it runs: if it crashes or never
/// returns, its arguments are on the last line printed.
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
