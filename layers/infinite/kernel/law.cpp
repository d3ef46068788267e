#include "ladon/layers/infinite/kernel/law.h"

#include <algorithm>

#include "ladon/core/error.h"

namespace ladon::infinite {

// Given the input of this branch, the channels are known. So their mean can be 0 at most given the
// inputs of the network and of the `depth` branches around this branch.
Law Law::into_branch(int depth) const {
  return {std::min(zero_given, depth + 1), gaussian, channels};
}

Law Law::out_of_branch(int depth) const {
  return {zero_given > depth ? everything : zero_given, gaussian, channels};
}

Law Law::of_sum(const std::vector<Law>& branches) {
  Law sum{everything, true, branches.empty() ? 0 : branches[0].channels};
  for (const Law& branch : branches) {
    sum.zero_given = std::min(sum.zero_given, branch.zero_given);
    sum.gaussian = sum.gaussian && branch.gaussian;
    if (branch.channels != sum.channels) sum.channels = 0;
  }
  return sum;
}

Law Law::of_product(const std::vector<Law>& branches) {
  const Law factors = of_sum(branches);
  return branches.size() == 1 ? factors : factors.after_mixing();
}

Law Law::of_concatenation(const std::vector<Law>& branches) {
  Law all = of_product(branches);
  all.channels = 0;
  for (const Law& branch : branches) {
    if (branch.channels == 0) return {all.zero_given, all.gaussian};
    all.channels += branch.channels;
  }
  return all;
}

void Law::need_channels(std::string_view layer, std::int64_t count) const {
  LADON_CHECK(channels == 0 || channels == count, layer, "expects ", count,
              " channels, the size of the last axis, but its limit got inputs with ", channels);
}

void Law::need_gaussian(std::string_view layer) const {
  LADON_CHECK(
      gaussian, layer,
      "the limit needs Gaussian inputs, as random linear maps give them; put a Linear (or another "
      "random linear map) directly before this layer, after any data, activation, product, "
      "dropout, flattening, concatenation or trained normalization");
}

void Law::need_means(std::string_view layer) const {
  LADON_CHECK(
      knows_means(), layer,
      "its limit needs channels with a known mean: data, or (with mean zero) the output of a "
      "random linear map; put this layer directly after data, a Linear, a convolution, an "
      "attention or an embedding, not after an activation or pooled data");
}

void Law::need_mean_zero(std::string_view layer) const {
  LADON_CHECK(has_mean_zero(), layer,
              "its limit needs channels of mean zero, as a random linear map gives them; put this "
              "layer directly after a Linear, a convolution, an attention or an embedding, not "
              "after an activation, data or another fixed positional encoding");
}

void Law::need_independent(std::string_view layer, std::string_view branch) const {
  LADON_CHECK(independent(), layer, "the branch ", branch,
              " must end in a random linear map, but does not, so that its output is correlated "
              "with its input; end it in a Linear");
}

}  // namespace ladon::infinite
