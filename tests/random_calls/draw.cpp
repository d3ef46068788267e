#include "draw.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>

#include "ladon/core/view.h"

namespace ladon::test {
namespace {

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

const std::vector<std::int64_t> extremes{
    int64_min,       int64_min + 1,   -(1LL << 62), -(1LL << 53),  -(1LL << 31) - 1, -(1LL << 31),
    1LL << 30,       (1LL << 31) - 1, 1LL << 31,    1LL << 32,     (1LL << 53) + 1,  1LL << 59,
    (1LL << 60) - 1, 1LL << 60,       1LL << 62,    int64_max - 1, int64_max};

const std::vector<double> odd_numbers{std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      1e300,
                                      -1e300,
                                      1e-300,
                                      0x1p63,
                                      -0x1p63,
                                      3e38,
                                      -0.0,
                                      1e-45};

constexpr std::size_t pool_size = 20;

/// A shape that was hollow may have lost its 0: its huge axes then go too.
Shape affordable(Shape shape) {
  const bool hollow = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (std::int64_t& n : shape)
    if (!hollow && n > 1 << 16) n = 1;
  return shape;
}

}  // namespace

std::string describe(const Tensor& x) {
  if (!x.defined()) return "undefined";
  std::string text = detail::join(x.dtype(), " ", x.shape());
  if (!x.contiguous()) text += detail::join(" in strides ", x.strides());
  if (x.requires_grad()) text += " with gradient";
  return text;
}

// --- words ---

void Draw::begin(const std::string& name) {
  words_ = name;
  subject_ = {};
}

void Draw::add_words(const std::string& what) {
  words_ += words_.find(": ") == std::string::npos ? ": " : "; ";
  words_ += what;
}

// --- numbers ---

std::int64_t Draw::integer() { return say(chance(0.1) ? one_of(extremes) : below(10) - 3); }

std::int64_t Draw::around(std::int64_t low, std::int64_t high) {
  if (chance(0.03)) return say(one_of(extremes));
  if (chance(0.05)) return say(chance(0.5) ? low - 1 - below(3) : high + 1 + below(3));
  return say(low + below(high - low + 1));
}

double Draw::number() {
  if (chance(0.1)) return say(one_of(odd_numbers));
  if (chance(0.3)) return say(static_cast<double>(below(7) - 2));
  return say(static_cast<double>(below(4001) - 2000) * 0x1p-9);
}

double Draw::fraction() {
  if (chance(0.1)) return number();
  return say(chance(0.3) ? static_cast<double>(below(2)) : static_cast<double>(below(65)) / 64);
}

// --- shapes ---

Shape Draw::small_shape() {
  const std::int64_t rank = chance(0.1) ? below(9) : below(5);
  Shape shape;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t n = chance(0.08) ? 0 : 1 + below(5);
    shape.append(shape.count() * n > max_elements ? 1 : n);
  }
  return shape;
}

Shape Draw::shape() {
  Shape shape = small_shape();
  for (std::int64_t& n : shape)
    if (chance(0.05)) n = chance(0.3) ? -1 : one_of(extremes);
  return say(shape);
}

DType Draw::dtype() {
  return say(one_of<DType>({f32, f32, f32, f32, f64, f64, i64, i64, boolean, boolean, f16, bf16}));
}

// --- tensors ---

Tensor Draw::fill(const Shape& shape, DType dtype) {
  if (is_half(dtype)) return cast(fill(shape, f32), dtype);
  Tensor x = empty(shape, dtype);
  const bool tame = chance(0.8);
  visit_dtype(dtype, [&]<class T>() {
    T* out = x.mutable_data<T>();
    for (std::int64_t i = 0; i < x.count(); ++i) {
      if constexpr (std::is_same_v<T, bool>)
        out[i] = chance(0.6);
      else if constexpr (std::is_same_v<T, std::int64_t>)
        out[i] = !tame && chance(0.1) ? one_of(extremes) : below(8) - 2;
      else
        out[i] = !tame && chance(0.1) ? static_cast<T>(one_of(odd_numbers))
                                      : static_cast<T>(below(33) - 16) / 8;
    }
  });
  return x;
}

