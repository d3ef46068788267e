// Caches of keys and values: outputs at new positions, computed with the cache of earlier ones,
// equal those of one pass over all positions.

#include <gtest/gtest.h>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/extra/attention/attention_variants.h"
#include "ladon/layers/extra/sequence/generate.h"
#include "ladon/layers/extra/sequence/language_model.h"
#include "ladon/layers/extra/state/functional_call.h"
#include "ladon/layers/transformer/transformer.h"
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/support.h"

namespace ladon::decoding_test {
namespace {

using layout::same_bits;
using test::expect_error;

Tensor rows_of(const Tensor& x, std::int64_t from, std::int64_t to) {
  return contiguous(slice(x, 1, {.start = from, .stop = to}));
}

/// All of x [batch, T, dim] in pieces of these lengths.
template <class Model, class Cache>
Tensor in_pieces(const Model& model, const Tensor& x, Cache cache,
                 const std::vector<std::int64_t>& lengths) {
  std::vector<Tensor> parts;
  std::int64_t from = 0;
  for (const std::int64_t n : lengths) {
    parts.push_back(model(rows_of(x, from, from + n), cache));
    from += n;
  }
  return concat(parts, 1);
}

std::vector<std::pair<std::string, TransformerEncoderLayerOptions>> variants(Generator& rng) {
  const TransformerEncoderLayerOptions plain{.dim = 48, .heads = 4, .attention = {.causal = true}};
  std::vector<std::pair<std::string, TransformerEncoderLayerOptions>> all;
  const auto add = [&](const char* name, const auto& change) {
    all.emplace_back(name, plain);
    change(all.back().second);
  };
  add("plain", [](auto&) {});
  add("post-norm", [](auto& o) { o.norm_placement = NormPlacement::post; });
  add("grouped", [](auto& o) { o.attention.kv_heads = 2; });
  add("one head of keys", [](auto& o) { o.attention.kv_heads = 1; });
  add("rotary", [](auto& o) { o.attention.hook = RotaryPositions(); });
  add("rotary, half, interleaved",
      [](auto& o) { o.attention.hook = RotaryPositions({.dim = 6, .interleaved = true}); });
  add("alibi", [](auto& o) { o.attention.hook = AlibiBias(4); });
  add("relative", [&](auto& o) {
    o.attention.hook = RelativeBias(
        {.heads = 4, .buckets = 8, .max_distance = 16, .bidirectional = false, .stddev = 1}, rng);
  });
  add("window", [](auto& o) { o.attention.window = 5; });
  add("relu weights", [](auto& o) { o.attention.form.weighting = Weighting::relu; });
  add("llama", [](auto& o) {
    o.attention.kv_heads = 2;
    o.attention.hook = RotaryPositions();
    o.normalization = Normalization::rms;
    o.gated = true;
    o.activation = Nonlinearity::silu;
    o.bias = false;
  });
  return all;
}

/// Bit for bit, but for weights that are no softmax: those are composed of batched products.
bool as_in_one_pass(const TransformerEncoderLayerOptions& options, const Tensor& a,
                    const Tensor& b) {
  return options.attention.form.weighting == Weighting::softmax ? same_bits(a, b)
                                                                : all_close(a, b, 1e-4, 1e-5);
}

TEST(Decoding, AfterACacheIsAsInOnePassBitForBit) {
  Generator rng(1);
  for (const auto& [name, options] : variants(rng)) {
    SCOPED_TRACE(name);
    TransformerEncoder model({options, 2}, rng);
    model.eval();
    const NoGrad no_grad;
    const RowwiseProducts rowwise;
    const Tensor x = normal({2, 150, 48}, rng);
    const Tensor whole = model(x);
    for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{150},
                                                     {100, 50},
                                                     {7, 1, 1, 70, 71},
                                                     std::vector<std::int64_t>(150, 1)})
      EXPECT_TRUE(as_in_one_pass(options, in_pieces(model, x, DecodingCache(), lengths), whole));
  }
}

