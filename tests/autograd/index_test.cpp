#include "ladon/autograd/ops/index.h"

#include <limits>
#include <map>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test::index_test {
namespace {

/// Runs at one number of threads, then goes back.
class Threads {
 public:
  explicit Threads(int n) : before_(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

TEST(Embedding, PaddingRowGetsNoGradient) {
  Generator rng(1);
  Tensor weight = normal({4, 3}, rng, 0, 1, f64);
  weight.set_requires_grad();
  const Tensor index = tensor({1, 0, 0, 1}, i64);
  const Tensor y = embedding(weight, index, {.padding_index = 0});
  EXPECT_TRUE(all_equal(y, embedding(weight, index)));
  const Tensor g = grad(y, weight, {.cotangents = {ones({4, 3}, f64)}});
  EXPECT_EQ(g.to_vector(), (std::vector<double>{0, 0, 0, 2, 2, 2, 0, 0, 0, 0, 0, 0}));
}

TEST(Embedding, GradientHasTheSameBitsAtAnyNumberOfThreads) {
  Generator rng(2);
  Tensor weight = normal({50, 200}, rng);
  weight.set_requires_grad();
  const Tensor index = randint({4000}, rng, 0, 50), c = normal({4000, 200}, rng);
  std::vector<std::vector<float>> gradients;
  for (const int n : {1, 2, 4}) {
    const Threads threads(n);
    gradients.push_back(
        grad(embedding(weight, index), weight, {.cotangents = {c}}).to_vector<float>());
  }
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_EQ(gradients[0], gradients[2]);
}

TEST(ScatterAdd, HasTheSameBitsAtAnyNumberOfThreads) {
  Generator rng(3);
  const Tensor x = normal({600, 20}, rng), source = normal({600, 100}, rng);
  const Tensor index = randint({600, 100}, rng, 0, 20);
  std::vector<std::vector<float>> sums;
  for (const int n : {1, 2, 4}) {
    const Threads threads(n);
    sums.push_back(scatter_add(x, 1, index, source).to_vector<float>());
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

TEST(ScatterAdd, OfIntegersWrapsAround) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const Tensor x = from_vector(std::vector<std::int64_t>{most}, {1});
  const Tensor y = scatter_add(x, 0, zeros({2}, i64), ones({2}, i64));
  EXPECT_EQ(y.item<std::int64_t>(), std::numeric_limits<std::int64_t>::min() + 1);
}

// Of random shapes, axes and layouts: what indices say one by one, in row-major order; also those
// that are expanded off the axis.
TEST(Index, GatherAndScatterOnEveryLayout) {
  Generator rng(7);
  const auto below = [&](std::int64_t n) { return randint({}, rng, 0, n).item<std::int64_t>(); };
  for (int i = 0; i < 200; ++i) {
    const int rank = 1 + static_cast<int>(below(3)), axis = static_cast<int>(below(rank));
    Shape at, from;
    for (int d = 0; d < rank; ++d) {
      at.append(1 + below(d == rank - 1 ? 70 : 9));
      from.append(d == axis ? 1 + below(6) : at[d] + below(2));
    }
    Shape drawn = at;
    for (int d = 0; d < rank; ++d)
      if (d != axis && below(2) == 0) drawn[d] = 1;
    const Tensor index = expand(randint(drawn, rng, 0, from[axis]), at);
    const auto laid_out = [&](const Shape& shape) {
      const Tensor x = normal(shape, rng);
      return below(2) == 0 ? x : transpose(contiguous(transpose(x, 0, -1)), 0, -1);
    };
    const Tensor x = laid_out(from), source = laid_out(at);
    const std::vector<float> xs = x.to_vector<float>(), sources = source.to_vector<float>();
    std::vector<float> picked, sums = xs;
    const std::vector<std::int64_t> places = index.to_vector<std::int64_t>();
    for (std::size_t p = 0; p < places.size(); ++p) {
      std::int64_t rest = static_cast<std::int64_t>(p), to = 0, step = 1;
      for (int d = rank - 1; d >= 0; rest /= at[d], step *= from[d], --d)
        to += (d == axis ? places[p] : rest % at[d]) * step;
      picked.push_back(xs[static_cast<std::size_t>(to)]);
      sums[static_cast<std::size_t>(to)] += sources[p];
    }
    EXPECT_EQ(gather(x, axis, index).to_vector<float>(), picked);
    EXPECT_EQ(scatter_add(x, axis, index, source).to_vector<float>(), sums);
    EXPECT_TRUE(
        all_equal(scatter(x, axis, index, source), scatter(x, axis, contiguous(index), source)));
  }
  expect_error(
      [] {
        gather(ones({3, 4}), 0, expand(tensor({1, 3}, {2, 1}, i64), {2, 4}));
      },
      "index 3 at position 4 is outside [0, 3)");
}

// More elements than a task takes, in a view whose rows are not contiguous, of which none, some or
// all are chosen.
TEST(Index, MasksOfManyElementsAreReadInOrder) {
  constexpr std::int64_t rows = 300, columns = 211;
  Generator rng(5);
  const Tensor whole = normal({columns, rows}, rng, 0, 1, f64), x = transpose(whole, 0, 1);
  for (const double bound : {-9.0, 0.5, 9.0}) {
    const Tensor mask = x > bound;
    std::vector<double> want, places, put(rows * columns);
    const std::vector<double> values = x.to_vector();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(values[i] > bound)) continue;
      want.push_back(values[i]);
      put[i] = static_cast<double>(want.size());
      places.push_back(static_cast<double>(i / columns));
      places.push_back(static_cast<double>(i % columns));
    }
    const Tensor leaf = x.detach().set_requires_grad(), y = masked_select(leaf, mask);
    EXPECT_EQ(y.to_vector(), want);
    EXPECT_EQ(nonzero(mask).to_vector(), places);
    EXPECT_EQ(nonzero(masked_fill(x, logical_not(mask), 0)).to_vector(), places);
    const Tensor g = grad(y, leaf, {.cotangents = {cast(arange(y.count()) + 1, f64)}});
    EXPECT_EQ(g.to_vector(), put);
  }
}

TEST(Unique, OfManyElementsCountsAndPlacesThem) {
  constexpr std::int64_t n = 100000;
  Generator rng(6);
  const Tensor x = randint({n}, rng, -700, 700);
  std::map<std::int64_t, std::vector<std::int64_t>> places;
  const std::vector<std::int64_t> values = x.to_vector<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i) places[values[static_cast<std::size_t>(i)]].push_back(i);
  const UniqueElements u = unique(x), by_axis = unique(x, 0), by_rows = unique(unsqueeze(x, 1), 0);
  std::vector<std::int64_t> keys, first, counts;
  for (const auto& [key, at] : places) {
    keys.push_back(key);
    first.push_back(at[0]);
    counts.push_back(static_cast<std::int64_t>(at.size()));
  }
  for (const UniqueElements& one : {u, by_axis, by_rows}) {
    EXPECT_EQ(one.values.to_vector<std::int64_t>(), keys);
    EXPECT_EQ(one.first.to_vector<std::int64_t>(), first);
    EXPECT_EQ(one.counts.to_vector<std::int64_t>(), counts);
    EXPECT_TRUE(all_equal(index_select(flatten(one.values), 0, one.inverse), x));
  }
}

TEST(Scatter, OnlyTheLastOfRepeatedWritesGetsAGradient) {
  Tensor x = zeros({2}, f64), source = ones({3}, f64);
  x.set_requires_grad();
  source.set_requires_grad();
  const Tensor y = scatter(x, 0, tensor({0, 0, 0}, i64), source);
  const auto g = grad({y}, {x, source}, {.cotangents = {tensor({5, 7}, f64)}});
  EXPECT_EQ(g[0].to_vector(), (std::vector<double>{0, 7}));
  EXPECT_EQ(g[1].to_vector(), (std::vector<double>{0, 0, 5}));
}

TEST(Index, LaterEditsOfTheIndexDoNotReachTheGradient) {
  Tensor x = zeros({3}, f64);
  x.set_requires_grad();
  Tensor index = tensor({0, 2}, i64);
  const Tensor y = index_select(x, 0, index);
  index.mutable_data<std::int64_t>()[0] = 1;
  const Tensor g = grad(y, x, {.cotangents = {tensor({1, 2}, f64)}});
  EXPECT_EQ(g.to_vector(), (std::vector<double>{1, 0, 2}));
}

}  // namespace
}  // namespace ladon::test::index_test
