#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels::kernels_reduce_test {
namespace {

using layout::element;
using layout::layouts;
using layout::same_bits;
using layout::sample;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

// The values that fall on each element of the result, in order.
std::vector<std::vector<double>> groups(const Tensor& x, const std::vector<int>& axes) {
  Shape kept = x.shape();
  for (int axis : axes) kept[axis] = 1;
  std::vector<std::vector<double>> all(static_cast<std::size_t>(kept.count()));
  for (std::int64_t i = 0; i < x.count(); ++i) {
    std::int64_t rest = i, place = 0, step = 1;
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      if (kept[axis] != 1) place += rest % x.shape()[axis] * step;
      rest /= x.shape()[axis];
      step *= kept[axis];
    }
    all[static_cast<std::size_t>(place)].push_back(element(x, i));
  }
  return all;
}

double exact(Reduce op, const std::vector<double>& values) {
  double y = op == Reduce::prod || op == Reduce::all ? 1
             : op == Reduce::max                     ? -inf
             : op == Reduce::min                     ? inf
                                                     : 0;
  for (double v : values) switch (op) {
      case Reduce::sum:
        y += v;
        break;
      case Reduce::prod:
        y *= v;
        break;
      case Reduce::max:
        y = std::fmax(y, v);
        break;
      case Reduce::min:
        y = std::fmin(y, v);
        break;
      case Reduce::any:
        y = y != 0 || v != 0;
        break;
      case Reduce::all:
        y = y != 0 && v != 0;
        break;
      case Reduce::sum_squares:
        y += v * v;
        break;
      case Reduce::sum_abs:
        y += std::fabs(v);
        break;
      case Reduce::count:
        break;
    }
  return y;
}

DType result_dtype(Reduce op, DType dtype) {
  if (op == Reduce::any || op == Reduce::all) return boolean;
  const bool extreme = op == Reduce::max || op == Reduce::min;
  return dtype == boolean && !extreme ? i64 : dtype;
}

const std::vector<std::vector<int>> axis_sets = {{0},    {1},    {2},       {0, 1},
                                                 {0, 2}, {1, 2}, {0, 1, 2}, {}};

void check_reduction(Reduce op, const Tensor& x, const std::vector<int>& axes) {
  const Tensor kept = reduce(op, x, axes, true), y = reduce(op, x, axes, false);
  const auto values = groups(x, axes);
  ASSERT_EQ(y.dtype(), result_dtype(op, x.dtype()));
  ASSERT_EQ(y.rank(), x.rank() - static_cast<int>(axes.size()));
  ASSERT_EQ(kept.rank(), x.rank());
  ASSERT_EQ(y.count(), static_cast<std::int64_t>(values.size()));
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const double want = exact(op, values[static_cast<std::size_t>(i)]);
    ASSERT_NEAR(element(y, i), want, 1e-5 * std::fmax(1, std::fabs(want))) << to_string(op);
    ASSERT_EQ(element(kept, i), element(y, i));
  }
}

TEST(KernelsReduce, EveryOperationLayoutAndSetOfAxes) {
  for (DType dtype : {f32, f64, i64, boolean})
    for (int op = 0; op < int(Reduce::count); ++op) {
      // Products of many integers leave what a double holds; 0, ±1 stay.
      Tensor x = sample({3, 5, 34}, dtype);
      if (Reduce(op) == Reduce::prod && dtype != boolean) x = unary(Unary::sign, x);
      for (const Tensor& view : layouts(x))
        for (const auto& axes : axis_sets) check_reduction(Reduce(op), view, axes);
    }
}

TEST(KernelsReduce, ExpandedTensors) {
  for (const auto& axes : axis_sets)
    check_reduction(Reduce::sum, view::expand(sample({3, 1, 34}), {3, 5, 34}), axes);
}

// Long enough for several segments along rows and along columns.
TEST(KernelsReduce, LongAxes) {
  for (Reduce op : {Reduce::sum, Reduce::max, Reduce::sum_squares, Reduce::sum_abs})
    for (const Shape& shape : {Shape{2, 150001}, Shape{150001, 2}, Shape{3000, 70}}) {
      const Tensor x = sample(shape, f64);
      for (const auto& axes : {std::vector{0}, std::vector{1}, std::vector{0, 1}})
        check_reduction(op, x, axes);
    }
}

