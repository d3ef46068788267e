#include "ladon/layers/infinite/attention/logits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon::infinite {
namespace {

// Largest number r of rows and columns of the orthogonal part of Z (logits.h): a group of r² draws
// costs O(r⁶) operations.
constexpr std::int64_t most_orthogonal = 12;

bool any_not_zero(const double* x, std::int64_t n) {
  return std::any_of(x, x + n, [](double v) { return v != 0; });
}

// y = alpha·a·b + beta·y in row-major order, where a is [rows, inner] and b is [inner, columns].
void product(std::int64_t rows, std::int64_t columns, std::int64_t inner, double alpha,
             const double* a, const double* b, double beta, double* y) {
  blas::gemm_serial<double>(rows, columns, inner, alpha, {a, inner, 1}, {b, columns, 1}, beta,
                            {y, columns, 1});
}

}  // namespace

SharedDraws::SharedDraws(const Generator& rng, std::int64_t rank, KeptDraws* kept)
    : rng_(rng), rank_(rank), first_(std::min(rank, most_orthogonal)), kept_(kept) {}

Tensor SharedDraws::operator[](std::int64_t number) {
  if (!kept_ || rank_ == 0) return drawn(number);
  return kept_->get({rng_.seed(), rng_.stream(), rank_}, number, [&] { return drawn(number); });
}

std::vector<Tensor> SharedDraws::of(std::int64_t begin, std::int64_t end) {
  std::vector<Tensor> z(end - begin);
  parallel::for_range(end - begin, 1, [&](std::int64_t i, std::int64_t last) {
    for (; i < last; ++i) z[i] = (*this)[begin + i];
  });
  return z;
}

Tensor SharedDraws::drawn(std::int64_t number) {
  Generator numbers = rng_.split(0).split(static_cast<std::uint64_t>(number));
  Tensor z = normal({rank_, rank_}, numbers, 0, 1, f64);
  const std::int64_t size = first_ * first_;
  if (size == 0) return z;
  const Slice first{.stop = first_};
  copy_(slice(slice(z, 0, first), 1, first), select(orthogonal(number / size), 0, number % size));
  return z;
}

/// The matrices of one group of draws (logits.h). Those of the last requested group are kept.
Tensor SharedDraws::orthogonal(std::int64_t group) {
  const std::lock_guard lock(mutex_);
  if (group == group_) return orthogonal_;
  const std::int64_t size = first_ * first_;
  Generator numbers = rng_.split(1).split(static_cast<std::uint64_t>(group));
  const Tensor x = normal({size, size}, numbers, 0, 1, f64);
  // x = L·Q, where Q has orthonormal rows and L is from x·xᵀ = L·Lᵀ. The lengths of the rows of x
  // are independent of Q.
  const Tensor gram = matmul(x, transpose(x));
  const Tensor lengths = sqrt(unsqueeze(diagonal(gram), 1));
  orthogonal_ = reshape(lengths * lapack::solve_triangular(lapack::cholesky(gram), x),
                        {size, first_, first_});
  group_ = group;
  return orthogonal_;
}

namespace {

/// Hash of each input (Root::names), which keys its random numbers; 0 for inputs that draw none,
/// because their residual root Ψ is 0.
std::vector<std::uint64_t> names_of(const Root& root) {
  const std::int64_t t = root.own.size(-1), size = t * t;
  const Tensor own = contiguous(root.own.detach());
  const std::int64_t* name = root.names.data<std::int64_t>();
  std::vector<std::uint64_t> names;
  for (std::int64_t at = 0; at < own.count(); at += size, ++name)
    names.push_back(any_not_zero(own.data<double>() + at, size) ? static_cast<std::uint64_t>(*name)
                                                                : 0);
  return names;
}

Shape numbers_shape(const Tensor& own, std::int64_t queries, std::int64_t keys) {
  Shape shape = own.shape().sub(0, own.rank() - 2);
  for (const std::int64_t axis : {std::int64_t{3}, queries, keys}) shape.append(axis);
  return shape;
}

}  // namespace

OwnNumbers::Places OwnNumbers::places_of(const Root& root) {
  if (!root.mask.defined()) return {};
  const Tensor mask = contiguous(root.mask);
  const std::int64_t n = mask.size(0), t = mask.size(1);
  Places places(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n * t; ++i)
    if (mask.data<bool>()[i]) places[i / t].push_back(i % t);
  return places;
}

OwnNumbers::OwnNumbers(const Root& root)
    : shape_(numbers_shape(root.own, root.own.size(-1), root.own.size(-1))),
      key_(names_of(root)),
      queries_(places_of(root)),
      keys_(queries_) {}

// An input's random numbers are selected by key_, a hash of the inputs of its queries and of its
// keys. Which of the two has a Ψ of zero does not affect key_, since this may change with
// hyper-parameters.
OwnNumbers::OwnNumbers(const Root& queries, const Root& keys)
    : shape_(numbers_shape(keys.own, queries.own.size(-1), keys.own.size(-1))),
      key_(names_of(queries)),
      queries_(places_of(queries)),
      keys_(places_of(keys)) {
  const std::vector<std::uint64_t> of_keys = names_of(keys);
  const auto *query = queries.names.data<std::int64_t>(), *key = keys.names.data<std::int64_t>();
  for (std::size_t n = 0; n < key_.size(); ++n, ++query, ++key)
    if (key_[n] != 0 || of_keys[n] != 0)
      key_[n] = (static_cast<std::uint64_t>(*query) * 0x9e3779b97f4a7c15 +
                 static_cast<std::uint64_t>(*key)) |
                1;
}

