#pragma once

namespace ladon::test {

/// Whether this build of the library always runs on one thread, whatever number is set.
#ifdef LADON_PORTABLE
inline constexpr bool one_thread = true;
#else
inline constexpr bool one_thread = false;
#endif

}  // namespace ladon::test