TEST(KernelsReduce, SumsOfFloatsAreAccurate) {
  constexpr std::int64_t n = 1 << 22;
  const Tensor tenth = full({n}, 0.1);
  const double want = static_cast<double>(0.1f) * n;
  EXPECT_NEAR(reduce(Reduce::sum, tenth, {0}, false).item(), want, 4 * want * 0x1p-24);
  const Tensor columns = full({n / 8, 8}, 0.1), sums = reduce(Reduce::sum, columns, {0}, false);
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(element(sums, i), want / 8, 8 * want / 8 * 0x1p-24);
}

TEST(KernelsReduce, NaNPropagatesFromAnyPlace) {
  for (DType dtype : {f32, f64})
    for (std::int64_t i = 0; i < 150; i += 7) {
      const Tensor x = sample({150}, dtype);
      layout::set_element(x, i, nan);
      const Tensor column = view::expand(view::unsqueeze(x, 1), {150, 3});
      for (Reduce op : {Reduce::max, Reduce::min, Reduce::sum}) {
        EXPECT_TRUE(std::isnan(reduce(op, x, {0}, false).item())) << i;
        EXPECT_TRUE(std::isnan(element(reduce(op, contiguous(column), {0}, false), 2))) << i;
      }
      EXPECT_TRUE(reduce(Reduce::any, tensor({nan}, dtype), {0}, false).item<bool>());
    }
}

TEST(KernelsReduce, NothingGivesTheNeutralElement) {
  const Tensor x = empty({0, 3});
  const double neutral[] = {0, 1, -inf, inf, 0, 1, 0, 0};
  for (int op = 0; op < int(Reduce::count); ++op) {
    EXPECT_EQ(reduce(Reduce(op), x, {0}, false).to_vector<double>(),
              std::vector<double>(3, neutral[op]));
    EXPECT_EQ(reduce(Reduce(op), x, {1}, false).shape(), (Shape{0}));
    EXPECT_EQ(reduce(Reduce(op), x, {0, 1}, true).shape(), (Shape{1, 1}));
  }
  EXPECT_THROW(reduce(Reduce::max, empty({0, 3}, i64), {0}, false), Error);
  EXPECT_THROW(reduce(Reduce::min, empty({0}, i64), {0}, false), Error);
  EXPECT_EQ(reduce(Reduce::max, empty({0, 3}, i64), {1}, false).shape(), (Shape{0}));
  EXPECT_EQ(reduce(Reduce::sum, empty({0}, boolean), {0}, false).dtype(), i64);
  EXPECT_FALSE(reduce(Reduce::max, empty({0}, boolean), {0}, false).item<bool>());
  EXPECT_THROW(reduce(Reduce::sum, Tensor(), {}, false), Error);
}

TEST(KernelsReduce, SumToUndoesBroadcasting) {
  const Tensor x = sample({4, 5, 6}, f64);
  for (const Shape& shape : {Shape{4, 5, 6}, Shape{6}, Shape{5, 1}, Shape{4, 1, 6}, Shape{1, 1, 1},
                             Shape{1, 6}, Shape{}}) {
    const Tensor y = sum_to(x, shape);
    ASSERT_EQ(y.shape(), shape);
    // ⟨x, expand(u)⟩ = ⟨sum_to(x), u⟩ for any u.
    const Tensor u = sample(shape, f64, 5), wide = view::expand(u, x.shape());
    double left = 0, right = 0;
    for (std::int64_t i = 0; i < x.count(); ++i) left += element(x, i) * element(wide, i);
    for (std::int64_t i = 0; i < y.count(); ++i) right += element(y, i) * element(u, i);
    EXPECT_NEAR(left, right, 1e-10);
  }
  EXPECT_THROW(sum_to(x, {5}), Error);
}

