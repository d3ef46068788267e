#include "ladon/layers/extra/sequence/translation_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/attention/positional.h"
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/support.h"

namespace ladon::translation_model_test {
namespace {

using layout::same_bits;
using test::expect_error;

constexpr std::int64_t vocabulary = 11;

TranslationModel model_of(double dropout = 0) {
  Generator rng(1);
  return TranslationModel({.vocabulary = vocabulary,
                           .body = {.layer = {.dim = 8, .heads = 2, .dropout = dropout},
                                    .encoder_layers = 2,
                                    .decoder_layers = 2}},
                          rng);
}

Tensor tokens(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return randint(shape, rng, 0, vocabulary);
}

/// All but the last `padding` tokens of the second of two rows.
Tensor padded(std::int64_t length, std::int64_t padding) {
  return less(arange(length),
              unsqueeze(tensor({double(length), double(length - padding)}, i64), 1));
}

TEST(TranslationModel, IsATransformerBetweenOneTable) {
  const TranslationModel model = model_of();
  const Tensor sources = tokens({2, 5}, 2), targets = tokens({2, 4}, 3), mask = padded(5, 2);
  const auto embedded = [&](const Tensor& text) {
    return index_select(model.embedding.weight, 0, flatten(text)) * std::sqrt(8.0) +
           concat({sinusoidal_table(text.size(1), 8), sinusoidal_table(text.size(1), 8)}, 0);
  };
  const Tensor x = reshape(embedded(sources), {2, 5, 8}), y = reshape(embedded(targets), {2, 4, 8});
  const Tensor expected = matmul(model.body(x, y, mask), transpose(model.embedding.weight, 0, 1));
  EXPECT_TRUE(all_close(model(sources, targets, mask), expected, 1e-5, 1e-5));
  const Tensor lengths = sum(square(model.embedding.weight), 1);
  EXPECT_NEAR(mean(lengths).item(), 1, 3 * std::sqrt(2.0 / (8 * vocabulary)));
}

// A table that is trained in three places: its gradient is the sum of theirs.
TEST(TranslationModel, LearnsItsTableFromSourcesTargetsAndLogits) {
  const TranslationModel model = model_of();
  const Tensor source = full({1, 2}, 4, i64), target = full({1, 1}, 7, i64);
  const Tensor logits = model(source, target);
  backward(at(logits, {0, 0, 9}));
  const Tensor moved = sum(abs(model.embedding.weight.grad()), 1);
  for (std::int64_t row = 0; row < vocabulary; ++row)
    EXPECT_EQ(at(moved, {row}).item() > 0, row == 4 || row == 7 || row == 9) << row;
}

TEST(TranslationModel, PaddingOfSourcesIsNotSeen) {
  const TranslationModel model = model_of();
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  const Tensor sources = tokens({2, 6}, 4), targets = tokens({2, 3}, 5), mask = padded(6, 2);
  const Tensor other = where(mask, sources, full({1}, 3, i64));
  EXPECT_TRUE(same_bits(model(sources, targets, mask), model(other, targets, mask)));
  const Tensor alone = slice(slice(sources, 0, {.start = 1}), 1, {.stop = 4});
  EXPECT_TRUE(all_close(model(alone, slice(targets, 0, {.start = 1})),
                        slice(model(sources, targets, mask), 0, {.start = 1}), 1e-5, 1e-5));
}

TEST(TranslationModel, WritesTheSameTextWithAndWithoutACache) {
  TranslationModel model = model_of(0.1);
  model.eval();
  Generator rng(6);
  const Tensor sources = tokens({3, 5}, 7), prompt = full({3, 1}, 1, i64);
  for (const std::int64_t beams : {0, 3}) {
    GenerateOptions options{.length = 9, .stop = {2}, .beams = beams};
    if (beams == 0) options.temperature = 0;
    const auto cached =
        generate(next_token(model), prompt, options, rng, {}, model.remember(sources));
    options.cached = false;
    const auto anew =
        generate(next_token(model), prompt, options, rng, {}, model.remember(sources));
    for (std::size_t b = 0; b < 3; ++b) {
      EXPECT_EQ(cached[b].tokens, anew[b].tokens);
      EXPECT_EQ(cached[b].log_probability, anew[b].log_probability);
    }
  }
}

// A written text has the probability that one pass over source and target gives.
TEST(TranslationModel, GeneratesByTheLogitsOfOnePass) {
  TranslationModel model = model_of();
  Generator rng(8);
  const NoGrad no_grad;
  const Tensor sources = tokens({2, 5}, 9), mask = padded(5, 3);
  const auto written = generate(next_token(model), full({2, 1}, 1, i64), {.length = 6}, rng, {},
                                model.remember(sources, mask));
  Tensor seen = full({2, 1}, 1, i64);
  for (std::size_t t = 0; t < 5; ++t)
    seen = concat(
        {seen, tensor({double(written[0].tokens[t]), double(written[1].tokens[t])}, {2, 1}, i64)},
        1);
  const Tensor p = log_softmax(model(sources, seen, mask), -1);
  for (std::int64_t b = 0; b < 2; ++b) {
    const Generated& text = written[static_cast<std::size_t>(b)];
    double sum = 0;
    for (std::int64_t t = 0; t < 6; ++t)
      sum += at(p, {b, t, text.tokens[static_cast<std::size_t>(t)]}).item();
    EXPECT_NEAR(text.log_probability, sum, 1e-4);
  }
}

// The weights of the last layer are those that its own queries and the memory's keys give.
TEST(TranslationModel, SaysWhereTheDecoderLooks) {
  for (const NormPlacement norm : {NormPlacement::pre, NormPlacement::post}) {
    Generator rng(10);
    TransformerDecoder decoder({{.dim = 8, .heads = 2, .dropout = 0, .norm_placement = norm}, 2},
                               rng);
    const NoGrad no_grad;
    const Tensor x = normal({2, 4, 8}, rng), memory = normal({2, 5, 8}, rng), mask = padded(5, 2);
    const auto seen = decoder.forward_with_weights(x, memory, {}, padding(mask));
    EXPECT_TRUE(
        all_close(seen.output, decoder(x, memory, AttentionMask{}, padding(mask)), 1e-5, 1e-5));
    ASSERT_EQ(seen.weights.size(), 2u);
    const TransformerDecoderLayer& first = decoder.layers[0];
    const bool pre = norm == NormPlacement::pre;
    const Tensor y = pre ? x + first.attention((*first.attention_norm)(x), causal())
                         : (*first.attention_norm)(x + first.attention(x, causal()));
    const Tensor q = pre ? (*first.cross_attention_norm)(y) : y;
    const auto alone = first.cross_attention.forward_with_weights(q, memory, memory, padding(mask));
    EXPECT_TRUE(all_close(seen.weights[0], alone.weights, 1e-5, 1e-6));
    EXPECT_TRUE(all_close(sum(seen.weights[1], -1), ones({2, 2, 4}), 1e-5, 1e-6));
    EXPECT_EQ(amax(slice(select(seen.weights[1], 0, 1), -1, {.start = 3})).item(), 0);
  }
  const TranslationModel model = model_of();
  const Tensor sources = tokens({2, 5}, 11), targets = tokens({2, 4}, 12), mask = padded(5, 1);
  const auto seen = model.forward_with_weights(sources, targets, mask);
  EXPECT_TRUE(all_close(seen.output, model(sources, targets, mask), 1e-5, 1e-5));
  EXPECT_EQ(seen.weights[1].shape(), Shape({2, 2, 4, 5}));
}

TEST(TranslationModel, MisuseIsAnError) {
  const TranslationModel model = model_of();
  const Tensor sources = tokens({2, 5}, 13);
  expect_error([&] { model(sources); }, "call it as model(sources, targets, source_mask)");
  expect_error(
      [&] {
        model(full({2, 3}, 11, i64), sources);
      },
      "index 11 at position 0 is outside [0, 11)");
  expect_error([&] { model(flatten(sources), sources); }, "tokens must be [batch, T]");
  DecodingCache none;
  expect_error([&] { model(sources, none); }, "make the cache with remember(memory)");
  DecodingCache cache = model.remember(sources);
  expect_error([&] { model(tokens({3, 1}, 1), cache); }, "3");
}

}  // namespace
}  // namespace ladon::translation_model_test
