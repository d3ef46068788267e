#pragma once
// The modes of a thread: how what it runs is computed, and what watches it.
//
// Each mode is set by a scope that users write (NoGrad, DetectAnomaly, ...), which is a Scoped of
// one member. What runs in a thread's place on another one, a piece of a loop (parallel.h) or a
// task in the background (background.h), has the same modes, without the watchers.

#include <cstdint>
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

class RecordDraws;
class ReplayDraws;

struct Modes {
  bool recording = true;                  ///< GradMode
  bool detecting = false;                 ///< DetectAnomaly
  bool composing = false;                 ///< ComposedForms
  bool rowwise = false;                   ///< RowwiseProducts
  const PackedWeights* packed = nullptr;  ///< PackedWeights
  bool pushing = false;                   ///< A tangent is being found (forward.h).
  std::uint64_t tangents_below = 2;  ///< Tangents of this level and above are not seen (forward.h).
  const mapped::Levels* mapped_levels = nullptr;  ///< mapped::Scope; null outside of one.
  bool looking = false;                           ///< LookThrough
  const char* sweeping = "";  ///< The operation whose gradient is being computed.

  /// Watchers of the calls of one thread, which no other may write to. A Profile, whose end need
  /// not be that of a scope, stands in profile.cpp.
  struct Watchers {
    RecordDraws* recorder = nullptr;
    ReplayDraws* player = nullptr;
    CountForms* counting = nullptr;
    ParameterUses* uses = nullptr;
  };
  Watchers watchers = {};

  /// Modes of a task: these, without the watchers.
  Modes of_task() const {
    Modes modes = *this;
    modes.watchers = {};
    return modes;
  }
};
inline constinit thread_local Modes modes;

/// Sets a mode, or all of them, while it is alive; to be made and to end on one thread, in
/// brackets.
template <class T>
class Scoped {
 public:
  Scoped(T& mode, std::type_identity_t<T> value)
      : mode_(mode), before_(std::exchange(mode, std::move(value))) {}
  ~Scoped() { mode_ = std::move(before_); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 protected:
  const T& before() const { return before_; }

 private:
  T& mode_;
  T before_;
};

}  // namespace detail
}  // namespace ladon
