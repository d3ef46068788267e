#pragma once

namespace ladon::routines {

/// Keeps OpenBLAS from starting threads. Every function that calls OpenBLAS must call this function
/// first, on each thread; repeated calls cost nothing.
void use_one_thread();

/// Selects OpenBLAS's kernels again if OpenBLAS, not knowing the processor, chose the kernels for
/// Intel's Prescott of 2004. Returns whether it selected kernels. Must not be called while other
/// threads run.
bool choose_kernels();

}  // namespace ladon::routines
