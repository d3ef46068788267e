#include <algorithm>
#include <chrono>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/text/bleu.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/translate/study.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/extra/training/average.h"
#include "ladon/optim/extra/training/training_run.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double smoothing = 0.1;  // label smoothing

/// The first pairs, at most 200, which an evaluation during training uses.
ParallelText looked_at(const ParallelText& pairs) {
  constexpr std::size_t most = 200;
  ParallelText first = pairs;
  first.sources.resize(std::min(most, pairs.sources.size()));
  first.targets.resize(first.sources.size());
  return first;
}

double count(const Tensor& mask) { return sum(mask).item(); }

Tensor loss_of_batch(const Translator& t, const PairBatch& batch, double label_smoothing) {
  return cross_entropy(t.model(batch.source, batch.target_in, batch.source_mask), batch.target_out,
                       {.label_smoothing = label_smoothing, .ignore_index = t.ends().pad});
}

/// Loss per target token, including end tokens.
double loss_of(const Translator& t, const ParallelText& pairs) {
  const NoGrad no_grad;
  Generator unused(0);
  auto batches = pair_loader(t.encode(pairs.sources), t.encode(pairs.targets), t.ends(),
                             {.batch_size = 50, .shuffle = false}, unused);
  double total = 0, tokens = 0;
  for (std::int64_t i = 0; i < batches.size(); ++i) {
    const PairBatch batch = batches.next();
    total += count(batch.target_mask) * loss_of_batch(t, batch, 0).item();
    tokens += count(batch.target_mask);
  }
  return total / tokens;
}

/// A row of Course::looks; the model must be in evaluation mode.
Tensor look_at(const Translator& t, const Corpus& corpus, std::int64_t steps, double tokens,
               double seconds) {
  const ParallelText validation = looked_at(corpus.validation);
  const double bleu = metrics::bleu(translate(t, validation.sources, 0), validation.targets).score;
  return from_vector(std::vector{static_cast<double>(steps), loss_of(t, looked_at(corpus.train)),
                                 loss_of(t, validation), bleu, tokens / seconds, seconds},
                     {1, 6});
}

}  // namespace

std::filesystem::path run_file(const Settings& s) { return s.common.out / "translate.safetensors"; }

Attention shown_attention(const Translator& translator, const Corpus& corpus) {
  const auto words = [](const std::string& source) {
    constexpr std::ptrdiff_t most = 12;
    const auto count = std::ranges::count(source, ' ') + 1;
    return count <= most ? count : 0;
  };
  const auto& sources = corpus.test.sources;
  const auto shown =
      static_cast<std::size_t>(std::ranges::max_element(sources, {}, words) - sources.begin());
  return attention_of(translator, sources[shown], corpus.test.targets[shown]);
}

Course train(const Settings& s, const Corpus& corpus, Translator& translator) {
  TranslationModel& model = translator.model;
  Generator rng = Generator(s.common.seed).split(2);
  auto data =
      pair_loader(translator.encode(corpus.train.sources), translator.encode(corpus.train.targets),
                  translator.ends(), {.batch_size = s.batch, .by_length = true}, rng);
  Adam adam(model.parameters(), {.lr = s.rate, .beta2 = 0.98});
  adam.set_schedule(schedule::cosine({.steps = s.steps, .warmup = s.steps / 10, .floor = 0.02}));
  // The time constant of the weights' moving average is a twentieth of the run.
  WeightAverage average(model, {.decay = std::max(0.0, 1 - 20 / static_cast<double>(s.steps))});
  Tensor sizes = from_vector(std::vector{s.layers, s.heads, s.dim}, {3});
  Course course{.looks = zeros({0, 6}, f64), .first = zeros({0})};
  TrainingRun run;
  run.add("model", model);
  run.add("optimizer", adam);
  run.add("average", average);
  run.add("data", data);
  run.add("tokenizer", translator.tokens);
  run.add("sizes", sizes);
  run.add("looks", course.looks);
  run.add("first", course.first);
  if (!s.resume.empty()) run.load(s.resume);
  LADON_CHECK(adam.steps() <= s.steps, "translate", s.resume, ": the resumed run was trained for ",
              adam.steps(), " steps, and --steps must not be less, but is ", s.steps,
              "; raise --steps");

  Progress progress(static_cast<double>(s.steps - adam.steps()));
  double tokens = 0;
  auto start = Clock::now();
  while (adam.steps() < s.steps) {
    const PairBatch batch = data.next();
    adam.zero_grad();
    const Tensor loss = loss_of_batch(translator, batch, smoothing);
    backward(loss);
    clip_grad_norm(model.parameters(), 1);
    adam.step();
    average.update();
    tokens += count(batch.source_mask) + count(batch.target_mask);
    progress.step(join("training, loss ", loss.item()));
    if (adam.steps() % s.every != 0 && adam.steps() != s.steps) continue;
    const std::chrono::duration<double> spent = Clock::now() - start;
    model.eval();
    {
      const WeightAverage::Scope averaged = average.apply();
      if (course.looks.size(0) == 0) course.first = shown_attention(translator, corpus).weights;
      const Tensor seen = look_at(translator, corpus, adam.steps(), tokens, spent.count());
      course.looks = concat({course.looks, seen}, 0);
    }
    model.train();
    run.save(run_file(s));
    tokens = 0;
    start = Clock::now();
  }
  average.copy_to(model);
  model.eval();
  return course;
}

std::vector<std::vector<double>> rows_of(const Tensor& matrix) {
  std::vector<std::vector<double>> rows;
  for (const Tensor& row : split(matrix, 1)) rows.push_back(row.to_vector());
  return rows;
}

}  // namespace ladon::example
