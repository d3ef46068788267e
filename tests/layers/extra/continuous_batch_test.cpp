// Continuous batching: requests are added and end at any time, and each gets the text that it would
// get alone.

#include "ladon/layers/extra/sequence/continuous_batch.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/packed_weights.h"
#include "ladon/core/random.h"
#include "ladon/layers/extra/attention/attention_variants.h"
#include "ladon/layers/extra/sequence/language_model.h"
#include "ladon/tests/support.h"

namespace ladon::continuous_batch_test {
namespace {

using test::expect_error;

LanguageModelOptions windowed() {
  LanguageModelOptions o = llama(23, 2, 16, 4, 2, 24);
  o.layer.attention.window = 20;
  return o;
}
LanguageModelOptions with_alibi() {
  LanguageModelOptions o = gpt2(23, 2, 16, 4, 0);
  o.layer.attention.hook = AlibiBias(4);
  return o;
}

/// Prompts and options of five requests: the longest texts pass several tiles of 64 keys.
std::vector<std::pair<Tensor, GenerateOptions>> requests() {
  Generator rng(3);
  const auto prompt = [&](std::int64_t n) { return randint({n}, rng, 0, 23); };
  return {{prompt(5), {.length = 140}},
          {prompt(70), {.length = 30, .temperature = 0}},
          {prompt(1), {.length = 90, .temperature = 1.5, .top_k = 5}},
          {prompt(130), {.length = 20, .top_p = 0.8, .stop = {4, 5}}},
          {prompt(33), {.length = 40, .repetition_penalty = 1.3}}};
}

TEST(ContinuousBatch, WritesEachTextAsItIsAlone) {
  for (const LanguageModelOptions& form : {gpt2(23, 2, 16, 4, 160), windowed(), with_alibi()})
    for (const bool bytes : {false, true}) {
      Generator rng(1), draws(7), again(7);
      LanguageModel model(form, rng);
      model.eval();
      const PackedWeights packed(bytes ? model.parameters() : std::vector<Tensor>(),
                                 WeightForm::int8);
      const auto asked = requests();
      std::vector<Generated> alone;
      for (const auto& [prompt, options] : asked)
        alone.push_back(generate(next_token(model), unsqueeze(prompt, 0), options, again)[0]);

      // One more request joins at every seventh step: some find the batch empty.
      ContinuousBatch batch(next_token(model));
      std::map<std::int64_t, Generated> ended;
      std::size_t added = 0;
      std::int64_t most = 0;
      for (int step = 0; added < asked.size() || batch.open() > 0; ++step) {
        if (step % 7 == 0 && added < asked.size()) {
          const auto& [prompt, options] = asked[added];
          EXPECT_EQ(batch.add(prompt, options, draws), static_cast<std::int64_t>(added++));
        }
        most = std::max(most, batch.open());
        for (auto& [request, text] : batch.step()) ended[request] = text;
      }
      EXPECT_EQ(ended.size(), asked.size());
      EXPECT_GE(most, 3);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const Generated& text = ended[static_cast<std::int64_t>(i)];
        EXPECT_EQ(text.tokens, alone[i].tokens) << i;
        EXPECT_EQ(text.log_probability, alone[i].log_probability) << i;
      }
    }
}

TEST(ContinuousBatch, TellsOfItsTokensAndEndsWhereItIsTold) {
  Generator rng(1);
  LanguageModel model(gpt2(23, 1, 8, 2, 40), rng);
  model.eval();
  ContinuousBatch batch(next_token(model));
  std::vector<std::int64_t> heard;
  const Tensor prompt = tensor({1, 2}, {2}, i64);
  batch.add(prompt, {.length = 9, .on_token = [](auto, auto) { return false; }}, rng);
  batch.add(prompt,
            {.length = 9,
             .on_token =
                 [&](std::int64_t row, std::int64_t token) {
                   EXPECT_EQ(row, 1);
                   heard.push_back(token);
                   return true;
                 }},
            rng);
  EXPECT_EQ(batch.open(), 2);
  const auto first = batch.step();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].first, 0);
  EXPECT_EQ(first[0].second.tokens.size(), 1u);
  EXPECT_EQ(batch.open(), 1);
  Generated last;
  while (batch.open() > 0)
    for (auto& [request, text] : batch.step()) last = text;
  EXPECT_EQ(last.tokens, heard);
  EXPECT_EQ(heard.size(), 9u);
  EXPECT_TRUE(batch.step().empty());
}

