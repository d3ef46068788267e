#pragma once
// Positional encodings, added to tokens [batch, T, dim] so that layers can distinguish positions.
// Positions are places 0 to T − 1, padding included: tokens behind padding on the left or in
// between get other encodings than without it. Remove such padding first; padding on the right is
// harmless. (Models that decode with a cache number only tokens: KeyValueCache::next_positions().)

#include <functional>

#include "ladon/layers/layer.h"

namespace ladon {
namespace infinite {
struct Pairs;
}

/// Sinusoidal table [length, dim] for any dim: in row t, channels 2i and 2i+1 are sin and cos of
/// t/10000^(2i/dim)   (Vaswani et al. 2017).
Tensor sinusoidal_table(std::int64_t length, std::int64_t dim, DType dtype = f32);

/// Adds the sinusoidal table to sequences [batch, T, dim] of any length. Throws Error for any other
/// shape: images go through FlattenPositions first.
struct SinusoidalPositions : Layer {
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// The table is fixed, so the NTK stays the same. The NNGP kernel becomes k'_ab = k_ab + ½·∫₀¹
  /// cos((a − b)·10000⁻ˢ) ds; the integral is the limit of P_a·P_b/dim for rows P_a and P_b of the
  /// table. Throws Error unless the inputs' channels have mean zero, which excludes data and inputs
  /// to which such a table was added. The outputs' channels do not have mean zero: a following
  /// LayerNorm subtracts the means, a following activation throws Error.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

struct LearnedPositionsOptions {
  std::int64_t max_length, dim;
  double stddev = 0.02;  ///< Rows start as N(0, stddev²).
};

/// Adds a trained table to sequences [batch, T, dim]. Throws Error for any other shape (images go
/// through FlattenPositions first), and for a sequence longer than max_length.
struct LearnedPositions : Layer {
  Tensor weight;    ///< [max_length, dim]
  double init_std;  ///< Standard deviation of the elements at initialization.

  LearnedPositions(const LearnedPositionsOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// NNGP kernel k' and NTK t' as dim → ∞, for positions a and b:
  ///   k'_ab = k_ab + stddev²·1{a = b},  t'_ab = t_ab + 1{a = b}.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  void check_length(std::int64_t length) const;
};

/// Combination of the encodings P with the tokens x.
enum class PositionMerge {
  sum,    ///< x + P, of equal width.
  concat  ///< [x, P]: separate channels.
};

struct RandomPositionsOptions {
  /// {T}: sequences of at most T tokens; {H, W}: images of that size, or sequences of their H·W
  /// pixels row by row.
  Shape grid;
  std::int64_t in = 0;  ///< Width of the tokens.
  PositionMerge merge = PositionMerge::sum;
  std::int64_t channels = 0;  ///< concat: width of the encodings; sum: 0.
  double stddev = 1;          ///< σ_p
  /// Correlation of positions a and b, R_ab = correlation(|a − b|²), which should be 1 at
  /// distance 0. If empty, positions are independent: R_ab = 1{a = b}.
  std::function<double(double squared_distance)> correlation = {};
};

/// The correlation exp(−decay·|a − b|²).
std::function<double(double)> decaying_correlation(double decay);

/// Encodings correlated over positions (Hron, Bahri, Sohl-Dickstein and Novak 2020): P = σ_p·L·E
/// with trained E, initially N(0, 1), and R = L·Lᵀ the correlation matrix of the positions of a
/// sequence or an image. Maps [batch, T, in] or [batch, H, W, in] to the same shape with `in` (sum)
/// or in + channels (concat) channels. Throws Error for positions that do not fit the grid.
struct RandomPositions : Layer {
  Tensor weight;       ///< E [positions, in or channels]
  Tensor stddev;       ///< σ_p, an f64 scalar
  Tensor correlation;  ///< R [positions, positions], f64
  Tensor factor;       ///< L, the symmetric square root of R
  Shape grid;
  std::int64_t in;
  PositionMerge merge;

  /// Throws Error if a size is not positive, channels are given for a sum, stddev is negative, or R
  /// is not positive semi-definite (to 1e-10 of its trace).
  RandomPositions(const RandomPositionsOptions& options, Generator& rng);
  /// Throws Error unless inputs with these positions, {T} or {H, W}, fit the grid.
  void check_fits(const Shape& positions) const;
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// NNGP kernel k' and NTK t' as the widths → ∞, with the share r of token channels and s of
  /// encoding channels (concat: r = in/(in + channels), s = 1 − r; sum: r = s = 1):
  ///   k' = r·k + s·σ_p²·R,  t' = r·t + s·σ_p²·R.
  /// For concat this is the mean over channels, which are not identically distributed: the next
  /// layer must be a random linear map or attention, not an activation.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  double token_share() const;
};

}  // namespace ladon
