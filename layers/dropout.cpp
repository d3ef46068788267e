#include "ladon/layers/dropout.h"

#include "ladon/autograd/ops/dropout.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/masked.h"

namespace ladon {

Dropout::Dropout(double probability, Generator& source)
    : p(probability), rng(source.split(source.reserve(1))) {
  LADON_CHECK(p >= 0 && p <= 1, "Dropout", "p must lie in [0, 1], got ", p);
}

Tensor Dropout::forward(const Tensor& x) const { return training() ? dropout(x, p, rng) : x; }

// Draws once, whatever numbers the padding contains; the inherited forward_masked() may run
// forward() twice.
Tensor Dropout::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_mask(x, mask);
  return detail::blank_masked(forward(detail::blank_masked(x, mask)), mask);
}

infinite::KernelNode Dropout::limit(const infinite::KernelNode& k) const {
  if (!training() || p == 0) return k;
  infinite::Step step{.makes = k.law.after_mixing(), .needs = infinite::Needs::wanted};
  step.formula = [p = p] {
    const std::string own =
        detail::join(", times ", 1 / (1 - p), " where it is one element of one input");
    return p == 1 ? infinite::Formula{"0", "0"} : infinite::Formula{"$k" + own, "$t" + own};
  };
  if (p == 1) step.means = infinite::MeanMap();  // all outputs are 0
  return infinite::map_pairs(k, step, [p = p](const infinite::Pairs& pairs) {
    if (p == 1) return pairs.each([](const Tensor& block) { return zeros_like(block); });
    if (!pairs.same.defined()) return pairs.each([](const Tensor& block) { return block; });
    Tensor own = cast(pairs.same, f64);  // 1 for pairs [P] of an input with itself
    if (pairs.has_positions && pairs.entries == infinite::Entries::diagonal)
      own = unsqueeze(own, -1);
    else if (pairs.has_positions)
      own = unsqueeze(unsqueeze(own, -1), -1) * eye(pairs.nngp.size(-1), f64);
    const Tensor scale = 1 + (p / (1 - p)) * own;
    return pairs.each([&](const Tensor& block) { return block * scale; });
  });
}

std::string Dropout::describe() const { return detail::join("Dropout(", p, ")"); }

}  // namespace ladon
