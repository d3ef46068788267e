#pragma once
// Registration of the executor with which gram() stores tiles or distributes them among ranks.

namespace ladon::infinite {

/// Registers the executor with which gram() stores checkpoints and distributes tiles among ranks.
/// "ladon/ladon.h" calls it before main. Returns true.
bool register_executors();

}  // namespace ladon::infinite
