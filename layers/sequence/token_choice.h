#pragma once
// Choice of the next token: by drawing, or by rank for beams.

#include <cstdint>
#include <optional>
#include <vector>

#include "ladon/layers/sequence/generate.h"

namespace ladon::detail {

using Tokens = std::vector<std::int64_t>;

void check_options(const GenerateOptions& o);
bool stops(const GenerateOptions& o, std::int64_t token);

/// Logits [vocabulary] after position last[b] of row b, or after the only position, of what a model
/// gave. Throws Error for another shape.
std::vector<Tensor> logits_after(const Tensor& logits, const Tokens& last);

/// Logits of the next token, checked: floating, not NaN, and one of them possible (else Error).
class TokenLogits {
 public:
  explicit TokenLogits(const Tensor& logits);  ///< [vocabulary]
  std::int64_t count() const { return x_.count(); }
  std::int64_t likeliest() const { return likeliest_; }
  /// ln p of a token.
  double log_probability(std::int64_t token) const;
  const double* values() const { return x_.data<double>(); }
  const Tensor& tensor() const { return x_; }

 private:
  Tensor x_;  // f64
  std::int64_t likeliest_;
  mutable std::optional<double> log_sum_;  // ln Σ exp x, at the first use
};

/// Tokens by falling logits, the first of equal ones before; sorted as far as it is asked for.
class TokenRanking {
 public:
  explicit TokenRanking(const TokenLogits& logits);
  std::size_t size() const { return order_.size(); }
  std::int64_t operator[](std::size_t i) {
    while (i >= sorted_) sort_more();
    return order_[i].token;
  }

 private:
  struct Item {
    double x;
    std::int64_t token;
    bool operator<(const Item& other) const {
      return x > other.x || (x == other.x && token < other.token);
    }
  };
  void sort_more();

  std::vector<Item> order_;
  std::size_t sorted_ = 0;
};

/// A text that is written by drawing.
struct DrawnText {
  std::int64_t row;  ///< For on_token.
  Tokens prompt;
  GenerateOptions options;
  Generator rng;
  Generated text = {};

  /// Draws the token after it from logits [vocabulary]. Whether the text goes on.
  bool grow(const Tensor& logits);
};

}  // namespace ladon::detail
