#pragma once
// Known properties of the distribution of a layer's output channels, in addition to their kernel. A
// layer's limit states what it needs of the distribution of its inputs (need_…), and which
// transition gives the distribution of its outputs.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace ladon::infinite {

/// Known properties of the distribution of one channel f over the random weights.
struct Law {
  static constexpr int nothing = -2, over_channels = -1,
                       everything = std::numeric_limits<int>::max();
  /// The most that may be given (conditioned on) such that the mean of f is still 0. In ascending
  /// order:
  /// - `nothing`: E f is unknown.
  /// - `over_channels`: the channel contains fixed numbers (data, a table of positions), so that E
  ///   f differs from channel to channel. But the mean over the channels is known (Kernel::mean1),
  ///   which LayerNorm needs.
  /// - 0: E f = 0, but only unconditionally.
  /// - n: E f = 0 also given the inputs of the n outermost branches around the channel. The
  ///   network itself is the first branch.
  /// - `everything`: E f = 0 given all values that f was computed from, as after a random linear
  ///   map with separate weights. Sums and products of branches need this.
  int zero_given = nothing;
  /// Whether a channel is Gaussian with its kernel as covariance, and its tangent kernel does not
  /// depend on its value. Activations need both.
  bool gaussian = false;
  /// Number of channels; 0 if it is infinite or unknown.
  std::int64_t channels = 0;

  bool knows_means() const { return zero_given >= over_channels; }
  bool has_mean_zero() const { return zero_given > over_channels; }
  /// Whether the product of the channel with any value that it was computed from is 0 on average.
  bool independent() const { return zero_given == everything; }
  bool operator==(const Law&) const = default;

  // --- transitions ---

  /// Distribution of network inputs: only their number of channels and their means are known.
  static Law data(std::int64_t channels = 0) { return {over_channels, false, channels}; }
  /// Distribution after a random linear map with weights that nothing else uses.
  static Law random_linear() { return {everything, true}; }
  /// Distribution after an elementwise function.
  Law after_nonlinearity() const { return {}; }
  /// Distribution after random factors of mean one on the channels, or of concatenated channels
  /// with several distributions: what is known of the mean remains true, but channels are not
  /// Gaussian.
  Law after_mixing() const { return {zero_given, false, channels}; }
  /// Distribution after a fixed number is added to each channel.
  Law after_adding_fixed() const { return {std::min(zero_given, over_channels), false, channels}; }
  /// Distribution of `count` concatenated blocks of channels, such as those of all positions;
  /// different blocks may have different distributions.
  Law side_by_side(std::int64_t count) const { return {zero_given, false, channels * count}; }
  /// Distribution after each channel is multiplied by a trained factor (initially 1 or another
  /// number). If there is an NTK (`with_ntk`), this is after_mixing(): the factor's part of the
  /// tangent kernel differs between channels, and the NTK is only the mean over them.
  Law after_trained_scale(bool with_ntk) const { return with_ntk ? after_mixing() : *this; }
  /// Distribution of the same channels, seen as the inputs of a branch inside `depth` other
  /// branches. Given the inputs of this branch the channels are known, so zero_given is at most
  /// depth + 1.
  Law into_branch(int depth) const;
  /// Distribution of the outputs of a branch inside `depth` other branches, seen from outside of
  /// this branch. There, a mean that is 0 given the inputs of all branches around the output is 0
  /// given `everything`.
  Law out_of_branch(int depth) const;
  /// Distribution of Σ_i branch_i: the properties that all branches have.
  static Law of_sum(const std::vector<Law>& branches);
  /// Distribution of Π_i branch_i, elementwise: as of_sum(), but the product of several branches is
  /// not Gaussian.
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
  /// Throws Error naming `layer` and `branch` unless channels have mean zero given everything that
  /// they are computed from (independent()).
  void need_independent(std::string_view layer, std::string_view branch) const;
  /// Throws Error if the number of channels is known and is not `count`.
  void need_channels(std::string_view layer, std::int64_t count) const;
};

}  // namespace ladon::infinite
