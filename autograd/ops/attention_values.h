#pragma once
// Parts of attention whose weights need not come from a softmax. Queries, keys and values are
// called odd if an element is NaN, ∞ or huge. An odd key or value that a query may not see affects
// neither the query's result nor, through the result, a gradient.

#include <functional>

#include "ladon/autograd/ops/attention.h"

namespace ladon::detail {

/// Whether x has no odd element, in one pass. Products of ordinary elements with gradients do not
/// overflow.
bool all_ordinary(const Tensor& x);

/// weights [.., Tq, Tk] · values [.., Tk, dv] → [.., Tq, dv], where 0 times a value that is not
/// finite gives 0: such a value affects only the results and gradients of the queries that attend
/// to it.
Tensor weighted_values(const Tensor& weights, const Tensor& values);

/// Q·Kᵀ:  q [.., Tq, d] · k [.., Tk, d]ᵀ → [.., Tq, Tk]. An odd key counts only for queries that
/// may see it, where may() (bool, broadcast to [.., Tq, Tk]) is true; may() is called only if there
/// is an odd key.
Tensor products_of_seen(const Tensor& q, const Tensor& k, const std::function<Tensor()>& may);

/// Queries that are odd, or may see an odd key or value: bool [.., Tq, 1]; undefined if none.
Tensor odd_queries(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& may);

/// Rows of x [.., T, d] that are odd: bool [.., T, 1]; undefined if none.
Tensor odd_rows(const Tensor& x);

/// x; a gradient that is 0 everywhere is not passed on, because it would then be multiplied by NaN.
Tensor gated(const Tensor& x);

/// Takes the queries `odd` from `rest`, and all others from `ordinary`, which was computed without
/// the odd queries. If nobody reads the outputs of the odd queries (their gradients are all 0),
/// their NaN reach no gradient.
AttentionResult joined(const Tensor& odd, const AttentionResult& ordinary,
                       const AttentionResult& rest);

}  // namespace ladon::detail
