#pragma once
// Helpers for the checks of exercises: they compare results and say why a solution is wrong.
//
// Exercise NAME of a lesson asks for a function of that name. `exercises/exercises.h` declares it
// and its check, check_NAME(function); `exercises/NAME.cpp` is the student's file, with a hole;
// `exercises/solutions/NAME.cpp` has the hole filled. Solutions need no include but exercises.h.

#include <cmath>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ladon/ladon.h"

namespace ladon::lessons {

/// Reason why a solution is wrong, in terms of the subject.
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

/// Result of a typical wrong solution, and the message for a solution that returns it: "keys and
/// queries are swapped".
struct Mistake {
  Mistake(Tensor is, std::string because) : result(std::move(is)), reason(std::move(because)) {}
  Mistake(double is, std::string because) : Mistake(scalar(is, f64), std::move(because)) {}

  Tensor result;
  std::string reason;
};

/// Throws Wrong unless `yours` has the shape of `right` and equals it in every element to within
/// `tolerance` times the largest magnitude in `right`. The message is that of the first mistake
/// with the same result; otherwise it gives the place of the largest difference. `what` names the
/// result: "the gradient of b".
void compare(const std::string& what, const Tensor& yours, const Tensor& right,
             const std::vector<Mistake>& mistakes = {}, double tolerance = 1e-9);

/// The same for two numbers.
void compare(const std::string& what, double yours, double right,
             const std::vector<Mistake>& mistakes = {}, double tolerance = 1e-9);

/// Throws Wrong with the reason unless the condition holds.
void require(bool condition, const std::string& reason);

/// An argument as text: "tensor [2, 3]", "{1, 0.5}", "24 numbers"; other types as operator<< prints
/// them, or "…" if it cannot.
std::string described(const Tensor& x);
std::string described(const std::vector<double>& numbers);
template <class T>
std::string described(const T& x) {
  if constexpr (requires(std::ostream & out) { out << x; })
    return detail::join(x);
  else
    return "…";
}

/// Prints "call 3: (tensor [2, 3], 0.5)" on a line, with the number of this call.
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
