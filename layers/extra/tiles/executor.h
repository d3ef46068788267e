#pragma once
// Executor of a Gram matrix that stores finished tiles on disk, and distributes tiles among ranks.
// Internal to gram() and store_gram().

#include <memory>

#include "ladon/layers/infinite/gram/executor.h"

namespace ladon::infinite {

/// Executor that distributes tiles among ranks, in parts of consecutive tiles, and stores finished
/// parts in the folder options.checkpoint, if it is not empty.
std::unique_ptr<GramExecutor> shared_executor(const GramOptions& options);

}  // namespace ladon::infinite
