// Caches of keys and values after a call that threw: they are unchanged, wherever in the model the
// exception occurred, so that the call can be repeated with the same tokens.

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/extra/sequence/continuous_batch.h"
#include "ladon/layers/extra/sequence/language_model.h"
#include "ladon/layers/extra/sequence/translation_model.h"
#include "ladon/layers/transformer/transformer.h"
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/support.h"

namespace ladon::interrupted_decoding_test {
namespace {

using layout::same_bits;

/// Throws at the k-th place that a call reaches: an Error if k is odd, else another exception.
struct Fuse {
  int left = 0;
  bool odd = false;
  void light(int k) {
    left = k;
    odd = k % 2 == 1;
  }
  void pass() {
    if (left == 0 || --left > 0) return;
    if (odd) throw Error("[test] the fuse has blown");
    throw std::runtime_error("the fuse has blown");
  }
};

/// Attention that passes the fuse before and after keys are appended to a cache.
struct FusedAttention : AttentionHook {
  Fuse* fuse;
  explicit FusedAttention(Fuse& own) : fuse(&own) {}
  AttentionHeads heads(const AttentionHeads& h) const override {
    fuse->pass();
    return h;
  }
  Tensor bias(const AttentionHeads&) const override {
    fuse->pass();
    return {};
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "FusedAttention"; }
};

/// Each layer of the model passes the fuse once it has its output; the model itself does so last.
void hook_all(Module& model, Fuse& fuse) {
  detail::for_each_module(model, [&fuse](const std::string&, Module& inner) {
    if (auto* layer = dynamic_cast<Layer*>(&inner))
      layer->register_forward_hook([&fuse](const Tensor&) {
        fuse.pass();
        return Tensor();
      });
  });
}

std::vector<std::vector<std::int64_t>> lengths_of(const KeyValueCache& cache) {
  return {cache.lengths()};
}
std::vector<std::vector<std::int64_t>> lengths_of(const DecodingCache& cache) {
  std::vector<std::vector<std::int64_t>> all;
  for (const KeyValueCache& layer : cache.layers) all.push_back(layer.lengths());
  return all;
}

/// What is given to a model in one call.
struct Piece {
  Tensor x, mask = {};
};

/// Gives `pieces` to call(piece, cache), before one of which a call with `other` is interrupted at
/// every place in turn. Returns the number of places.
template <class Cache>
int interrupt(const std::function<Tensor(const Piece&, Cache&)>& call, const Cache& start,
              const std::vector<Piece>& pieces, const Piece& other, Fuse& fuse) {
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  std::vector<Tensor> expected;
  std::vector<Cache> before{start};
  for (const Piece& piece : pieces) {
    before.push_back(before.back());
    expected.push_back(call(piece, before.back()));
  }
  int places = 0;
  for (std::size_t at = 0; at < pieces.size(); ++at)
    for (int k = 1;; ++k) {
      SCOPED_TRACE(detail::join("before piece ", at, ", at place ", k));
      Cache cache = before[at];
      fuse.light(k);
      bool thrown = false;
      try {
        call(other, cache);
      } catch (const std::exception&) {
        thrown = true;
      }
      fuse.light(0);
      if (!thrown) break;
      places = k;
      EXPECT_EQ(lengths_of(cache), lengths_of(before[at]));
      for (std::size_t i = at; i < pieces.size(); ++i)
        EXPECT_TRUE(same_bits(call(pieces[i], cache), expected[i])) << i;
      EXPECT_EQ(lengths_of(cache), lengths_of(before.back()));
      if (::testing::Test::HasFailure()) return places;
    }
  return places;
}

/// Rows of 70 and 66 tokens, then some, then single ones: a window forgets at the second piece.
std::vector<Piece> token_pieces(Generator& rng) {
  const auto tokens = [&rng](std::int64_t n) { return randint({2, n}, rng, 0, 11); };
  const Tensor row = arange(70);
  const Tensor mask = stack({less(row, full({70}, 70, i64)), less(row, full({70}, 66, i64))}, 0);
  return {{tokens(70), mask}, {tokens(60)}, {tokens(1)}, {tokens(1)}};
}

/// The same of vectors.
std::vector<Piece> vector_pieces(Generator& rng) {
  std::vector<Piece> pieces = token_pieces(rng);
  for (Piece& piece : pieces) piece.x = normal({2, piece.x.size(1), 8}, rng);
  return pieces;
}

TransformerEncoderLayerOptions fused_layer(Fuse& fuse, std::int64_t window) {
  return {.dim = 8,
          .heads = 2,
          .dropout = 0,
          .attention = {.causal = true, .window = window, .hook = FusedAttention(fuse)}};
}

using OfTokens = std::function<Tensor(const Piece&, DecodingCache&)>;

TEST(InterruptedDecoding, OfALanguageModelTakesNoTokens) {
  Fuse fuse;
  for (const std::int64_t window : {0, 5})
    for (const bool last_only : {false, true}) {
      SCOPED_TRACE(detail::join("window ", window, ", last only ", last_only));
      Generator rng(1);
      LanguageModel model({.vocabulary = 11,
                           .layers = 2,
                           .layer = fused_layer(fuse, window),
                           .max_length = 200,
                           .init_std = 0.7},
                          rng);
      model.eval();
      hook_all(model, fuse);
      const NextToken next = next_token(model);
      const OfTokens call = [&](const Piece& p, DecodingCache& cache) {
        return last_only ? next(p.x, cache, p.mask) : model(p.x, cache, p.mask);
      };
      const Piece other{randint({2, 3}, rng, 0, 11)};
      EXPECT_GE(interrupt(call, DecodingCache(), token_pieces(rng), other, fuse), 20);
    }
}

TEST(InterruptedDecoding, OfATranslationModelTakesNoTokens) {
  Fuse fuse;
  Generator rng(2);
  TranslationModel model({.vocabulary = 11,
                          .body = {.layer = {.dim = 8, .heads = 2, .dropout = 0},
                                   .encoder_layers = 1,
                                   .decoder_layers = 2}},
                         rng);
  model.eval();
  const DecodingCache start = model.remember(randint({2, 4}, rng, 0, 11));
  hook_all(model, fuse);
  const OfTokens call = [&](const Piece& p, DecodingCache& cache) {
    return model(p.x, cache, p.mask);
  };
  const Piece other{randint({2, 3}, rng, 0, 11)};
  EXPECT_GE(interrupt(call, start, token_pieces(rng), other, fuse), 20);
}

// What the interrupted call wrote behind the tokens of a shorter row is not read either.
TEST(InterruptedDecoding, OfAnEncoderLeavesNothingBehind) {
  Fuse fuse;
  for (const std::int64_t window : {0, 5}) {
    SCOPED_TRACE(window);
    Generator rng(3);
    TransformerEncoder model({fused_layer(fuse, window), 2}, rng);
    model.eval();
    hook_all(model, fuse);
    const OfTokens call = [&](const Piece& p, DecodingCache& cache) {
      return model(p.x, cache, p.mask);
    };
    const Piece other{full({2, 3, 8}, std::numeric_limits<double>::quiet_NaN())};
    EXPECT_GE(interrupt(call, DecodingCache(), vector_pieces(rng), other, fuse), 18);
  }
}

TEST(InterruptedDecoding, OfOneLayerTakesNoTokens) {
  Fuse fuse;
  for (const std::int64_t window : {0, 5}) {
    SCOPED_TRACE(window);
    Generator rng(4);
    TransformerEncoderLayer layer(fused_layer(fuse, window), rng);
    layer.eval();
    hook_all(layer, fuse);
    const Piece other{normal({2, 3, 8}, rng)};
    const std::vector<Piece> pieces = vector_pieces(rng);
    using OfVectors = std::function<Tensor(const Piece&, KeyValueCache&)>;
    const OfVectors whole = [&](const Piece& p, KeyValueCache& c) { return layer(p.x, c, p.mask); };
    const OfVectors attention = [&](const Piece& p, KeyValueCache& c) {
      return (*layer.attention.kind())(p.x, c, p.mask);
    };
    EXPECT_GE(interrupt(whole, KeyValueCache(), pieces, other, fuse), 8);
    EXPECT_EQ(interrupt(attention, KeyValueCache(), pieces, other, fuse), 3);
  }
}

TEST(InterruptedDecoding, OfAContinuousBatchGivesTheSameTexts) {
  Fuse fuse;
  Generator rng(5);
  LanguageModel model({.vocabulary = 11,
                       .layers = 2,
                       .layer = fused_layer(fuse, 5),
                       .max_length = 100,
                       .init_std = 0.7},
                      rng);
  model.eval();
  hook_all(model, fuse);
  std::vector<Tensor> prompts;
  std::vector<Generated> alone;
  Generator draws(7);
  for (const std::int64_t n : {3, 70, 1}) {
    prompts.push_back(randint({n}, rng, 0, 11));
    alone.push_back(
        generate(next_token(model), unsqueeze(prompts.back(), 0), {.length = 8}, draws)[0]);
  }
  int places = 0;
  for (bool thrown = true; thrown;) {
    SCOPED_TRACE(++places);
    Generator again(7);
    ContinuousBatch batch(next_token(model));
    for (const Tensor& prompt : prompts) {
      fuse.light(places);
      try {
        batch.add(prompt, {.length = 8}, again);
      } catch (const std::exception&) {
        batch.add(prompt, {.length = 8}, again);
      }
      fuse.light(0);
    }
    std::map<std::int64_t, Generated> ended;
    thrown = false;
    while (batch.open() > 0) {
      fuse.light(places);  // if the pass over all texts throws, each is processed alone
      for (auto& [request, text] : batch.step()) ended[request] = text;
      thrown = thrown || fuse.left == 0;
      fuse.light(0);
    }
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const Generated& text = ended[static_cast<std::int64_t>(i)];
      EXPECT_FALSE(text.error);
      EXPECT_EQ(text.tokens, alone[i].tokens);
      EXPECT_EQ(text.log_probability, alone[i].log_probability);
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(places, 20);
}

/// A state of a user's own, and a layer that counts its calls in it.
struct Count {
  int calls = 0;
  Count snapshot() const { return *this; }
};
struct Counting : Callable<Counting> {
  bool fails = false;
  Tensor forward(const Tensor& x) const override { return x; }
  Tensor forward(const Tensor& x, Count& count) const {
    ++count.calls;
    if (fails) throw std::runtime_error("after it was counted");
    return x;
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Counting"; }
};

TEST(InterruptedDecoding, IsUndoneInAnyStateThatHasSnapshots) {
  Counting layer;
  Count count;
  const Tensor x = ones({1});
  layer(x, count);
  layer.fails = true;
  EXPECT_THROW(layer(x, count), std::runtime_error);
  EXPECT_EQ(count.calls, 1);
  layer.fails = false;
  try {  // while another exception passes
    struct End {
      Counting& layer;
      Count& count;
      ~End() {
        layer(ones({1}), count);
        layer.fails = true;
        EXPECT_THROW(layer(ones({1}), count), std::runtime_error);
      }
    };
    const End end{layer, count};
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(count.calls, 2);
}

// forward(), called directly, has no hooks of its own, and undoes likewise.
TEST(InterruptedDecoding, OfForwardTakesNoTokens) {
  Fuse fuse;
  Generator rng(6);
  const TransformerEncoderLayerOptions options = fused_layer(fuse, 5);
  LanguageModel language({.vocabulary = 11, .layers = 2, .layer = options}, rng);
  TransformerEncoder encoder({options, 2}, rng);
  TransformerDecoder decoder({options, 2}, rng);
  for (Layer* model : {static_cast<Layer*>(&language), static_cast<Layer*>(&encoder),
                       static_cast<Layer*>(&decoder)}) {
    model->eval();
    hook_all(*model, fuse);
  }
  const Tensor memory = normal({2, 4, 8}, rng);
  const DecodingCache start = decoder.remember(memory);
  const Piece other{normal({2, 3, 8}, rng)}, token{randint({2, 3}, rng, 0, 11)};
  const std::vector<Piece> pieces = vector_pieces(rng);
  const auto whole = [&](const auto& model, const DecodingCache& before,
                         const std::vector<Piece>& given, const Piece& interrupted) {
    const OfTokens call = [&](const Piece& p, DecodingCache& c) {
      return model.forward(p.x, c, p.mask);
    };
    return interrupt(call, before, given, interrupted, fuse);
  };
  EXPECT_GE(whole(language, {}, token_pieces(rng), token), 18);
  EXPECT_GE(whole(encoder, {}, pieces, other), 18);
  EXPECT_GE(whole(decoder, start, pieces, other), 18);
  using OfVectors = std::function<Tensor(const Piece&, KeyValueCache&)>;
  const OfVectors of_encoder = [&](const Piece& p, KeyValueCache& c) {
    return encoder.layers[0].forward(p.x, c, p.mask);
  };
  const OfVectors of_decoder = [&](const Piece& p, KeyValueCache& c) {
    return decoder.layers[0].forward(p.x, start.memory[0], c, p.mask, {});
  };
  const OfVectors of_attention = [&](const Piece& p, KeyValueCache& c) {
    return encoder.layers[0].attention.kind()->forward(p.x, c, p.mask);
  };
  EXPECT_GE(interrupt(of_encoder, KeyValueCache(), pieces, other, fuse), 8);
  EXPECT_GE(interrupt(of_decoder, KeyValueCache(), pieces, other, fuse), 8);
  EXPECT_EQ(interrupt(of_attention, KeyValueCache(), pieces, other, fuse), 2);
}

}  // namespace
}  // namespace ladon::interrupted_decoding_test
