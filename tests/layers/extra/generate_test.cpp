// Texts that a model generates, compared with its logits.

#include "ladon/layers/extra/sequence/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/layers/embedding.h"
#include "ladon/layers/extra/attention/attention_variants.h"
#include "ladon/layers/transformer/transformer.h"
#include "ladon/tests/support.h"

namespace ladon::generate_test {
namespace {

using test::expect_error;
using Tokens = std::vector<std::int64_t>;

Tensor row(const Tokens& tokens) {
  return from_vector(tokens, {1, static_cast<std::int64_t>(tokens.size())});
}

/// A small language model of 11 tokens.
struct Model {
  Generator rng{3};
  Embedding embedding{{.count = 11, .dim = 24}, rng};
  TransformerEncoder body{
      {{.dim = 24,
        .heads = 4,
        .attention = {.causal = true, .kv_heads = 2, .hook = RotaryPositions()}},
       2},
      rng};
  Model() { body.eval(); }
  NextToken next() const {
    return [this](const Tensor& tokens, DecodingCache& cache, const Tensor& mask) {
      return 0.7 * linear(body(embedding(tokens), cache, mask), embedding.weight);
    };
  }
};

/// ln p of the texts that begin with `prompt`, by one pass over all.
double log_probability(const Model& model, const Tokens& prompt, const Tokens& text) {
  Tokens all = prompt;
  all.insert(all.end(), text.begin(), text.end());
  DecodingCache cache;
  const Tensor p = select(log_softmax(cast(model.next()(row(all), cache, {}), f64), -1), 0, 0);
  double sum = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    sum += at(p, {static_cast<std::int64_t>(prompt.size() + i) - 1, text[i]}).item();
  return sum;
}

TEST(Generate, CachedIsUncachedTokenForTokenAndInAnyBatch) {
  const Model model;
  for (const GenerateOptions& o : {GenerateOptions{.length = 60},
                                   {.length = 60, .temperature = 0},
                                   {.length = 60, .temperature = 1.3, .top_k = 4},
                                   {.length = 60, .top_p = 0.7, .stop = {5}},
                                   {.length = 20, .stop = {5}, .beams = 3}}) {
    GenerateOptions slow = o;
    slow.cached = false;
    Generator one(7), two(7);
    const Tensor prompt = tensor({1, 2, 3, 4, 0, 0, 7, 8, 0}, {3, 3}, i64);
    const Tensor mask = cast(tensor({1, 1, 1, 1, 0, 0, 1, 1, 0}, {3, 3}), boolean);
    const auto fast = generate(model.next(), prompt, o, one, mask);
    const auto again = generate(model.next(), prompt, slow, two, mask);
    ASSERT_EQ(fast.size(), 3u);
    for (std::size_t b = 0; b < 3; ++b) {
      EXPECT_EQ(fast[b].tokens, again[b].tokens);
      EXPECT_NEAR(fast[b].log_probability, again[b].log_probability, 1e-4);
    }
    // Without what stands beside it: the first row draws from the same split.
    Generator three(7);
    EXPECT_EQ(generate(model.next(), row({1, 2, 3}), o, three)[0].tokens, fast[0].tokens);
    EXPECT_NEAR(fast[0].log_probability, log_probability(model, {1, 2, 3}, fast[0].tokens), 1e-4);
  }
}

TEST(Generate, ABeamOfOneIsGreedy) {
  const Model model;
  for (std::int64_t first = 0; first < 11; ++first) {
    Generator rng(1);
    const auto greedy =
        generate(model.next(), row({first}), {.length = 25, .temperature = 0, .stop = {4}}, rng);
    const auto beam =
        generate(model.next(), row({first}), {.length = 25, .stop = {4}, .beams = 1}, rng);
    EXPECT_EQ(greedy[0].tokens, beam[0].tokens);
    EXPECT_NEAR(greedy[0].log_probability, beam[0].log_probability, 1e-12);
  }
}

// A beam as wide as there are texts finds the likeliest of all of them.
TEST(Generate, AWideBeamFindsTheLikeliestText) {
  const Model model;
  Tokens best;
  double most = -INFINITY;
  for (std::int64_t a = 0; a < 11; ++a)
    for (std::int64_t b = 0; b < 11; ++b)
      for (std::int64_t c = 0; c < 11; ++c) {
        const double p = log_probability(model, {2, 9}, {a, b, c});
        if (p > most) most = p, best = {a, b, c};
      }
  Generator rng(1);
  const auto found = generate(model.next(), row({2, 9}), {.length = 3, .beams = 121}, rng);
  EXPECT_EQ(found[0].tokens, best);
  EXPECT_NEAR(found[0].log_probability, most, 1e-4);
}

// Each token is 0, the end, with .4, 1 with .35, 2 with .25. By the sum of logarithms 0 alone is
// best, −.92 against −1.97 of 1 0 and −3.02 of 1 1 0; over length³ it is 1 1 0, −.112 against −.92,
// −.25 and, of the texts that go on, −.117.
TEST(Generate, LengthsAreWeighedByThePenalty) {
  const NextToken next = [](const Tensor& tokens, DecodingCache&, const Tensor&) {
    const Tensor p = log(tensor({.4, .35, .25}, {3}));
    return expand(p, {tokens.size(0), tokens.size(1), 3});
  };
  Generator rng(1);
  const auto best = [&](double penalty) {
    const GenerateOptions options{.length = 3, .stop = {0}, .beams = 9, .length_penalty = penalty};
    return generate(next, row({1}), options, rng)[0];
  };
  EXPECT_EQ(best(0).tokens, (Tokens{0}));
  EXPECT_EQ(best(1).tokens, (Tokens{0}));
  EXPECT_EQ(best(3).tokens, (Tokens{1, 1, 0}));
  EXPECT_NEAR(best(3).log_probability, std::log(.35 * .35 * .4), 1e-6);
}

// A text that ends takes no open one's place. The first token is 0, the end, with .4, 1 with .35, 2
// with .25; after 2 the text ends for certain, after 1 with .2. By token 2 0 is best, −.69 against
// −.92 of 0.
TEST(Generate, ABeamHoldsAsManyTextsBesideThoseThatEnd) {
  const NextToken next = [](const Tensor& tokens, DecodingCache&, const Tensor&) {
    const Tensor p = tensor({.4, .35, .25, .2, .4, .4, 1, 0, 0, .4, .35, .25}, {4, 3});
    return reshape(log(index_select(p, 0, flatten(tokens))), {tokens.size(0), tokens.size(1), 3});
  };
  Generator rng(1);
  const auto best =
      generate(next, row({0}), {.length = 2, .stop = {0}, .beams = 2, .length_penalty = 1}, rng)[0];
  EXPECT_EQ(best.tokens, (Tokens{2, 0}));
  EXPECT_NEAR(best.log_probability, std::log(.25), 1e-6);
}

/// χ² of 20,000 draws from logits against these probabilities.
double chi_square(const GenerateOptions& options, const std::vector<double>& expected) {
  const Tensor logits = tensor({0, 1, 2, -INFINITY, 2.5}, {5});
  Generator rng(5);
  std::map<std::int64_t, double> counts;
  const double n = 20000;
  for (int i = 0; i < n; ++i) ++counts[draw_token(logits, options, rng)];
  double sum = 0;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const double count = counts[static_cast<std::int64_t>(t)];
    if (expected[t] == 0)
      EXPECT_EQ(count, 0);
    else
      sum += std::pow(count - n * expected[t], 2) / (n * expected[t]);
  }
  return sum;
}

// Weights 1, e, e², 0, e^2.5 of the five tokens. χ² of at most 3 degrees of freedom is above 21.1
// once in 10,000 runs.
TEST(Generate, DrawsByTheRulesOfItsOptions) {
  const auto shares = [](std::vector<double> weights) {
    double sum = 0;
    for (const double w : weights) sum += w;
    for (double& w : weights) w /= sum;
    return weights;
  };
  const double e = std::exp(1.0);
  EXPECT_LT(chi_square({}, shares({1, e, e * e, 0, std::exp(2.5)})), 21.1);
  EXPECT_LT(chi_square({.temperature = 2}, shares({1, std::exp(.5), e, 0, std::exp(1.25)})), 21.1);
  EXPECT_LT(chi_square({.top_k = 2}, shares({0, 0, e * e, 0, std::exp(2.5)})), 21.1);
  // Shares .536, .325, .120, .044…: the first two have .84 of the mass, the first three .96.
  EXPECT_LT(chi_square({.top_p = 0.9}, shares({0, e, e * e, 0, std::exp(2.5)})), 21.1);
  EXPECT_LT(chi_square({.top_k = 2, .top_p = 0.5}, {0, 0, 0, 0, 1}), 21.1);
  EXPECT_LT(chi_square({.temperature = 0}, {0, 0, 0, 0, 1}), 21.1);
  // Beside the likeliest the others have .607, .223, .082; at temperature 2 roots of it: .779,
  // .472, .287.
  EXPECT_LT(chi_square({.min_p = 0.1}, shares({0, e, e * e, 0, std::exp(2.5)})), 21.1);
  EXPECT_LT(chi_square({.temperature = 2, .min_p = 0.5}, shares({0, 0, e, 0, std::exp(1.25)})),
            21.1);
  EXPECT_LT(chi_square({.top_k = 2, .min_p = 0.1}, shares({0, 0, e * e, 0, std::exp(2.5)})), 21.1);
  EXPECT_LT(chi_square({.min_p = 1}, {0, 0, 0, 0, 1}), 21.1);
}

/// The rules of draw_token() on a list that is sorted as a whole.
std::int64_t drawn_from_all(const Tensor& logits, const GenerateOptions& o, double u) {
  std::vector<std::pair<double, std::int64_t>> ranked;
  for (const double x : logits.to_vector())
    ranked.emplace_back(-x, static_cast<std::int64_t>(ranked.size()));
  if (o.top_k > 0 || o.top_p < 1) std::sort(ranked.begin(), ranked.end());
  if (o.top_k > 0) ranked.resize(static_cast<std::size_t>(o.top_k));
  const auto mass = [&](const auto& item) { return std::exp(-item.first / o.temperature); };
  double total = 0, kept = 0, sum = 0;
  for (const auto& item : ranked) total += mass(item);
  std::size_t n = 0;
  while (n < ranked.size() && kept < o.top_p * total) kept += mass(ranked[n++]);
  for (std::size_t i = 0; i < n; ++i)
    if (u * kept < (sum += mass(ranked[i]))) return ranked[i].second;
  return ranked[n - 1].second;
}

// A large vocabulary is sorted only as far as a draw needs it, the first of equal tokens before.
TEST(Generate, DrawsFromALargeVocabularyAsIfAllWasSorted) {
  Generator rng(2);
  const Tensor logits = round(8 * normal({5000}, rng)) / 4;
  for (const GenerateOptions& o : {GenerateOptions{},
                                   {.temperature = 0.5},
                                   {.top_k = 7},
                                   {.top_k = 700},
                                   {.top_p = 0.3},
                                   {.top_p = 0.9},
                                   {.temperature = 9, .top_p = 0.99},
                                   {.top_k = 3000, .top_p = 0.8}})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Generator one(seed), two(seed);
      EXPECT_EQ(draw_token(logits, o, one), drawn_from_all(logits, o, two.uniform()));
    }
}

