#pragma once
// Executors of a Gram matrix beyond one process and its memory: tiles kept on disk, and shared out
// among ranks. Internal to gram().

#include <memory>

#include "ladon/layers/infinite/gram/executor.h"

namespace ladon::infinite {

/// Ranks share the tiles out, each in parts of consecutive ones, and keep finished parts in the
/// folder of options.checkpoint, if it names one.
std::unique_ptr<GramExecutor> shared_executor(const GramOptions& options);

}  // namespace ladon::infinite
