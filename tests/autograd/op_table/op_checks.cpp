#include "op_checks.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

/// Storage whose every element outside the view under test is far from any sensible value.
Tensor garbage(const Shape& shape, DType dtype) { return full(shape, 1e30, dtype); }

double largest(const std::vector<double>& values) {
  double m = 0;
  for (const double v : values)
    if (std::isfinite(v)) m = std::max(m, std::abs(v));
  return m;
}

}  // namespace

std::vector<Tensor> copies(const std::vector<Tensor>& inputs, DType floating) {
  std::vector<Tensor> result;
  for (const Tensor& x : inputs)
    result.push_back(is_floating(x.dtype()) ? kernels::clone(kernels::cast(x, floating))
                                            : kernels::clone(x));
  return result;
}

std::vector<Tensor> require_grad(std::vector<Tensor> inputs) {
  for (Tensor& x : inputs)
    if (is_floating(x.dtype())) x.set_requires_grad();
  return inputs;
}

bool any_floating(const std::vector<Tensor>& inputs) {
  for (const Tensor& x : inputs)
    if (is_floating(x.dtype())) return true;
  return false;
}

Tensor laid_out(const Tensor& x, Layout layout) {
  const DType t = x.dtype();
  const int rank = x.rank();
  Tensor window;
  if (layout == Layout::transposed) {
    Shape shape = x.shape();
    std::vector<int> order;
    for (int i = 0; i < rank; ++i) {
      shape[i] = x.size(rank - 1 - i);
      order.push_back(rank - 1 - i);
    }
    window = view::permute(empty(shape, t), order);
  } else if (layout == Layout::strided) {
    Shape shape = x.shape();
    for (int i = 0; i < rank; ++i) shape[i] = 2 * shape[i] + 1;
    window = t == boolean ? ones(shape, t) : t == i64 ? full(shape, 1 << 30, t) : garbage(shape, t);
    for (int i = 0; i < rank; ++i) window = view::slice(window, i, 1, x.size(i), 2);
  } else {
    window = empty(x.shape(), t);
    for (int i = 0; i < rank; ++i)
      if (x.size(i) > 0) window = view::slice(window, i, x.size(i) - 1, x.size(i), -1);
  }
  kernels::copy(window, x);
  return window;
}

std::vector<Dense> dense(const std::vector<Tensor>& inputs) {
  std::vector<Dense> result;
  for (const Tensor& x : inputs) result.emplace_back(x);
  return result;
}

void expect_near(const Dense& got, const Dense& want, double rtol, const std::string& what) {
  ASSERT_EQ(detail::join(got.shape), detail::join(want.shape)) << what;
  const double room = rtol * std::max(1.0, largest(want.values));
  for (std::size_t i = 0; i < want.values.size(); ++i) {
    const double a = got.values[i], b = want.values[i];
    const bool same = std::isnan(b)   ? std::isnan(a)
                      : std::isinf(b) ? a == b
                                      : std::abs(a - b) <= room;  // false for a NaN
    ASSERT_TRUE(same) << what << ": element " << i << " is " << a << ", expected " << b;
  }
}

Tensor cotangent_like(const Tensor& y) {
  Generator rng(77);
  return kernels::cast(normal(y.shape(), rng, 0, 1, f64), y.dtype());
}

Evaluation evaluate(const OpSample& sample, const std::vector<Tensor>& inputs, Cotangent kind,
                    bool create_graph) {
  if (!sample.differentiable) return {Dense(sample.apply(inputs)), {}};
  const std::vector<Tensor> leaves = require_grad(inputs);
  const Tensor y = sample.apply(leaves);
  std::vector<Tensor> wanted;
  for (const Tensor& x : leaves)
    if (x.requires_grad()) wanted.push_back(x);
  Tensor c = cotangent_like(y);
  if (kind == Cotangent::strided) c = laid_out(c, Layout::transposed);
  Evaluation result{Dense(y), {}};
  const GradOptions options{.cotangents = {c}, .create_graph = create_graph};
  for (const Tensor& g : grad({y}, wanted, options)) result.gradients.emplace_back(g);
  return result;
}

void expect_same(const Evaluation& got, const Evaluation& want, double rtol,
                 const std::string& what) {
  expect_near(got.value, want.value, rtol, what + ", value");
  ASSERT_EQ(got.gradients.size(), want.gradients.size()) << what;
  for (std::size_t i = 0; i < want.gradients.size(); ++i)
    expect_near(got.gradients[i], want.gradients[i], 10 * rtol,
                detail::join(what, ", gradient by floating input ", i));
}

std::vector<Check>& checks() {
  static std::vector<Check> all;
  return all;
}

bool always(const OpRow&) { return true; }

bool has_second(const OpRow& row) {
  for (const OpSample& sample : row.samples)
    if (sample.differentiable && sample.twice_differentiable) return true;
  return false;
}

}  // namespace ladon::test