TEST(ContinuousBatch, MisuseIsAnError) {
  Generator rng(1);
  LanguageModel model(gpt2(23, 1, 8, 2, 40), rng), wider(gpt2(23, 1, 16, 2, 40), rng);
  model.eval();
  wider.eval();
  ContinuousBatch batch(next_token(model));
  const Tensor prompt = tensor({1, 2}, {2}, i64);
  expect_error([&] { batch.add(prompt, {.beams = 2}, rng); }, "has no beam search, but beams is 2");
  expect_error([&] { batch.add(prompt, {.cached = false}, rng); },
               "always uses a cache, but cached is false");
  expect_error([&] { batch.add(unsqueeze(prompt, 0), {}, rng); }, "the prompt must be i64 [T]");
  expect_error([&] { batch.add(zeros({0}, i64), {}, rng); }, "with T > 0");
  expect_error([&] { batch.add(prompt, {.length = 0}, rng); }, "length must be positive");
  expect_error([&] { batch.add(prompt, {.length = 40}, rng); },
               "a prompt of 2 tokens and 40 more do not fit into the model's 40 positions; ask for "
               "39 at most");
  expect_error([&] { batch.cancel(0); }, "request 0 was never made");
  EXPECT_EQ(batch.open(), 0);
  batch.add(prompt, {.length = 39}, rng);
  EXPECT_TRUE(batch.cancel(0).tokens.empty());
  expect_error([&] { batch.cancel(0); }, "request 0 has ended");
  EXPECT_EQ(batch.open(), 0);
  EXPECT_TRUE(batch.step().empty());
  ContinuousBatch moved(std::move(batch));
  expect_error([&] { batch.add(prompt, {}, rng); }, "it was moved from");
  expect_error([] { ContinuousBatch none{NextToken()}; }, "the model is an empty function");
  expect_error([&] { generate(NextToken(), unsqueeze(prompt, 0), {}, rng); }, "an empty function");
  DecodingCache one, two, decoder;
  model(unsqueeze(prompt, 0), one);
  wider(unsqueeze(prompt, 0), two);
  expect_error([&] { one.join(two); }, "was filled by another model");
  decoder.memory.resize(1);
  expect_error([&] { one.join(decoder); }, "caches with a memory cannot be joined");
}

// In each call of the model for the batch, from add() and from step(), at every place: it refuses,
// and writes the texts that it writes undisturbed.
TEST(ContinuousBatch, IsNotCalledByItsModel) {
  Generator rng(1), ignored(2);
  LanguageModel model(gpt2(23, 1, 8, 2, 40), rng);
  model.eval();
  const Tensor prompt = tensor({1, 2}, {2}, i64);
  const GenerateOptions options{.length = 5};
  ContinuousBatch* called = nullptr;
  int refused = 0;
  const NextToken disturbing = [&](const Tensor& tokens, DecodingCache& cache, const Tensor& mask) {
    if (called) {
      const char* const inside = "called inside the model function";
      expect_error([&] { called->add(prompt, options, ignored); }, inside);
      expect_error([&] { called->step(); }, inside);
      for (const std::int64_t request : {0, 1})
        expect_error([&] { called->cancel(request); }, inside);
      ++refused;
    }
    return next_token(model)(tokens, cache, mask);
  };
  const auto written = [&](const NextToken& next, bool disturbs) {
    ContinuousBatch batch(next);
    called = disturbs ? &batch : nullptr;
    Generator draws(3);
    for (int i = 0; i < 3; ++i) batch.add(prompt, options, draws);
    std::map<std::int64_t, std::vector<std::int64_t>> texts;
    while (batch.open() > 0)
      for (auto& [request, text] : batch.step()) texts[request] = text.tokens;
    return texts;
  };
  EXPECT_EQ(written(disturbing, true), written(next_token(model), false));
  EXPECT_EQ(refused, 3 + 4);
}

// The step goes through rows that the new object owns: it takes no calls until the step is over.
TEST(ContinuousBatch, IsNotCalledWhereItIsMovedToInAStep) {
  Generator rng(1);
  LanguageModel model(gpt2(23, 1, 8, 2, 40), rng);
  model.eval();
  const Tensor prompt = tensor({1, 2}, {2}, i64);
  ContinuousBatch batch(next_token(model));
  std::optional<ContinuousBatch> now;
  GenerateOptions options{.length = 4};
  options.on_token = [&](auto&&...) {
    if (!now) now.emplace(std::move(batch));
    expect_error([&] { now->add(prompt, {}, rng); }, "add() was called inside on_token");
    expect_error([&] { now->step(); }, "step() was called inside on_token");
    return true;
  };
  for (int i = 0; i < 2; ++i) batch.add(prompt, options, rng);
  batch.step();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->add(prompt, {.length = 1}, rng), 2);
  std::size_t ended = 0;
  while (now->open() > 0) ended += now->step().size();
  EXPECT_EQ(ended, 3u);

  std::optional<ContinuousBatch> moved;
  ContinuousBatch fleeting([&](const Tensor& tokens, DecodingCache& cache, const Tensor& mask) {
    Tensor logits = next_token(model)(tokens, cache, mask);
    moved.emplace(std::move(fleeting));
    return logits;
  });
  expect_error([&] { fleeting.add(prompt, {}, rng); }, "was moved inside the model function");
  EXPECT_EQ(moved->open(), 0);
}

}  // namespace
}  // namespace ladon::continuous_batch_test
