// Random calls of operations that index by tensors.

#include "table.h"

namespace ladon::test {
namespace {

/// The subject's size along an axis that may be out of range; then 1.
std::int64_t length(const Tensor& x, int axis) {
  return x.defined() && axis >= -x.rank() && axis < x.rank() ? x.size(axis) : 1;
}

/// Of the subject's rank, no larger off the axis, mostly.
Shape index_shape(Draw& d, const Tensor& x) {
  if (!x.defined() || d.chance(0.05)) return d.small_shape();
  Shape shape = x.shape();
  for (std::int64_t& n : shape)
    if (n > 1 && d.chance(0.3)) n = 1 + d.below(n);
  return shape;
}

template <class F>
Tensor scattered(Draw& d, const F& f) {
  const Tensor x = d.tensor();
  const int a = d.axis();
  const Tensor index = d.indices(index_shape(d, x), length(x, a));
  const Tensor source = d.chance(0.9) && x.defined() && index.defined()
                            ? d.made(index.shape(), x.dtype())
                            : d.tensor();
  return f(x, a, index, source);
}

}  // namespace

void add_index_calls(CallTable& table) {
  table.add("index_select", [](Draw& d) {
    const Tensor x = d.tensor();
    const int a = d.axis();
    return index_select(x, a, d.indices({d.below(5)}, length(x, a)));
  });
  table.add("gather", [](Draw& d) {
    const Tensor x = d.tensor();
    const int a = d.axis();
    return gather(x, a, d.indices(index_shape(d, x), length(x, a)));
  });
  table.add("scatter_add", [](Draw& d) { return scattered(d, scatter_add); });
  table.add("scatter", [](Draw& d) { return scattered(d, scatter); });
  table.add("scatter_reduce", [](Draw& d) {
    const auto by = static_cast<Scattered>(d.say(d.below(5)));
    const bool include_self = d.flag();
    return scattered(d, [=](const Tensor& x, int a, const Tensor& index, const Tensor& source) {
      return scatter_reduce(x, a, index, source, by, include_self);
    });
  });
  table.add("unique", [](Draw& d) {
    const Tensor x = d.tensor();
    const UniqueElements u = d.flag() ? unique(x) : unique(x, d.axis());
    return Tensors{u.values, u.first, u.inverse, u.counts};
  });
  table.add("embedding", [](Draw& d) {
    const Tensor weight = d.chance(0.8) ? d.floating({d.below(5), d.below(4)}) : d.tensor();
    const Tensor index =
        d.indices(d.chance(0.5) ? Shape{2, 3} : d.small_shape(), length(weight, 0));
    return embedding(weight, index, {.padding_index = d.integer()});
  });
  table.add("one_hot", [](Draw& d) {
    const std::int64_t classes = d.around(1, 5);
    const Tensor index = d.indices(d.small_shape(), classes);
    return one_hot(index, classes, d.dtype());
  });
  table.add("masked_select", masked_select, any_tensor,
            [](Draw& d) { return d.subject().defined() ? d.mask(d.subject().shape()) : d.mask(); });
  table.add("nonzero", nonzero, any_tensor);
}

}  // namespace ladon::test
