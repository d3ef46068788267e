// Classification by infinitely wide networks, beside the finite ones they are the limit of.

#include <chrono>
#include <cmath>
#include <iostream>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/kernels.h"
#include "ladon/examples/gp_classify/memory.h"
#include "ladon/examples/gp_classify/picture.h"
#include "ladon/examples/gp_classify/train.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Classification by networks of infinite width, without training";
constexpr const char* duration = "about 10 s on 2 cores";
constexpr const char* lesson =
    "Each model is described once; its limit gives the NNGP kernel (what a Bayesian believes of it "
    "after seeing the data) and the NTK (where gradient descent leads), and both classify by "
    "Gaussian-process regression. Beside them stands the finite network of the same description, "
    "trained by Adam. The models differ in how they read out tokens (an image's patches, a "
    "review's words): side by side, their mean, or attention. Without data files it draws its own "
    "small pictures.";
constexpr const char* command = "gp_classify --models pool,attention --train 800 --epochs 40";

nlohmann::json settings_json(const Settings& s, const Task& task) {
  return {{"task", task.name},
          {"mnist", s.mnist},
          {"cifar", s.cifar},
          {"reviews", s.reviews},
          {"glove", s.glove},
          {"train", task.train.size()},
          {"test", task.test.size()},
          {"patch", s.patch},
          {"tokens", s.tokens},
          {"span", s.span},
          {"skip", s.skip},
          {"models", s.models},
          {"finite", s.finite},
          {"weight_variance", s.weight_variance},
          {"bias_variance", s.bias_variance},
          {"sharpness", s.sharpness},
          {"decay", s.decay},
          {"kept", s.kept},
          {"memory_budget", s.memory_budget},
          {"width", s.width},
          {"epochs", s.epochs},
          {"batch", s.batch_size},
          {"lr", s.learning_rate},
          {"seed", s.common.seed}};
}

