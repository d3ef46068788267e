#pragma once
// Restoring tensors by name, wholly or in part.

#include <iosfwd>
#include <string>
#include <vector>

#include "ladon/core/state.h"

namespace ladon {

struct LoadOptions {
  /// Whether names and shapes must agree exactly. If not, what fits is loaded, and the report tells
  /// of the rest.
  bool strict = true;
  /// Entries whose names begin so are read, without it; others are passed over. "encoder." takes an
  /// encoder out of a whole model.
  std::string prefix = {};
};

/// Report of a load, entry by entry. Printed: a line for each that was not loaded.
struct LoadReport {
  struct Misfit {
    std::string name;
    Shape given, expected;
    DType given_dtype, expected_dtype;
  };
  std::vector<std::string> loaded;
  std::vector<std::string> missing;  ///< Here, and not in the state: left as it was.
  std::vector<std::string> surplus;  ///< In the state, and not here.
  std::vector<Misfit> misfits;       ///< Of another shape or kind of number: left as they were.

  bool complete() const { return missing.empty() && surplus.empty() && misfits.empty(); }
};
std::ostream& operator<<(std::ostream& out, const LoadReport& report);

namespace detail {

/// Copies `state` into the tensors of `own`, which share storage with the module; `state` may
/// contain the same tensors. Floating numbers and halves are cast. Throws Error of load_state_dict,
/// and changes nothing, where strictness is broken; where two names of one tied tensor have
/// different values (strict or not); where no entry has the prefix; and where nothing at all could
/// be loaded though there was something to load.
LoadReport load_state(const StateDict& own, const StateDict& state, const LoadOptions& options);
/// From a safetensors file that holds a state dict: a saved TrainingRun is an Error. Errors name
/// the file.
LoadReport load_state(const StateDict& own, const std::string& path, const LoadOptions& options);

}  // namespace detail
}  // namespace ladon
