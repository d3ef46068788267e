#pragma once
// State of an object, to save and restore it: tensors by name.

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

/// State of a generator: i64 [3] with the bits of seed, stream and position.
Tensor state_of(const Generator& rng);
/// State of a counter: an i64 tensor of rank 0.
Tensor state_of(std::int64_t count);

/// Reads a state, entry by entry. A missing entry, or an entry of another dtype or shape, throws
/// Error naming the operation load_state_dict and the entry. An object that restores itself must
/// read all entries before it changes, so that an error leaves it as it was.
class StateReader {
 public:
  explicit StateReader(const StateDict& state) : state_(state) {}
  explicit StateReader(const StateDict&& temporary) = delete;

  bool has(const std::string& name) const { return state_.contains(name); }
  /// The entry of that name; the second form checks its dtype and shape.
  const Tensor& entry(const std::string& name);
  const Tensor& entry(const std::string& name, DType dtype, const Shape& shape);
  /// Throws Error if an element of a floating entry is NaN.
  void refuse_nan(const std::string& name);
  /// Values of an entry that must be an f64 of rank 0 (number), or an i64 of rank 0 that is not
  /// negative (count).
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
