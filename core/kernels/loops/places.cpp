// Sums and maxima over the rows of a matrix whose indices are in the list `places` (in pooling, the
// positions that a window sees). Blocks of columns stay in registers while the loop runs over the
// list.

#include "ladon/core/kernels/loops/products/blocked.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

template <class V, class T>
LADON_INLINE void store(T* y, V v) {
  __builtin_memcpy(y, &v, sizeof v);
}

/// Calls `block<V, n>(column)` for all columns of a row: four vectors, one vector, or one element
/// at a time.
template <class T, class Block>
LADON_INLINE void for_blocks(int64_t columns, const Block& block) {
  using V = Vector<T>;
  constexpr int64_t lanes = sizeof(V) / sizeof(T);
  int64_t c = 0;
  for (; c + 4 * lanes <= columns; c += 4 * lanes) block.template operator()<V, 4>(c);
  for (; c + lanes <= columns; c += lanes) block.template operator()<V, 1>(c);
  for (; c < columns; ++c) block.template operator()<T, 1>(c);
}

template <class T>
void sum(const T* x, const int64_t* places, int64_t count, int64_t columns, T* y) {
  for_blocks<T>(columns, [=]<class V, int n>(int64_t c) {
    constexpr int64_t lanes = sizeof(V) / sizeof(T);
    V total[n];
    for (int j = 0; j < n; ++j) total[j] = load<V>(y + c + j * lanes);
    for (int64_t k = 0; k < count; ++k)
      for (int j = 0; j < n; ++j) total[j] += load<V>(x + places[k] * columns + c + j * lanes);
    for (int j = 0; j < n; ++j) store(y + c + j * lanes, total[j]);
  });
}

template <class T>
void spread(const T* g, const int64_t* places, int64_t count, int64_t columns, T* y) {
  for_blocks<T>(columns, [=]<class V, int n>(int64_t c) {
    constexpr int64_t lanes = sizeof(V) / sizeof(T);
    V up[n];
    for (int j = 0; j < n; ++j) up[j] = load<V>(g + c + j * lanes);
    for (int64_t k = 0; k < count; ++k)
      for (int j = 0; j < n; ++j) {
        T* seen = y + places[k] * columns + c + j * lanes;
        store(seen, load<V>(seen) + up[j]);
      }
  });
}

/// Integers as wide as the elements of V, to hold indices of places: a vector of integers if V is a
/// vector.
template <class V>
struct Numbers {
  using Type = decltype(V{} < V{});
};
template <>
struct Numbers<float> {
  using Type = std::int32_t;
};
template <>
struct Numbers<double> {
  using Type = int64_t;
};

template <class T>
void maximum(const T* x, const int64_t* places, int64_t count, bool first, int64_t columns, T* y,
             int64_t* where) {
  for_blocks<T>(columns, [=]<class V, int n>(int64_t c) {
    constexpr int64_t lanes = sizeof(V) / sizeof(T);
    using N = typename Numbers<V>::Type;
    using Number = typename Numbers<T>::Type;
    V best[n];
    N number[n];
    for (int j = 0; j < n; ++j) {
      best[j] = load<V>((first ? x + places[0] * columns : y) + c + j * lanes);
      number[j] = N{} + (first ? Number(0) : Number(-1));
    }
    for (int64_t k = first; k < count; ++k) {
      const N here = N{} + static_cast<Number>(k);
      for (int j = 0; j < n; ++j) {
        const V seen = load<V>(x + places[k] * columns + c + j * lanes);
        const auto better = (seen > best[j]) | ((seen != seen) & (best[j] == best[j]));
        best[j] = better ? seen : best[j];
        number[j] = better ? here : number[j];
      }
    }
    Number found[n * lanes];
    __builtin_memcpy(found, number, sizeof found);
    for (int j = 0; j < n; ++j) store(y + c + j * lanes, best[j]);
    for (int i = 0; i < n * lanes; ++i)
      if (found[i] >= 0) where[c + i] = places[found[i]];
  });
}

template <class T>
void add_all(LoopsOf<T>& t) {
  t.places = {sum<T>, spread<T>, maximum<T>};
}

}  // namespace

void add_places(Loops& table) {
  add_all(table.f32);
  add_all(table.f64);
}

}  // namespace ladon::kernels::LADON_LEVEL
