#pragma once
// What is switched on for one thread.

#include <utility>

namespace ladon::detail {

/// Each is set by a scope of its own, which users write, and handed on as a whole to what another thread
/// does in this one's place (background.h).
struct Modes {
  bool recording = true;   ///< GradMode
  bool detecting = false;  ///< DetectAnomaly
  bool composing = false;  ///< ComposedForms
  bool rowwise = false;    ///< RowwiseProducts
};
inline constinit thread_local Modes modes;

/// Those of another thread, while it is alive.
class UnderModes {
 public:
  explicit UnderModes(const Modes& given) : before_(std::exchange(modes, given)) {}
  ~UnderModes() { modes = before_; }
  UnderModes(const UnderModes&) = delete;
  UnderModes& operator=(const UnderModes&) = delete;

 private:
  Modes before_;
};

}  // namespace ladon::detail
