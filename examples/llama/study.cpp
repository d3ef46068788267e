#include "ladon/examples/llama/study.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/rowwise.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

LanguageModel make_model(const Settings& s, std::int64_t vocabulary, std::int64_t kv_heads,
                         Generator rng) {
  const std::int64_t hidden = (8 * s.dim / 3 + 15) / 16 * 16;  // 8/3·dim, as in Llama
  return LanguageModel(llama(vocabulary, s.layers, s.dim, s.heads, kv_heads, hidden), rng);
}

void train(const Settings& s, const Tensor& text, LanguageModel& model, const Generator& rng,
           Progress& progress) {
  AdamW adam(decay_except(model), {.lr = s.rate, .beta2 = 0.99, .weight_decay = 0.1});
  adam.set_schedule(schedule::cosine(
      {.steps = s.steps, .warmup = std::min<std::int64_t>(50, s.steps / 10), .floor = 0.1}));
  for (std::int64_t step = 0; step < s.steps; ++step) {
    Generator draw = rng.split(static_cast<std::uint64_t>(step));
    const Window w = random_windows(text, s.batch, s.context, draw);
    adam.zero_grad();
    const Tensor loss = cross_entropy(model(w.x), w.y);
    backward(loss);
    clip_grad_norm(model.parameters(), 1);
    adam.step();
    progress.step(join("training with ", model.body.layers[0].attention->kv_heads(),
                       " key heads, loss ", loss.item()));
  }
  model.eval();
}

std::int64_t cache_bytes(const LanguageModel& model) {
  std::int64_t numbers = 0;
  for (const TransformerEncoderLayer& layer : model.body.layers) {
    const MultiHeadAttention& a = layer.attention;
    numbers += a.kv_heads() * (a.head_dim() + a.value_head_dim());
  }
  return numbers * static_cast<std::int64_t>(sizeof(float));
}

/// Seconds per generated token: the smallest of several times, which other programs disturbed
/// least.
double seconds_a_token(const LanguageModel& model) {
  constexpr int timed = 25;
  Generator rng(1);
  const std::int64_t vocabulary = model.embedding.weight.size(0);
  const RowwiseProducts as_generate_does;
  DecodingCache cache;
  model(randint({texts_beside, tokens_before}, rng, 0, vocabulary), cache);
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < timed; ++i) {
    const Tensor next = randint({texts_beside, 1}, rng, 0, vocabulary);
    const auto start = std::chrono::steady_clock::now();
    model(next, cache);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, spent.count() / static_cast<double>(texts_beside));
  }
  return fastest;
}

}  // namespace

Lesson read_lesson(const Settings& s) {
  const Text text = text_or_own(s.text);
  BytePairTokenizer tokenizer = BytePairTokenizer::train({text.content}, {.size = s.tokens});
  const Split tokens = split(tokenizer.encode(text.content), s.context, "tokens");
  return {text.name, std::move(tokenizer), tokens};
}

Study run_study(const Settings& s, const Lesson& lesson) {
  const Generator rng(s.common.seed);
  const std::int64_t middle = s.kv_heads[(s.kv_heads.size() - 1) / 2];
  Progress progress(static_cast<double>(s.steps * s.runs) * static_cast<double>(s.kv_heads.size()));
  Study study;
  study.interrupted = !ran_to_the_end([&] {
    for (const std::int64_t kv_heads : s.kv_heads) {
      Sharing row{.kv_heads = kv_heads};
      for (std::int64_t run = 0; run < s.runs; ++run) {
        const Generator own = rng.split(static_cast<std::uint64_t>(run));
        LanguageModel model = make_model(s, lesson.tokenizer.size(), kv_heads, own.split(0));
        train(s, lesson.text.train, model, own.split(1), progress);
        row.validation.push_back(loss_on(model, lesson.text.validation, s.context));
        row.weights = model.parameter_count();
        row.cache_bytes = cache_bytes(model);
        if (run == 0) row.seconds = seconds_a_token(model);
        if (run == 0 && kv_heads == middle) study.model = std::move(model);
      }
      study.rows.push_back(row);
    }
  });
  return study;
}

}  // namespace ladon::example
