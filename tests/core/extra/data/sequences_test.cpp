#include "ladon/core/extra/data/sequences.h"

#include <set>

#include "ladon/core/extra/text/vocabulary.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::sequences_test {
namespace {

using test::expect_error;
using test::expect_same;

TEST(PadSequences, FillsRowsToTheLongest) {
  const PaddedSequences padded = pad_sequences({{5}, {}, {7, 8, 9}}, -1);
  expect_same(padded.tokens, tensor({5, -1, -1, -1, -1, -1, 7, 8, 9}, {3, 3}, i64));
  expect_same(padded.mask, tensor({1, 0, 0, 0, 0, 0, 1, 1, 1}, {3, 3}, boolean));
  EXPECT_EQ(pad_sequences({}).tokens.shape(), Shape({0, 0}));
  EXPECT_EQ(pad_sequences({{}, {}}).mask.shape(), Shape({2, 0}));
}

TEST(PadPairs, ShiftTheTargetByOne) {
  const PairBatch batch = pad_pairs({{4, 5, 6}, {7}}, {{8}, {}}, {.bos = 2, .eos = 3});
  expect_same(batch.source, tensor({4, 5, 6, 7, 0, 0}, {2, 3}, i64));
  expect_same(batch.source_mask, tensor({1, 1, 1, 1, 0, 0}, {2, 3}, boolean));
  expect_same(batch.target_in, tensor({2, 8, 2, 0}, {2, 2}, i64));
  expect_same(batch.target_out, tensor({8, 3, 3, 0}, {2, 2}, i64));
  expect_same(batch.target_mask, tensor({1, 1, 1, 0}, {2, 2}, boolean));
  expect_error([] { pad_pairs({{1}}, {{1}}, {.eos = 1}); }, "bos -1, eos 1 and pad 0 must be");
  expect_error([] { pad_pairs({{1}}, {}, {.bos = 1, .eos = 1}); }, "1 sources, but 0 targets");
  expect_error([] { pad_pairs({{1}, {}}, {{}, {}}, {.bos = 1, .eos = 1}); }, "source 1 has no");
}

TEST(PairLoader, KeepsPairsTogetherAndSavesPaddingByLength) {
  std::vector<TokenSequence> sources, targets;
  for (int i = 0; i < 300; ++i) {
    sources.emplace_back(1 + i * 37 % 23, 10 + i);
    targets.emplace_back(1 + i * 37 % 23 / 2, 10 + i);
  }
  std::int64_t padding[2] = {0, 0};
  for (const bool by_length : {false, true}) {
    Generator rng(4);
    auto loader = pair_loader(sources, targets, {.bos = 2, .eos = 3},
                              {.batch_size = 8, .by_length = by_length}, rng);
    std::set<std::int64_t> seen;
    while (loader.position().epoch < 1) {
      const PairBatch batch = loader.next();
      const auto source = batch.source.to_vector<std::int64_t>();
      const auto target = batch.target_out.to_vector<std::int64_t>();
      const std::int64_t rows = batch.source.size(0);
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto first = source[static_cast<std::size_t>(row * batch.source.size(1))];
        EXPECT_EQ(target[static_cast<std::size_t>(row * batch.target_out.size(1))], first);
        EXPECT_TRUE(seen.insert(first).second);
      }
      for (const bool token : batch.source_mask.to_vector<bool>()) padding[by_length] += !token;
    }
    EXPECT_EQ(seen.size(), 300u);
  }
  EXPECT_LT(3 * padding[1], padding[0]);
}

TEST(WindowLoader, TargetsAreOneLater) {
  const TokenSequence text = {10, 11, 12, 13, 14, 15, 16};
  const LoaderOptions options{.batch_size = 2, .shuffle = false};
  Generator rng(1);
  auto apart = window_loader(text, 3, 3, options, rng);
  EXPECT_EQ(apart.size(), 1);
  const WindowBatch both = apart.next();
  expect_same(both.inputs, tensor({10, 11, 12, 13, 14, 15}, {2, 3}, i64));
  expect_same(both.targets, tensor({11, 12, 13, 14, 15, 16}, {2, 3}, i64));
  auto dense = window_loader(text, 5, 1, {.batch_size = 2}, rng);
  EXPECT_EQ(dense.size(), 1);
  expect_same(window_loader(text, 6, 1, options, rng).next().targets,
              tensor({11, 12, 13, 14, 15, 16}, {1, 6}, i64));
  expect_error([&] { window_loader(text, 7, 1, options, rng); },
               "a window of 7 tokens and the token after it do not fit in a text of 7");
  expect_error([&] { window_loader(text, 0, 1, options, rng); }, "length must be at least 1");
  expect_error([&] { window_loader(text, 1, 0, options, rng); }, "stride must be at least 1");
  EXPECT_EQ(window_loader(text, 2, INT64_MAX, options, rng).size(), 1);
  expect_error([&] { window_loader({}, 1, 1, options, rng); }, "a text of 0");
}

TEST(Sequences, AreWhatATokenizerMakes) {
  const Vocabulary vocabulary({"a", "b"});
  EXPECT_EQ(encode_all(vocabulary, {"b a", "", "c"}),
            (std::vector<TokenSequence>{{3, 2}, {}, {1}}));
}

}  // namespace
}  // namespace ladon::sequences_test
