#pragma once
// Loading of tensors by name, all of them or those that fit.

#include <iosfwd>
#include <string>
#include <vector>

#include "ladon/core/state.h"

namespace ladon {

struct LoadOptions {
  /// Whether names and shapes must agree exactly. If false, the tensors that fit are loaded, and
  /// the report lists the others.
  bool strict = true;
  /// Only entries whose names begin with this prefix are read, and the prefix is removed from their
  /// names. "encoder." loads the encoder from the state of a whole model.
  std::string prefix = {};
};

/// Report of a load, entry by entry. operator<< prints one line per entry that was not loaded.
struct LoadReport {
  struct Misfit {
    std::string name;
    Shape given, expected;
    DType given_dtype, expected_dtype;
  };
  std::vector<std::string> loaded;
  std::vector<std::string> missing;  ///< In the module but not in the state: left unchanged.
  std::vector<std::string> surplus;  ///< In the state but not in the module.
  std::vector<Misfit> misfits;       ///< Different shape or kind of dtype: left unchanged.

  bool complete() const { return missing.empty() && surplus.empty() && misfits.empty(); }
};
std::ostream& operator<<(std::ostream& out, const LoadReport& report);

namespace detail {

/// Throws Error for an expanded tensor, which repeats elements along an axis. Call this for all
/// tensors before writing to the first of them.
void check_writable(const char* operation, const std::string& name, const Tensor& x);

/// Copies `state` into the tensors of `own`, which share storage with the module; `state` may
/// contain the same tensors. Floating and half-precision dtypes are cast. Throws Error, and changes
/// nothing, if a strict load does not fit (as load_state_dict); if two names of one tied tensor, or
/// two tensors that share memory, have different values for one element (strict or not); if a
/// finite element is beyond the range of the module's dtype; if a tensor of the module is expanded;
/// if no entry has the prefix; and if `own` is not empty but no tensor can be loaded.
LoadReport load_state(const StateDict& own, const StateDict& state, const LoadOptions& options);
/// Calls load_state() with the state dict in a safetensors file. Throws Error for the file of a
/// saved TrainingRun. Errors name the file.
LoadReport load_state(const StateDict& own, const std::string& path, const LoadOptions& options);

}  // namespace detail
}  // namespace ladon
