#pragma once
// Checks that the programs of this folder make; a failed check prints a message.

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

#include "ladon/core/error.h"

/// Ends the program unless a and b differ by no more than `tolerance`.
inline void expect_near(const char* what, double a, double b, double tolerance) {
  if (std::abs(a - b) <= tolerance) return;
  std::cerr << what << ": " << a << ", expected " << b << " ± " << tolerance << '\n';
  std::exit(1);
}

/// Ends the program unless f throws Ladon's Error with these words in its message.
inline void expect_error(const std::string& words, const std::function<void()>& f) {
  try {
    f();
    std::cerr << "no Error, expected one that says: " << words << '\n';
  } catch (const ladon::Error& error) {
    if (std::string(error.what()).find(words) != std::string::npos) return;
    std::cerr << "the Error says: " << error.what() << ", expected: " << words << '\n';
  }
  std::exit(1);
}
