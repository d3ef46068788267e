#pragma once
// Checks of the parts of core/extra/ranks. All ranks (processes) call each function; a rank that
// finds an error throws, and mpirun then ends the others.

#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/tests/same_bits.h"
#include "ladon/tests/temporary_folder.h"

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

/// A temporary folder for all ranks, which the first rank creates and removes.
class SharedFolder {
 public:
  SharedFolder() : path_(ranks::from_first([&] { return folder_.emplace().path().string(); })) {}
  ~SharedFolder() {
    if (std::uncaught_exceptions() == 0) ranks::barrier();
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::optional<TemporaryFolder> folder_;
  std::filesystem::path path_;
};

void check_collectives();
void check_grams();
void check_training();
void check_factors();

/// Prints the times of some operations.
void measure();
void measure_bytes(std::int64_t n);

/// Computes a Gram matrix with its checkpoint in the folder; the last rank ends in the middle,
/// without an exception.
void die_in_gram(const std::filesystem::path& folder, bool stored);
/// Resumes that computation from its checkpoint.
void resume_gram(const std::filesystem::path& folder, bool stored);

}  // namespace ladon::test
