#include "ladon/layers/infinite/kernel/law.h"

#include <algorithm>

#include "ladon/core/error.h"

namespace ladon::infinite {

Law Law::of_sum(const std::vector<Law>& branches, bool independent) {
  Law sum{Mean::zero, true};
  for (const Law& branch : branches) {
    sum.mean = std::min(sum.mean, branch.mean);
    sum.gaussian = sum.gaussian && branch.gaussian;
  }
  if (independent) sum.mean = Mean::zero_given_input;
  return sum;
}

Law Law::of_product(const std::vector<Law>& branches, bool independent) {
  const Law factors = of_sum(branches, independent);
  return branches.size() == 1 ? factors : factors.after_mixing();
}

Law Law::of_concatenation(const std::vector<Law>& branches) {
  const bool independent = std::all_of(branches.begin(), branches.end(),
                                       [](const Law& branch) { return branch.independent(); });
  return of_product(branches, independent);  // channels of several laws, as behind after_mixing()
}

void Law::need_gaussian(std::string_view layer) const {
  LADON_CHECK(
      gaussian, layer,
      "the limit needs Gaussian inputs; put a Linear (or another random linear map) between it and "
      "the data, activation, product, dropout, flattening, concatenation or trained normalization "
      "before it");
}

void Law::need_mean_zero(std::string_view layer) const {
  LADON_CHECK(
      has_mean_zero(), layer,
      "its limit needs channels of mean zero, as a random linear map makes them; put it behind a "
      "Linear, a convolution, an attention or an embedding, not behind an activation or data");
}

void Law::need_independent(std::string_view layer, std::string_view branch) const {
  LADON_CHECK(independent(), layer, "the branch ", branch,
              " ends in no random linear map; its output is correlated with its input");
}

}  // namespace ladon::infinite