TEST(Generate, EndsAtAStopToken) {
  const NextToken counts = [](const Tensor& tokens, DecodingCache&, const Tensor&) {
    return 100 * one_hot(tokens + 1, 6);  // 0, 1, 2, …
  };
  Generator rng(1);
  const Tensor prompt = tensor({2, 0}, {2, 1}, i64);
  for (const std::int64_t beams : {0, 2}) {
    const auto texts = generate(counts, prompt, {.length = 9, .stop = {4}, .beams = beams}, rng);
    EXPECT_EQ(texts[0].tokens, (Tokens{3, 4}));
    EXPECT_EQ(texts[1].tokens, (Tokens{1, 2, 3, 4}));
  }
}

// Logits 2, 1.5, −1, −1.2 whatever is there: what the text has is halved where positive, doubled
// where not.
TEST(Generate, RepetitionIsPenalized) {
  const NextToken constant = [](const Tensor& tokens, DecodingCache&, const Tensor&) {
    return expand(tensor({2, 1.5, -1, -1.2}, {4}), {tokens.size(0), tokens.size(1), 4});
  };
  Generator rng(1);
  const GenerateOptions o{.length = 3, .temperature = 0, .repetition_penalty = 2};
  const auto texts = generate(constant, tensor({3, 0}, {2, 1}, i64), o, rng);
  // Row 0: 2; then 1 against 1.5; then 1 against .75. Row 1 has token 0 from its prompt: 1 against
  // 1.5 …
  EXPECT_EQ(texts[0].tokens, (Tokens{0, 1, 0}));
  EXPECT_EQ(texts[1].tokens, (Tokens{1, 0, 0}));
  const Tensor p = log_softmax(tensor({2, 1.5, -1, -1.2}, {4}, f64), 0);
  EXPECT_NEAR(texts[0].log_probability, 2 * at(p, {0}).item() + at(p, {1}).item(), 1e-6);
  const GenerateOptions strong{.length = 1, .temperature = 0, .repetition_penalty = 100};
  // 2/100, 1.5/100 and −100 against −1.2.
  EXPECT_EQ(generate(constant, tensor({0, 1, 2}, {1, 3}, i64), strong, rng)[0].tokens, (Tokens{0}));
}