/// A tensor of that shape, on storage in another order or with gaps, or with fewer elements.
Tensor Draw::lay_out(const Shape& shape, DType dtype) {
  const int rank = shape.rank();
  const int axis = rank > 0 ? static_cast<int>(below(rank)) : 0;
  const std::int64_t form = rank > 0 && shape.count() > 0 ? below(8) : 0;
  if (form == 1) {  // axes swapped
    Shape swapped = shape;
    std::swap(swapped[axis], swapped[rank - 1]);
    return view::transpose(fill(swapped, dtype), axis, rank - 1);
  }
  if (form == 2 || form == 3) {  // every other element, forwards or backwards
    Shape wider = shape;
    wider[axis] = 2 * shape[axis] + 1;
    const Tensor x = fill(wider, dtype);
    return form == 2 ? view::slice(x, axis, 1, shape[axis], 2)
                     : view::slice(x, axis, 2 * shape[axis], shape[axis], -2);
  }
  if (form == 4) {  // one element many times
    Shape thin = shape;
    thin[axis] = 1;
    return view::expand(fill(thin, dtype), shape);
  }
  return fill(shape, dtype);
}

Tensor Draw::made(const Shape& shape, DType dtype) {
  Tensor x = lay_out(affordable(shape), dtype);
  if (is_floating(dtype) && chance(0.7)) {
    x.set_requires_grad();
    leaves_.push_back(x);
  }
  return x;
}

Tensor Draw::spoken(Tensor x) {
  say(describe(x));
  if (!subject_.defined()) subject_ = x;
  return x;
}

/// A tensor without elements, but with huge axes.
Tensor Draw::hollow() {
  Shape shape = small_shape();
  for (int i = 0; i < shape.rank(); ++i)
    if (chance(0.5)) shape[i] = one_of<std::int64_t>({1LL << 26, 1LL << 30, 1LL << 59});
  if (shape.rank() == 0) return zeros({0});
  shape[static_cast<int>(below(shape.rank()))] = 0;
  return zeros(shape, one_of<DType>({f32, f64, i64, boolean}));
}

Tensor Draw::large() {
  const Shape shape = one_of<Shape>({{40'000}, {150, 200}, {3, 100, 90}, {2, 2, 9'000}});
  return made(shape, one_of<DType>({f32, f64, i64, boolean}));
}

Tensor Draw::tensor() {
  if (chance(0.003)) return spoken(large());
  if (chance(0.01)) return spoken({});
  if (chance(0.01)) return spoken(hollow());
  if (!pool_.empty() && chance(0.5)) return spoken(one_of(pool_));
  const Shape shape = small_shape();
  return spoken(made(shape, one_of<DType>({f32, f32, f64, f64, i64, boolean})));
}

Tensor Draw::perhaps_giant() {
  if (chance(0.93)) return tensor();
  Tensor x = made(small_shape(), one_of<DType>({f32, f64, i64, boolean}));
  if (x.rank() == Shape::max_rank) return spoken(x);
  Shape shape = x.shape();
  shape.insert(0, one_of<std::int64_t>({1LL << 31, 1LL << 40, 1LL << 59, 1LL << 62}));
  return spoken(expand(x, shape));
}

Tensor Draw::floating() {
  if (chance(0.05)) return tensor();
  for (int i = 0; i < 4; ++i) {
    if (pool_.empty() || chance(0.3)) break;
    const Tensor& x = one_of(pool_);
    if (is_floating(x.dtype())) return spoken(x);
  }
  return spoken(made(small_shape(), floating_dtype()));
}

Tensor Draw::floating(const Shape& shape) { return spoken(made(shape, floating_dtype())); }

Tensor Draw::near(const Shape& shape) {
  if (chance(0.02)) return spoken({});
  if (chance(0.04)) return tensor();
  Shape wanted = shape;
  for (std::int64_t& n : wanted)
    if (n < 0 || n > 16) n = below(4);  // what a layer was asked for in vain
  if (wanted.rank() > 0 && chance(0.04)) wanted[static_cast<int>(below(wanted.rank()))] = below(6);
  if (wanted.rank() > 0 && chance(0.02)) wanted.erase(0);
  return floating(wanted);
}

