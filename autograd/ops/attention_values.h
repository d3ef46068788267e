#pragma once
// Parts of attention whose weights need not come from a softmax. A query, key or value is called
// odd if it has an element that is NaN, ∞ or huge. An odd key or value that a query may not see
// affects neither the query's result nor, through the result, a gradient.

#include <functional>

#include "ladon/autograd/ops/attention.h"

namespace ladon::detail {

/// Whether all elements of x are ordinary, that is, neither NaN nor ∞ nor huge; takes one pass over
/// x. Products of ordinary elements with gradients do not overflow.
bool all_ordinary(const Tensor& x);

/// weights [.., Tq, Tk] · values [.., Tk, dv] → [.., Tq, dv], where 0 times a value that is not
/// finite gives 0: such a value affects only the results and gradients of the queries that attend
/// to it.
Tensor weighted_values(const Tensor& weights, const Tensor& values);

/// Q·Kᵀ:  q [.., Tq, d] · k [.., Tk, d]ᵀ → [.., Tq, Tk]. An odd key (with an element that is NaN, ∞
/// or huge) counts only for queries that may see it, where may() (bool, broadcast to [.., Tq, Tk])
/// is true; may() is called only if there is an odd key.
Tensor products_of_seen(const Tensor& q, const Tensor& k, const std::function<Tensor()>& may);

/// Marks the queries that have an element that is NaN, ∞ or huge, or that may see a key or value
/// with such an element: bool [.., Tq, 1], or an undefined tensor if there is no such query.
Tensor odd_queries(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& may);

/// Marks the rows of x [.., T, d] with an element that is NaN, ∞ or huge: bool [.., T, 1], or an
/// undefined tensor if there is no such row.
Tensor odd_rows(const Tensor& x);

/// Returns x. If the gradient of the result is 0 everywhere, backward does not propagate it to x,
/// because 0 times a NaN in x's history would be NaN.
Tensor gated(const Tensor& x);

/// Merges two results of attention: the rows of the queries marked in `odd` are taken from `rest`,
/// and all other rows from `ordinary`, which was computed without those queries. If the gradients
/// of all rows taken from `rest` are 0, NaN in those rows affects no gradient.
AttentionResult joined(const Tensor& odd, const AttentionResult& ordinary,
                       const AttentionResult& rest);

}  // namespace ladon::detail
