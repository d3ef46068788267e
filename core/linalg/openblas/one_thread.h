#pragma once

namespace ladon::routines {

/// Keeps OpenBLAS from starting threads of its own. Every caller of it does this first, on each
/// thread; it costs nothing when repeated.
void use_one_thread();

/// Makes OpenBLAS choose its kernels again if it took a processor for one of 2004; whether it did.
/// While other threads run it must not be called.
bool choose_kernels();

}  // namespace ladon::routines
