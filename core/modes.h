#pragma once
// Modes of a thread: how it computes, and which objects observe it.
//
// Each mode is set by a scope in users' code (NoGrad, DetectAnomaly, ...): a Scoped of one member.
// Scopes may end in any order. The pieces of a parallel loop (parallel.h) and background tasks
// (background.h) have the modes of the thread that started them, but none of its watchers. (A loop
// of a single piece is a plain call, which keeps the watchers.)

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ladon {

class CountForms;
class PackedWeights;
class ParameterUses;
namespace mapped {
class Levels;
}

namespace detail {

class Observer;
class RecordDraws;
class RecordReads;
class ReplayDraws;

/// The modes of one thread. Where the comment of a mode is a name, the scope of that name sets it.
struct Modes {
  bool recording = true;                  ///< GradMode
  bool detecting = false;                 ///< DetectAnomaly
  bool composing = false;                 ///< ComposedForms
  bool rowwise = false;                   ///< RowwiseProducts
  const PackedWeights* packed = nullptr;  ///< PackedWeights
  bool pushing = false;                   ///< A tangent is being computed (forward.h).
  std::uint64_t tangents_below = 2;  ///< Tangents of this level and above are ignored (forward.h).
  const mapped::Levels* mapped_levels = nullptr;  ///< mapped::Scope; null outside of any Scope.
  bool looking = false;                           ///< LookThrough
  const char* sweeping = "";  ///< Operation whose gradient the backward pass is computing.
  /// Restrictions of the living EvaluationScopes (autograd/evaluation.h), stored by value because a
  /// task may outlive the scopes.
  struct Evaluation {
    const char* operation = nullptr;  ///< Operation of the youngest scope; null if there is none.
    bool examples_alone = false;      ///< Whether any scope forbids batch statistics.
  };
  Evaluation evaluating = {};

  /// Observers of this thread's calls; other threads must not write to them.
  struct Watchers {
    Observer* observer = nullptr;
    RecordDraws* recorder = nullptr;
    ReplayDraws* player = nullptr;
    CountForms* counting = nullptr;
    ParameterUses* uses = nullptr;
    RecordReads* reads = nullptr;
  };
  Watchers watchers = {};

  /// Modes for a task that this thread starts: the same modes, without watchers.
  Modes of_task() const {
    Modes modes = *this;
    modes.watchers = {};
    return modes;
  }
};
inline constinit thread_local Modes modes;

/// Sets a mode for one block of code. It must be a local variable, because brackets must end in
/// reverse order of construction.
template <class T>
class Bracket {
 public:
  Bracket(T& mode, std::type_identity_t<T> value)
      : mode_(mode), before_(std::exchange(mode, std::move(value))) {}
  ~Bracket() { mode_ = std::move(before_); }
  Bracket(const Bracket&) = delete;
  Bracket& operator=(const Bracket&) = delete;

 private:
  T& mode_;
  T before_;
};

/// A scope in its thread's list of living scopes. A mode has the value of the youngest living scope
/// that sets it. When a scope ends out of order, the value it would restore passes to the next
/// younger scope of the same mode. So scopes may be held by pointer, replaced, and destroyed on
/// another thread, provided their own thread is not using the mode at that moment or has ended.
class LivingScope {
 protected:
  /// Writes `value` to the mode, both of `size` bytes, at most 8.
  LivingScope(void* mode, const void* value, std::size_t size);
  ~LivingScope();
  LivingScope(const LivingScope&) = delete;
  LivingScope& operator=(const LivingScope&) = delete;
  const std::byte* before() const { return before_; }

 private:
  struct Thread;
  Thread* thread_;
  void* mode_;
  std::size_t size_;
  std::byte before_[8];  // value that the mode gets when this scope ends
};

/// A scope that users may hold: it sets a mode of its thread while the scope is alive.
template <class T>
class Scoped : private LivingScope {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

 public:
  Scoped(T& mode, std::type_identity_t<T> value) : LivingScope(&mode, &value, sizeof(T)) {}

 protected:
  /// Value that the mode gets when this scope ends.
  T before() const {
    T value;
    std::memcpy(&value, LivingScope::before(), sizeof(T));
    return value;
  }
};

}  // namespace detail
}  // namespace ladon
