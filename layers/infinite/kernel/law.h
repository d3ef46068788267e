#pragma once
// Law of the channels behind a layer, as far as it is known besides their kernel. A layer's limit
// says what it needs of the law of its inputs (need_…), and by which transition the law of its
// outputs follows.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace ladon::infinite {

/// The law of one channel, over the random weights.
struct Law {
  static constexpr int nothing = -2, over_channels = -1,
                       everything = std::numeric_limits<int>::max();
  /// Largest conditioning under which E f is still 0. `nothing`: E f is not known. `over_channels`:
  /// it is no number of the channel's law, since something fixed is in it (data, a table of
  /// positions); but the mean over the channels is known, Kernel::mean1, which is what LayerNorm
  /// relies on. 0: E f = 0 only without conditions. n: also given the inputs of the n outermost
  /// branches that the channel lies in (the network itself is the first). `everything`: given all
  /// that it was computed from, as a random linear map of its own makes it, which sums and products
  /// of branches rely on.
  int zero_given = nothing;
  /// Whether a channel is Gaussian with its kernel as covariance (and its tangent kernel does not
  /// depend on its value): what activations rely on.
  bool gaussian = false;
  /// Number of channels; 0: infinitely many, or not known.
  std::int64_t channels = 0;

  bool knows_means() const { return zero_given >= over_channels; }
  bool has_mean_zero() const { return zero_given > over_channels; }
  /// Whether products with what came before the branch are zero on average.
  bool independent() const { return zero_given == everything; }
  bool operator==(const Law&) const = default;

  // --- transitions ---

  /// Law of inputs as they are: only their number of channels and their means are known.
  static Law data(std::int64_t channels = 0) { return {over_channels, false, channels}; }
  /// Law behind a random linear map with weights of its own.
  static Law random_linear() { return {everything, true}; }
  /// Law behind a function of each channel.
  Law after_nonlinearity() const { return {}; }
  /// Law behind random factors of mean one on the channels, or of channels of several laws side by
  /// side: the mean stays, the shape of the distribution does not.
  Law after_mixing() const { return {zero_given, false, channels}; }
  /// Law after something fixed is added to each channel.
  Law after_adding_fixed() const { return {std::min(zero_given, over_channels), false, channels}; }
  /// Law of `count` times as many channels, of several laws, side by side.
  Law side_by_side(std::int64_t count) const { return {zero_given, false, channels * count}; }
  /// Law behind a trained factor of each channel (1 or another number before training). The part of
  /// the factor in the tangent kernel is the channel's own, and that kernel only a mean over
  /// channels: where there is one (`with_ntk`), the law is after_mixing().
  Law after_trained_scale(bool with_ntk) const { return with_ntk ? after_mixing() : *this; }
  /// Law of the same channels as inputs of a branch that lies in `depth` others: what is given
  /// counts from here.
  Law into_branch(int depth) const;
  /// Law of the outputs of such a branch, seen from outside of it: the branch's input, computed
  /// within, is no longer among what they may be correlated with.
  Law out_of_branch(int depth) const;
  /// Law of Σ_i branch_i: what is known of every branch.
  static Law of_sum(const std::vector<Law>& branches);
  /// Law of Π_i branch_i, elementwise: as of_sum(), but a product is not Gaussian.
  static Law of_product(const std::vector<Law>& branches);
  /// Law of the channels of several branches side by side.
  static Law of_concatenation(const std::vector<Law>& branches);

  // --- needs, checked here alone ---

  /// Throws Error unless channels are Gaussian; `layer` is named.
  void need_gaussian(std::string_view layer) const;
  /// Throws Error unless the channels' means are known.
  void need_means(std::string_view layer) const;
  /// Throws Error unless channels have mean zero over the weights.
  void need_mean_zero(std::string_view layer) const;
  /// Throws Error unless channels have mean zero given what `layer`'s input is computed from too.
  void need_independent(std::string_view layer, std::string_view branch) const;
  /// Throws Error if there are channels, and not `count` of them.
  void need_channels(std::string_view layer, std::int64_t count) const;
};

}  // namespace ladon::infinite
