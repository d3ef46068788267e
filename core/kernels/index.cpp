#include "ladon/core/kernels/index.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {

Tensor checked_indices(std::string_view operation, const Tensor& index, std::int64_t n) {
  LADON_CHECK(index.defined() && index.dtype() == i64, operation, "indices must be i64, got ",
              detail::kind_in_words(index));
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

/// Sizes of x as [outer, n, inner], where n is the size of an axis.
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
      std::int64_t at = begin % k;
      const T* slice = in + begin / k * from.n * inner;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t r = row[at];
        if (r < 0)
          std::fill_n(out + i * inner, inner, T{});
        else if (inner == 1)
          out[i] = slice[r];
        else
          std::copy_n(slice + r * inner, inner, out + i * inner);
        if (++at == k) at = 0, slice += from.n * inner;
      }
    });
  });
  return y;
}

// Each task computes a block of columns of the result and adds all rows in order. So no two tasks
// write to the same element, and all tasks take the same time, even if many indices are equal.
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

/// A run of `count` consecutive lines: the offset of the first line in the indexed tensor, in the
/// other tensor and in the index tensor, and the step from line to line in each of them. `dense`
/// says whether all lines use the same indices and consecutive lines are adjacent in memory.
struct Run {
  std::int64_t indexed, other, index, count;
  std::int64_t indexed_step, other_step, index_step;
  bool dense;
};

/// Lines of an index tensor along an axis. Lines are independent: no two of them refer to the same
/// element of the indexed tensor.
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
  /// Lines [begin, end) as runs along the last axis of off_axis that has more than one element.
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

/// Calls visit(offset in indexed, offset in other) for every index. Lines run in parallel, and the
/// indices of a line are visited in order. If elements of a line are adjacent in `other`, a task
/// visits one line after the other; if not, it visits the first element of all its lines, then the
/// second of all, and so on, so that elements adjacent in memory are visited one after the other.
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

/// a + b, where integers wrap around.
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

void join(const std::vector<Tensor>& parts, int axis, Tensor y) {
  const std::int64_t rows = y.shape().sub(0, axis).count();
  bool dense = !y.mapped() && rows >= 16 && y.count() > 0;  // fewer rows give too few tasks
  for (const Tensor& x : parts) dense = dense && x.dtype() == y.dtype() && x.contiguous();
  if (!dense) {
    std::int64_t start = 0;
    for (const Tensor& x : parts) {
      copy(view::slice(y, axis, start, x.size(axis), 1), x);
      start += x.size(axis);
    }
    return;
  }
  const auto item = static_cast<std::int64_t>(item_size(y.dtype()));
  const std::int64_t width = y.count() / rows * item;
  // For each part: its address, and its bytes per row.
  std::vector<std::pair<const std::byte*, std::int64_t>> from;
  for (const Tensor& x : parts) from.emplace_back(x.strided_bytes(), x.count() / rows * item);
  y.storage().bump_version();
  std::byte* const to = y.strided_bytes();
  parallel::for_range(rows, std::max<std::int64_t>(1, (1 << 15) * item / width),
                      [&](std::int64_t row, std::int64_t end) {
                        for (; row < end; ++row) {
                          std::byte* at = to + row * width;
                          for (const auto& [x, bytes] : from)
                            at = std::copy_n(x + row * bytes, bytes, at);
                        }
                      });
}

namespace {

/// Numbers of elements that are not 0, where the elements are divided into tasks: the number before
/// each task, and the total.
struct NotZero {
  static constexpr std::int64_t grain = 1 << 15;

