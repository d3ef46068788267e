// Random calls of functions that create tensors, of the members of Tensor and Shape, and of random
// draws.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "ladon/core/extra/io/dlpack.h"
#include "ladon/core/extra/io/memory.h"
#include "ladon/core/like.h"
#include "ladon/core/shape.h"
#include "table.h"

namespace ladon::test {
namespace {

/// Zeros in place of uninitialized elements, which are not looked at.
Tensor cleared(const Tensor& x) {
  if (x.storage().size() < 1 << 20) fill_(x, 0);
  return x;
}

void add_creation(CallTable& table) {
  table.add(
      "empty", [](const Shape& s, DType t) { return cleared(empty(s, t)); }, any_shape, dtype);
  table.add("zeros", zeros, any_shape, dtype);
  table.add("ones", ones, any_shape, dtype);
  table.add("full", full, any_shape, number, dtype);
  table.add(
      "empty_like", [](const Tensor& x) { return cleared(empty_like(x)); }, any_tensor);
  const auto like = [&table](const char* name, Tensor (*of)(const Tensor&),
                             Tensor (*of_shape)(const Tensor&, const Shape&)) {
    table.add(name, of, any_tensor);
    table.add(name, of_shape, any_tensor, any_shape);
  };
  like("zeros_like", zeros_like, zeros_like);
  like("ones_like", ones_like, ones_like);
  table.add(
      "full_like", [](const Tensor& x, double value) { return full_like(x, value); }, any_tensor,
      number);
  table.add(
      "full_like",
      [](const Tensor& x, double value, const Shape& s) { return full_like(x, value, s); },
      any_tensor, number, any_shape);
  table.add("scalar", scalar, number, dtype);
  table.add("linspace", linspace, number, number, size, dtype);
  table.add("eye", eye, size, dtype);
  table.add(
      "tensor",
      [](double a, double b, DType t) {
        return tensor({a, b}, t);
      },
      number, number, dtype);
  table.add(
      "tensor",
      [](double a, const Shape& s, DType t) {
        return tensor({a, 1}, s, t);
      },
      number, any_shape, dtype);
  table.add("from_vector", [](Draw& d) {
    const std::vector<float> values(static_cast<std::size_t>(d.below(7)), 1.5F);
    const auto n = static_cast<std::int64_t>(values.size());
    return from_vector(values, d.chance(0.5) ? Shape{n} : d.shape());
  });
  table.add("arange", [](Draw& d) {
    const std::int64_t start = d.integer(), stop = d.integer(), step = d.integer();
    return arange(start, stop, step, d.dtype());
  });
  table.add("arange", [](Draw& d) {
    const double start = d.number(), stop = d.number(), step = d.number();
    return arange(start, stop, step, d.dtype());
  });
  table.add(
      "arange", [](std::int64_t a, double b) { return arange(a, b); }, integer, number);
  table.add(
      "arange", [](double stop) { return arange(stop); }, number);
}

void add_interchange(CallTable& table) {
  table.add("from_bytes", [](Draw& d) {
    const DType t = d.dtype();
    const std::string bytes(static_cast<std::size_t>(d.below(25)), '\x3f');
    const auto n = static_cast<std::int64_t>(bytes.size() / item_size(t));
    return from_bytes(bytes, d.chance(0.7) ? Shape{n} : d.shape(), t);
  });
  table.add("from_blob", [](Draw& d) {
    const auto memory = std::make_shared<std::vector<double>>(12, 1.5);
    const std::int64_t step = d.below(5) - 2;  // from the middle: inside for either sign
    auto* start = reinterpret_cast<std::byte*>(&memory->at(6)) + (d.chance(0.9) ? 0 : 1);
    return from_blob(start, {d.below(3), 2}, {step, 1}, d.dtype(), [memory](void*) {});
  });
  table.add(
      "to_dlpack", [](const Tensor& x) { return from_dlpack(to_dlpack(x.detach())); }, any_tensor);
  table.add(
      "to_dlpack_versioned",
      [](const Tensor& x) { return from_dlpack(to_dlpack_versioned(x.detach())); }, any_tensor);
}

void add_members(CallTable& table) {
  table.add("Tensor", [](Draw& d) {
    const Tensor x = d.tensor();
    const Shape shape = d.shape();
    Shape strides = shape;
    for (std::int64_t& n : strides) n = d.integer();
    const DType t = d.chance(0.7) ? x.dtype() : d.floating_dtype();
    return Tensor(x.storage(), t, shape, strides, d.integer());
  });
  table.add(
      "Tensor::size", [](const Tensor& x, int a) { return x.size(a); }, any_tensor, axis);
  table.add("Tensor::data", [](Draw& d) {
    Tensor x = d.tensor();
    return visit_dtype(d.dtype(), [&]<class T>() {
      const bool read = x.count() == 0 || !x.defined() || x.data<T>()[x.count() - 1] == T{};
      return read ? x.mutable_data<T>() != nullptr : x.strided_data<T>() != nullptr;
    });
  });
  table.add(
      "Tensor::item", [](const Tensor& x) { return x.item(); }, any_tensor);
  table.add(
      "Tensor::item", [](const Tensor& x) { return x.item<std::int64_t>(); }, any_tensor);
  table.add(
      "Tensor::to_vector", [](const Tensor& x) { return x.to_vector().size(); }, any_tensor);
  table.add(
      "Tensor::to_vector", [](const Tensor& x) { return x.to_vector<std::int64_t>().size(); },
      any_tensor);
  table.add(
      "Tensor::detach", [](const Tensor& x) { return x.detach(); }, any_tensor);
  table.add(
      "Tensor::grad", [](const Tensor& x) { return x.grad(); }, floating);
  table.add(
      "Tensor::set_grad", [](Tensor x, const Tensor& g) { x.set_grad(g.detach()); }, floating,
      twin);
  table.add(
      "Tensor::set_requires_grad",
      [](Tensor x, bool on) { return x.set_requires_grad(on).detach(); }, any_tensor,
      [](Draw& d) { return d.flag(); });
  table.add(
      "to_string", [](const Tensor& x) { return to_string(x).size(); }, any_tensor);
  table.add(
      "operator<<", [](const Tensor& x) { return detail::join(x).size(); }, any_tensor);
}

void add_shapes(CallTable& table) {
  table.add(
      "broadcast_shapes", [](const Shape& a, const Shape& b) { broadcast_shapes("random", a, b); },
      any_shape, any_shape);
  table.add("Shape::insert", [](Draw& d) {
    Shape s = d.shape();
    s.insert(d.axis(), d.integer());
    s.append(d.integer());
  });
  table.add("Shape::sub", [](Draw& d) {
    Shape s = d.shape();
    s.erase(d.small_int());
    s.sub(d.small_int(), d.small_int());
  });
  table.add("Shape::filled", [](Draw& d) { Shape::filled(d.axis(), d.integer()); });
}

}  // namespace

void add_tensor_calls(CallTable& table) {
  add_creation(table);
  add_interchange(table);
  add_members(table);
  add_shapes(table);
}

void add_random_calls(CallTable& table) {
  const auto draws = [&](const char* name, auto draw) {
    table.add(name, [draw](Draw& d) {
      Generator rng(d.seed());
      if (d.chance(0.1)) rng.set_position(static_cast<std::uint64_t>(d.integer()));
      return draw(d, rng);
    });
  };
  draws("uniform", [](Draw& d, Generator& rng) {
    const Shape shape = d.shape();
    const double low = d.number(), high = d.number();
    return uniform(shape, rng, low, high, d.dtype());
  });
  draws("normal", [](Draw& d, Generator& rng) {
    const Shape shape = d.shape();
    const double mean = d.number(), stddev = d.number();
    return normal(shape, rng, mean, stddev, d.dtype());
  });
  draws("uniform", [](Draw& d, Generator& rng) { return uniform(d.shape(), rng, d.dtype()); });
  draws("normal", [](Draw& d, Generator& rng) { return normal(d.shape(), rng, d.dtype()); });
  draws("truncated_normal", [](Draw& d, Generator& rng) {
    const Shape shape = d.shape();
    const double mean = d.number(), stddev = d.number(), bound = d.number();
    return truncated_normal(shape, rng, mean, stddev, bound, d.dtype());
  });
  draws("bernoulli", [](Draw& d, Generator& rng) {
    const Shape shape = d.shape();
    return bernoulli(shape, rng, d.fraction());
  });
  draws("randint", [](Draw& d, Generator& rng) {
    const Shape shape = d.shape();
    const std::int64_t low = d.integer(), high = d.integer();
    return randint(shape, rng, low, high);
  });
  draws("permutation", [](Draw& d, Generator& rng) { return permutation(d.around(0, 9), rng); });
  draws("philox4x32", [](Draw&, Generator& rng) { return philox4x32({rng.bits()}, {1, 2})[0]; });
  draws("Generator::below", [](Draw& d, Generator& rng) { return rng.below(d.integer()); });
  draws("Generator::split", [](Draw& d, Generator& rng) {
    return rng.split(static_cast<std::uint64_t>(d.integer())).normal() + rng.uniform();
  });
  draws("Generator::reserve", [](Draw& d, Generator& rng) {
    const std::uint64_t first = rng.reserve(static_cast<std::uint64_t>(d.integer()));
    return rng.block(first)[0];
  });
}

}  // namespace ladon::test
