#pragma once
// Second implementation of some models, for comparison: loops over plain numbers in double
// precision. It reads the weights by their names in other libraries' files, and shares no code with
// Ladon's layers.

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/core/state.h"

namespace ladon::test::plain {

using Row = std::vector<double>;
using Rows = std::vector<Row>;
using Names = std::vector<std::pair<std::string, Shape>>;

/// Random state with these names and shapes; weights of norm layers are drawn around 1.
inline StateDict drawn(const Names& names, std::uint64_t seed) {
  StateDict state;
  Generator rng(seed);
  for (const auto& [name, shape] : names) {
    const bool norm = shape.rank() == 1 && name.ends_with("weight");
    state[name] = normal(shape, rng, norm ? 1 : 0, shape.rank() == 1 ? 0.2 : 0.4);
  }
  return state;
}

/// Weights of a state as vectors and matrices of plain numbers.
class Weights {
 public:
  explicit Weights(const StateDict& state) : state_(state) {}
  Row vector(const std::string& name) const { return state_.at(name).to_vector(); }
  Rows matrix(const std::string& name) const {
    const Row all = vector(name);
    const auto columns = static_cast<std::size_t>(state_.at(name).size(1));
    Rows rows;
    for (std::size_t i = 0; i < all.size(); i += columns)
      rows.emplace_back(all.begin() + long(i), all.begin() + long(i + columns));
    return rows;
  }

 private:
  const StateDict& state_;
};

/// x·W + b with W [in, out], or W [out, in] if `turned`.
inline Row affine(const Row& x, const Rows& w, const Row& b, bool turned) {
  const std::size_t out = turned ? w.size() : w[0].size();
  Row y(out);
  for (std::size_t o = 0; o < out; ++o) {
    y[o] = b.empty() ? 0 : b[o];
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += x[i] * (turned ? w[o][i] : w[i][o]);
  }
  return y;
}

inline Row plus(Row a, const Row& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

/// LayerNorm (x − mean)/sqrt(variance + ε)·w + b; if b is empty, RMSNorm, which subtracts no mean.
inline Row normalized(const Row& x, const Row& w, const Row& b) {
  double mean = 0, square = 0;
  if (!b.empty())
    for (const double v : x) mean += v / double(x.size());
  for (const double v : x) square += (v - mean) * (v - mean) / double(x.size());
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = (x[i] - mean) / std::sqrt(square + 1e-5) * w[i] + (b.empty() ? 0 : b[i]);
  return y;
}

/// Heads of attention: query head h uses key head h/group, and position t attends to position s if
/// sees(t, s).
struct Attended {
  int heads, group = 1;
  std::function<bool(std::size_t t, std::size_t s)> sees = [](std::size_t t, std::size_t s) {
    return s <= t;
  };
};

/// Attention with rows q, k and v, in which the heads are concatenated.
inline Rows attended(const Rows& q, const Rows& k, const Rows& v, const Attended& how) {
  const std::size_t heads = std::size_t(how.heads), width = q[0].size() / heads;
  Rows y(q.size(), Row(q[0].size()));
  for (std::size_t t = 0; t < q.size(); ++t)
    for (std::size_t h = 0; h < heads; ++h) {
      const std::size_t from = h * width, there = h / std::size_t(how.group) * width;
      Row weight(k.size());
      double sum = 0;
      for (std::size_t s = 0; s < k.size(); ++s) {
        if (!how.sees(t, s)) continue;
        double logit = 0;
        for (std::size_t c = 0; c < width; ++c) logit += q[t][from + c] * k[s][there + c];
        sum += weight[s] = std::exp(logit / std::sqrt(double(width)));
      }
      for (std::size_t s = 0; s < k.size(); ++s)
        for (std::size_t c = 0; c < width; ++c) y[t][from + c] += weight[s] / sum * v[s][there + c];
    }
  return y;
}

inline Rows part(const Rows& x, std::size_t from, std::size_t to) {
  Rows y;
  for (const Row& row : x) y.emplace_back(row.begin() + long(from), row.begin() + long(to));
  return y;
}

/// Tokens as a tensor i64 [1, T].
inline Tensor tokens_of(const std::vector<int>& tokens) {
  return from_vector(std::vector<std::int64_t>(tokens.begin(), tokens.end()),
                     {1, std::int64_t(tokens.size())});
}

/// Largest difference between the library's result y [1, T, n] and the expected rows.
inline double largest_error(const Tensor& y, const Rows& expected) {
  double largest = 0;
  for (std::size_t t = 0; t < expected.size(); ++t)
    for (std::size_t i = 0; i < expected[t].size(); ++i)
      largest = std::max(largest, std::abs(at(y, {0, long(t), long(i)}).item() - expected[t][i]));
  return largest;
}

}  // namespace ladon::test::plain
