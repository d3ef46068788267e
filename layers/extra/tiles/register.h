#pragma once
// Registration of what lets gram() keep its tiles, or share them out.

namespace ladon::infinite {

/// Lets gram() keep checkpoints and share its tiles out among ranks. "ladon/ladon.h" calls it
/// before main. Always true.
bool register_executors();

}  // namespace ladon::infinite