// Without the guard BLAS sums in an order that depends on the number of rows.
TEST(Decoding, IsTheSameToRoundingInAnyProducts) {
  Generator rng(1);
  const TransformerEncoderLayerOptions options{
      .dim = 48, .heads = 4, .dropout = 0, .attention = {.causal = true}};
  TransformerEncoder model({options, 2}, rng);
  model.eval();
  const Tensor x = normal({2, 40, 48}, rng);
  const Tensor pieces = in_pieces(model, x, DecodingCache(), {30, 1, 1, 8});
  EXPECT_TRUE(all_close(pieces, model(x).detach(), 1e-4, 1e-5));
}

// A window forgets slots: the memory it takes does not grow.
TEST(Decoding, AWindowForgets) {
  Generator rng(3);
  MultiHeadAttention layer({.dim = 16, .heads = 2, .causal = true, .window = 10}, rng);
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  const Tensor x = normal({1, 1000, 16}, rng), whole = layer(x);
  KeyValueCache cache;
  std::int64_t most = 0;
  for (std::int64_t t = 0; t < 1000; ++t) {
    const Tensor y = layer(rows_of(x, t, t + 1), cache);
    EXPECT_TRUE(same_bits(y, rows_of(whole, t, t + 1))) << t;
    const Tensor q = zeros({1, 2, 0, 8});
    KeyValueCache copy = cache;
    most = std::max(most, copy.append({q, q, q}, {}, 10).heads.k.size(2));
  }
  EXPECT_LE(most, 10 + 2 * 64 + 1);
  EXPECT_EQ(cache.lengths(), std::vector<std::int64_t>{1000});
}

// Rows of a batch have lengths of their own: each is as alone.
TEST(Decoding, RowsMayDifferInLength) {
  Generator rng(4);
  for (const auto& [name, options] : variants(rng)) {
    SCOPED_TRACE(name);
    TransformerEncoder model({options, 2}, rng);
    model.eval();
    const NoGrad no_grad;
    const RowwiseProducts rowwise;
    const Tensor x = normal({3, 9, 48}, rng), more = normal({3, 3, 48}, rng);
    const Tensor tokens = cast(tensor({1, 1, 1, 1, 1, 1, 1, 1, 1,  //
                                       1, 1, 1, 1, 0, 0, 0, 0, 0,  //
                                       1, 1, 1, 1, 1, 1, 1, 1, 0},
                                      {3, 9}),
                               boolean);
    DecodingCache cache;
    const Tensor first = model(x, cache, tokens), then = model(more, cache);
    EXPECT_EQ(cache.layers[0].lengths(), (std::vector<std::int64_t>{12, 7, 11}));
    for (std::int64_t b = 0; b < 3; ++b) {
      const auto row = [&](const Tensor& y) { return slice(y, 0, {.start = b, .stop = b + 1}); };
      const std::int64_t n = cache.layers[0].lengths()[static_cast<std::size_t>(b)] - 3;
      DecodingCache alone;
      EXPECT_TRUE(
          as_in_one_pass(options, model(rows_of(row(x), 0, n), alone), rows_of(row(first), 0, n)));
      EXPECT_TRUE(as_in_one_pass(options, model(contiguous(row(more)), alone), row(then)));
    }
  }
}

// Padding takes no room in a window, wherever the passes are cut.
TEST(Decoding, AWindowCountsTokensNotPadding) {
  Generator rng(11);
  MultiHeadAttention layer({.dim = 8, .heads = 2, .causal = true, .window = 2}, rng);
  const NoGrad no_grad;
  const Tensor x = normal({1, 3, 8}, rng), tokens = cast(tensor({1, 0, 1}, {1, 3}), boolean);
  KeyValueCache one, two, without;
  const Tensor at_once = rows_of(layer(x, one, tokens), 2, 3);
  layer(rows_of(x, 0, 2), two, rows_of(tokens, 0, 2));
  const Tensor in_two = layer(rows_of(x, 2, 3), two);
  layer(rows_of(x, 0, 1), without);
  const Tensor plain = layer(rows_of(x, 2, 3), without);
  EXPECT_TRUE(all_close(at_once, plain, 1e-5, 1e-6));
  EXPECT_TRUE(all_close(in_two, plain, 1e-5, 1e-6));
}

