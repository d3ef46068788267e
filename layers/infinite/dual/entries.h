#pragma once
// Helper functions of dual rules that compute each entry of a kernel separately. Internal to this
// folder.

#include <functional>

#include "ladon/layers/infinite/dual/rule.h"

namespace ladon::infinite {

/// The two numbers of one entry of a DualPair.
struct EntryPair {
  double first, second;
};

/// Applies `of` to p, q and c of every entry, on all threads.
kernels::DualPair each_entry(const Tensor& p, const Tensor& q, const Tensor& c,
                             const std::function<EntryPair(double p, double q, double c)>& of);

/// p − c²/q for q > 0, the variance of u given v: accurate to the last digits even under
/// cancellation (Kahan), and never below 0. Operands are scaled by powers of 4 against overflow.
double rest_variance(double p, double q, double c);

/// E = E[φ(u)φ(v)] and E' = E[φ'(u)φ'(v)]. Where the mask `few` (bool, broadcast) is true, they are
/// computed by the Hermite expansion, which is fast and whose terms suffice there. The remaining
/// entries are computed by `other`, which gets them as lists [n], or p, q and c unchanged if these
/// are all entries. The choice for an entry depends only on its own p, q and c.
kernels::DualPair expanded_where(
    const Tensor& few, const DualRule& expansion, const Tensor& p, const Tensor& q, const Tensor& c,
    bool with_derivative,
    const std::function<kernels::DualPair(const Tensor& p, const Tensor& q, const Tensor& c)>&
        other);
/// Hermite expansion of f with 128 terms, without a check of its truncation error.
std::shared_ptr<const DualRule> expansion_of(const Pointwise& f);
/// A function constant + slope·x + rest(x), where either rest is odd and the slope 0, or rest is
/// even and the constant 0, so that products of two different parts have mean zero.
struct Split {
  double constant, slope;
  Pointwise rest;
  kernels::Powers powers;
};
/// Hermite expansion of a Split. Only the even or the odd ones of its 128 terms are computed.
std::shared_ptr<const DualRule> expansion_of(const Split& split);
/// Mask of entries whose variances are both at most `most`.
Tensor both_at_most(double most, const Tensor& p, const Tensor& q);
/// Mask of entries with both_at_most() and |ρ| ≤ 0.8: there 128 terms of the Hermite expansion omit
/// at most 4e-13 of the value at ρ = 1.
Tensor moderate(double most, const Tensor& p, const Tensor& q, const Tensor& c);

}  // namespace ladon::infinite
