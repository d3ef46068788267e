// Language models with the parameter names of other libraries, compared with a second
// implementation that reads the same names: loops over plain numbers in double precision.

#include "ladon/layers/extra/sequence/language_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/extra/attention/attention_variants.h"
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/layers/plain_loops.h"
#include "ladon/tests/support.h"

namespace ladon::language_model_test {
namespace {

using layout::same_bits;
using test::expect_error;
using namespace test::plain;

constexpr int vocabulary = 13, dim = 16, heads = 4, width = 4, hidden = 10, layers = 2;

Names gpt2_shapes() {
  Names names = {{"wte.weight", {vocabulary, dim}},
                 {"wpe.weight", {9, dim}},
                 {"ln_f.weight", {dim}},
                 {"ln_f.bias", {dim}}};
  for (int i = 0; i < layers; ++i) {
    const std::string h = "h." + std::to_string(i) + ".";
    for (const char* norm : {"ln_1", "ln_2"})
      for (const char* of : {".weight", ".bias"}) names.push_back({h + norm + of, {dim}});
    names.insert(names.end(), {{h + "attn.c_attn.weight", {dim, 3 * dim}},
                               {h + "attn.c_attn.bias", {3 * dim}},
                               {h + "attn.c_proj.weight", {dim, dim}},
                               {h + "attn.c_proj.bias", {dim}},
                               {h + "mlp.c_fc.weight", {dim, 4 * dim}},
                               {h + "mlp.c_fc.bias", {4 * dim}},
                               {h + "mlp.c_proj.weight", {4 * dim, dim}},
                               {h + "mlp.c_proj.bias", {dim}}});
  }
  return names;
}

Rows gpt2_logits(const StateDict& state, const std::vector<int>& tokens) {
  const Weights w(state);
  const Rows embedding = w.matrix("wte.weight"), positions = w.matrix("wpe.weight");
  Rows x;
  for (std::size_t t = 0; t < tokens.size(); ++t)
    x.push_back(plus(embedding[std::size_t(tokens[t])], positions[t]));
  for (int i = 0; i < layers; ++i) {
    const std::string h = "h." + std::to_string(i) + ".";
    const auto map = [&](const Row& row, const std::string& name) {
      return affine(row, w.matrix(h + name + ".weight"), w.vector(h + name + ".bias"), false);
    };
    const auto norm = [&](const Row& row, const std::string& name) {
      return normalized(row, w.vector(h + name + ".weight"), w.vector(h + name + ".bias"));
    };
    Rows all;
    for (const Row& row : x) all.push_back(map(norm(row, "ln_1"), "attn.c_attn"));
    const Rows seen = attended(part(all, 0, dim), part(all, dim, 2 * dim),
                               part(all, 2 * dim, 3 * dim), {.heads = heads});
    for (std::size_t t = 0; t < x.size(); ++t) {
      x[t] = plus(x[t], map(seen[t], "attn.c_proj"));
      Row inner = map(norm(x[t], "ln_2"), "mlp.c_fc");
      for (double& v : inner)
        v = v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
      x[t] = plus(x[t], map(inner, "mlp.c_proj"));
    }
  }
  for (Row& row : x)
    row = affine(normalized(row, w.vector("ln_f.weight"), w.vector("ln_f.bias")), embedding, {},
                 true);
  return x;
}

Names llama_shapes(int kv_heads) {
  const std::int64_t shared = kv_heads * width;
  Names names = {{"model.embed_tokens.weight", {vocabulary, dim}},
                 {"model.norm.weight", {dim}},
                 {"lm_head.weight", {vocabulary, dim}}};
  for (int i = 0; i < layers; ++i) {
    const std::string l = "model.layers." + std::to_string(i) + ".";
    names.insert(names.end(), {{l + "self_attn.q_proj.weight", {dim, dim}},
                               {l + "self_attn.k_proj.weight", {shared, dim}},
                               {l + "self_attn.v_proj.weight", {shared, dim}},
                               {l + "self_attn.o_proj.weight", {dim, dim}},
                               {l + "mlp.gate_proj.weight", {hidden, dim}},
                               {l + "mlp.up_proj.weight", {hidden, dim}},
                               {l + "mlp.down_proj.weight", {dim, hidden}},
                               {l + "input_layernorm.weight", {dim}},
                               {l + "post_attention_layernorm.weight", {dim}}});
  }
  return names;
}

/// Channel c of each head of four is turned with c + 2, by position·500^(−c/2).
Rows turned(Rows x) {
  for (std::size_t t = 0; t < x.size(); ++t)
    for (std::size_t h = 0; h < x[t].size(); h += width)
      for (std::size_t c = 0; c < 2; ++c) {
        const double u = x[t][h + c], v = x[t][h + c + 2];
        const double angle = double(t) * std::pow(500, -double(c) / 2);
        x[t][h + c] = u * std::cos(angle) - v * std::sin(angle);
        x[t][h + c + 2] = v * std::cos(angle) + u * std::sin(angle);
      }
  return x;
}

Rows llama_logits(const StateDict& state, const std::vector<int>& tokens, int kv_heads) {
  const Weights w(state);
  const Rows embedding = w.matrix("model.embed_tokens.weight");
  Rows x;
  for (const int token : tokens) x.push_back(embedding[std::size_t(token)]);
  for (int i = 0; i < layers; ++i) {
    const std::string l = "model.layers." + std::to_string(i) + ".";
    const auto map = [&](const Row& row, const std::string& name) {
      return affine(row, w.matrix(l + name + ".weight"), {}, true);
    };
    const auto norm = [&](const Row& row, const std::string& name) {
      return normalized(row, w.vector(l + name + ".weight"), {});
    };
    Rows q, k, v;
    for (const Row& row : x) {
      const Row seen = norm(row, "input_layernorm");
      q.push_back(map(seen, "self_attn.q_proj"));
      k.push_back(map(seen, "self_attn.k_proj"));
      v.push_back(map(seen, "self_attn.v_proj"));
    }
    const Rows seen =
        attended(turned(q), turned(k), v, {.heads = heads, .group = heads / kv_heads});
    for (std::size_t t = 0; t < x.size(); ++t) {
      x[t] = plus(x[t], map(seen[t], "self_attn.o_proj"));
      const Row in = norm(x[t], "post_attention_layernorm");
      const Row gate = map(in, "mlp.gate_proj");
      Row inner = map(in, "mlp.up_proj");
      for (std::size_t c = 0; c < inner.size(); ++c) inner[c] *= gate[c] / (1 + std::exp(-gate[c]));
      x[t] = plus(x[t], map(inner, "mlp.down_proj"));
    }
  }
  for (Row& row : x)
    row = affine(normalized(row, w.vector("model.norm.weight"), {}), w.matrix("lm_head.weight"), {},
                 true);
  return x;
}

void expect_logits(const LanguageModel& model, const std::vector<int>& tokens,
                   const Rows& expected) {
  EXPECT_LT(largest_error(model(tokens_of(tokens)), expected), 1e-10);
}

std::vector<std::string> names_of(const StateDict& state) {
  std::vector<std::string> names;
  for (const auto& [name, x] : state) names.push_back(name);
  return names;
}

const std::vector<int> text = {3, 1, 4, 1, 5, 9, 2, 6};

TEST(LanguageModel, LoadsGpt2ByItsNames) {
  Generator rng(1);
  for (const std::string prefix : {"", "transformer."}) {
    StateDict state = drawn(gpt2_shapes(), 2), named;
    for (const auto& [name, x] : state) named[prefix + name] = x;
    named[prefix + "h.0.attn.bias"] = ones({1, 1, 9, 9});  // the mask that old files hold
    named["lm_head.weight"] = state["wte.weight"];

    LanguageModel model(gpt2(vocabulary, layers, dim, heads, 9), rng);
    from_names(model, named);
    model.to(f64);
    model.eval();
    expect_logits(model, text, gpt2_logits(state, text));
    LanguageModel again(gpt2(vocabulary, layers, dim, heads, 9), rng);
    again.to(f64);
    from_names(again, to_names(model));
    EXPECT_TRUE(same_bits(again.body.layers[1].attention->key.detach(),
                          model.body.layers[1].attention->key.detach()));
  }
}

TEST(LanguageModel, LoadsLlamaByItsNames) {
  Generator rng(1);
  for (const int kv_heads : {4, 2, 1}) {
    const StateDict state = drawn(llama_shapes(kv_heads), 3);
    LanguageModel model(llama(vocabulary, layers, dim, heads, kv_heads, hidden, 500), rng);
    from_names(model, state);
    model.to(f64);
    model.eval();
    expect_logits(model, text, llama_logits(state, text, kv_heads));
    EXPECT_EQ(names_of(to_names(model)), names_of(state));
  }
}

TEST(LanguageModel, AWrongStateChangesNothing) {
  Generator rng(1);
  LanguageModel model(gpt2(vocabulary, layers, dim, heads, 9), rng);
  const Tensor before = clone(model.embedding.weight.detach());
  StateDict state = drawn(gpt2_shapes(), 2);
  state["h.0.attn.c_attn.weight"] = ones({3 * dim, dim});
  expect_error([&] { from_names(model, state); },
               "`h.0.attn.c_attn.weight` has shape [48, 16], expected [16, 48]");
  expect_error(
      [&] {
        from_names(model, {{"a", ones({1})}});
      },
      "the state must hold `wte.weight` (GPT-2)");
  // Another head than the embedding, and keys that this model has not, are not dropped.
  state = drawn(gpt2_shapes(), 2);
  state["lm_head.weight"] = 2 * state["wte.weight"];
  expect_error([&] { from_names(model, state); }, "`lm_head.weight` differs from its embedding");
  LanguageModelOptions tied = gpt2(vocabulary, layers, dim, heads, 9);
  tied.layer.attention.form.tied = true;
  LanguageModel without_keys(tied, rng);
  expect_error([&] { from_names(without_keys, drawn(gpt2_shapes(), 2)); },
               "has no tensor `body.layers.0.attention.key`");
  EXPECT_TRUE(all_equal(model.embedding.weight.detach(), before));
}

TEST(LanguageModel, WritesWithACacheAsWithout) {
  Generator rng(4);
  for (const bool learned : {false, true}) {
    const LanguageModel model = [&] {
      LanguageModel made(
          learned ? gpt2(vocabulary, 2, dim, heads, 40) : llama(vocabulary, 2, dim, 2, 1, hidden),
          rng);
      made.eval();
      return made;
    }();
    const NoGrad no_grad;
    const RowwiseProducts rowwise;
    const Tensor tokens = randint({2, 30}, rng, 0, vocabulary), whole = model(tokens);
    DecodingCache cache;
    const Tensor first = model(slice(tokens, 1, {.stop = 20}), cache);
    EXPECT_TRUE(
        same_bits(concat({first, model(slice(tokens, 1, {.start = 20}), cache)}, 1), whole));
    Generator one(1), two(1);
    EXPECT_EQ(generate(next_token(model), tokens, {.length = 10}, one)[1].tokens,
              generate(next_token(model), tokens, {.length = 10, .cached = false}, two)[1].tokens);
    if (learned)
      expect_error([&] { generate(next_token(model), tokens, {.length = 12}, one); },
                   "the text has reached position 40");
  }
}

// generate() asks for one row of logits of each text: that of its last token.
TEST(LanguageModel, NextTokenLooksAtLastTokensAlone) {
  Generator rng(5);
  LanguageModel model(gpt2(vocabulary, 2, dim, heads, 40), rng);
  model.eval();
  const RowwiseProducts rowwise;
  const Tensor tokens = randint({3, 5}, rng, 0, vocabulary);
  const Tensor mask = cast(tensor({1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}, {3, 5}), boolean);
  DecodingCache one, two, three, four;
  const Tensor all = model(tokens, one, mask), last = next_token(model)(tokens, two, mask);
  EXPECT_TRUE(same_bits(last, concat({slice(slice(all, 0, {.stop = 1}), 1, {2, 3}),
                                      slice(slice(all, 0, {1, 2}), 1, {4, 5}),
                                      slice(slice(all, 0, {2, 3}), 1, {0, 1})},
                                     0)));
  EXPECT_TRUE(same_bits(next_token(model)(tokens, three, {}),
                        contiguous(slice(model(tokens, four), 1, {.start = 4}))));
}

TEST(LanguageModel, HasGradientsOfAllItsWeights) {
  Generator rng(5);
  LanguageModel model(llama(vocabulary, 1, dim, 2, 1, hidden), rng);
  const Tensor tokens = randint({2, 6}, rng, 0, vocabulary);
  backward(cross_entropy(model(slice(tokens, 1, {.stop = 5})),
                         contiguous(slice(tokens, 1, {.start = 1}))));
  for (const auto& [name, x] : model.named_parameters())
    EXPECT_GT(norm(x.grad()).item(), 0) << name;
}

}  // namespace
}  // namespace ladon::language_model_test