TEST(Decoding, CopiesAndChosenRowsGoTheirOwnWays) {
  Generator rng(5);
  TransformerEncoder model({{.dim = 8, .heads = 2, .attention = {.causal = true}}, 2}, rng);
  model.eval();
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  const Tensor x = normal({3, 4, 8}, rng), a = normal({3, 1, 8}, rng), b = normal({3, 1, 8}, rng);
  DecodingCache one;
  model(x, one);
  DecodingCache two = one;
  const Tensor after_a = model(a, one), after_b = model(b, two);
  EXPECT_TRUE(same_bits(after_b, rows_of(model(concat({x, b}, 1)), 4, 5)));
  EXPECT_TRUE(same_bits(after_a, rows_of(model(concat({x, a}, 1)), 4, 5)));
  const Tensor rows = from_vector(std::vector<std::int64_t>{2, 0, 2, 1}, {4});
  one.select(rows);
  const auto chosen = [&](const Tensor& y) { return index_select(y, 0, rows); };
  EXPECT_TRUE(same_bits(model(chosen(b), one), rows_of(model(chosen(concat({x, a, b}, 1))), 5, 6)));
}

TEST(Decoding, ADecoderRemembersItsMemory) {
  Generator rng(6);
  for (const NormPlacement norm : {NormPlacement::pre, NormPlacement::post}) {
    TransformerDecoder model(
        {{.dim = 16, .heads = 4, .norm_placement = norm, .attention = {.kv_heads = 2}}, 2}, rng);
    model.eval();
    const NoGrad no_grad;
    const RowwiseProducts rowwise;
    const Tensor x = normal({2, 7, 16}, rng), memory = normal({2, 5, 16}, rng);
    const Tensor tokens = cast(tensor({1, 1, 1, 1, 1, 1, 1, 0, 0, 0}, {2, 5}), boolean);
    const Tensor whole = model(x, memory, AttentionMask{}, padding(tokens));
    DecodingCache cache = model.remember(memory, tokens);
    EXPECT_TRUE(same_bits(in_pieces(model, x, cache, {3, 1, 1, 2}), whole));
    // Padding of the memory is not seen.
    const Tensor other = where(unsqueeze(tokens, 2), memory, full({1}, 1e3));
    EXPECT_TRUE(same_bits(model(x, other, AttentionMask{}, padding(tokens)), whole));
    cache.select(from_vector(std::vector<std::int64_t>{1}, {1}));
    const Tensor last = slice(x, 0, {.start = 1});
    EXPECT_TRUE(
        same_bits(in_pieces(model, contiguous(last), cache, {7}), slice(whole, 0, {.start = 1})));
  }
}

// A window is of the decoder's own positions: its first sees as much of the memory as without one.
TEST(Decoding, ADecodersWindowEndsBeforeTheMemory) {
  const auto make = [](std::int64_t window) {
    Generator rng(8);
    return TransformerDecoder(
        {{.dim = 16, .heads = 2, .dropout = 0, .attention = {.causal = true, .window = window}}, 1},
        rng);
  };
  const TransformerDecoder narrow = make(2), plain = make(0);
  EXPECT_EQ(narrow.layers[0].attention->window, 2);
  EXPECT_EQ(narrow.layers[0].cross_attention.window, 0);
  Generator rng(9);
  const Tensor x = normal({2, 4, 16}, rng), memory = normal({2, 5, 16}, rng);
  const NoGrad no_grad;
  const Tensor seen = narrow(x, memory, AttentionMask{}, AttentionMask{}),
               all = plain(x, memory, AttentionMask{}, AttentionMask{});
  EXPECT_TRUE(all_close(rows_of(seen, 0, 2), rows_of(all, 0, 2), 1e-5, 1e-5));
  EXPECT_FALSE(all_close(rows_of(seen, 2, 4), rows_of(all, 2, 4), 1e-3, 1e-3));
}

