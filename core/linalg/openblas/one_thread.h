#pragma once

namespace ladon::routines {

/// Keeps OpenBLAS from starting threads of its own. Every caller of it does this first, on each
/// thread; it costs nothing when repeated.
void use_one_thread();

}  // namespace ladon::routines