/// Seconds that `body` takes.
template <class F>
double timed(const F& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// About how many seconds the parts of a model's work take, to share out the progress line.
struct Cost {
  double kernels, noise, epoch = 0;

  Cost(const Model& model, const Task& task, const Settings& s) {
    // Of an entry of a kernel, a class's probability in all of a line search, a multiplication.
    constexpr double entry = 2e-8, probability = 5e-5, operation = 1e-10;
    const auto n = static_cast<double>(task.train.size()),
               m = static_cast<double>(task.test.size());
    const Tensor& x = model.inputs(task.train).x;
    const double tokens =
        model.tokens ? static_cast<double>(x.count() / x.size(0) / x.size(-1)) : 1;
    kernels = entry * n * (n / 2 + m) * tokens * tokens;
    noise = operation * n * n * n + probability * n * static_cast<double>(task.classes());
    if (s.finite) epoch = operation * 6 * n * tokens * 3 * s.width * s.width;
  }
  double all(const Settings& s) const {
    return kernels + 2 * noises_tried * noise + s.epochs * epoch;
  }
};

void add_infinite(const Model& model, const Task& task, const Settings& s, const Cost& cost,
                  Progress& progress, std::vector<Outcome>& outcomes) {
  start_memory_phase();
  const ModelKernels kernels = compute_kernels(model, task, s, progress, cost.kernels);
  for (const auto& [form, blocks] : {std::pair("NNGP", &kernels.nngp), {"NTK", &kernels.ntk}}) {
    const std::string name = join(model.name, ' ', form);
    Prediction prediction;
    const double spent = timed([&, blocks = blocks] {
      prediction = classify(*blocks, task.train.labels, task.classes(),
                            [&] { progress.step(name + ", leave-one-out", cost.noise); });
    });
    const Choice& choice = prediction.choice;
    progress.say(join("  ", name, ": noise ", choice.noise, " by leave-one-out (accuracy ",
                      choice.loo_accuracy, ", nll ", choice.loo_nll, ")"));
    outcomes.push_back(outcome(model.name, form, task, prediction.probabilities,
                               kernels.seconds + spent, peak_memory()));
    outcomes.back().choice = choice;
  }
}

void add_finite(const Model& model, const Task& task, const Settings& s, const Cost& cost,
                Progress& progress, std::vector<Outcome>& outcomes) {
  start_memory_phase();
  const Trained trained = train_finite(
      model, task, s, [&] { progress.step(model.name + ", finite network", cost.epoch); });
  progress.say(join("  ", model.name, " finite: ", trained.parameters, " parameters"));
  outcomes.push_back(
      outcome(model.name, "finite", task, trained.probabilities, trained.seconds, peak_memory()));
  outcomes.back().parameters = trained.parameters;
}

/// Runs every model; whether it was not interrupted.
bool run_all(const Task& task, const Settings& s, std::vector<Outcome>& outcomes) {
  const std::vector<Model> models = choose_models(task, s);
  std::vector<Cost> costs;
  double total = 0;
  for (const Model& model : models) total += costs.emplace_back(model, task, s).all(s);
  if (task.bar)
    outcomes.push_back(
        outcome(task.bar->method, "", task, task.bar->probabilities, task.bar->seconds, NAN));
  return ran_to_the_end([&] {
    Progress progress(total);
    for (std::size_t i = 0; i < models.size(); ++i) {
      progress.say(models[i].name + ": " + models[i].description);
      add_infinite(models[i], task, s, costs[i], progress, outcomes);
      if (s.finite) add_finite(models[i], task, s, costs[i], progress, outcomes);
    }
  });
}

/// Whether it was not interrupted.
bool teach(const Settings& s) {
  const auto start = std::chrono::steady_clock::now();
  const Task task = load_task(s);
  std::cout << task.description << std::endl;
  std::vector<Outcome> outcomes;
  const bool complete = run_all(task, s, outcomes);
  std::vector<Row> rows;
  for (const Outcome& o : outcomes) rows.push_back(o.row());
  const std::string gains = verdict(paired_gains(task, outcomes));
  std::cout << '\n' << table(rows) << (gains.empty() ? "" : "\n") << gains;
  for (const Outcome& o : outcomes)
    if (o.diverged()) std::cout << o.method() << " diverged; try a smaller --lr\n";
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  write_json(s.common, {.example = "gp_classify",
                        .settings = settings_json(s, task),
                        .seconds = spent.count(),
                        .rows = rows,
                        .interrupted = !complete,
                        .more = details(task, outcomes)});
  const std::filesystem::path picture = outcomes.empty() ? "" : draw(s, task, outcomes);
  if (!picture.empty()) std::cout << "picture: " << picture.string() << '\n';
  return complete;
}

/// Files, and what only one kind of them has.
void add_tasks(CLI::App& app, Settings& s) {
  auto* mnist =
      app.add_option("--mnist", s.mnist, "IDX files: images, labels (gzip or not)")->expected(2);
  auto* cifar =
      app.add_option("--cifar", s.cifar, "CIFAR-10 binary files: train, test")->expected(2);
  auto* reviews =
      app.add_option("--reviews", s.reviews, "Label-TSV files: train, test")->expected(2);
  mnist->excludes(cifar)->excludes(reviews);
  cifar->excludes(reviews);
  auto* glove =
      app.add_option("--glove", s.glove, "Word vectors: GloVe's text format, or a JSON object");
  reviews->needs(glove);
  glove->needs(reviews);
  app.add_option("--patch", s.patch, "Side of an image's patches; 0 takes the task's default")
      ->check(whole_number(0))
      ->excludes(reviews);
  app.add_option("--tokens", s.tokens, "Tokens of a review, at most")
      ->check(whole_number(1, 100'000))
      ->needs(reviews);
  app.add_option("--span", s.span, "Words that a token stands for")
      ->check(whole_number(1, 10'000))
      ->needs(reviews);
  app.add_option("--skip", s.skip, "Leave out this many words of the GloVe file, the most frequent")
      ->check(whole_number(0))
      ->needs(reviews);
}

void add_options(CLI::App& app, Settings& s) {
  const CLI::Validator count = whole_number(1, 1'000'000);
  app.add_option("--train", s.train, "Training rows; 0 takes the task's default")
      ->check(whole_number(0));
  app.add_option("--test", s.test, "Test rows; 0 takes the task's default")->check(whole_number(0));
  app.add_option("--models", s.models, "What to compare; by default all that suit the task")
      ->delimiter(',')
      ->check(CLI::IsMember(model_names()));
  app.add_option("--weight-variance", s.weight_variance, "Of every linear layer")
      ->check(number_above(0));
  app.add_option("--bias-variance", s.bias_variance, "Of every linear layer")->check(number(0));
  app.add_option("--sharpness", s.sharpness, "Factor of attention's logits")->check(number(0));
  app.add_option("--decay", s.decay, "How fast patches forget each other with their distance")
      ->check(number(0));
  app.add_option("--kept", s.kept, "What residual attention keeps of the tokens")
      ->check(number(0, 1));
  app.add_option("--memory-budget", s.memory_budget, "MB that a Gram matrix may take")
      ->check(whole_number<std::int64_t>(1, 1'000'000'000));
  app.add_option("--checkpoint", s.checkpoint, "Folder for finished tiles: a killed run resumes")
      ->check(name_of("a folder"));
  app.add_flag("--finite,!--no-finite", s.finite, "Train the finite networks too");
  app.add_option("--width", s.width, "Of the finite networks' layers")->check(count);
  app.add_option("--epochs", s.epochs, "Of the finite networks")->check(count);
  app.add_option("--batch", s.batch_size, "Of the finite networks")->check(count);
  app.add_option("--lr", s.learning_rate, "Of the finite networks: Adam's first rate")
      ->check(number_above(0));
  app.callback([&s] { refuse_repeated("--models", s.models); });
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  CLI::App app;
  set_up(app, "gp_classify", {summary, duration, lesson, command}, settings.common);
  add_tasks(app, settings);
  add_options(app, settings);
  return run(app, settings.common, argc, argv, [&] { return teach(settings); });
}
