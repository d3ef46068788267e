#include "ladon/layers/infinite/gram/executor.h"

#include <numeric>

#include "ladon/core/error.h"

namespace ladon::infinite {

void GramExecutor::compute(const GramPlan& plan, Gram& result, GramReport& report) {
  std::vector<std::int64_t> all(plan.tiles.count());
  std::iota(all.begin(), all.end(), 0);
  compute_tiles(plan, all, result, report);
}

std::unique_ptr<GramExecutor> executor_for(const GramOptions& options) {
  if (make_executor)
    if (auto executor = make_executor(options)) return executor;
  LADON_CHECK(options.checkpoint.empty(), "gram", "cannot store tiles in ", options.checkpoint,
              ": checkpoints are part of ladon_extra, which this program is not built with; "
              "include \"ladon/ladon.h\" and link ladon::ladon");
  return std::make_unique<GramExecutor>();
}

}  // namespace ladon::infinite
