#pragma once
// How much memory a phase of the program took.

namespace ladon::example {

/// Begins a phase: forgets the peak so far, where the system allows it (Linux: /proc/self).
void start_memory_phase();
/// The largest resident memory of the process since then, in MB (10⁶ bytes); NaN where the system
/// does not say.
double peak_memory();

}  // namespace ladon::example
