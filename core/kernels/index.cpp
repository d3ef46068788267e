#include "ladon/core/kernels/index.h"

#include <algorithm>
#include <vector>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {

Tensor checked_indices(std::string_view operation, const Tensor& index, std::int64_t n) {
  LADON_CHECK(index.defined() && index.dtype() == i64, operation, "indices are i64, got ",
              index.defined() ? to_string(index.dtype()) : "an undefined tensor");
  if (index.mapped())
    return mapped::batched([=](const Tensor& u) { return checked_indices(operation, u, n); },
                           index);
  const Tensor out = clone(index);
  const std::int64_t* data = out.data<std::int64_t>();
  for (std::int64_t p = 0; p < out.count(); ++p)
    LADON_CHECK(data[p] >= 0 && data[p] < n, operation, "index ", data[p], " at position ", p,
                " is outside [0, ", n, ")");
  return out;
}

namespace {

/// x [outer, n, inner] around an axis.
struct Around {
  Around(const Shape& shape, int axis)
      : outer(shape.sub(0, axis).count()),
        n(shape[axis]),
        inner(shape.sub(axis + 1, shape.rank()).count()) {}
  std::int64_t outer, n, inner;
};

Shape with_size(Shape shape, int axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

}  // namespace

Tensor take_rows(const Tensor& x, int axis, const Tensor& rows) {
  if (rows.mapped()) {
    const auto alone = [=](const auto& of) { return std::vector{take_rows(of[0], axis, of[1])}; };
    return mapped::each({x, rows}, alone)[0];
  }
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return take_rows(u, axis + 1, rows); }, x);
  const Tensor source = contiguous(x);
  const Around from(x.shape(), axis);
  const std::int64_t k = rows.count(), inner = from.inner;
  Tensor y = empty(with_size(x.shape(), axis, k), x.dtype());
  if (y.count() == 0) return y;
  const std::int64_t* row = rows.data<std::int64_t>();
  visit_stored(x.dtype(), [&]<class T>() {
    const T* in = source.data<T>();
    T* out = y.mutable_data<T>();
    const std::int64_t grain = 1 + (1 << 15) / std::max<std::int64_t>(1, inner);
    parallel::for_range(from.outer * k, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t r = row[i % k];
        if (r < 0)
          std::fill_n(out + i * inner, inner, T{});
        else
          std::copy_n(in + (i / k * from.n + r) * inner, inner, out + i * inner);
      }
    });
  });
  return y;
}

// A task owns a block of columns of the result and adds all rows in order: no two tasks write one
// element, and the work is even however the indices repeat.
Tensor add_rows(const Tensor& x, int axis, const Tensor& rows, std::int64_t n) {
  if (rows.mapped()) {
    const auto alone = [=](const auto& of) { return std::vector{add_rows(of[0], axis, of[1], n)}; };
    return mapped::each({x, rows}, alone)[0];
  }
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return add_rows(u, axis + 1, rows, n); }, x);
  constexpr std::int64_t width = 64;
  const Tensor source = contiguous(x);
  const Around from(x.shape(), axis);
  const std::int64_t k = rows.count(), inner = from.inner;
  Tensor y = zeros(with_size(x.shape(), axis, n), x.dtype());
  if (y.count() == 0) return y;
  const std::int64_t* row = rows.data<std::int64_t>();
  const std::int64_t blocks = (inner + width - 1) / width;
  const std::int64_t grain = 1 + (1 << 15) / std::max<std::int64_t>(1, k * std::min(inner, width));
  visit_dtype(x.dtype(), [&]<class T>() {
    const T* in = source.data<T>();
    T* out = y.mutable_data<T>();
    parallel::for_range(from.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t outer = task / blocks, column = task % blocks * width;
        const std::int64_t columns = std::min(width, inner - column);
        for (std::int64_t i = 0; i < k; ++i) {
          if (row[i] < 0) continue;
          const T* a = in + (outer * k + i) * inner + column;
          T* b = out + (outer * n + row[i]) * inner + column;
          for (std::int64_t c = 0; c < columns; ++c) b[c] = static_cast<T>(b[c] + a[c]);
        }
      }
    });
  });
  return y;
}

