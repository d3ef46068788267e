#include "op_table.h"

#include <algorithm>

#include "ladon/autograd/ops.h"

namespace ladon::test {

std::size_t Dense::flat(const Shape& index) const {
  std::int64_t at = 0;
  for (int i = 0; i < shape.rank(); ++i) at = at * shape[i] + index[i];
  return static_cast<std::size_t>(at);
}

void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& body) {
  for (std::int64_t n = 0; n < shape.count(); ++n) {
    Shape index = shape;
    std::int64_t rest = n;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      index[i] = rest % shape[i];
      rest /= shape[i];
    }
    body(index);
  }
}

Reference pointwise(std::function<double(const std::vector<double>&)> f) {
  return [f](const std::vector<Dense>& inputs) {
    Shape shape = inputs[0].shape;
    for (const Dense& x : inputs) shape = broadcast_shapes("reference", shape, x.shape);
    Dense y(shape);
    for_each_index(shape, [&](const Shape& index) {
      std::vector<double> arguments;
      for (const Dense& x : inputs) {
        Shape own = index.sub(index.rank() - x.shape.rank(), index.rank());
        for (int i = 0; i < own.rank(); ++i) own[i] = x.shape[i] == 1 ? 0 : own[i];
        arguments.push_back(x(own));
      }
      y(index) = f(arguments);
    });
    return y;
  };
}

Reference remap(const Shape& shape, std::function<std::optional<Shape>(const Shape&)> from) {
  return [=](const std::vector<Dense>& x) {
    Dense y(shape);
    for_each_index(shape, [&](const Shape& to) {
      if (const auto source = from(to)) y(to) = x[0](*source);
    });
    return y;
  };
}

Reference reduction(std::vector<int> axes, bool keep,
                    std::function<double(const std::vector<double>&)> f) {
  return [=](const std::vector<Dense>& inputs) {
    const Dense& x = inputs[0];
    Shape kept = x.shape, dropped;
    for (const int axis : axes) kept[axis] = 1;
    for (int i = 0; i < x.shape.rank(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) dropped.append(x.shape[i]);

    Dense y(kept);
    for_each_index(kept, [&](const Shape& out) {
      std::vector<double> elements;
      for_each_index(x.shape, [&](const Shape& in) {
        bool same = true;
        for (int i = 0; i < kept.rank(); ++i) same = same && (kept[i] == 1 || in[i] == out[i]);
        if (same) elements.push_back(x(in));
      });
      y(out) = f(elements);
    });
    if (!keep) y.shape = dropped;
    return y;
  };
}

Tensor OpTable::random(const Shape& shape, double low, double high) {
  return cast(uniform(shape, rng_, low, high, f32), f64);
}

Tensor OpTable::random_off_zero(const Shape& shape, double gap) {
  const Tensor x = uniform(shape, rng_, -2, 2, f32);
  return cast(where(less(x, 0), x - gap, x + gap), f64);
}

Tensor OpTable::random_integers(const Shape& shape, std::int64_t low, std::int64_t high) {
  return randint(shape, rng_, low, high);
}

Tensor OpTable::random_booleans(const Shape& shape, double p) { return bernoulli(shape, rng_, p); }

namespace {

std::vector<void (*)(OpTable&)>& families() {
  static std::vector<void (*)(OpTable&)> all;
  return all;
}

}  // namespace

Family::Family(void (*add_rows)(OpTable&)) { families().push_back(add_rows); }

const OpTable& op_table() {
  static const OpTable table = [] {
    OpTable t;
    for (const auto add_rows : families()) add_rows(t);
    return t;
  }();
  return table;
}

}  // namespace ladon::test
