#pragma once
// Products whose rows do not depend on each other, bit for bit.

#include "ladon/core/modes.h"

namespace ladon {

/// While an object of this class is alive on this thread, products with matrices ([.., m, k] ·
/// [k, n], so every Linear) are summed row by row, in an order that depends on the matrix alone. So
/// a token has the same logits alone, in a batch, and with a cache
/// (layers/attention/attention_cache.h). Without such an object, BLAS chooses the order of
/// summation by the number of rows, and the last bits of a row depend on how many other rows there
/// are.
struct RowwiseProducts : private detail::Scoped<bool> {
  RowwiseProducts() : Scoped(detail::modes.rowwise, true) {}
};

}  // namespace ladon
