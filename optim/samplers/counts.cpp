#include "ladon/optim/samplers/counts.h"

#include <limits>

#include "ladon/core/error.h"

namespace ladon::samplers {

void check_counts(const char* operation, std::int64_t draws, std::int64_t warmup,
                  std::int64_t thin) {
  LADON_CHECK(draws >= 1 && warmup >= 0 && thin >= 1, operation,
              "needs draws ≥ 1, warmup ≥ 0 and thin ≥ 1, got ", draws, ", ", warmup, " and ", thin);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  LADON_CHECK(thin <= most / draws && warmup <= most, operation,
              "too many draws: warmup and draws·thin must be below 2^62, but are ", warmup, " and ",
              draws, "·", thin);
}

}  // namespace ladon::samplers
