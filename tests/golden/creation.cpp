// ONNX operators that create tensors from sizes and numbers.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

Tensors shape_case(const Case& c) {
  const Shape& shape = c.in(0).shape();
  const std::int64_t rank = shape.rank();
  const auto bound = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t at = c.integer(name, otherwise);
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  const std::vector<std::int64_t> sizes(shape.begin() + start, shape.begin() + end);
  return {from_vector(sizes, {end - start})};
}

Tensors range_case(const Case& c) {
  const double start = c.in(0).item(), stop = c.in(1).item(), step = c.in(2).item();
  const double n = std::ceil((stop - start) / step);
  c.expect_shape({n > 0 && n < 1e15 ? static_cast<std::int64_t>(n) : 0});
  return {arange(start, stop, step, c.in(0).dtype())};
}

Tensors constant_of_shape(const Case& c) {
  const auto sizes = c.integers_of(0);
  const Shape shape(std::span(sizes.data(), sizes.size()));
  c.expect_shape(shape);
  if (!c.has("value")) return {zeros(shape)};
  const auto value = c.tensor_value("value");
  if (value.size() != 1) throw Skip{"case.json does not give the attribute `value` as a number"};
  return {full(shape, value[0], c.expected()[0].x.dtype())};
}

Tensors constant(const Case& c) {
  if (c.has("value_float")) return {scalar(c.number("value_float", 0))};
  if (c.has("value_int")) return {scalar(static_cast<double>(c.integer("value_int", 0)), i64)};
  if (c.has("value_ints")) {
    const auto values = c.integers("value_ints");
    return {from_vector(values, {static_cast<std::int64_t>(values.size())})};
  }
  if (c.has("value_floats")) {
    const auto values = c.numbers("value_floats");
    return {cast(from_vector(values, {static_cast<std::int64_t>(values.size())}), f32)};
  }
  const auto values = c.tensor_value("value");
  const Tensor& y = c.expected()[0].x;  // case.json gives a tensor's numbers, not its dtype
  if (static_cast<std::int64_t>(values.size()) != y.count())
    throw Skip{"case.json does not give the attribute `value` as numbers"};
  return {cast(from_vector(values, y.shape()), y.dtype())};
}

/// [n, m] with ones where column − row = k.
Tensors eye_like(const Case& c) {
  const Tensor& x = c.in(0);
  LADON_CHECK(x.rank() == 2, "EyeLike", "needs a matrix, got shape ", x.shape());
  const DType dtype = c.has("dtype") ? onnx_dtype(c.integer("dtype", 1)) : x.dtype();
  const Tensor rows = unsqueeze(arange(x.size(0)), 1);
  const Tensor columns = arange(x.size(1));
  return {cast(equal(columns - rows, static_cast<double>(c.integer("k", 0))), dtype)};
}

/// Σ_k a_k cos(2πki/N) with N the size (periodic) or one less. The first release that had windows
/// took 3.1415 for π.
Tensors window(const Case& c, const std::vector<double>& a) {
  const auto n = c.in(0).item<std::int64_t>();
  const auto period = static_cast<double>(c.flag("periodic", true) ? n : n - 1);
  c.expect_shape({n});
  Tensors readings;
  for (const double pi : {std::numbers::pi, 3.1415}) {
    const Tensor angle = arange(0, static_cast<double>(n), 1, f64) * (2 * pi / period);
    Tensor y = full({n}, a[0], f64);
    for (std::size_t k = 1; k < a.size(); ++k) y = y + cos(angle * static_cast<double>(k)) * a[k];
    readings.push_back(cast(y, onnx_dtype(c.integer("output_datatype", 1))));
  }
  return {agreeing(readings, c.expected()[0])};
}

}  // namespace

void add_creation(Table& t) {
  t["Shape"] = shape_case;
  t["Size"] = [](const Case& c) -> Tensors {
    return {scalar(static_cast<double>(c.in(0).count()), i64)};
  };
  t["Range"] = range_case;
  t["ConstantOfShape"] = constant_of_shape;
  t["Constant"] = constant;
  t["EyeLike"] = eye_like;
  t["HannWindow"] = [](const Case& c) { return window(c, {0.5, -0.5}); };
  t["HammingWindow"] = [](const Case& c) { return window(c, {25.0 / 46, -21.0 / 46}); };
  t["BlackmanWindow"] = [](const Case& c) { return window(c, {0.42, -0.5, 0.08}); };
}

}  // namespace ladon::golden
