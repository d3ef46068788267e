#include "ladon/layers/extra/tiles/executor.h"

#include <optional>
#include <span>

#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/layers/extra/tiles/checkpoint.h"
#include "ladon/layers/extra/tiles/exchange.h"
#include "ladon/layers/extra/tiles/register.h"

namespace ladon::infinite {
namespace {

class SharedExecutor final : public GramExecutor {
 public:
  explicit SharedExecutor(const GramOptions& options) : folder_(options.checkpoint) {}

  int processes() const override { return ranks::count(); }
  std::int64_t kept_side() const override {
    return folder_.empty() ? 0 : GramCheckpoint::stored_tile(folder_);
  }
  std::int64_t agreed_side(std::int64_t side) const override {
    ranks::broadcast(std::as_writable_bytes(std::span(&side, 1)), 0);
    return side;
  }
  void begin(const Limit& limit, const GramPlan& plan, const GramOptions& options) override {
    if (folder_.empty())
      manifest_of(limit, plan, options.get).check_same_in_all_ranks("gram");
    else
      stored_.emplace(limit, plan, options);
  }
  void compute(const GramPlan& plan, Gram& result, GramReport& report) override {
    const GramDeal deal{stored_ ? stored_->part_tiles() : 1};
    std::vector<std::int64_t> own;  // this rank's tiles: all, or those of one part to be stored
    for (std::int64_t i = 0; i < plan.tiles.count(); ++i) {
      if (!deal.mine(i)) continue;
      own.push_back(i);
      const std::int64_t part = i / deal.together;
      const bool last = i + 1 == plan.tiles.count() || (i + 1) / deal.together != part;
      if (!stored_ || !last) continue;
      if (stored_->read(part, result)) {
        for (const std::int64_t tile : own) mirror(result, plan, plan.tiles[tile]);
        report.restored(own.front(), own.back() + 1);
      } else {
        compute_tiles(plan, own, result, report);
        stored_->write(part, result);
      }
      own.clear();
    }
    compute_tiles(plan, own, result, report);
    exchange(result, plan, deal);
  }

 private:
  std::string folder_;  // if empty, no tile is stored
  std::optional<GramCheckpoint> stored_;
};

std::unique_ptr<GramExecutor> make(const GramOptions& options) {
  if (options.checkpoint.empty() && ranks::count() == 1) return nullptr;
  return shared_executor(options);
}

}  // namespace

std::unique_ptr<GramExecutor> shared_executor(const GramOptions& options) {
  return std::make_unique<SharedExecutor>(options);
}

bool register_executors() {
  make_executor = make;
  return true;
}

}  // namespace ladon::infinite
