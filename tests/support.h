#pragma once
// Helpers that the tests of all parts of the library use.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/tests/folders.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::test {

/// Expects `action` to throw Error with `fragment` in its message.
inline void expect_error(const std::function<void()>& action, const std::string& fragment) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one with: " << fragment;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos)
        << "message: " << error.what() << "\nexpected in it: " << fragment;
  }
}

/// Tensor of independent N(0, 1) numbers, f64.
inline Tensor gaussian(const Shape& shape, std::uint64_t seed = 1) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// Folder of real data sets next to the repository, which may not exist. Tests that need it are
/// then skipped.
inline std::filesystem::path shared_data() {
  return std::filesystem::path(source_folder()) / ".." / "shared" / "data";
}

}  // namespace ladon::test