TEST(Generate, TellsOfEachTokenAndMayBeEnded) {
  const Model model;
  Generator one(1), two(1);
  std::vector<Tokens> heard(2);
  const GenerateOptions quiet{.length = 6};
  GenerateOptions told = quiet;
  told.on_token = [&](std::int64_t row, std::int64_t token) {
    heard[static_cast<std::size_t>(row)].push_back(token);
    return row == 0 || heard[1].size() < 3;
  };
  const Tensor prompt = tensor({1, 2}, {2, 1}, i64);
  const auto texts = generate(model.next(), prompt, told, one);
  const auto all = generate(model.next(), prompt, quiet, two);
  EXPECT_EQ(heard[0], texts[0].tokens);
  EXPECT_EQ(heard[1], texts[1].tokens);
  EXPECT_EQ(texts[0].tokens, all[0].tokens);
  EXPECT_EQ(texts[1].tokens, Tokens(all[1].tokens.begin(), all[1].tokens.begin() + 3));
}

TEST(Generate, MisuseIsAnError) {
  const Model model;
  Generator rng(1);
  const auto write = [&](const GenerateOptions& o, const Tensor& prompt) {
    return [&, o, prompt] { generate(model.next(), prompt, o, rng); };
  };
  expect_error(write({.length = 0}, row({1})), "length must be positive, got 0");
  expect_error(write({.temperature = -1}, row({1})), "must not be negative");
  expect_error(write({.top_p = 0}, row({1})), "top_p must lie in (0, 1]");
  expect_error(write({.top_k = 3, .beams = 2}, row({1})), "beam search draws nothing");
  expect_error(write({.min_p = 2}, row({1})), "min_p must lie in [0, 1]");
  for (const double penalty : {-5.0, static_cast<double>(NAN), HUGE_VAL})
    expect_error(write({.beams = 2, .length_penalty = penalty}, row({1})),
                 "length_penalty must be");
  for (const double wrong : {static_cast<double>(NAN), HUGE_VAL}) {
    expect_error(write({.temperature = wrong}, row({1})), "temperature must be finite");
    expect_error(write({.top_p = wrong}, row({1})), "top_p must lie in (0, 1]");
    expect_error(write({.min_p = wrong}, row({1})), "min_p must lie in [0, 1]");
    expect_error(write({.repetition_penalty = wrong}, row({1})),
                 "repetition_penalty must be positive and finite");
  }
  expect_error(
      [&] {
        draw_token(tensor({0, -INFINITY}, {2}), {.temperature = INFINITY}, rng);
      },
      "temperature must be finite");
  expect_error(write({.stop = {0, 1, 2}, .beams = std::int64_t{1} << 62}, row({1})),
               "with 3 stop tokens");
  expect_error(write({.length_penalty = 2}, row({1})), "only a beam search has one");
  expect_error(write({.repetition_penalty = 0}, row({1})), "repetition_penalty must be positive");
  expect_error(write({.beams = 2, .min_p = 0.1}, row({1})), "beam search draws nothing");
  expect_error(write({}, tensor({1}, {1})), "the prompt must be i64 [batch, T]");
  expect_error(write({}, zeros({1, 0}, i64)), "with T > 0");
  expect_error(
      [&] {
        generate(model.next(), row({1, 2}), {}, rng, zeros({1, 2}, boolean));
      },
      "prompt 0 has no tokens");
  expect_error([&] { draw_token(tensor({1, NAN}, {2}), {}, rng); }, "the logit of token 1 is NaN");
  expect_error([&] { draw_token(full({2}, -INFINITY), {}, rng); },
               "at least one token must be possible");
  const NextToken wrong = [](const Tensor& tokens, DecodingCache&, const Tensor&) {
    return zeros({tokens.size(0), 5});
  };
  expect_error([&] { generate(wrong, row({1}), {}, rng); }, "the model must give logits [batch, T");
}

}  // namespace
}  // namespace ladon::generate_test
