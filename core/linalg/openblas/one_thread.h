#pragma once

namespace ladon::routines {

/// Keeps OpenBLAS from starting threads. Every function that calls OpenBLAS calls this first, on
/// each thread; repeated calls cost nothing.
void use_one_thread();

/// Selects OpenBLAS's kernels anew if it took the processor for a Prescott of 2004. Returns whether
/// it did. Must not be called while other threads run.
bool choose_kernels();

}  // namespace ladon::routines