TEST(Decoding, MisuseIsAnError) {
  Generator rng(7);
  const TransformerEncoderLayerOptions causal{
      .dim = 8, .heads = 2, .dropout = 0, .attention = {.causal = true}};
  TransformerEncoder model({causal, 2}, rng),
      sees_all({{.dim = 8, .heads = 2, .dropout = 0}, 2}, rng);
  TransformerEncoder deeper({causal, 3}, rng);
  const Tensor x = normal({2, 3, 8}, rng);
  DecodingCache cache;
  model(x, cache);
  expect_error([&] { deeper(x, cache); }, "has 2 layers, the model has 3");
  expect_error(
      [&] {
        model(normal({3, 1, 8}, rng), cache);
      },
      "holds a batch of 2 texts, got a batch of 3");
  DecodingCache fresh;
  expect_error([&] { sees_all(x, fresh); }, "a cache needs causal attention");
  expect_error([&] { model(x, fresh, ones({2, 2}, boolean)); }, "the mask must be bool [2, 3]");
  DecodingCache broken = cache;
  broken.layers[1] = KeyValueCache();
  expect_error([&] { model(x, broken); }, "its layers have seen different positions");
  TransformerDecoder decoder({causal, 2}, rng);
  expect_error([&] { decoder(x); }, "attends to a memory");
  expect_error([&] { decoder(x, fresh); }, "make the cache with remember(memory)");
  MultiHeadAttention hooked({.dim = 8, .heads = 2, .hook = RotaryPositions()}, rng);
  expect_error([&] { hooked.project_memory(x, x); }, "cannot project a memory with a hook");
  const MultiHeadAttention placed({.dim = 8,
                                   .heads = 2,
                                   .causal = true,
                                   .positions = AttentionPositions{.encoding = {.grid = {3}}}},
                                  rng);
  KeyValueCache of_placed;
  expect_error([&] { placed.forward(x, of_placed); }, "that adds no positional encodings");
  expect_error([&] { placed.project_memory(x, x); }, "memory with positional encodings");
  const auto make = [&](MultiHeadAttentionOptions o) {
    return [o, &rng] { MultiHeadAttention layer(o, rng); };
  };
  expect_error(make({.dim = 8, .heads = 4, .kv_heads = 3}),
               "3 heads of keys and values do not divide 4");
  expect_error(make({.dim = 8, .heads = 2, .window = 3}), "a window needs causal attention");
  expect_error(make({.dim = 8, .heads = 2, .kv_heads = 1, .form = {.tied = true}}),
               "need equal numbers of heads, got heads = 2 and kv_heads = 1");
  // Nothing of it is recorded, and what was remembered does not change.
  EXPECT_FALSE(model(x, cache).requires_grad());
  EXPECT_EQ(cache.layers[1].lengths(), (std::vector<std::int64_t>{6, 6}));
}

// The keys and values of one model mean nothing to another of the same form, nor to this one once
// it learned.
TEST(Decoding, ACacheKnowsItsModel) {
  Generator rng(7);
  TransformerEncoder model({{.dim = 8, .heads = 2, .dropout = 0, .attention = {.causal = true}}, 2},
                           rng);
  model.eval();
  const TransformerEncoder twin = clone(model), same = model;
  const Tensor x = normal({1, 3, 8}, rng), next = normal({1, 1, 8}, rng);
  DecodingCache cache, of_twin;
  model(x, cache);
  twin(x, of_twin);
  expect_error([&] { twin(next, cache); }, "was filled by another model");
  DecodingCache copy = cache, snapshot = cache.snapshot(), joined;
  expect_error([&] { twin(next, copy); }, "was filled by another model");
  expect_error([&] { twin(next, snapshot); }, "was filled by another model");
  expect_error([&] { cache.join(of_twin); }, "was filled by another model");
  joined.join(cache);
  joined.join(copy);
  expect_error([&] { twin(concat({next, next}, 0), joined); }, "was filled by another model");
  EXPECT_TRUE(same_bits(same(next, copy), twin(next, of_twin))) << "a copy has the same tensors";
  std::vector<Tensor> values;
  for (const Tensor& w : model.parameters()) values.push_back(w.detach());
  DecodingCache inside;  // values of functional_call may be computed anew for each token
  for (const Tensor& token : {x, next}) {
    for (Tensor& w : values) w = clone(w);
    functional_call(model, values, [&] { return model(token, inside); });
  }
  for (const char* part : {"layers.0.attention.query", "layers.1.attention.value"}) {
    DecodingCache before;
    model(x, before);
    model.choose(part).perturb(0.1, rng);
    expect_error([&] { model(next, before); }, "or by this one with other weights");
  }
}

