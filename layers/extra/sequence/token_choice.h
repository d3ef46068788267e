#pragma once
// Choice of the next token: by drawing, or by rank for beam search.

#include <cstdint>
#include <optional>
#include <vector>

#include "ladon/layers/extra/sequence/generate.h"

namespace ladon::detail {

using Tokens = std::vector<std::int64_t>;

void check_options(const GenerateOptions& o);
bool stops(const GenerateOptions& o, std::int64_t token);

/// Logits [vocabulary] after position last[b] of row b, or after the only position, from a model's
/// output. Throws Error for another shape.
std::vector<Tensor> logits_after(const Tensor& logits, const Tokens& last);

/// Logits of the next token. Throws Error if they are NaN, or if no token is possible.
class TokenLogits {
 public:
  explicit TokenLogits(const Tensor& logits);  ///< [vocabulary]
  std::int64_t count() const { return x_.count(); }
  std::int64_t likeliest() const { return likeliest_; }
  /// Log-probability ln p of a token.
  double log_probability(std::int64_t token) const;
  const double* values() const { return x_.data<double>(); }
  const Tensor& tensor() const { return x_; }

 private:
  Tensor x_;  // f64
  std::int64_t likeliest_;
  mutable std::optional<double> log_sum_;  // ln Σ exp x, computed at the first use
};

/// Tokens by decreasing logits, tokens of equal logits by their indices; sorted only as far as
/// needed.
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

/// State of a text whose tokens are drawn one by one.
struct DrawnText {
  std::int64_t row;  ///< Row of the text, the argument of on_token.
  Tokens prompt;
  GenerateOptions options;
  Generator rng;
  Generated text = {};

  /// Draws the next token from logits [vocabulary]. Returns whether the text goes on.
  bool grow(const Tensor& logits);
};

}  // namespace ladon::detail
