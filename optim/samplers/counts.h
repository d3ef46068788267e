#pragma once
// Check of the numbers of draws that samplers are asked for.

#include <cstdint>

namespace ladon::samplers {

/// Throws Error naming `operation` unless draws ≥ 1, warmup ≥ 0 and thin ≥ 1, and unless both
/// warmup and draws·thin are below 2^62, so that their sum can be counted.
void check_counts(const char* operation, std::int64_t draws, std::int64_t warmup,
                  std::int64_t thin);

}  // namespace ladon::samplers