Tensor OwnNumbers::of(std::int64_t input, const Generator& rng, std::int64_t number) const {
  Generator numbers = rng.split(key_[input]).split(static_cast<std::uint64_t>(number));
  const Shape all = shape_.sub(shape_.rank() - 3, shape_.rank());
  if (queries_.empty() && keys_.empty()) return normal(all, numbers, 0, 1, f64);
  const auto visible = [input](const Places& places, std::int64_t tokens) {
    if (!places.empty()) return places[input];
    std::vector<std::int64_t> every(tokens);
    std::iota(every.begin(), every.end(), std::int64_t{0});
    return every;
  };
  const std::vector<std::int64_t> rows = visible(queries_, all[1]),
                                  columns = visible(keys_, all[2]);
  const Tensor drawn = normal({all[0], std::ssize(rows), std::ssize(columns)}, numbers, 0, 1, f64);
  Tensor spread = zeros(all, f64);
  const double* from = drawn.data<double>();
  double* to = spread.mutable_data<double>();
  for (std::int64_t part = 0; part < all[0]; ++part)
    for (const std::int64_t row : rows)
      for (const std::int64_t column : columns)
        to[(part * all[1] + row) * all[2] + column] = *from++;
  return spread;
}

Tensor OwnNumbers::operator()(const Generator& rng, std::int64_t number) const {
  Tensor all = zeros(shape_, f64);
  const Tensor inputs = flatten(all, 0, -4);  // [N, 3, T, T]
  for (std::int64_t n = 0; n < inputs.size(0); ++n)
    if (any(n)) copy_(select(inputs, 0, n), of(n, rng, number));
  return all;
}

LogitDraws::LogitDraws(const Root& root, const Tensor& cov, const Tensor& may, double query_key)
    : inputs_(root.own.count() / std::max<std::int64_t>(1, cov.size(-1) * cov.size(-1))),
      positions_(cov.size(-1)),
      rank_(root.common.size(-1)),
      query_key_(query_key),
      may_(contiguous(may)),
      numbers_(root) {
  const std::int64_t t = positions_, size = t * t;
  common_ = reshape(contiguous(root.common), {inputs_, t, rank_});
  turned_ = contiguous(transpose(common_));
  own_ = reshape(contiguous(root.own), {inputs_, t, t});
  spread_ = contiguous(matmul(common_, turned_));
  const Tensor k = contiguous(cov);
  const double* self = k.data<double>();
  double* spread = spread_.mutable_data<double>();
  for (std::int64_t n = 0; n < inputs_; ++n) {
    if (numbers_.any(n)) factorize(spread + n * size, t, self + n * size);
  }
}

const double* LogitDraws::common(std::int64_t input) const {
  return common_.data<double>() + input * positions_ * rank_;
}

const double* LogitDraws::common_turned(std::int64_t input) const {
  return turned_.data<double>() + input * positions_ * rank_;
}

void LogitDraws::draw(std::int64_t input, const double* shared, const Generator& rng,
                      std::int64_t number, double* logits) const {
  const std::int64_t t = positions_, r = rank_, size = t * t;
  std::vector<double> half(t * std::max(r, t));
  product(t, r, r, query_key_, common(input), shared, 0, half.data());
  product(t, t, r, 1, half.data(), common_turned(input), 0, logits);
  if (!numbers_.any(input)) return;
  const Tensor z = numbers_.of(input, rng, number);
  const double *z12 = z.data<double>(), *z21 = z12 + size, *z22 = z21 + size;
  const double *spread = spread_.data<double>() + input * size,
               *own = own_.data<double>() + input * size;
  const auto add = [&](const double* left, const double* middle, const double* right) {
    product(t, t, t, query_key_, left, middle, 0, half.data());
    blas::gemm_serial<double>(t, t, t, 1, {half.data(), t, 1}, {right, 1, t}, 1, {logits, t, 1});
  };
  add(spread, z12, own);
  add(own, z21, spread);
  add(own, z22, own);
}

DrawnWeights LogitDraws::weights(const std::vector<Tensor>& z, const Generator& rng,
                                 std::int64_t begin, Sides sides) const {
  const std::int64_t t = positions_, size = t * t, count = 2 * std::ssize(z);
  const auto layout = [&](bool wanted) {
    return wanted ? empty({inputs_, count * size}, f64) : Tensor();
  };
  DrawnWeights p{layout(sides != Sides::right), layout(sides != Sides::left),
                 layout(sides != Sides::left)};
  const auto data = [](Tensor& x) { return x.defined() ? x.mutable_data<double>() : nullptr; };
  double *by_query = data(p.by_query), *by_draw = data(p.by_draw), *by_key = data(p.by_key);
  const auto softmax = kernels::loops().f64.softmax;
  parallel::for_range(inputs_, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<double> logits(size), row(static_cast<std::size_t>(t));
    for (std::int64_t n = first; n < last; ++n) {
      const double* may = may_.data<double>() + (may_.rank() == 2 ? 0 : n * size);
      for (std::int64_t s = 0; s < count; ++s) {
        if (s % 2 == 0) draw(n, z[s / 2].data<double>(), rng, begin + s / 2, logits.data());
        for (std::int64_t a = 0; a < t; ++a) {
          for (std::int64_t i = 0; i < t; ++i) {
            const double g = logits[a * t + i];
            row[i] = may[a * t + i] > 0 ? (s % 2 == 0 ? g : -g) : -INFINITY;
          }
          softmax(row.data(), row.data(), t);
          if (by_query) std::copy_n(row.data(), t, by_query + ((n * t + a) * count + s) * t);
          if (!by_draw) continue;
          const std::int64_t at = (n * count + s) * size;
          std::copy_n(row.data(), t, by_draw + at + a * t);
          for (std::int64_t i = 0; i < t; ++i) by_key[at + i * t + a] = row[i];
        }
      }
    }
  });
  return p;
}

}  // namespace ladon::infinite
