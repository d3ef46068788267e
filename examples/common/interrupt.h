#pragma once
// Ctrl-C: a long run ends after its present step, and keeps what is finished.

namespace ladon::example {

/// Thrown where a run that was asked to end does so. Not an error: nothing went wrong.
struct Interrupted {};

/// From now on the first SIGINT (Ctrl-C) or SIGTERM only leaves a mark; the next one ends the
/// process at once. A signal that the process was started to ignore stays ignored.
void catch_interrupts();

/// Throws Interrupted if there is a mark. To be called between steps of a second or less.
void stop_if_interrupted();

/// Runs `body`; whether it came to its end, uninterrupted.
template <class F>
bool ran_to_the_end(const F& body) {
  try {
    body();
    return true;
  } catch (const Interrupted&) {
    return false;
  }
}

}  // namespace ladon::example
