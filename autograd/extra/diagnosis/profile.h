#pragma once
// Profiler: time of operations by name, inside the modules that called them.

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

/// While one is alive, the operations that are recorded on this thread are counted and timed, and
/// their gradients where backward() or grad() computes them on this thread:
///
///   Profile profile;
///   backward(cross_entropy(model(x), y));
///   std::cout << profile.table();
///
/// An operation with several results counts once for each. Its time runs from the end of the
/// operation before it (or from the begin or end of a layer's call), so what a program does between
/// operations is added to the next one. What is not recorded, because nothing needs a gradient or
/// under NoGrad, is not counted as an operation: its time is added to the next one too. Of two
/// profiles on one thread only the newer one counts, in whatever order they end; a profile may end
/// on another thread while that thread's own one records nothing. Without a profile an operation
/// pays only for the check. A profile remembers each recorded operation while it lives (some 50
/// bytes): profile some steps, not a whole training.
class Profile final : private detail::Observer, private detail::Scoped<detail::Observer*> {
 public:
  Profile();

  struct Row {
    /// Path of the caller: the outermost layer, as it describes itself, then the names of members
    /// down to the layer that called the operation ({"Pair", "first"}); empty outside layers.
    std::vector<std::string> module;
    std::string operation;
    std::int64_t calls = 0;
    std::int64_t gradients = 0;   ///< Number of computations of its gradient.
    std::int64_t bytes = 0;       ///< Total size of its results.
    double seconds = 0;           ///< Total time of the calls.
    double gradient_seconds = 0;  ///< Total time of the gradients.
  };
  /// One per operation of a module, in the order in which they first ran.
  const std::vector<Row>& rows() const { return rows_; }
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
  int gradients_ = 0;  // gradients being computed, nested
  Clock::time_point last_ = Clock::now();
  std::shared_ptr<Profile> alive_{this, [](Profile*) {}};  // owns nothing; expires with this
};

}  // namespace ladon