namespace {

/// Neighbouring lines along another axis: where the first one starts in three tensors, and the
/// steps from line to line. `dense`: lines of one index, which are neighbours in memory too.
struct Run {
  std::int64_t indexed, other, index, count;
  std::int64_t indexed_step, other_step, index_step;
  bool dense;
};

/// The lines of an index along an axis. Lines are independent: no two of them name one element.
struct Lines {
  Lines(const Shape& shape, int line_axis) : off_axis(shape), axis(line_axis) {
    length = shape[axis];
    off_axis.erase(axis);
  }
  /// Offset of line `i` in a tensor of these strides.
  std::int64_t start(std::int64_t i, Shape strides) const {
    strides.erase(axis);
    std::int64_t offset = 0;
    for (int d = off_axis.rank() - 1; d >= 0; --d) {
      offset += i % off_axis[d] * strides[d];
      i /= off_axis[d];
    }
    return offset;
  }
  /// Lines [begin, end) as runs along the last axis that has more than one.
  std::vector<Run> runs(std::int64_t begin, std::int64_t end, const Tensor& indexed,
                        const Tensor& other, const Tensor& index) const {
    int last = off_axis.rank() - 1;
    while (last > 0 && off_axis[last] == 1) --last;
    const std::int64_t n = last < 0 ? 1 : off_axis[last];
    const auto step = [&](const Tensor& x) {
      return last < 0 ? 0 : x.strides()[last < axis ? last : last + 1];
    };
    const std::int64_t by_indexed = step(indexed), by_other = step(other), by_index = step(index);
    const bool dense = by_indexed == 1 && by_other == 1 && by_index == 0;
    std::vector<Run> runs;
    for (std::int64_t i = begin, count = 0; i < end; i += count) {
      count = std::min(n - i % n, end - i);
      runs.push_back({start(i, indexed.strides()), start(i, other.strides()),
                      start(i, index.strides()), count, by_indexed, by_other, by_index, dense});
    }
    return runs;
  }
  Shape off_axis;
  int axis;
  std::int64_t length;
};

/// Calls visit(place in indexed, place in other) for every index: lines in parallel, each in order.
/// Order of the visits: along the last axis line after line; else, within a piece, positions run
/// before lines, so that neighbours in memory follow each other.
template <class Visit>
void for_each_index(const Tensor& indexed, const Tensor& other, const Tensor& index, int axis,
                    const Visit& visit) {
  if (index.count() == 0) return;
  const Lines lines(index.shape(), axis);
  const std::int64_t step = index.strides()[axis], indexed_step = indexed.strides()[axis],
                     other_step = other.strides()[axis];
  const std::int64_t* where = index.strided_data<std::int64_t>();
  const bool along = other_step == 1;
  const std::int64_t grain =
      std::clamp<std::int64_t>((1 << 14) / lines.length, along ? 1 : 64, 256);
  parallel::for_range(lines.off_axis.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    if (along) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t to = lines.start(i, other.strides());
        const std::int64_t from = lines.start(i, indexed.strides());
        const std::int64_t* at = where + lines.start(i, index.strides());
        for (std::int64_t j = 0; j < lines.length; ++j)
          visit(from + at[j * step] * indexed_step, to + j);
      }
      return;
    }
    const std::vector<Run> runs = lines.runs(begin, end, indexed, other, index);
    for (std::int64_t j = 0; j < lines.length; ++j)
      for (const Run& r : runs) {
        const std::int64_t *at = where + r.index + j * step, to = r.other + j * other_step;
        if (r.dense) {
          const std::int64_t from = r.indexed + *at * indexed_step;
          for (std::int64_t c = 0; c < r.count; ++c) visit(from + c, to + c);
        } else {
          for (std::int64_t c = 0; c < r.count; ++c)
            visit(r.indexed + c * r.indexed_step + at[c * r.index_step] * indexed_step,
                  to + c * r.other_step);
        }
      }
  });
}

/// Integers wrap around.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  return static_cast<T>(a + b);
}

}  // namespace

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  if (mapped::any(x, index)) {
    const auto of_all = [=](const Tensor& u, const Tensor& at) { return gather(u, axis + 1, at); };
    return mapped::batched(of_all, x, index);
  }
  Tensor y = empty(index.shape(), x.dtype());
  visit_stored(x.dtype(), [&]<class T>() {
    const T* in = x.strided_data<T>();
    T* out = y.mutable_strided_data<T>();
    for_each_index(x, y, index, axis,
                   [in, out](std::int64_t from, std::int64_t to) { out[to] = in[from]; });
  });
  return y;
}

void scatter(Scatter op, Tensor y, int axis, const Tensor& index, const Tensor& source) {
  if (y.mapped()) {
    return scatter(op, mapped::show(y), axis + 1, mapped::spread(index, y.levels()),
                   mapped::spread(source, y.levels()));
  }
  visit_dtype(y.dtype(), [&]<class T>() {
    const T* in = source.strided_data<T>();
    T* out = y.mutable_strided_data<T>();
    const auto run = [&](const auto& combine) {
      for_each_index(y, source, index, axis, [=](std::int64_t to, std::int64_t from) {
        out[to] = combine(out[to], in[from]);
      });
    };
    const auto wins = [](T v, bool better) { return better || v != v; };
    if (op == Scatter::write)
      run([](T, T v) { return v; });
    else if (op == Scatter::add)
      run([](T old, T v) { return plus(old, v); });
    else if (op == Scatter::max)
      run([wins](T old, T v) { return wins(v, v > old) ? v : old; });
    else
      run([wins](T old, T v) { return wins(v, v < old) ? v : old; });
  });
}

Tensor nonzero(const Tensor& x) {
  const Tensor rows = contiguous(x);
  const Shape& shape = x.shape();
  return visit_dtype(x.dtype(), [&]<class T>() {
    const T* data = rows.data<T>();
    const std::int64_t n = x.count();
    const std::int64_t k = std::count_if(data, data + n, [](T value) { return value != T(0); });
    Tensor y = empty({k, x.rank()}, i64);
    std::int64_t* out = y.mutable_data<std::int64_t>();
    for (std::int64_t p = 0; p < n; ++p) {
      if (data[p] == T(0)) continue;
      std::int64_t rest = p;
      for (int d = x.rank() - 1; d >= 0; --d) {
        out[d] = rest % shape[d];
        rest /= shape[d];
      }
      out += x.rank();
    }
    return y;
  });
}

}  // namespace ladon::kernels
