#include "ladon/core/mapped.h"

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
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

Tensor spread(const Tensor& x, std::int64_t examples, int rank) {
  if (!x.defined() || x.mapped()) return show(x, rank);
  Shape shape = x.shape();
  while (shape.rank() < rank) shape.insert(0, 1);
  shape.insert(0, examples);
  return view::expand(x, shape);
}

std::int64_t examples(std::initializer_list<const Tensor*> operands) {
  std::int64_t n = -1;
  for (const Tensor* x : operands) {
    if (!x->mapped()) continue;
    LADON_CHECK(n < 0 || n == x->examples(), "vmap", "tensors of ", n, " and of ", x->examples(),
                " examples meet; they come from different calls of vmap");
    n = x->examples();
  }
  return n;
}

Tensor room(const Tensor& y, std::initializer_list<const Tensor*> operands) {
  const std::int64_t n = examples(operands);
  if (n < 0 || y.mapped()) return y;
  return hide(kernels::clone(spread(y, n)));
}

std::vector<int> next(std::vector<int> axes) {
  for (int& axis : axes) axis = next(axis);
  return axes;
}

std::vector<Tensor> each(const std::vector<Tensor>& operands, const Function& f) {
  std::int64_t n = -1;
  for (const Tensor& x : operands) n = std::max(n, examples({&x}));
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