TEST(KernelsReduce, SameBitsAtOneAndTwoThreads) {
  const Tensor x = sample({40, 3000, 3}), y = sample({400000}), z = sample({4000, 300});
  const int before = num_threads();
  const auto results = [&](int threads) {
    set_num_threads(threads);
    std::vector<Tensor> all;
    for (Reduce op : {Reduce::sum, Reduce::sum_squares}) {
      for (const auto& axes : axis_sets) all.push_back(reduce(op, x, axes, false));
      all.push_back(reduce(op, y, {0}, false));
      all.push_back(reduce(op, z, {0}, false));
      all.push_back(reduce(op, view::transpose(z, 0, 1), {0}, false));
      all.push_back(reduce(op, view::slice(z, 1, 0, 100, 3), {0}, false));
      all.push_back(reduce(op, view::permute(x, {2, 0, 1}), {1}, false));
    }
    all.push_back(cumsum(z, 0));
    all.push_back(argsort(z, 0, true));
    return all;
  };
  const auto one = results(1), two = results(2);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], two[i])) << i;
  set_num_threads(before);
}

// --- along an axis ---

TEST(KernelsScan, ArgmaxFindsTheFirst) {
  for (DType dtype : {f32, f64, i64, boolean})
    for (const Tensor& x : layouts(sample({3, 5, 34}, dtype)))
      for (int axis = -1; axis < 3; ++axis) {
        const int a = axis < 0 ? 2 : axis;
        const Tensor high = argmax(x, axis, true), low = argmin(x, axis, false);
        ASSERT_EQ(high.dtype(), i64);
        ASSERT_EQ(high.size(a), 1);
        ASSERT_EQ(low.rank(), 2);
        const auto values = groups(x, {a});
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto& v = values[i];
          const auto at = static_cast<std::int64_t>(i);
          ASSERT_EQ(element(high, at), std::max_element(v.begin(), v.end()) - v.begin());
          ASSERT_EQ(element(low, at), std::min_element(v.begin(), v.end()) - v.begin());
        }
      }
  EXPECT_EQ(argmax(tensor({1, nan, 5, nan}), 0, false).item<int>(), 1);
  EXPECT_EQ(argmin(tensor({1, nan, -5, nan}), 0, false).item<int>(), 1);
  EXPECT_EQ(argmax(tensor({-inf, -inf}), 0, false).item<int>(), 0);
  EXPECT_THROW(argmax(empty({3, 0}), 1, false), Error);
  EXPECT_EQ(argmax(empty({0, 3}), 1, false).shape(), (Shape{0}));
  EXPECT_THROW(argmax(sample({3}), 1, false), Error);
}

TEST(KernelsScan, CumsumRunsAlongAnyAxis) {
  for (DType dtype : {f32, f64, i64, boolean})
    for (const Tensor& x : layouts(sample({3, 5, 34}, dtype)))
      for (int axis = 0; axis < 3; ++axis) {
        const Tensor y = cumsum(x, axis);
        ASSERT_EQ(y.dtype(), dtype == boolean ? i64 : dtype);
        const auto terms = groups(x, {axis}), sums = groups(y, {axis});
        for (std::size_t i = 0; i < terms.size(); ++i) {
          double sum = 0;
          for (std::size_t j = 0; j < terms[i].size(); ++j)
            ASSERT_EQ(sums[i][j], sum += terms[i][j]);
        }
      }
  EXPECT_EQ(cumsum(empty({2, 0}), 1).shape(), (Shape{2, 0}));
  EXPECT_THROW(cumsum(sample({3}), 1), Error);
}

// Behind a coefficient of 0 nothing is left of what came before, not even 0·∞ or 0·NaN.
TEST(KernelsScan, ARecurrenceForgetsWhatIsNotFinite) {
  for (const DType dtype : {f32, f64})
    for (const double before : {INFINITY, -INFINITY, NAN}) {
      const Tensor a = tensor({2, 3, 0, 2}, dtype), b = tensor({before, 1, 5, 1}, dtype);
      const std::vector<double> h = linear_recurrence(a, b, 0).to_vector();
      EXPECT_FALSE(std::isfinite(h[1]));
      EXPECT_EQ(h[2], 5);
      EXPECT_EQ(h[3], 11);
    }
}

