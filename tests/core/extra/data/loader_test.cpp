#include "ladon/core/extra/data/loader.h"

#include <algorithm>
#include <set>

#include "ladon/core/extra/data/batches.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::loader_test {
namespace {

using test::expect_error;
using test::expect_same;

/// Loads the items' numbers, and one drawn number per batch.
struct Numbered {
  ItemIndices items;
  double drawn;
  bool operator==(const Numbered&) const = default;
};

Loader<Numbered> numbered(std::int64_t n, const LoaderOptions& options, Generator& rng) {
  return {BatchPlan(n, options, rng), [](const ItemIndices& items, Generator& own) {
            return Numbered{items, own.uniform()};
          }};
}

template <class T>
std::vector<T> take(Loader<T>& loader, std::int64_t count) {
  std::vector<T> batches;
  while (count-- > 0) batches.push_back(loader.next());
  return batches;
}

TEST(Loader, AnEpochHasEveryItemOnce) {
  for (const bool shuffle : {false, true})
    for (const bool drop_last : {false, true})
      for (const std::int64_t n : {1, 6, 7, 12}) {
        if (drop_last && n < 3) continue;
        Generator rng(1);
        auto loader =
            numbered(n, {.batch_size = 3, .shuffle = shuffle, .drop_last = drop_last}, rng);
        EXPECT_EQ(loader.size(), drop_last ? n / 3 : (n + 2) / 3);
        for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
          std::set<std::int64_t> seen;
          std::int64_t count = 0;
          for (std::int64_t b = 0; b < loader.size(); ++b) {
            EXPECT_EQ(loader.position(), (DataPosition{epoch, b}));
            const ItemIndices items = loader.next().items;
            EXPECT_EQ(std::ssize(items), std::min<std::int64_t>(3, n - 3 * b));
            seen.insert(items.begin(), items.end());
            count += std::ssize(items);
          }
          EXPECT_EQ(count, drop_last ? n / 3 * 3 : n);
          EXPECT_EQ(std::ssize(seen), count);
          EXPECT_TRUE(shuffle || *seen.rbegin() == count - 1);
        }
      }
}

TEST(Loader, EpochsDifferAndFollowFromTheGenerator) {
  Generator rng(5), same(5);
  auto loader = numbered(50, {.batch_size = 50}, rng);
  auto again = numbered(50, {.batch_size = 50}, same);
  auto sibling = numbered(50, {.batch_size = 50}, rng);  // the same generator, further on
  const auto epochs = take(loader, 3);
  EXPECT_NE(epochs[0].items, epochs[1].items);
  EXPECT_NE(epochs[1].items, epochs[2].items);
  EXPECT_NE(epochs[0].drawn, epochs[1].drawn);
  EXPECT_EQ(take(again, 3), epochs);
  EXPECT_NE(sibling.next().items, epochs[0].items);
}