Tensor Draw::partner() {
  if (!subject_.defined() || chance(0.15)) return tensor();
  Shape shape = subject_.shape();
  for (std::int64_t& n : shape)
    if (chance(0.15)) n = n == 1 && shape.count() < max_elements / 4 ? 3 : 1;
  while (shape.rank() > 0 && chance(0.1)) shape.erase(0);
  return spoken(
      made(shape, chance(0.6) ? subject_.dtype() : one_of<DType>({f32, f64, i64, boolean})));
}

Tensor Draw::twin() {
  if (!subject_.defined() || chance(0.1)) return tensor();
  return spoken(made(subject_.shape(), chance(0.8) ? subject_.dtype() : floating_dtype()));
}

Tensor Draw::mask(const Shape& shape) {
  if (chance(0.04)) return tensor();
  return spoken(made(shape, boolean));
}

Tensor Draw::mask() {
  if (!subject_.defined()) return mask(small_shape());
  Shape shape = subject_.shape();
  for (std::int64_t& n : shape)
    if (chance(0.1)) n = 1;
  if (shape.rank() > 0 && chance(0.2)) shape.erase(0);
  return mask(shape);
}

Tensor Draw::indices(const Shape& shape, std::int64_t count) {
  if (chance(0.04)) return tensor();
  Tensor x = fill(shape, i64);
  const bool outside = chance(0.2);
  for (std::int64_t i = 0; i < x.count(); ++i)
    if (!outside) x.mutable_data<std::int64_t>()[i] = count > 0 ? below(count) : 0;
  return spoken(x);
}

std::vector<Tensor> Draw::several(std::int64_t least, std::int64_t most) {
  std::vector<Tensor> list;
  const std::int64_t n = least + below(most - least + 1);
  for (std::int64_t i = 0; i < n; ++i) list.push_back(i == 0 ? tensor() : twin());
  return list;
}

// --- what goes with the subject ---

int Draw::axis() {
  const int rank = subject_.defined() ? subject_.rank() : 2;
  if (chance(0.03)) return say(one_of<int>({INT_MIN, INT_MAX, -9, 8}));
  if (chance(0.05) || rank == 0) return say(static_cast<int>(below(6) - 3));
  return say(static_cast<int>(below(2 * rank) - rank));
}

std::vector<int> Draw::axis_list() {
  std::vector<int> list;
  const int rank = subject_.defined() ? subject_.rank() : 2;
  if (chance(0.6)) {  // each once, in any order
    for (int i = 0; i < rank; ++i) list.push_back(i);
    std::shuffle(list.begin(), list.end(), random_);
    list.resize(static_cast<std::size_t>(chance(0.5) ? rank : below(rank + 1)));
    for (const int i : list) say(i);
    return list;
  }
  for (std::int64_t n = below(4); n > 0; --n) list.push_back(axis());
  return list;
}

Axes Draw::axes() { return chance(0.3) ? (say("all axes"), Axes()) : Axes(axis_list()); }

std::vector<std::int64_t> Draw::count_list() {
  std::vector<std::int64_t> list;
  std::int64_t n = subject_.defined() ? subject_.rank() : below(4);
  if (chance(0.1)) n = below(10);
  for (std::int64_t i = 0; i < n; ++i) list.push_back(around(0, 3));
  return list;
}

std::int64_t Draw::some_size() {
  if (!subject_.defined() || subject_.rank() == 0) return 1;
  return subject_.shape()[static_cast<int>(below(subject_.rank()))];
}

// --- what lives on ---

void Draw::keep(const Tensor& x) {
  if (!x.defined() || x.count() > max_elements || x.storage().size() > 64 * 1024) return;
  const Tensor kept = chance(0.3) ? x.detach() : x;
  if (pool_.size() < pool_size)
    pool_.push_back(kept);
  else
    pool_[static_cast<std::size_t>(below(pool_size))] = kept;
}

void Draw::adopt(const Tensor& x) {
  for (LeafUse& use : leaves_of(x)) adopted_.push_back(std::move(use));
}

void Draw::clear_gradients() {
  for (Tensor& x : leaves_) x.set_grad({});
  for (const LeafUse& use : adopted_) static_cast<Leaf&>(*use.leaf).set_gradient({});
}

}  // namespace ladon::test
