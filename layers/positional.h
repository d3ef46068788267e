#pragma once
// Positional encodings, added to token vectors [batch, T, dim].

#include "ladon/layers/module.h"

namespace ladon {

/// Position t, channels 2i and 2i+1: sin and cos of t/10000^(2i/dim)   (Vaswani et al. 2017).
/// [length, dim]; any dim.
Tensor sinusoidal_table(std::int64_t length, std::int64_t dim, DType dtype = f32);

/// Adds the sinusoidal table. Any length.
struct SinusoidalPositions : Layer {
  Tensor forward(const Tensor& x) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

struct LearnedPositionsOptions {
  std::int64_t max_length, dim;
  double stddev = 0.02;  ///< Rows start as N(0, stddev²).
};

/// Adds a trained table. Throws Error for a sequence longer than max_length.
struct LearnedPositions : Layer {
  Tensor weight;  ///< [max_length, dim]

  LearnedPositions(const LearnedPositionsOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
