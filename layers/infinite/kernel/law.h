#pragma once
// What is known of the channels behind a layer, besides their kernel. A layer's limit says what it
// needs of the law of its inputs (need_…), and by which transition the law of its outputs follows.

#include <string_view>
#include <vector>

namespace ladon::infinite {

/// The law of one channel, over the random weights.
struct Law {
  enum class Mean {
    unknown,
    zero,  ///< E f = 0, as of the inputs of a branch: what LayerNorm relies on.
    /// And zero also given what the branch was computed from, as a random linear map of its own
    /// makes it: what sums and products of branches rely on. (Ordered: each implies the one before.)
    zero_given_input
  };
  Mean mean = Mean::unknown;
  /// Whether a channel is Gaussian with its kernel as covariance (and its tangent kernel does not
  /// depend on its value): what activations rely on.
  bool gaussian = false;

  bool has_mean_zero() const { return mean != Mean::unknown; }
  /// Whether products with what came before the branch are zero on average.
  bool independent() const { return mean == Mean::zero_given_input; }
  bool operator==(const Law&) const = default;

  // --- transitions ---

  /// Inputs as they are: nothing is known of them.
  static Law data() { return {}; }
  /// Behind a random linear map with weights of its own.
  static Law random_linear() { return {Mean::zero_given_input, true}; }
  /// Behind a function of each channel.
  Law after_nonlinearity() const { return {}; }
  /// Behind what multiplies channels by something random of mean one, or sets channels of several
  /// laws side by side: the mean stays, the shape of the distribution does not.
  Law after_mixing() const { return {mean, false}; }
  /// Behind a trained factor of each channel (1 or another number before training). Its part of the
  /// tangent kernel is the channel's own, and that kernel only a mean over channels: where there is
  /// one (`with_ntk`), as after_mixing().
  Law after_trained_scale(bool with_ntk) const { return with_ntk ? after_mixing() : *this; }
  /// The same channels as inputs of a branch: what is independent counts from here.
  Law into_branch() const { return {has_mean_zero() ? Mean::zero : mean, gaussian}; }
  /// Of Σ_i branch_i. The rest of what is known follows from how branches depend on each other:
  /// `independent` says whether the sum has mean zero given the input of them all.
  static Law of_sum(const std::vector<Law>& branches, bool independent);
  /// Of Π_i branch_i, elementwise: as of a sum, but a product is not Gaussian.
  static Law of_product(const std::vector<Law>& branches, bool independent);
  /// Of the channels of several branches side by side.
  static Law of_concatenation(const std::vector<Law>& branches);

  // --- needs, checked here alone ---

  /// Throws Error unless channels are Gaussian; `layer` is named.
  void need_gaussian(std::string_view layer) const;
  /// Throws Error unless channels have mean zero.
  void need_mean_zero(std::string_view layer) const;
  /// Throws Error unless channels have mean zero given what `layer`'s input is computed from too.
  void need_independent(std::string_view layer, std::string_view branch) const;
};

}  // namespace ladon::infinite
