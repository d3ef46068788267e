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

#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

namespace detail {
class Node;
}  // namespace detail

/// While one is alive, the operations that are recorded on this thread are counted and timed, and
/// their gradients where backward() or grad() computes them on this thread:
///
///   Profile profile;
///   backward(cross_entropy(model(x), y));
///   std::cout << profile.table();
///
/// An operation of several results counts once for each. Its time is what passed since the one
/// before it ended (or a layer's call began or ended), so what a program does between its
/// operations is counted too, with the next one. What is not recorded, for want of a gradient or
/// under NoGrad, is no operation here: its time is the next one's. Of two profiles on one thread
/// the one made later counts, in whatever order they end; one may end on another thread, while its
/// own records nothing. Where none is alive an operation costs nothing but the question. It
/// remembers each recorded operation while it lives (some 50 bytes): profile some steps, not a
/// whole training.
class Profile : private detail::Scoped<Profile*> {
 public:
  Profile();

  struct Row {
    /// Path of the caller: the layer that was called first, as it describes itself, then the names
    /// of members down to the one that called the operation ({"Pair", "first"}); none outside of
    /// layers.
    std::vector<std::string> module;
    std::string operation;
    std::int64_t calls = 0;
    std::int64_t gradients = 0;   ///< Number of computations of its gradient.
    std::int64_t bytes = 0;       ///< Of its results.
    double seconds = 0;           ///< Of the calls.
    double gradient_seconds = 0;  ///< Of the gradients.
  };
  /// One per operation of a module, in the order in which they first ran.
  const std::vector<Row>& rows() const { return rows_; }
  /// Text table of the rows, nested by module, with a total per module; times in milliseconds,
  /// sizes in MB.
  std::string table() const;

  // --- for the graph and for layers ---

  /// Profile that counts the operations of this thread; null if there is none.
  static Profile* current() { return detail::modes.watchers.profile; }
  void record(const detail::Node& node, const Tensor& result);
  /// A layer is called inside of `depth` others; its call ends.
  void enter(int depth, std::vector<std::string> module);
  void leave(int depth);

  /// Times one gradient while it is alive; nothing without a profile.
  class Gradient {
   public:
    explicit Gradient(const detail::Node& node);
    ~Gradient();
    Gradient(const Gradient&) = delete;
    Gradient& operator=(const Gradient&) = delete;

   private:
    std::weak_ptr<Profile> profile_;  // which a gradient may end
    std::size_t row_ = 0;
    std::chrono::steady_clock::time_point begin_;
  };

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t row_of(const std::vector<std::string>& module, const char* operation);

  std::vector<Row> rows_;
  std::map<std::pair<std::vector<std::string>, std::string>, std::size_t> places_;
  std::unordered_map<std::uint64_t, std::size_t> recorded_;        // nodes by number: their rows
  std::vector<std::pair<int, std::vector<std::string>>> modules_;  // that are being called
  int gradients_ = 0;                                              // that are being computed
  Clock::time_point last_ = Clock::now();
  std::shared_ptr<Profile> alive_{this, [](Profile*) {}};  // owns nothing: it tells that this lives
};

}  // namespace ladon
