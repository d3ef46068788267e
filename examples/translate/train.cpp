#include "ladon/examples/translate/train.h"

#include <algorithm>
#include <chrono>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/text/bleu.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/schedule.h"
#include "ladon/optim/training/average.h"
#include "ladon/optim/training/training_run.h"

namespace ladon::example {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t looked_at = 200;  ///< Pairs of a look.

template <class T>
std::vector<T> first_of(const std::vector<T>& all, std::int64_t count) {
  return {all.begin(), all.begin() + std::min<std::int64_t>(count, std::ssize(all))};
}

/// The looks of a run as a tensor [n, 6], and back.
Tensor tensor_of(const std::vector<Look>& looks) {
  std::vector<double> numbers;
  for (const Look& l : looks)
    numbers.insert(numbers.end(), {static_cast<double>(l.step), l.train, l.validation, l.bleu,
                                   l.speed, l.seconds});
  return from_vector(numbers, {std::ssize(looks), 6});
}

std::vector<Look> looks_of(const Tensor& x) {
  const std::vector<double> n = x.to_vector();
  std::vector<Look> looks;
  for (std::size_t i = 0; i < n.size(); i += 6)
    looks.push_back(
        {static_cast<std::int64_t>(n[i]), n[i + 1], n[i + 2], n[i + 3], n[i + 4], n[i + 5]});
  return looks;
}

Tensor loss_of_batch(const Translator& t, const PairBatch& batch, double smoothing) {
  return cross_entropy(t.model(batch.source, batch.target_in, batch.source_mask), batch.target_out,
                       {.label_smoothing = smoothing, .ignore_index = t.tokens.ends().pad});
}

Look look_at(const Translator& t, const Corpus& corpus) {
  Look look;
  look.train = loss_of(t, corpus.train, looked_at);
  look.validation = loss_of(t, corpus.validation, looked_at);
  look.bleu = metrics::bleu(translate(t, first_of(corpus.validation.sources, looked_at), 0, 1),
                            first_of(corpus.validation.targets, looked_at))
                  .score;
  return look;
}

}  // namespace

std::filesystem::path run_file(const Settings& s) { return s.common.out / "translate.safetensors"; }

std::size_t shown_pair(const Corpus& corpus) {
  constexpr std::int64_t most = 12;
  std::size_t shown = 0;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < corpus.test.sources.size(); ++i) {
    const std::string& text = corpus.test.sources[i];
    const std::int64_t words = std::count(text.begin(), text.end(), ' ') + 1;
    if (words > longest && words <= most) {
      longest = words;
      shown = i;
    }
  }
  return shown;
}

double loss_of(const Translator& t, const ParallelText& pairs, std::int64_t count) {
  constexpr std::int64_t at_once = 50;
  const NoGrad no_grad;
  const auto sources = t.tokens.encode(first_of(pairs.sources, count)),
             targets = t.tokens.encode(first_of(pairs.targets, count));
  double sum = 0, tokens = 0;
  for (const ItemIndices& items : ordered_batches(std::ssize(sources), at_once)) {
    const auto of = [&](const std::vector<TokenSequence>& all) {
      return std::vector<TokenSequence>(all.begin() + items.front(),
                                        all.begin() + items.back() + 1);
    };
    const PairBatch batch = pad_pairs(of(sources), of(targets), t.tokens.ends());
    const double here = ladon::sum(cast(batch.target_mask, f64)).item();
    sum += here * loss_of_batch(t, batch, 0).item();
    tokens += here;
  }
  return sum / tokens;
}

Course train(const Settings& s, const Corpus& corpus, Translator& translator) {
  Generator rng = Generator(s.common.seed).split(2);
  TranslationModel& model = translator.model;
  const PairTokens ends = translator.tokens.ends();
  auto data = pair_loader(translator.tokens.encode(corpus.train.sources),
                          translator.tokens.encode(corpus.train.targets), ends,
                          {.batch_size = s.batch, .by_length = true}, rng);
  Adam adam(model.parameters(), {.lr = s.rate, .beta2 = 0.98});
  adam.set_schedule(schedule::cosine({.steps = s.steps, .warmup = s.steps / 10, .floor = 0.02}));
  // The memory is a twentieth of the run.
  WeightAverage average(model, {.decay = std::max(0.0, 1 - 20 / static_cast<double>(s.steps))});
  BytePairTokenizer tokenizer = translator.tokens.tokenizer();
  Tensor sizes = from_vector(std::vector{s.layers, s.heads, s.dim}, {3}), seen = tensor_of({}),
         first = zeros({0});
  TrainingRun run;
  run.add("model", model);
  run.add("optimizer", adam);
  run.add("average", average);
  run.add("data", data);
  run.add("tokenizer", tokenizer);
  run.add("sizes", sizes);
  run.add("looks", seen);
  run.add("first", first);
  if (!s.resume.empty()) run.load(s.resume);
  LADON_CHECK(adam.steps() <= s.steps, "translate", s.resume, " was trained for ", adam.steps(),
              " steps, and is to end at ", s.steps, "; raise --steps");
  Course course{looks_of(seen), {}};
  const std::size_t shown = shown_pair(corpus);
  const auto attention = [&] {
    return attention_of(translator, corpus.test.sources[shown], corpus.test.targets[shown]);
  };

  Progress progress(static_cast<double>(s.steps - adam.steps()));
  double loss_sum = 0, count = 0, tokens = 0;
  auto start = Clock::now();
  while (adam.steps() < s.steps) {
    const PairBatch batch = data.next();
    adam.zero_grad();
    const Tensor loss = loss_of_batch(translator, batch, s.smoothing);
    backward(loss);
    clip_grad_norm(model.parameters(), 1);
    adam.step();
    average.update();
    loss_sum += loss.item();
    tokens += sum(cast(batch.source_mask, f64)).item() + sum(cast(batch.target_mask, f64)).item();
    progress.step(join("training, loss ", loss_sum / ++count,
                       course.looks.empty() ? "" : join(", BLEU ", course.looks.back().bleu)));
    if (adam.steps() % s.every != 0 && adam.steps() != s.steps) continue;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    model.eval();
    {
      const WeightAverage::Scope averaged = average.apply();
      Look look = look_at(translator, corpus);
      look.step = adam.steps();
      look.speed = tokens / seconds;
      look.seconds = seconds;
      if (course.looks.empty()) first = attention().weights;
      course.looks.push_back(look);
    }
    model.train();
    seen = tensor_of(course.looks);
    run.save(run_file(s));
    loss_sum = count = tokens = 0;
    start = Clock::now();
  }
  average.copy_to(model);
  model.eval();
  course.first = attention();
  course.first.weights = first;
  return course;
}

}  // namespace ladon::example
