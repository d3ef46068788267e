#include "ladon/examples/char_gpt/train.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/extra/training/training_run.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

using Clock = std::chrono::steady_clock;

/// Converts the records of a run (step, training loss, validation loss, seconds) to a tensor
/// [n, 4], and back.
Tensor tensor_of(const std::vector<Look>& looks) {
  std::vector<double> numbers;
  for (const Look& look : looks)
    numbers.insert(numbers.end(),
                   {static_cast<double>(look.step), look.train, look.validation, look.seconds});
  return from_vector(numbers, {static_cast<std::int64_t>(looks.size()), 4});
}

std::vector<Look> looks_of(const Tensor& x) {
  const std::vector<double> numbers = x.to_vector();
  std::vector<Look> looks;
  for (std::size_t i = 0; i < numbers.size(); i += 4)
    looks.push_back(
        {static_cast<std::int64_t>(numbers[i]), numbers[i + 1], numbers[i + 2], numbers[i + 3]});
  return looks;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

LanguageModel make_model(const Settings& s, const Corpus& corpus) {
  LanguageModelOptions options =
      gpt2(corpus.characters.size(), s.layers, s.dim, s.heads, s.context);
  options.layer.dropout = s.dropout;
  Generator rng(s.common.seed);
  return LanguageModel(options, rng);
}

std::filesystem::path run_file(const Settings& s) { return s.common.out / "char_gpt.safetensors"; }

std::vector<Look> train(const Settings& s, const Corpus& corpus, LanguageModel& model) {
  Generator rng(s.common.seed);
  AdamW adam(decay_except(model), {.lr = s.rate, .beta2 = 0.99, .weight_decay = 0.1});
  adam.set_schedule(schedule::cosine(
      {.steps = s.steps, .warmup = std::min<std::int64_t>(100, s.steps / 10), .floor = 0.1}));
  std::optional<Svgd> svgd;  // svgd has no state to save
  if (s.particles == "svgd") svgd.emplace(particles(model));
  Tensor seen = tensor_of({});
  TrainingRun run;
  run.add("model", model);
  run.add("optimizer", adam);
  run.add("looks", seen);
  if (!s.resume.empty()) run.load(s.resume);
  LADON_CHECK(adam.steps() <= s.steps, "char_gpt", s.resume, ": the resumed run was trained for ",
              adam.steps(), " steps, and --steps must not be less, but is ", s.steps,
              "; raise --steps");
  std::vector<Look> looks = looks_of(seen);

  Progress progress(static_cast<double>(s.steps - adam.steps()));
  double sum = 0, count = 0;
  auto start = Clock::now();
  while (adam.steps() < s.steps) {
    Generator draw = rng.split(1).split(static_cast<std::uint64_t>(adam.steps()));
    const Window w = random_windows(corpus.text.train, s.batch, s.context, draw);
    adam.zero_grad();
    const Tensor loss = cross_entropy(model(w.x), w.y);
    backward(loss);
    if (svgd) svgd->apply();
    clip_grad_norm(model.parameters(), 1);
    adam.step();
    sum += loss.item();
    ++count;
    progress.step(join("training, loss ", sum / count));
    if (adam.steps() % s.every != 0 && adam.steps() != s.steps) continue;
    const double seconds = seconds_since(start);
    model.eval();
    looks.push_back(
        {adam.steps(), sum / count, loss_on(model, corpus.text.validation, s.context), seconds});
    model.train();
    seen = tensor_of(looks);
    run.save(run_file(s));
    sum = count = 0;
    start = Clock::now();
  }
  return looks;
}

}  // namespace ladon::example