  template <class T>
  NotZero(const T* x, std::int64_t n)
      : before(static_cast<std::size_t>((n + grain - 1) / grain) + 1) {
    parallel::for_range(n, grain, [&](std::int64_t begin, std::int64_t end) {
      before[static_cast<std::size_t>(begin / grain) + 1] =
          std::count_if(x + begin, x + end, [](T value) { return value != T(0); });
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
  }
  std::int64_t all() const { return before.back(); }
  /// Calls body(p, i, end) for each task: p is the position of the task's first element among all
  /// elements, and [i, end) is the range of the task's nonzero elements among all nonzero elements.
  template <class Body>
  void each(std::int64_t n, const Body& body) const {
    parallel::for_range(n, grain, [&](std::int64_t begin, std::int64_t) {
      const auto task = static_cast<std::size_t>(begin / grain);
      body(begin, before[task], before[task + 1]);
    });
  }

  std::vector<std::int64_t> before;
};

}  // namespace

Tensor nonzero(const Tensor& x) {
  const Tensor rows = contiguous(x);
  const Shape& shape = x.shape();
  const int rank = x.rank();
  const std::int64_t length = rank > 0 ? shape[rank - 1] : 1;
  return visit_dtype(x.dtype(), [&]<class T>() {
    const T* data = rows.data<T>();
    const NotZero found(data, x.count());
    Tensor y = empty({found.all(), rank}, i64);
    std::int64_t* out = y.mutable_data<std::int64_t>();
    if (rank == 0) return y;
    found.each(x.count(), [&](std::int64_t p, std::int64_t i, std::int64_t end) {
      std::int64_t index[Shape::max_rank];
      while (i < end) {
        std::int64_t row = p / length;
        const std::int64_t start = row * length, stop = start + length;
        for (int d = rank - 2; d >= 0; row /= shape[d--]) index[d] = row % shape[d];
        for (; p < stop && i < end; i += data[p++] != T(0)) {  // no branch
          std::int64_t* to = out + i * rank;
          for (int d = 0; d < rank - 1; ++d) to[d] = index[d];
          to[rank - 1] = p - start;
        }
      }
    });
    return y;
  });
}

Tensor masked_elements(const Tensor& x, const Tensor& mask) {
  if (x.mapped()) {
    const auto alone = [&](const auto& of) { return std::vector{masked_elements(of[0], mask)}; };
    return mapped::each({x}, alone)[0];
  }
  const Tensor source = contiguous(x), where = contiguous(mask);
  const bool* chosen = where.data<bool>();
  const NotZero found(chosen, where.count());
  Tensor y = empty({found.all()}, x.dtype());
  visit_stored(x.dtype(), [&]<class T>() {
    const T* in = source.data<T>();
    T* out = y.mutable_data<T>();
    found.each(where.count(), [=](std::int64_t p, std::int64_t i, std::int64_t end) {
      for (; i < end; i += chosen[p++])
        out[i] = in[p];  // no branch: an element not chosen is overwritten
    });
  });
  return y;
}

Tensor put_masked(const Tensor& x, const Tensor& mask) {
  if (x.mapped()) {
    const auto alone = [&](const auto& of) { return std::vector{put_masked(of[0], mask)}; };
    return mapped::each({x}, alone)[0];
  }
  const Tensor source = contiguous(x), where = contiguous(mask);
  const bool* chosen = where.data<bool>();
  const NotZero found(chosen, where.count());
  LADON_CHECK(x.shape() == Shape{found.all()}, "put_masked",
              "needs as many elements as the mask has true elements: got shape ", x.shape(),
              ", but the mask has ", found.all(), " true elements");
  Tensor y = zeros(mask.shape(), x.dtype());
  visit_stored(x.dtype(), [&]<class T>() {
    const T* in = source.data<T>();
    T* out = y.mutable_data<T>();
    found.each(where.count(), [=](std::int64_t p, std::int64_t i, std::int64_t end) {
      for (; i < end; i += chosen[p++]) {
        const T either[] = {T{}, in[i]};  // no branch
        out[p] = either[chosen[p]];
      }
    });
  });
  return y;
}

Runs runs_of(const Tensor& order, const Tensor& begins) {
  const std::int64_t n = order.count();
  Runs runs{masked_elements(order, begins), {}, empty({n}, i64)};
  runs.counts = zeros(runs.first.shape(), i64);
  const std::int64_t* place = order.data<std::int64_t>();
  const bool* begin = begins.data<bool>();
  std::int64_t *which = runs.which.mutable_data<std::int64_t>(),
               *counts = runs.counts.mutable_data<std::int64_t>(), run = -1;
  for (std::int64_t i = 0; i < n; ++i) {
    run += begin[i];
    ++counts[run];
    which[place[i]] = run;
  }
  return runs;
}

}  // namespace ladon::kernels
