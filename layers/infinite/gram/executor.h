#pragma once
// Executor of a Gram matrix: which processes compute its tiles, and where finished tiles are kept.
// This one computes all of them in this process and keeps nothing. Internal to gram().
//
// A checkpoint on disk, and processes that share the tiles, are classes derived from it
// (layers/extra/tiles/executor.cpp), which `make_executor` creates. An executor decides nothing
// about the numbers: the result has the same bits with every one of them.

#include <memory>

#include "ladon/layers/infinite/gram/plan.h"
#include "ladon/layers/infinite/gram/work.h"

namespace ladon::infinite {

class GramExecutor {
 public:
  virtual ~GramExecutor() = default;
  /// Number of processes that share the tiles out.
  virtual int processes() const { return 1; }
  /// Side of the tiles that are kept already; 0 if there are none.
  virtual std::int64_t kept_side() const { return 0; }
  /// Side that all processes take, where each has measured its own.
  virtual std::int64_t agreed_side(std::int64_t side) const { return side; }
  /// Called with the finished plan, before anything is computed. Throws Error where what is kept,
  /// or another process's call, belongs to another computation.
  virtual void begin(const Limit&, const GramPlan&, const GramOptions&) {}
  /// Fills the result with all tiles of the plan, and counts them in the report.
  virtual void compute(const GramPlan& plan, Gram& result, GramReport& report);
};

/// Creates the executor for the options of a call: null, the default, where this process alone
/// keeps nothing.
using MakeExecutor = std::unique_ptr<GramExecutor> (*)(const GramOptions& options);
inline constinit MakeExecutor make_executor = nullptr;

/// The executor that options ask for. Throws Error for a checkpoint where nothing can keep one.
std::unique_ptr<GramExecutor> executor_for(const GramOptions& options);

}  // namespace ladon::infinite
