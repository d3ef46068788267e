#pragma once
// Products of T × T blocks, pair by pair: the hot loops of attention's limits. Each pair is
// computed by the same instructions on one thread, so that its result does not depend on the other
// pairs of a list.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// Broadcasting of operands against a list of pairs of T × T blocks, [P, T, T] or [P1, P2, T, T].
class PairIndex {
 public:
  explicit PairIndex(const Tensor& pairs);

  std::int64_t count() const { return rows_ * columns_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t positions() const { return positions_; }
  /// Index of the first element of x's part for a pair. x is contiguous, its leading axes are those
  /// of the pairs or 1, and a part has `own` elements.
  std::int64_t offset(const Tensor& x, std::int64_t own, std::int64_t pair) const {
    return steps(x, own).at(pair / columns_, pair % columns_);
  }

  /// Distances in x between the parts of neighbouring pairs: from one row of pairs to the next, and
  /// from one column of pairs to the next.
  struct Steps {
    std::int64_t row = 0, column = 0;
    std::int64_t at(std::int64_t i, std::int64_t j) const { return i * row + j * column; }
  };
  Steps steps(const Tensor& x, std::int64_t own) const;

 private:
  std::int64_t rows_, columns_, positions_;
};

/// Factor and terms that sandwich() applies to its product while the product is in cache. scale and
/// offset are f64 of rank 0.
struct SandwichTerms {
  Tensor scale, offset;
  Tensor added = {};  ///< Summand of x's shape; undefined for none.
  double added_scale = 1;
};
/// scale·left·x·rightᵀ + added_scale·added + offset for each pair, f64: x [P, T, T], left and right
/// [P, T, T], broadcast. If gradients are recorded, or left and right are [P, Tq, T], it is
/// composed of public operations (slower).
Tensor sandwich(const Tensor& left, const Tensor& x, const Tensor& right,
                const SandwichTerms& terms);

/// Number of pairs per task that makes the cost of starting a task negligible, at `work` operations
/// per pair.
std::int64_t pairs_per_task(std::int64_t work);

}  // namespace ladon::infinite
