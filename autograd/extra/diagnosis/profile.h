#pragma once
// Profiler: number, time and memory of operations, by name and by the module that called them.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ladon/autograd/observer.h"
#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// While a Profile is alive, it counts and times the operations that are recorded on its thread,
/// and their gradients if backward() or grad() computes them on that thread:
///
///   Profile profile;
///   backward(cross_entropy(model(x), y));
///   std::cout << profile.table();
///
/// An operation with several results counts once per result. Its time is measured from the end of
/// the preceding operation (or from the beginning or end of a layer's call), so it includes other
/// work of the program in between, and operations that are not recorded because no input needs a
/// gradient or because of NoGrad. If two profiles exist on one thread, only the newer counts,
/// whatever the order in which they end. A profile may be destroyed on another thread, if its own
/// thread records nothing at that time. Without a profile, an operation pays only for a comparison
/// with null. A profile stores some 50 bytes per recorded operation until it ends: profile some
/// steps, not a whole training run.
class Profile final : private detail::Observer, private detail::Scoped<detail::Observer*> {
 public:
  Profile();

  struct Row {
    /// Path of the layer that called the operation: the description of the outermost layer, then
    /// the names of members down to the calling layer ({"Pair", "first"}); empty outside layers.
    std::vector<std::string> module;
    std::string operation;
    std::int64_t calls = 0;
    std::int64_t gradients = 0;   ///< Number of times that its gradient was computed.
    std::int64_t bytes = 0;       ///< Total size of its results.
    double seconds = 0;           ///< Total time of the calls.
    double gradient_seconds = 0;  ///< Total time of the gradients.
  };
  /// One row per module and operation, in the order in which they first ran.
  const std::vector<Row>& rows() const& { return rows_; }
  std::vector<Row> rows() && { return std::move(rows_); }
  /// Text table of the rows, nested by module, with a total per module; times in milliseconds,
  /// sizes in MB.
  std::string table() const;

 private:
  using Clock = std::chrono::steady_clock;
  class Gradient;

  void observe(const detail::Node& node, const Tensor& result) override;
  void enter(int depth, std::vector<std::string> module) override;
  void leave(int depth) override;
  std::shared_ptr<void> during_gradient(const detail::Node& node) override;
  std::size_t row_of(const std::vector<std::string>& module, const char* operation);

  std::vector<Row> rows_;
  std::map<std::pair<std::vector<std::string>, std::string>, std::size_t> places_;
  std::unordered_map<std::uint64_t, std::size_t> operations_;      // row of each node, by number
  std::vector<std::pair<int, std::vector<std::string>>> modules_;  // stack of running module calls
  int gradients_ = 0;  // number of gradients being computed, one inside the other
  Clock::time_point last_ = Clock::now();
  std::shared_ptr<Profile> alive_{this, [](Profile*) {}};  // tells a Gradient if the Profile exists
};

}  // namespace ladon