// Heads that share keys are heads with equal keys.
TEST(GroupedHeads, AreHeadsWithEqualKeysAndValues) {
  Generator rng(8);
  for (const Weighting weighting : {Weighting::softmax, Weighting::relu}) {
    MultiHeadAttention shared(
        {.dim = 12, .heads = 6, .kv_heads = 2, .form = {.weighting = weighting}}, rng);
    MultiHeadAttention full({.dim = 12, .heads = 6, .form = {.weighting = weighting}}, rng);
    shared.to(f64);
    full.to(f64);
    StateDict state = shared.state_dict();
    for (const char* name : {"key", "value", "key_bias", "value_bias"}) {
      const Tensor x = state[name];  // [2, ..] → each three times
      state[name] = index_select(x.detach(), 0,
                                 from_vector(std::vector<std::int64_t>{0, 0, 0, 1, 1, 1}, {6}));
    }
    full.load_state_dict(state);
    const Tensor x = normal({2, 5, 12}, rng, 0, 1, f64);
    EXPECT_TRUE(all_close(shared(x), full(x), 1e-12, 1e-12));
    EXPECT_EQ(shared.forward_with_weights(x, x, x).weights.shape(), Shape({2, 6, 5, 5}));
  }
}

// Batches whose rows no view can join are copied, not left to BLAS.
TEST(RowwiseProducts, AreTheSameInAnyLayout) {
  Generator rng(10);
  const Tensor x = normal({5, 7, 96}, rng), w = normal({96, 33}, rng);
  const RowwiseProducts rowwise;
  const Tensor turned = transpose(x, 0, 1);
  EXPECT_TRUE(same_bits(matmul(turned, w), matmul(contiguous(turned), w)));
  EXPECT_TRUE(same_bits(matmul(slice(x, 1, {.start = 1, .step = 3}), w),
                        matmul(contiguous(slice(x, 1, {.start = 1, .step = 3})), w)));
}

TEST(RowwiseProducts, AreThoseOfEachRowAlone) {
  Generator rng(9);
  for (const DType dtype : {f32, f64})
    for (const auto& [k, n] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 3}, {130, 65}, {300, 64}}) {
      const Tensor x = normal({150, k}, rng, 0, 1, dtype), w = normal({n, k}, rng, 0, 1, dtype),
                   b = normal({n}, rng, 0, 1, dtype);
      const NoGrad no_grad;
      const Tensor blas = linear(x, w, b);
      const RowwiseProducts rowwise;
      const Tensor all = linear(x, w, b), columns = matmul(x, contiguous(transpose(w)));
      EXPECT_TRUE(all_close(all, blas, 1e-4, 1e-4));
      EXPECT_TRUE(all_close(columns + b, blas, 1e-4, 1e-4));
      for (std::int64_t i = 0; i < 150; i += 7) {
        const Tensor row = slice(x, 0, {.start = i, .stop = i + 1});
        EXPECT_TRUE(same_bits(linear(row, w, b), slice(all, 0, {.start = i, .stop = i + 1})));
        EXPECT_TRUE(
            same_bits(matmul(select(x, 0, i), contiguous(transpose(w))), select(columns, 0, i)));
      }
      for (std::int64_t count = 2; count < 20; ++count) {
        const Slice some{.start = 3, .stop = 3 + count};
        EXPECT_TRUE(same_bits(linear(slice(x, 0, some), w, b), slice(all, 0, some))) << count;
        EXPECT_TRUE(
            same_bits(matmul(slice(x, 0, some), contiguous(transpose(w))), slice(columns, 0, some)))
            << count;
      }
      const int before = num_threads();
      set_num_threads(3);
      EXPECT_TRUE(same_bits(linear(x, w, b), all));
      set_num_threads(before);
    }
}

