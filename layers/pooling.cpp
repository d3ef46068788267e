#include "ladon/layers/pooling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/mapped.h"
#include "ladon/core/names.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/masked.h"

namespace ladon {

using infinite::KernelNode;
using infinite::Needs;
using infinite::Pairs;

// --- functions ---

namespace {

constexpr std::array<std::string_view, 3> pooling_names = {"mean", "max", "first"};

/// The mask [B, T] as [B, T, 1], after checking it against x; undefined if the mask is undefined.
Tensor column_mask(const char* operation, const Tensor& x, const Tensor& mask) {
  LADON_CHECK(x.rank() == 3, operation, "expects [batch, T, dim], got shape ", x.shape());
  if (!mask.defined()) return {};
  const Shape wanted = x.shape().sub(0, 2);
  LADON_CHECK(mask.dtype() == boolean && mask.shape() == wanted, operation, "mask must be bool ",
              wanted, ", got ", mask.dtype(), " ", mask.shape());
  return unsqueeze(mask, 2);
}

/// Whether the first position of an input is visible, or all its positions are masked. mask: bool
/// [.., T].
Tensor begins(const Tensor& mask) {
  return logical_or(select(mask, -1, 0), logical_not(any(mask, -1)));
}

/// Throws Error if the first position of an input is masked, and another is visible. mask: bool
/// [batch, T], or undefined.
void check_first_visible(const char* operation, const Tensor& mask) {
  if (!mask.defined() || mask.size(1) == 0) return;
  const Tensor first = mapped::show(begins(mask)).detach();
  if (all(first).item<bool>()) return;
  const std::vector<bool> visible = flatten(first).to_vector<bool>();
  const auto batch = static_cast<std::size_t>(mask.size(0));  // inputs per example of vmap
  std::size_t input = 0;
  while (visible[input]) ++input;
  LADON_CHECK(false, operation, "the first position of input ", input % batch,
              " is masked; remove padding in front, or use the mean over positions");
}

/// The vector of the first position; 0 for a sequence whose positions are all masked.
Tensor first_visible(const char* operation, const Tensor& x, const Tensor& mask) {
  check_first_visible(operation, mask);
  const Tensor first = first_token(x);
  if (!mask.defined() || mask.size(1) == 0) return first;
  return masked_fill(first, unsqueeze(logical_not(any(mask, 1)), 1), 0);
}

}  // namespace

Pooling pooling_from_name(std::string_view name) {
  return static_cast<Pooling>(index_of_name("pooling", name, pooling_names));
}

Tensor mean_positions(const Tensor& x, const Tensor& mask) {
  const Tensor visible = column_mask("mean_positions", x, mask);
  // Where a sum overflows the dtype, scaled-down terms are summed instead, since the mean may be
  // finite. Other sums keep their terms unscaled, since scaling could lose small ones.
  const auto over = [](const Tensor& seen, const auto& count) {
    const Tensor total = sum(seen, 1);
    if (all(isfinite(mapped::show(total))).item<bool>()) return total / count;
    constexpr double small = 0x1p-30;
    return where(isfinite(total), total / count, sum(seen * small, 1) / (count * small));
  };
  if (!visible.defined()) return over(x, static_cast<double>(std::max<std::int64_t>(x.size(1), 1)));
  const Tensor count = maximum(sum(cast(visible, x.dtype()), 1), scalar(1, x.dtype()));  // [B, 1]
  return over(masked_fill(x, logical_not(visible), 0), count);
}

Tensor max_positions(const Tensor& x, const Tensor& mask) {
  const Tensor visible = column_mask("max_positions", x, mask);
  if (!visible.defined()) return amax(x, 1);
  const Tensor largest = amax(masked_fill(x, logical_not(visible), -INFINITY), 1);
  return masked_fill(largest, logical_not(any(visible, 1)), 0);
}

Tensor first_token(const Tensor& x) {
  LADON_CHECK(x.rank() == 3 && x.size(1) > 0, "first_token",
              "expects [batch, T > 0, dim], got shape ", x.shape());
  return select(x, 1, 0);
}

Tensor pool(Pooling kind, const Tensor& x, const Tensor& mask) {
  if (kind == Pooling::mean) return mean_positions(x, mask);
  if (kind == Pooling::max) return max_positions(x, mask);
  column_mask("pool", x, mask);
  return first_visible("pool", x, mask);
}

// --- helpers of the layers ---

namespace {

/// [N, T, d] or [N, H, W, d] → [N, T, d]
Tensor as_sequence(const char* operation, const Tensor& x) {
  LADON_CHECK(x.rank() == 3 || x.rank() == 4, operation,
              "expects [N, T, d] or [N, H, W, d], got shape ", x.shape());
  return x.rank() == 3 ? x : flatten(x, 1, 2);
}

/// Number of visible positions per input, at least 1, in f64: [P] for a mask [P, T]; without a mask
/// a scalar.
Tensor visible_count(const Tensor& mask, std::int64_t positions) {
  const Tensor count =
      mask.defined() ? sum(cast(mask, f64), -1) : scalar(static_cast<double>(positions), f64);
  return maximum(count, scalar(1, f64));
}

/// The step of a layer that reduces the pairs of positions of two inputs to one number.
infinite::Step reduced(const KernelNode& k, const std::string& how) {
  return {.makes = k.law,
          .formula =
              [how] {
                return infinite::Formula{how + "$k_ab", how + "$t_ab"};
              },
          .positions = Shape{}};
}

/// Sums contiguous rows, so that the sum of a pair of inputs depends only on its own T × T block.
Tensor row_sums(const Tensor& x) { return sum(contiguous(x), -1); }

}  // namespace

// --- MeanPositions and SumPositions ---

Tensor MeanPositions::forward_masked(const Tensor& x, const Tensor& mask) const {
  return mean_positions(as_sequence("MeanPositions", x), mask);
}

KernelNode MeanPositions::limit(const KernelNode& k) const {
  k.need_positions("MeanPositions");
  return infinite::map_pairs(k, reduced(k, "mean over visible a, b of "), [](const Pairs& pairs) {
    const Tensor count = visible_count(pairs.left_mask, pairs.nngp.size(-2)) *
                         visible_count(pairs.right_mask, pairs.nngp.size(-1));
    return pairs.each([&](const Tensor& block) {
      return row_sums(flatten(pairs.visible(block), -2, -1)) / count;
    });
  });
}

Tensor SumPositions::forward_masked(const Tensor& x, const Tensor& mask) const {
  return sum(as_sequence("SumPositions", detail::zero_masked("SumPositions", x, mask)), 1);
}

KernelNode SumPositions::limit(const KernelNode& k) const {
  k.need_positions("SumPositions");
  return infinite::map_pairs(k, reduced(k, "sum over visible a, b of "), [](const Pairs& pairs) {
    return pairs.each(
        [&](const Tensor& block) { return row_sums(flatten(pairs.visible(block), -2, -1)); });
  });
}

// --- MaxPositions ---

Tensor MaxPositions::forward_masked(const Tensor& x, const Tensor& mask) const {
  return max_positions(as_sequence("MaxPositions", x), mask);
}

// --- Flatten and FlattenPositions ---

Tensor Flatten::forward_masked(const Tensor& x, const Tensor& mask) const {
  if (x.rank() == 2) return x;
  return flatten(as_sequence("Flatten", detail::zero_masked("Flatten", x, mask)), 1, 2);
}

KernelNode Flatten::limit(const KernelNode& k) const {
  if (!k.has_positions()) return k;
  infinite::Step step{.makes = k.law.side_by_side(std::max<std::int64_t>(0, k.position_count())),
                      .needs = Needs::diagonal,
                      .positions = Shape{}};
  step.formula = [] { return infinite::Formula{"mean over a of $k_aa", "mean over a of $t_aa"}; };
  return infinite::map_pairs(k, step, [](const Pairs& pairs) {
    return pairs.each([&](const Tensor& block) {
      const Tensor own = pairs.own(pairs.visible(block));  // [P, T]
      return row_sums(own) / static_cast<double>(std::max<std::int64_t>(own.size(-1), 1));
    });
  });
}

// --- FirstToken ---

Tensor FirstToken::forward(const Tensor& x) const {
  return first_token(as_sequence("FirstToken", x));
}

Tensor FirstToken::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_mask(x, mask);
  return first_visible("FirstToken", as_sequence("FirstToken", x), mask);
}

KernelNode FirstToken::limit(const KernelNode& k) const {
  k.need_positions("FirstToken");
  LADON_CHECK(
      k.position_count() != 0, "FirstToken",
      "the inputs have 0 positions, but the first one is needed; pass sequences of at least one "
      "token");
  infinite::Step step{.makes = k.law, .needs = Needs::diagonal, .positions = Shape{}};
  step.formula = [] { return infinite::Formula{"$k_00", "$t_00"}; };
  return infinite::map_pairs(k, step, [](const Pairs& pairs) {
    for (const Tensor* mask : {&pairs.left_mask, &pairs.right_mask})
      LADON_CHECK(!mask->defined() || all(begins(*mask)).item<bool>(), "FirstToken",
                  "the first position of an input is masked; remove padding in front, or use the "
                  "mean over positions");
    return pairs.each([&](const Tensor& block) { return select(pairs.own(block), -1, 0); });
  });
}

Tensor FlattenPositions::forward(const Tensor& x) const {
  return as_sequence("FlattenPositions", x);
}

KernelNode FlattenPositions::limit(const KernelNode& k) const {
  k.need_positions("FlattenPositions");
  KernelNode result = k;
  result.positions = {k.position_count()};
  return result;
}

}  // namespace ladon
