#include "ladon/examples/copy_head/task.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"

namespace ladon::example {
namespace {

constexpr double output_std = 0.3;  // w: outputs are A·X·M·w/√V (task.h)

double size(std::int64_t n) { return static_cast<double>(n); }

/// Attention map of a perfect copy head [T, T]: every position attends only to the previous one,
/// and the first to the last.
Tensor shift_map() { return roll(eye(length, f64), -1, 1); }

/// Σ_n a[n, i]·b[n, j]ᵀ for each pair of positions i, j: [T·T, V·V], for a and b [N, T, V].
Tensor pair_moments(const Tensor& a, const Tensor& b) {
  const std::int64_t n = a.size(0);
  const Tensor all = matmul(transpose(reshape(a, {n, -1})), reshape(b, {n, -1}));
  return reshape(permute(reshape(all, {length, symbols, length, symbols}), {0, 2, 1, 3}),
                 {logits, symbols * symbols});
}

/// Logs [S] of S Gaussian integrals: −½·V·ln det P + ½·Σ_o b_oᵀP⁻¹b_o for P [S, V, V] and b [S, V,
/// V] with columns b_o, by Gaussian elimination of all S systems at once.
Tensor gaussian_integral(const Tensor& p, const Tensor& b) {
  Tensor left = concat({p, b}, 2), result = zeros({p.size(0)}, f64);
  for (std::int64_t k = symbols; k >= 1; --k) {  // left [S, k, k + V]
    const Tensor row = slice(left, 1, {.stop = 1}), pivot = slice(row, 2, {.stop = 1});
    const Tensor d = flatten(pivot);
    result = result - 0.5 * symbols * log(d) +
             0.5 * flatten(sum(square(slice(row, 2, {.start = k})), 2)) / d;
    const Tensor column = slice(slice(left, 1, {.start = 1}), 2, {.stop = 1});
    left = slice(slice(left, 1, {.start = 1}) - column * (row / pivot), 2, {.start = 1});
  }
  return result;
}

}  // namespace

CopyData CopyData::first(std::int64_t n) const {
  return {contiguous(slice(x, 0, {.stop = n})), contiguous(slice(y, 0, {.stop = n}))};
}

CopyData copy_data(std::int64_t count, Generator& rng) {
  std::vector<Tensor> orders;
  for (std::int64_t i = 0; i < count; ++i) orders.push_back(permutation(length, rng));
  const Tensor centred = one_hot(stack(orders, 0), symbols, f64) - 1 / size(symbols);
  const Tensor x = centred * (size(symbols) / std::sqrt(size(symbols - 1)));
  return {x, roll(x, 1, 1) + normal(x.shape(), rng, 0, std::sqrt(noise), f64)};
}

Tensor attention_maps(Weighting weighting, const Tensor& z) {
  const Tensor b = reshape(slice(z, 1, {.stop = logits}), {z.size(0), length, length});
  if (weighting == Weighting::softmax) return softmax(2.0 * b);
  return b / std::sqrt(size(length));
}

Tensor alignment(const Tensor& maps) {
  const Tensor centred = maps - mean(maps, 2, Dims::keep), right = shift_map() - 1 / size(length);
  const Tensor products = sum(flatten(centred * right, 1, 2), 1);
  return abs(products) / sqrt(sum(flatten(square(centred), 1, 2), 1) * sum(square(right)));
}

Tensor weight_on_right(const Tensor& maps) {
  return sum(flatten(maps * shift_map(), 1, 2), 1) / size(length);
}

LogLikelihood copy_likelihood(const CopyData& data, Weighting weighting) {
  const NoGrad off;
  const double c = output_std / std::sqrt(noise * size(symbols));
  const Tensor xx = c * c * pair_moments(data.x, data.x);
  const Tensor xy = c / std::sqrt(noise) * pair_moments(data.x, data.y);
  return [xx, xy, weighting](const Tensor& z) {
    const NoGrad inside;
    const std::int64_t rows = z.size(0);
    const Tensor a = transpose(attention_maps(weighting, z));  // [S, keys, queries]
    const auto sums = [rows](const Tensor& pairs, const Tensor& moments) {
      return reshape(matmul(reshape(pairs, {rows, logits}), moments), {rows, symbols, symbols});
    };
    return gaussian_integral(sums(matmul(a, transpose(a)), xx) + eye(symbols, f64), sums(a, xy));
  };
}

RegressionTask copy_network(const CopyData& data, Weighting weighting) {
  const NoGrad off;
  const std::int64_t n = data.x.size(0);
  // Positions are the first axis, so that one product with a map serves all sequences.
  const Tensor x = reshape(permute(data.x, {1, 0, 2}), {length, n * symbols});
  const Tensor y = flatten(permute(data.y, {1, 0, 2}));
  const auto functions = [x, n, weighting](const Tensor& theta, std::int64_t inputs) {
    const std::int64_t rows = theta.size(0);
    const Tensor a = attention_maps(weighting, theta);
    const Tensor f = reshape(matmul(a, x), {rows, length * n, symbols});
    const Tensor m = reshape(slice(theta, 1, {.start = logits}), {rows, symbols, symbols});
    const Tensor out = flatten(matmul(f, m), 1, 2) * (output_std / std::sqrt(size(symbols)));
    return inputs == out.size(1) ? out : concat({out, unsqueeze(alignment(a), 1)}, 1);
  };
  return {logits + symbols * symbols, functions, y.count() + 1, y, noise};
}

}  // namespace ladon::example