TEST(Decoding, OfAModelThatDropsIsRefused) {
  Generator rng(31);
  LanguageModel model(
      {.vocabulary = 5, .layers = 1, .layer = {.dim = 8, .heads = 2, .dropout = 0.1}}, rng);
  MultiHeadAttention attention({.dim = 8, .heads = 2, .causal = true, .dropout = 0.1}, rng);
  const Tensor tokens = zeros({1, 2}, i64), x = ones({1, 2, 8});
  const char* refusal = "is in training mode";
  expect_error(
      [&] {
        DecodingCache cache;
        model(tokens, cache);
      },
      refusal);
  expect_error(
      [&] {
        KeyValueCache cache;
        attention(x, cache);
      },
      refusal);
  expect_error([&] { generate(next_token(model), tokens, {.length = 1}, rng); }, refusal);
  model.eval();
  attention.eval();
  DecodingCache cache;
  model(tokens, cache);
}

// Tokens that have a key and no value, or values of another batch, were read past their end.
TEST(KeyValueCache, RefusesValuesThatAreNotThoseOfTheKeys) {
  Generator rng(33);
  const Tensor keys = normal({2, 2, 5, 3}, rng);
  for (const Shape& shape : {Shape{2, 2, 4, 3}, {1, 2, 5, 3}, {2, 1, 5, 3}, {2, 2, 5}}) {
    KeyValueCache cache;
    const Tensor values = normal(shape, rng), mask = ones({2, 5}, boolean);
    expect_error([&] { cache.append({{}, keys, values}, mask, 0); }, "alike but for the width");
    EXPECT_EQ(cache.append({{}, keys, keys}, mask, 0).heads.k.shape(), keys.shape());
  }
}

TEST(KeyValueCache, PositionsOfQueriesAreThoseOfItsTokens) {
  Generator rng(34);
  const Tensor x = normal({2, 2, 3, 4}, rng), all = arange(0, 3, 1, i64);
  for (const std::int64_t window : {0, 2}) {
    KeyValueCache cache, twin;
    for (const Tensor& odd :
         {zeros({5, 3}, i64), zeros({2, 7}, i64), zeros({1, 3}, i64), zeros({1}, i64),
          zeros({6}, i64), zeros({2, 3, 1}, i64), zeros({2, 3}), zeros({3}, boolean)}) {
      expect_error(
          [&] {
            cache.append({x, x, x, odd}, {}, window);
          },
          "positions of queries must be i64 [3] or [2, 3]");
      EXPECT_TRUE(cache.lengths().empty());
    }
    expect_error(
        [&] {
          cache.append({x, x, {}}, {}, window);
        },
        "the values are an undefined tensor");
    const auto seen = cache.append({x, x, x, all}, {}, window);
    const auto same = twin.append({x, x, x}, {}, window);
    EXPECT_EQ(seen.allowed.defined(), same.allowed.defined());
    EXPECT_TRUE(!same.allowed.defined() || all_equal(seen.allowed, same.allowed));
  }
  KeyValueCache cache;
  expect_error([&] { cache.append({x, x, x}, {}, -1); }, "the window is -1");
  expect_error([&] { cache.next_positions(-1, 2); }, "the batch must not be negative");
  expect_error([&] { cache.next_positions(2, -1); }, "tokens must not be negative");
}

TEST(MultiHeadAttention, AWindowIsNotNegative) {
  Generator rng(36);
  MultiHeadAttention layer({.dim = 8, .heads = 2, .causal = true}, rng);
  layer.window = -3;
  const Tensor x = normal({1, 3, 8}, rng);
  KeyValueCache cache;
  expect_error([&] { layer(x); }, "window is -3");
  expect_error([&] { layer(x, cache); }, "window is -3");
  EXPECT_TRUE(cache.lengths().empty());
}

