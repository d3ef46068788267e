#pragma once
// Ctrl-C: a long run ends after its current step, and keeps the results that are finished.

namespace ladon::example {

/// Thrown to end an interrupted run. Not an error: nothing went wrong.
struct Interrupted {};

/// Installs a signal handler: the first SIGINT (Ctrl-C) or SIGTERM only sets a flag; the second
/// ends the process at once. Signals that were ignored when the process started stay ignored.
void catch_interrupts();

/// Throws Interrupted if the flag is set. Call it between steps of a second or less.
void stop_if_interrupted();

/// Runs `body`; returns whether it ended without an interrupt.
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
