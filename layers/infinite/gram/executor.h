#pragma once
// Executor of a Gram matrix: which processes compute its tiles, and where finished tiles are
// stored. The base class computes all tiles in this process and stores none. Internal to gram().
//
// A derived class (layers/extra/tiles/executor.cpp), which `make_executor` creates, stores tiles on
// disk and distributes them among processes. An executor does not affect the values of the result:
// they have the same bits with every executor.

#include <memory>

#include "ladon/layers/infinite/gram/plan.h"
#include "ladon/layers/infinite/gram/work.h"

namespace ladon::infinite {

class GramExecutor {
 public:
  virtual ~GramExecutor() = default;
  /// Number of processes that share the tiles.
  virtual int processes() const { return 1; }
  /// Side of the tiles that are stored already; 0 if there are none.
  virtual std::int64_t kept_side() const { return 0; }
  /// Side of the tiles that all processes use; each process proposes its own `side`.
  virtual std::int64_t agreed_side(std::int64_t side) const { return side; }
  /// Called with the finished plan, before anything is computed. Throws Error if stored tiles, or
  /// the call of another process, belong to another computation.
  virtual void begin(const Limit&, const GramPlan&, const GramOptions&) {}
  /// Fills the result with all tiles of the plan, and counts them in the report.
  virtual void compute(const GramPlan& plan, Gram& result, GramReport& report);
};

/// Function that creates the executor for the options of a call. If null, the default, this process
/// computes all tiles and stores none.
using MakeExecutor = std::unique_ptr<GramExecutor> (*)(const GramOptions& options);
inline constinit MakeExecutor make_executor = nullptr;

/// The executor for these options. Throws Error if they name a checkpoint and no executor can store
/// one.
std::unique_ptr<GramExecutor> executor_for(const GramOptions& options);

}  // namespace ladon::infinite