// The first layer fits, and the second does not.
TEST(DecodingCache, ChangesAllItsLayersOrNone) {
  Generator rng(35);
  const auto filled = [&](std::int64_t batch, std::int64_t second, std::int64_t width) {
    DecodingCache cache;
    cache.layers.resize(2);
    const Tensor x = normal({batch, 1, 2, 4}, rng), y = normal({second, 1, 2, width}, rng);
    cache.layers[0].append({x, x, x});
    cache.layers[1].append({y, y, y});
    return cache;
  };
  const std::vector<std::int64_t> two{2, 2};
  DecodingCache cache = filled(2, 2, 4), short_of_rows = filled(2, 1, 4), empty;
  expect_error([&] { cache.join(filled(2, 2, 3)); }, "cannot be joined");
  for (const KeyValueCache& layer : cache.layers) EXPECT_EQ(layer.lengths(), two);
  for (const Tensor& rows : {tensor({1, 1, 1}, {3}, i64), tensor({0, 0, 1}, {3}, i64)})
    expect_error([&] { short_of_rows.select(rows); }, "index");
  EXPECT_EQ(short_of_rows.layers[0].lengths(), two);
  DecodingCache decoder = filled(2, 2, 4);
  decoder.memory.push_back({ones({1, 1, 1, 1}), ones({1, 1, 1, 1})});
  expect_error([&] { decoder.select(tensor({0, 1, 1}, {3}, i64)); }, "index");
  for (const KeyValueCache& layer : decoder.layers) EXPECT_EQ(layer.lengths(), two);
  cache.join(cache);
  for (const KeyValueCache& layer : cache.layers)
    EXPECT_EQ(layer.lengths(), (std::vector<std::int64_t>{2, 2, 2, 2}));
}

TEST(Transformer, TheSecondArgumentIsAttendedTo) {
  Generator rng(32);
  const TransformerEncoderLayerOptions options{.dim = 8, .heads = 2, .dropout = 0};
  const TransformerDecoderLayer layer(options, rng);
  const TransformerDecoder decoder({options, 2}, rng);
  const Transformer both({.layer = options, .encoder_layers = 1, .decoder_layers = 1}, rng);
  const Tensor x = normal({2, 3, 8}, rng), memory = normal({2, 4, 8}, rng);
  EXPECT_TRUE(all_equal(layer(x, memory), layer.forward(x, memory)));
  EXPECT_TRUE(all_equal(decoder(x, memory), decoder.forward(x, memory)));
  EXPECT_TRUE(all_equal(both(memory, x), both.forward(memory, x)));
  expect_error([&] { decoder(x, ones({2, 3}, boolean)); }, "must be [batch, T, width]");
}

TEST(Transformer, AWindowIsTheDecoders) {
  Generator rng(33);
  const TransformerEncoderLayerOptions options{
      .dim = 8, .heads = 2, .dropout = 0, .attention = {.causal = true, .window = 2}};
  const Transformer model({.layer = options, .encoder_layers = 1, .decoder_layers = 1}, rng);
  const Tensor sources = normal({1, 5, 8}, rng), targets = normal({1, 5, 8}, rng);
  const Tensor y = model(sources, targets);
  const auto moved = [&](const Tensor& x, std::int64_t token) {
    Tensor other = x * 1;
    fill_(slice(other, 1, {.start = token, .stop = token + 1}), 1.0);
    return other;
  };
  const auto last = [](const Tensor& x) { return slice(x, 1, {.start = 4}); };
  EXPECT_FALSE(all_equal(last(model(moved(sources, 0), targets)), last(y)));
  EXPECT_TRUE(all_equal(last(model(sources, moved(targets, 0))), last(y)));
  EXPECT_FALSE(all_equal(last(model(sources, moved(targets, 3))), last(y)));
}

TEST(Decoding, InsideJvpIsAnErrorBeforeTheCacheTakesAnything) {
  Generator rng(1);
  const TransformerEncoderLayerOptions options{.dim = 8, .heads = 2, .attention = {.causal = true}};
  const MultiHeadAttention attention({.dim = 8, .heads = 2, .causal = true}, rng);
  const TransformerEncoder encoder({options, 2}, rng);
  const TransformerDecoder decoder({options, 2}, rng);
  const Tensor x = normal({2, 3, 8}, rng), memory = normal({2, 4, 8}, rng);
  const auto refuses = [&](auto forward) {
    const auto f = [&](const std::vector<Tensor>& in) { return forward(in[0]); };
    expect_error([&] { jvp(f, {x}, {ones_like(x)}); }, "have a tangent");
  };
  KeyValueCache cache;
  refuses([&](const Tensor& a) { return attention.forward(a, cache); });
  EXPECT_TRUE(cache.lengths().empty());
  refuses([&](const Tensor& a) {
    DecodingCache own;
    return encoder.forward(a, own);
  });
  refuses([&](const Tensor& a) {
    DecodingCache own = decoder.remember(memory);
    return decoder.forward(a, own);
  });
}

}  // namespace
}  // namespace ladon::decoding_test
