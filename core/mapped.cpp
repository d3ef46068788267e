#include "ladon/core/mapped.h"

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/random.h"
#include "ladon/core/view.h"

namespace ladon::mapped {

Tensor hide(const Tensor& x) {
  if (!x.defined()) return x;
  detail::require(!x.mapped() && x.rank() > 0, "examples stand along a leading axis");
  return Tensor::over_examples(x);
}

Tensor show(const Tensor& x, int rank) {
  if (!x.mapped()) return x;
  Tensor y = x.with_examples();
  while (y.rank() <= rank) y = view::unsqueeze(y, 1);
  return y;
}

namespace {

/// x with its first axes, of sizes a and b, as one, or its first axis as a and b.
Tensor leading(const Tensor& x, const Shape& first, int replaced) {
  Shape shape = first;
  for (int axis = replaced; axis < x.rank(); ++axis) shape.append(x.shape()[axis]);
  const Tensor y = view::try_reshape(x, shape);
  return y.defined() ? y : view::try_reshape(kernels::clone(x), shape);
}

}  // namespace

Tensor merge(const Tensor& x, const Nest& nest) {
  if (nest.outer < 0) return hide(x);
  return hide(leading(spread(x, nest.outer), {nest.all()}, 2));
}

Tensor divide(const Tensor& x, const Nest& nest) {
  if (nest.outer < 0) return show(x);
  return hide(leading(show(x), {nest.outer, nest.inner}, 1));
}

Tensor repeat(const Tensor& x, std::int64_t examples) {
  if (!x.mapped() || x.examples() == examples) return x;
  const std::int64_t n = x.examples(), times = n > 0 ? examples / n : 0;
  const Tensor one = view::unsqueeze(show(x), 1);  // [n, 1, shape..]
  Shape shape = one.shape();
  shape[1] = times;
  return hide(leading(view::expand(one, shape), {examples}, 2));
}

Tensor spread(const Tensor& x, std::int64_t examples, int rank) {
  if (!x.defined() || x.mapped()) return show(repeat(x, examples), rank);
  Shape shape = x.shape();
  while (shape.rank() < rank) shape.insert(0, 1);
  shape.insert(0, examples);
  return view::expand(x, shape);
}

std::int64_t innermost(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0 || a == b) return std::max(a, b);
  if (a > 0 && b % a == 0) return b;
  LADON_CHECK(b > 0 && a % b == 0, "vmap", "tensors of ", a, " and of ", b,
              " examples meet; they come from different calls of vmap");
  return a;
}

std::int64_t examples(std::initializer_list<const Tensor*> operands) {
  std::int64_t n = -1;
  for (const Tensor* x : operands) n = innermost(n, x->examples());
  return n;
}

std::int64_t examples(const std::vector<Tensor>& operands) {
  std::int64_t n = -1;
  for (const Tensor& x : operands) n = innermost(n, x.examples());
  return n;
}

Tensor room(const Tensor& y, std::initializer_list<const Tensor*> operands) {
  const std::int64_t n = examples(operands);
  if (n < 0 || innermost(y.examples(), n) == y.examples()) return y;
  return hide(kernels::clone(spread(y, n)));
}

std::vector<int> next(std::vector<int> axes) {
  for (int& axis : axes) axis = next(axis);
  return axes;
}

Tensor drawn(const Shape& shape, DType dtype, Generator& rng,
             const std::function<Tensor(Generator& own, std::int64_t example)>& draw) {
  if (!active()) return draw(rng, 0);
  const std::int64_t n = running();
  const Scope outside(-1);
  const Generator source = rng.split(rng.reserve(1));
  Shape all = shape;
  all.insert(0, n);
  const Tensor numbers = empty(all, dtype);
  for (std::int64_t i = 0; i < n; ++i) {
    Generator own = source.split(static_cast<std::uint64_t>(i));
    kernels::copy(view::select(numbers, 0, i), draw(own, i));
  }
  return hide(numbers);
}

std::vector<Tensor> each(const std::vector<Tensor>& operands, const Function& f) {
  const std::int64_t n = examples(operands);
  std::vector<Tensor> all, results;
  for (const Tensor& x : operands) all.push_back(spread(x, n));
  const auto of_example = [&](std::int64_t i) {
    std::vector<Tensor> one;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!all[k].defined())
        one.emplace_back();
      else  // without examples the shapes of results are found with zeros
        one.push_back(n > 0 ? view::select(all[k], 0, i)
                            : zeros(operands[k].shape(), operands[k].dtype()));
    }
    return f(one);
  };
  for (std::int64_t i = 0; i < std::max<std::int64_t>(n, 1); ++i) {
    const std::vector<Tensor> parts = of_example(i);
    if (i == 0)
      for (const Tensor& part : parts) {
        Shape shape = part.defined() ? part.shape() : Shape();
        shape.insert(0, n);
        results.push_back(part.defined() ? empty(shape, part.dtype()) : part);
      }
    for (std::size_t k = 0; n > 0 && k < parts.size(); ++k)
      if (parts[k].defined()) kernels::copy(view::select(results[k], 0, i), parts[k]);
  }
  for (Tensor& result : results) result = hide(result);
  return results;
}

}  // namespace ladon::mapped