TEST(KernelsScan, ArgsortIsStableBothWays) {
  for (DType dtype : {f32, f64, i64, boolean})
    for (const Tensor& x : layouts(sample({3, 5, 34}, dtype)))
      for (int axis = 0; axis < 3; ++axis)
        for (bool descending : {false, true}) {
          const auto order = groups(argsort(x, axis, descending), {axis});
          const auto values = groups(x, {axis});
          for (std::size_t i = 0; i < values.size(); ++i) {
            std::vector<double> want(values[i].size());
            std::iota(want.begin(), want.end(), 0);
            std::stable_sort(want.begin(), want.end(), [&](double u, double v) {
              const double a = values[i][std::size_t(u)], b = values[i][std::size_t(v)];
              return descending ? a > b : a < b;
            });
            ASSERT_EQ(order[i], want);
          }
        }
  EXPECT_EQ(argsort(tensor({nan, 1, -inf, nan, inf}), 0, false).to_vector<int>(),
            (std::vector{2, 1, 4, 0, 3}));
  EXPECT_EQ(argsort(tensor({1, nan, 2}), 0, true).to_vector<int>(), (std::vector{1, 2, 0}));
  EXPECT_EQ(argsort(empty({0, 2}), 0, false).shape(), (Shape{0, 2}));
}

// Rows long enough to be sorted by digits, and to be selected from: few values, −0 and NaN among
// them, or numbers of all sizes, rising or falling.
TEST(KernelsScan, LongRowsAreSortedAndSelectedStably) {
  constexpr std::int64_t n = 1000;
  for (DType dtype : {f32, f64, i64, boolean})
    for (int kind = 0; kind < 4; ++kind)
      for (bool descending : {false, true}) {
        Tensor x = sample({2, n}, dtype, static_cast<std::uint64_t>(kind));
        const double few[] = {0, -0.0, 1, -1, nan, inf, -inf};
        for (std::int64_t i = 0; i < 2 * n; ++i) {
          const double v = layout::element(x, i), k = static_cast<double>(i - n);
          const double wide = dtype == i64 ? v * 1e17 + k : std::ldexp(v, static_cast<int>(i % 90));
          const double few_of =
              few[static_cast<std::size_t>(std::abs(v) * 64) % (dtype == i64 ? 4 : 7)];
          layout::set_element(x, i, kind == 0 ? few_of : kind == 1 ? wide : kind == 2 ? k : -k);
        }
        const auto values = groups(x, {1}), order = groups(argsort(x, 1, descending), {1});
        for (std::size_t r = 0; r < 2; ++r) {
          std::vector<double> want(n);
          std::iota(want.begin(), want.end(), 0);
          std::stable_sort(want.begin(), want.end(), [&](double u, double v) {
            double a = values[r][std::size_t(u)], b = values[r][std::size_t(v)];
            if (descending) std::swap(a, b);
            return a < b || (std::isnan(b) && !std::isnan(a));
          });
          ASSERT_EQ(order[r], want);
        }
        for (const std::int64_t k : {0, 1, 3, 16, 60, 249, 250, 999, 1000}) {
          const auto first = groups(argsort_first(x, 1, descending, k), {1});
          for (std::size_t r = 0; k > 0 && r < 2; ++r)
            ASSERT_EQ(first[r], std::vector(order[r].begin(), order[r].begin() + k));
        }
      }
  EXPECT_EQ(argsort_first(empty({0, 200}), 0, false, 0).shape(), (Shape{0, 200}));
  EXPECT_EQ(argsort_first(empty({0, 200}), 1, false, 2).shape(), (Shape{0, 2}));
}

// More elements than a task counts, with keys that tie across tasks.
TEST(KernelsScan, ARowIsSortedStablyInSeveralTasks) {
  constexpr std::int64_t n = 300000;
  Tensor x = empty({n}, i64);
  std::int64_t* data = x.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i) data[i] = (i * 7919 % 1000 - 500) * 1000003;
  for (const bool descending : {false, true}) {
    std::vector<std::int64_t> want(n);
    std::iota(want.begin(), want.end(), 0);
    std::stable_sort(want.begin(), want.end(), [&](std::int64_t a, std::int64_t b) {
      return descending ? data[a] > data[b] : data[a] < data[b];
    });
    EXPECT_EQ(argsort(x, 0, descending).to_vector<std::int64_t>(), want);
  }
}

}  // namespace
}  // namespace ladon::kernels::kernels_reduce_test
