#pragma once

namespace ladon::test {

/// Whether the library stays at one thread, whatever is asked for.
#ifdef LADON_PORTABLE
inline constexpr bool one_thread = true;
#else
inline constexpr bool one_thread = false;
#endif

}  // namespace ladon::test
