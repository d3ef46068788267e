#include "ladon/core/kernels/reductions/softmax.h"

#include <array>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {
namespace {

/// Calls loop(inputs.., output, n) on one line of each tensor, which begins at offset `at`.
template <class T, std::size_t count, class Loop>
void run(const Loop& loop, const std::array<const T*, count>& x, std::int64_t at, T* y,
         std::int64_t n) {
  if constexpr (count == 1)
    loop(x[0] + at, y, n);
  else
    loop(x[0] + at, x[1] + at, y, n);
}

/// Runs the loop on all lines along an axis, from the inputs x [.., n, ..] to y [.., m, ..]; all
/// tensors are contiguous. If the axis is not the last, lines are transposed, some at a time, in
/// buffers that stay in the cache.
template <class T, std::size_t count, class Loop>
void for_lines(const Loop& loop, int axis, std::int64_t n, const std::array<const T*, count>& x,
               Tensor& y) {
  if (y.count() == 0) return;
  const std::int64_t m = y.size(axis), inner = y.shape().sub(axis + 1, y.rank()).count(),
                     outer = y.count() / (m * inner);
  T* const out = y.mutable_data<T>();
  if (inner == 1)
    return for_rows(outer, n, [&](std::int64_t r) { run(loop, x, r * n, out + r * m, n); });
  const std::int64_t width = std::clamp<std::int64_t>(rows_per_task(n), 16, 64);
  const std::int64_t blocks = (inner + width - 1) / width, lines = width * n;
  const auto turn = loops().of<T>().transpose;
  for_rows(outer * blocks, lines, [&](std::int64_t i) {
    const std::int64_t o = i / blocks, c = i % blocks * width, columns = std::min(width, inner - c);
    Tensor buffer = empty({static_cast<std::int64_t>(count) * lines + width * m}, y.dtype());
    T* to = buffer.mutable_data<T>();
    std::array<const T*, count> in{};
    for (std::size_t k = 0; k < count; ++k, to += lines) {
      turn(n, columns, x[k] + o * n * inner + c, inner, to, n);
      in[k] = to;
    }
    for (std::int64_t r = 0; r < columns; ++r) run(loop, in, r * n, to + r * m, n);
    turn(columns, m, to, m, out + o * m * inner + c, inner);
  });
}

/// Runs the loop that `pick` selects from the table of loops on all lines of x along an axis. The
/// result of each line is a line of the same length (To::line) or one number (To::number).
enum class To { line, number };
template <class Pick, class... Tensors>
Tensor map_lines(std::string_view operation, To to, int axis, const Pick& pick, const Tensor& x,
                 const Tensors&... more) {
  const auto map = [&](int a, const Tensor& first, const auto&... others) {
    Shape shape = first.shape();
    if (to == To::number) shape[a] = 1;
    Tensor y = empty(shape, first.dtype());
    visit_floating(operation, first.dtype(), [&]<class T>() {
      const std::array<const T*, 1 + sizeof...(others)> in{first.template data<T>(),
                                                           others.template data<T>()...};
      for_lines<T>(pick(loops().of<T>()), a, first.size(a), in, y);
    });
    return y;
  };
  const int a = detail::normalize_axis(operation, axis, x.rank());
  if ((axis_to_end(x, a).contiguous() && ... && axis_to_end(more, a).contiguous()))
    return along_axis(
        a, [&](const auto&... rows) { return map(x.rank() - 1, rows...); }, x, more...);
  return map(a, contiguous(x), contiguous(more)...);
}

void check_gradient(std::string_view operation, const Tensor& g, const Tensor& y) {
  LADON_CHECK(g.shape() == y.shape() && g.dtype() == y.dtype(), operation, "gradient ", g.shape(),
              " ", g.dtype(), " and result ", y.shape(), " ", y.dtype(),
              " must have the same shape and dtype");
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return softmax(u, mapped::next(axis)); }, x);
  return map_lines(
      "softmax", To::line, axis, [](const auto& l) { return l.softmax; }, x);
}

Tensor log_softmax(const Tensor& x, int axis) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return log_softmax(u, mapped::next(axis)); }, x);
  return map_lines(
      "log_softmax", To::line, axis, [](const auto& l) { return l.log_softmax; }, x);
}

Tensor softmax_backward(const Tensor& g, const Tensor& y, int axis) {
  if (mapped::any(g, y)) {
    const auto of_all = [=](const Tensor& u, const Tensor& v) {
      return softmax_backward(u, v, mapped::next(axis));
    };
    return mapped::batched(of_all, g, y);
  }
  check_gradient("softmax_backward", g, y);
  return map_lines(
      "softmax_backward", To::line, axis, [](const auto& l) { return l.softmax_backward; }, g, y);
}

Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int axis) {
  if (mapped::any(g, y)) {
    const auto of_all = [=](const Tensor& u, const Tensor& v) {
      return log_softmax_backward(u, v, mapped::next(axis));
    };
    return mapped::batched(of_all, g, y);
  }
  check_gradient("log_softmax_backward", g, y);
  return map_lines(
      "log_softmax_backward", To::line, axis, [](const auto& l) { return l.log_softmax_backward; },
      g, y);
}

Tensor logsumexp(const Tensor& x, int axis) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return logsumexp(u, mapped::next(axis)); }, x);
  const auto pick = [](const auto& l) {
    return [loop = l.logsumexp](const auto* line, auto* y, std::int64_t n) { *y = loop(line, n); };
  };
  return map_lines("logsumexp", To::number, axis, pick, x);
}

}  // namespace ladon::kernels