// Item 0 comes first in a share of 1/10 of epochs: 1,000 of 10,000 with a standard deviation of
// √(10,000·0.1·0.9) = 30.
TEST(Loader, OrdersAreUniform) {
  Generator rng(2);
  const BatchPlan plan(10, {.batch_size = 10}, rng);
  std::vector<int> first(10, 0);
  for (std::int64_t epoch = 0; epoch < 10'000; ++epoch) ++first[plan.epoch(epoch)[0][0]];
  for (const int count : first) EXPECT_NEAR(count, 1000, 5 * 30);
}

TEST(Loader, GoesOnFromAnySavedPosition) {
  for (const bool by_length : {false, true}) {
    const auto make = [&](Generator& rng) {
      std::vector<std::int64_t> lengths;
      for (int i = 0; i < 23; ++i) lengths.push_back(i * 7 % 11);
      const LoaderOptions options{.batch_size = 4, .by_length = by_length};
      return Loader<Numbered>(BatchPlan(23, options, rng, lengths),
                              [](const ItemIndices& items, Generator& own) {
                                return Numbered{items, own.uniform()};
                              });
    };
    Generator rng(9);
    auto whole = make(rng);
    const auto batches = take(whole, 20);
    for (std::int64_t done = 0; done < 20; ++done) {
      Generator same(9);
      auto before = make(same);
      take(before, done);
      const DataPosition saved = before.position();
      same = Generator(9);
      auto resumed = make(same);
      resumed.seek({saved.epoch, saved.batch});
      EXPECT_EQ(take(resumed, 20 - done), std::vector(batches.begin() + done, batches.end()));
    }
  }
}

TEST(Loader, IsSavedAndRestoredWithItsGenerator) {
  Generator rng(9), other(10);
  const LoaderOptions options{.batch_size = 4};
  auto whole = numbered(23, options, rng);
  auto resumed = numbered(23, options, other);
  for (int i = 0; i < 9; ++i) {
    whole.next();
    resumed.next();
    EXPECT_NE(resumed.next(), whole.next());
    resumed.load_state_dict(whole.state_dict());
    auto copy = whole;
    EXPECT_EQ(take(resumed, 7), take(copy, 7));
  }
  const StateDict good = whole.state_dict();
  const DataPosition before = resumed.position();
  const auto refuse = [&](const char* name, const Tensor& x, const char* fragment) {
    StateDict bad = good;
    bad[name] = x;
    expect_error([&] { resumed.load_state_dict(bad); }, fragment);
    EXPECT_EQ(resumed.position(), before);
  };
  refuse("items", scalar(22, i64),
         "the state has 22 items in 6 batches of 4, but must agree with this loader, which has 23");
  refuse("batches", scalar(5, i64), "23 items in 5 batches of 4");
  refuse("batch_size", scalar(5, i64), "23 items in 6 batches of 5");
  refuse("order", scalar(2, i64),
         "in a random order by length, but this loader has a random order");
  refuse("order", scalar(7, i64), "in an unknown order");
  refuse("batch", scalar(6, i64), "an epoch has batches 0 to 5");
  refuse("epoch", scalar(-1, i64), "\"epoch\" is -1");
  refuse("generator", scalar(1, i64), "\"generator\" is i64 of shape []");
  refuse("more", scalar(1, i64), "the state has entries that this loader does not know: \"more\"");
}

// Of each kind of order into each: only a loader of the same kind continues.
TEST(Loader, RefusesAStateOfAnotherOrder) {
  const std::vector<std::int64_t> lengths{3, 1, 2, 6, 5, 4};
  const auto plan = [&](const LoaderOptions& options) {
    Generator rng(1);
    return BatchPlan(6, options, rng, lengths);
  };
  const std::vector<LoaderOptions> kinds{
      {.batch_size = 2, .shuffle = false}, {.batch_size = 2}, {.batch_size = 2, .by_length = true}};
  for (std::size_t from = 0; from < kinds.size(); ++from)
    for (std::size_t to = 0; to < kinds.size(); ++to) {
      const StateDict state = plan(kinds[from]).state({1, 2});
      BatchPlan other = plan(kinds[to]);
      if (from == to)
        EXPECT_EQ(other.restore(state), (DataPosition{1, 2}));
      else
        expect_error([&] { other.restore(state); }, "make it with the same LoaderOptions");
    }
}

TEST(Loader, KeepsItsPositionWhereMakingABatchFails) {
  Generator rng(1);
  bool broken = true;
  Loader<ItemIndices> loader(BatchPlan(4, {.batch_size = 2}, rng),
                             [&](const ItemIndices& items, Generator&) {
                               if (broken) throw Error("broken");
                               return items;
                             });
  EXPECT_THROW(loader.next(), Error);
  EXPECT_EQ(loader.position(), DataPosition());
  broken = false;
  EXPECT_EQ(loader.next().size(), 2u);
}

TEST(Loader, RefusesWhatHasNoBatches) {
  Generator rng(1);
  const auto refuse = [&](std::int64_t n, const LoaderOptions& options, const char* fragment) {
    expect_error([&] { numbered(n, options, rng); }, fragment);
  };
  refuse(0, {}, "needs at least one item, got 0");
  refuse(-1, {}, "needs at least one item, got -1");
  refuse(5, {.batch_size = 0}, "batch_size must be at least 1, got 0");
  refuse(5, {.batch_size = 6, .drop_last = true}, "5 items do not fill a batch of 6");
  refuse(5, {.by_length = true}, "needs a length for each of the 5 items, got 0");
  expect_error(
      [&] {
        BatchPlan(2, {.shuffle = false, .by_length = true}, rng, {1, 2});
      },
      "but shuffle is false");
  expect_error(
      [&] {
        BatchPlan(2, {}, rng, {1, 2, 3});
      },
      "no lengths, or one for each of the 2 items, got 3");
  expect_error([&] { ordered_batches(-1, 2); }, "n, must not be negative, got -1");
  EXPECT_EQ(rng.position(), 0u) << "what fails draws nothing";
  EXPECT_EQ(numbered(5, {.batch_size = INT64_MAX}, rng).size(), 1);
  auto loader = numbered(5, {.batch_size = 2}, rng);
  loader.next();
  for (const DataPosition& none : {DataPosition{0, 3}, DataPosition{0, -1}, DataPosition{-1, 0}}) {
    expect_error([&] { loader.seek(none); }, none.epoch < 0 ? "there is no epoch -1; epochs are"
                                                            : "an epoch has batches 0 to 2");
    EXPECT_EQ(loader.position(), (DataPosition{0, 1}));
  }
}

TEST(TensorLoader, RowsOfABatchBelongTogether) {
  const Tensor x = tensor({0, 0, 1, 10, 2, 20, 3, 30, 4, 40}, {5, 2}, f64);
  const Tensor y = tensor({0, 1, 2, 3, 4}, i64), flag = tensor({0, 1, 0, 1, 0}, boolean);
  Generator rng(3);
  auto ordered = tensor_loader({x, y, flag}, {.batch_size = 2, .shuffle = false}, rng);
  ordered.seek({0, 1});
  const std::vector<Tensor> middle = ordered.next();
  ASSERT_EQ(middle.size(), 3u);
  expect_same(middle[0], tensor({2, 20, 3, 30}, {2, 2}, f64));
  expect_same(middle[1], tensor({2, 3}, i64));
  expect_same(middle[2], tensor({0, 1}, boolean));
  expect_same(ordered.next()[1], tensor({4}, i64));
  auto shuffled = tensor_loader({x, y}, {.batch_size = 5}, rng);
  for (int epoch = 0; epoch < 5; ++epoch) {
    const std::vector<Tensor> batch = shuffled.next();
    const auto rows = batch[0].to_vector<double>();
    const auto labels = batch[1].to_vector<std::int64_t>();
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(rows[2 * i + 1], 10.0 * double(labels[i]));
  }
}

TEST(TensorLoader, TakesAnyLayoutAndNoHistory) {
  Tensor x = ones({4, 3});
  x.set_requires_grad();
  Generator rng(3);
  EXPECT_FALSE(tensor_loader({x}, {}, rng).next()[0].requires_grad());
  const Tensor columns(x.storage(), f32, {3, 4}, {1, 3});
  EXPECT_EQ(tensor_loader({columns}, {}, rng).next()[0].shape(), Shape({3, 4}));
  expect_error([&] { tensor_loader({}, {}, rng); }, "needs at least one tensor");
  expect_error([&] { tensor_loader({x, Tensor()}, {}, rng); }, "tensor 1 is undefined");
  expect_error([&] { tensor_loader({scalar(1)}, {}, rng); },
               "tensor 0 has rank 0, but needs a first axis of items");
  expect_error(
      [&] {
        tensor_loader({x, ones({3, 4})}, {}, rng);
      },
      "tensor 1 has shape [3, 4], and tensor 0 has shape [4, 3]");
  expect_error([&] { tensor_loader({zeros({0, 2})}, {}, rng); }, "needs at least one item");
}

TEST(TextBatches, LoadAsTheyShuffle) {
  TextDataset data;
  for (int i = 0; i < 37; ++i) {
    data.texts.push_back(std::string(static_cast<std::size_t>(2 * (i % 5)), 'a') + " b c");
    data.labels.push_back(i);
    data.label_names.push_back(std::to_string(i));
  }
  const TextBatches batches(data, Vocabulary::from_texts(data.texts), {.batch_size = 5});
  Generator rng(1);
  Loader<TextBatch> loader = batches.loader(rng);
  EXPECT_EQ(loader.size(), batches.size());
  const std::vector<TextBatch> all = batches.in_order();
  std::set<std::int64_t> seen;
  while (loader.position().epoch < 1)
    for (const std::int64_t label : loader.next().labels.to_vector<std::int64_t>())
      EXPECT_TRUE(seen.insert(label).second);
  EXPECT_EQ(seen.size(), 37u);
}

}  // namespace
}  // namespace ladon::loader_test
