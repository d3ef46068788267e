#pragma once
// Distribution of the channels after a layer, as far as it is known besides their kernel. A layer's
// limit states what it needs of the distribution of its inputs (need_…), and by which transition
// the distribution of its outputs follows.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace ladon::infinite {

/// The distribution of one channel, over the random weights.
struct Law {
  static constexpr int nothing = -2, over_channels = -1,
                       everything = std::numeric_limits<int>::max();
  /// Largest conditioning under which E f is still 0. `nothing`: E f is unknown. `over_channels`: E
  /// f is not a property of the distribution, since something fixed is in the channel (data, a
  /// table of positions), but the mean over the channels is known, Kernel::mean1, as LayerNorm
  /// needs. 0: E f = 0 only without conditions. n: also given the inputs of the n outermost
  /// branches around the channel (the network itself is the first). `everything`: given all that it
  /// was computed from, as after a random linear map with separate weights; sums and products of
  /// branches need it.
  int zero_given = nothing;
  /// Whether a channel is Gaussian with its kernel as covariance (and its tangent kernel does not
  /// depend on its value), as activations need.
  bool gaussian = false;
  /// Number of channels; 0: infinitely many, or unknown.
  std::int64_t channels = 0;

  bool knows_means() const { return zero_given >= over_channels; }
  bool has_mean_zero() const { return zero_given > over_channels; }
  /// Whether products with values from before the branch are zero on average.
  bool independent() const { return zero_given == everything; }
  bool operator==(const Law&) const = default;

  // --- transitions ---

  /// Distribution of network inputs: only their number of channels and their means are known.
  static Law data(std::int64_t channels = 0) { return {over_channels, false, channels}; }
  /// Distribution after a random linear map with separate weights.
  static Law random_linear() { return {everything, true}; }
  /// Distribution after an elementwise function.
  Law after_nonlinearity() const { return {}; }
  /// Distribution after random factors of mean one on the channels, or of concatenated channels
  /// with several distributions: the mean stays, the shape of the distribution does not.
  Law after_mixing() const { return {zero_given, false, channels}; }
  /// Distribution after something fixed is added to each channel.
  Law after_adding_fixed() const { return {std::min(zero_given, over_channels), false, channels}; }
  /// Distribution of `count` times as many channels, concatenated from several distributions.
  Law side_by_side(std::int64_t count) const { return {zero_given, false, channels * count}; }
  /// Distribution after a trained factor of each channel (initially 1 or another number). The
  /// factor's part of the tangent kernel differs between channels, and the NTK is only their mean:
  /// with an NTK (`with_ntk`) it is therefore after_mixing().
  Law after_trained_scale(bool with_ntk) const { return with_ntk ? after_mixing() : *this; }
  /// Distribution of the same channels as inputs of a branch that lies in `depth` others:
  /// conditions count from here.
  Law into_branch(int depth) const;
  /// Distribution of the outputs of such a branch, seen from outside of it: a mean that is 0 given
  /// the branch's input is 0 given everything there.
  Law out_of_branch(int depth) const;
  /// Distribution of Σ_i branch_i: what is known of every branch.
  static Law of_sum(const std::vector<Law>& branches);
  /// Distribution of Π_i branch_i, elementwise: as of_sum(), but a product is not Gaussian.
  static Law of_product(const std::vector<Law>& branches);
  /// Distribution of the concatenated channels of several branches.
  static Law of_concatenation(const std::vector<Law>& branches);

  // --- requirements, checked only here ---

  /// Throws Error naming `layer` unless channels are Gaussian.
  void need_gaussian(std::string_view layer) const;
  /// Throws Error unless the channels' means are known.
  void need_means(std::string_view layer) const;
  /// Throws Error unless channels have mean zero over the weights.
  void need_mean_zero(std::string_view layer) const;
  /// Throws Error unless channels have mean zero also given all that `layer`'s input is computed
  /// from.
  void need_independent(std::string_view layer, std::string_view branch) const;
  /// Throws Error if the number of channels is known and is not `count`.
  void need_channels(std::string_view layer, std::int64_t count) const;
};

}  // namespace ladon::infinite
