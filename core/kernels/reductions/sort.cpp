// Sorting and selection along an axis. Elements are converted to keys: unsigned integers in the
// same order, which are equal if the elements are equal. Pairs of a key and its index are all
// distinct, so that any sort of the pairs is stable.

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ladon/core/cxx20.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

using std::int64_t;
using std::uint64_t;

struct Keyed {
  uint64_t key;
  int64_t index;
  bool operator<(const Keyed& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

template <class T>
struct Bits {
  using Type = std::conditional_t<sizeof(T) == 4, std::uint32_t, uint64_t>;
  static constexpr Type all = static_cast<Type>(-1), sign = all ^ (all >> 1);
};

/// Key of an element. NaN counts as larger than all numbers; −0 and 0 have the same key.
template <class T>
uint64_t key_of(T x, bool descending) {
  if constexpr (std::is_same_v<T, bool>) return x != descending;
  using B = Bits<T>;
  typename B::Type key;
  if constexpr (std::is_floating_point_v<T>) {
    key = detail::bit_cast<typename B::Type>(x + T(0));
    key = x != x ? B::all : (key & B::sign) != 0 ? ~key : key | B::sign;
  } else {
    key = static_cast<typename B::Type>(x) ^ B::sign;
  }
  return descending ? key ^ B::all : key;
}

/// Radix sort of n pairs by `digits` bytes of the key, from the lowest byte on; skips bytes that
/// are the same in all keys. `spare` has room for n pairs. For each byte, tasks count how often
/// each value occurs, and then move their pairs; each task has a separate output range for every
/// value. Returns a pointer to the sorted pairs.
template <int64_t digits>
const Keyed* sorted(Keyed* pairs, Keyed* spare, int64_t n) {
  constexpr int64_t few = 256, values = 256, grain = 1 << 17;
  if (n <= few) {
    std::sort(pairs, pairs + n);
    return pairs;
  }
  uint64_t differ = 0;
  for (int64_t i = 1; i < n; ++i) differ |= pairs[i].key ^ pairs[0].key;
  const int64_t tasks = (n + grain - 1) / grain;
  std::vector<std::array<int64_t, values>> next(tasks);
  for (int64_t shift = 0; shift < 8 * digits; shift += 8) {
    if ((differ >> shift & 255) == 0) continue;
    const auto each = [&](const auto& body) {
      parallel::for_range(n, grain, [&](int64_t begin, int64_t end) {
        int64_t* const mine = next[begin / grain].data();
        for (int64_t i = begin; i < end; ++i) body(mine[pairs[i].key >> shift & 255], pairs[i]);
      });
    };
    for (auto& counts : next) counts.fill(0);
    each([](int64_t& count, const Keyed&) { ++count; });
    int64_t before = 0;
    for (std::size_t v = 0; v < values; ++v)
      for (auto& counts : next) before += std::exchange(counts[v], before);
    each([spare](int64_t& place, const Keyed& pair) { spare[place++] = pair; });
    std::swap(pairs, spare);
  }
  return pairs;
}

void write_indices(const Keyed* pairs, int64_t n, int64_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = pairs[i].index;
}

/// Memory for n pairs. Throws Error if memory runs out, as tensors do.
std::vector<Keyed> room_for(int64_t n) {
  try {
    return std::vector<Keyed>(static_cast<std::size_t>(n));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  detail::fail("storage", "out of memory: could not allocate ", n, " keys of ", sizeof(Keyed),
               " bytes to sort");
}

/// Writes the indices of the first k < room elements of a row, in sorted order. Candidates are
/// collected until there are `room` of them, and then reduced to the first k. Elements that come
/// after the k-th candidate are skipped, by comparing values or (NaN) keys.
template <class T, bool descending>
void first_of(const T* row, int64_t n, int64_t k, std::vector<Keyed>& candidates, int64_t room,
              int64_t* out) {
  const auto kth = candidates.begin() + k - 1;
  const auto keep_first = [&] {
    std::nth_element(candidates.begin(), kth, candidates.end());
    candidates.resize(k);
  };
  candidates.clear();
  for (int64_t i = 0; i < room; ++i) candidates.push_back({key_of(row[i], descending), i});
  keep_first();
  Keyed last = *kth;
  T bound = row[last.index];
  for (int64_t i = room; i < n; ++i) {
    if (descending ? row[i] <= bound : row[i] >= bound) continue;
    const Keyed one{key_of(row[i], descending), i};
    if (one.key >= last.key) continue;
    candidates.push_back(one);
    if (static_cast<int64_t>(candidates.size()) < room) continue;
    keep_first();
    last = *kth;
    bound = row[last.index];
  }
  keep_first();
  std::sort(candidates.begin(), candidates.end());
  write_indices(candidates.data(), k, out);
}

/// Indices [.., k, ..] from x [.., n, ..] along an axis: moves the axis to the end and calls
/// body(first element, first index, number of rows) in tasks, for rows of n elements and k indices.
template <class Body>
Tensor for_sorted_rows(const Tensor& x, int axis, int64_t k, const Body& body) {
  return along_axis(
      axis,
      [&](const Tensor& rows) {
        const int64_t n = rows.size(-1);
        Shape shape = rows.shape();
        shape[rows.rank() - 1] = k;
        Tensor y = empty(shape, i64);
        if (y.count() == 0) return y;
        visit_dtype(rows.dtype(), [&]<class T>() {
          const T* in = rows.data<T>();
          int64_t* out = y.mutable_data<int64_t>();
          parallel::for_range(rows.count() / n, rows_per_task(16 * n),
                              [&](int64_t begin, int64_t end) {
                                body(in + begin * n, out + begin * k, end - begin);
                              });
        });
        return y;
      },
      x);
}

}  // namespace

Tensor argsort(const Tensor& x, int axis, bool descending) {
  if (x.mapped()) {
    const auto of_all = [=](const Tensor& u) { return argsort(u, mapped::next(axis), descending); };
    return mapped::batched(of_all, x);
  }
  const int a = detail::normalize_axis("argsort", axis, x.rank());
  const int64_t n = x.size(a);
  return for_sorted_rows(x, a, n, [=]<class T>(const T* row, int64_t* out, int64_t rows) {
    std::vector<Keyed> pairs = room_for(2 * n);
    for (int64_t r = 0; r < rows; ++r, row += n, out += n) {
      for (int64_t i = 0; i < n; ++i) pairs[i] = {key_of(row[i], descending), i};
      write_indices(sorted<sizeof(T)>(pairs.data(), pairs.data() + n, n), n, out);
    }
  });
}

Tensor argsort_first(const Tensor& x, int axis, bool descending, int64_t k) {
  if (x.mapped()) {
    const auto of_all = [=](const Tensor& u) {
      return argsort_first(u, mapped::next(axis), descending, k);
    };
    return mapped::batched(of_all, x);
  }
  const int a = detail::normalize_axis("argsort", axis, x.rank());
  const int64_t n = x.size(a), room = std::max<int64_t>(64, 4 * k);
  if (n <= room || k == 0) return contiguous(view::slice(argsort(x, a, descending), a, 0, k, 1));
  return for_sorted_rows(x, a, k, [=]<class T>(const T* row, int64_t* out, int64_t rows) {
    std::vector<Keyed> candidates = room_for(room);
    for (int64_t r = 0; r < rows; ++r, row += n, out += k)
      (descending ? first_of<T, true> : first_of<T, false>)(row, n, k, candidates, room, out);
  });
}

double median_magnitude(const Tensor& x) {
  if (x.count() == 0) return 0;
  const Tensor dense = contiguous(x);
  std::vector<double> all(dense.data<double>(), dense.data<double>() + dense.count());
  for (double& element : all) element = std::abs(element);
  const auto middle = all.begin() + (std::ssize(all) - 1) / 2;
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace ladon::kernels
