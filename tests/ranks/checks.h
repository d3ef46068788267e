#pragma once
// What each part of the rank test checks. All ranks call each function; one that finds something wrong
// throws, and mpirun ends the others.

#include <stdexcept>
#include <string>

#include "ladon/core/error.h"
#include "ladon/core/ranks.h"

namespace ladon::test {

inline void require(bool held, const char* what) {
  if (!held)
    throw std::runtime_error("rank " + std::to_string(ranks::rank()) + ": not so: " + what);
}

template <class F>
void require_error(const F& f, const std::string& part, const char* what) {
  try {
    f();
  } catch (const Error& error) {
    return require(std::string(error.what()).find(part) != std::string::npos, error.what());
  }
  require(false, what);
}

void check_collectives();

}  // namespace ladon::test
