#pragma once
// States: named tensors that an object is saved as and restored from.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Tensors by dotted name, e.g. "encoder.0.attention.query".
using StateDict = std::map<std::string, Tensor>;

namespace detail {

/// A generator as i64 [3]: the bits of seed, stream and position.
Tensor state_of(const Generator& rng);
/// An i64 of rank 0.
Tensor state_of(std::int64_t count);

/// Reads a state, entry by entry. An entry that does not fit throws Error of load_state_dict, which
/// names it. So an object that restores itself first reads all entries, and changes only then.
class StateReader {
 public:
  explicit StateReader(const StateDict& state) : state_(state) {}
  explicit StateReader(const StateDict&& temporary) = delete;

  bool has(const std::string& name) const { return state_.contains(name); }
  /// The entry of that name; the second form checks its dtype and shape.
  const Tensor& entry(const std::string& name);
  const Tensor& entry(const std::string& name, DType dtype, const Shape& shape);
  /// An f64 of rank 0, and an i64 of rank 0 that is not negative.
  double number(const std::string& name);
  std::int64_t count(const std::string& name);
  /// The generator that state_of saved.
  Generator generator(const std::string& name);
  /// Throws Error listing the entries that were not read, if there are any; `who` names the reader
  /// ("this optimizer").
  void finish(const std::string& who) const;

 private:
  const StateDict& state_;
  std::set<std::string> used_;
};

}  // namespace detail
}  // namespace ladon
