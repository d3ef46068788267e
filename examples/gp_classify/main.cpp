// Classification by infinitely wide networks, beside the finite ones they are the limit of.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"
#include "ladon/core/error.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/gp_classify/kernels.h"
#include "ladon/examples/gp_classify/memory.h"
#include "ladon/examples/gp_classify/picture.h"
#include "ladon/examples/gp_classify/train.h"

namespace ladon::example {
namespace {

const char* lesson =
    "Classifies with networks of infinite width. Each model is described once; its limit gives the "
    "NNGP kernel (what a Bayesian believes of it after seeing the data) and the NTK (where "
    "gradient "
    "descent leads), and both classify by Gaussian-process regression without any training. Beside "
    "them stands the finite network of the same description, trained by Adam. The models differ in "
    "how they read out tokens (an image's patches, a review's words): side by side, their mean, or "
    "attention. Without data files it draws its own small pictures.";

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

Outcome outcome(const std::string& model, const std::string& form, const Task& task,
                const Tensor& probabilities, double seconds, double megabytes) {
  const double accuracy = metrics::accuracy(probabilities, task.test.labels);
  const auto rows = static_cast<double>(task.test.size());
  const Tensor losses = -log(gather(probabilities, 1, unsqueeze(task.test.labels, 1)));
  return {model,
          form,
          {accuracy, std::sqrt(accuracy * (1 - accuracy) / rows)},
          {mean(losses).item(), std::sqrt(var(losses).item() / rows)},
          metrics::ece(probabilities, task.test.labels),
          seconds,
          megabytes,
          probabilities};
}

/// Seconds that `body` takes.
template <class F>
double timed(const F& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void add_infinite(const Model& model, const Task& task, const Settings& s,
                  std::vector<Outcome>& outcomes) {
  start_memory_phase();
  const ModelKernels kernels = compute_kernels(model, task, s);
  for (const auto& [form, blocks] : {std::pair("NNGP", &kernels.nngp), {"NTK", &kernels.ntk}}) {
    Prediction prediction;
    const double spent =
        timed([&] { prediction = classify(*blocks, task.train.labels, task.classes()); });
    const Choice& choice = prediction.choice;
    std::cout << "  " << model.name << ' ' << form << ": noise " << choice.noise
              << " by leave-one-out (accuracy " << choice.loo_accuracy << ", nll " << choice.loo_nll
              << ")\n";
    outcomes.push_back(outcome(model.name, form, task, prediction.probabilities,
                               kernels.seconds + spent, peak_memory()));
  }
}

void add_finite(const Model& model, const Task& task, const Settings& s,
                std::vector<Outcome>& outcomes) {
  start_memory_phase();
  const Trained trained = train_finite(model, task, s);
  std::cout << "  " << model.name << " finite: " << trained.parameters << " parameters\n";
  outcomes.push_back(
      outcome(model.name, "finite", task, trained.probabilities, trained.seconds, peak_memory()));
}

/// 1 where the most probable class is the label, else 0: f64 [test].
Tensor right_answers(const Outcome& o, const Task& task) {
  return cast(equal(argmax(o.probabilities, 1), task.test.labels), f64);
}

/// A line for each kernel with attention: its accuracy less that of the kernels without. The test
/// rows are the same, so the standard error is that of the paired differences.
std::string verdict(const Task& task, const std::vector<Outcome>& outcomes) {
  const auto attends = [](const Outcome& o) {
    return o.model == "attention" || o.model == "residual";
  };
  std::string text;
  for (const Outcome& o : outcomes) {
    if (!attends(o) || o.form == "finite") continue;
    std::string line;
    for (const Outcome& other : outcomes) {
      if (attends(other) || (other.form != o.form && !other.form.empty())) continue;
      const Tensor gain = right_answers(o, task) - right_answers(other, task);
      const double error = std::sqrt(var(gain).item() / static_cast<double>(task.test.size()));
      char part[96];
      std::snprintf(part, sizeof part, "%s %+.4f ± %.4f against %s", line.empty() ? "" : ",",
                    mean(gain).item(), error, other.model.c_str());
      line += part;
    }
    if (!line.empty()) text += o.model + " " + o.form + ": accuracy" + line + "\n";
  }
  return text;
}

void teach(const Settings& s) {
  const auto start = std::chrono::steady_clock::now();
  const Task task = load_task(s);
  std::cout << task.description << '\n';
  std::vector<Outcome> outcomes;
  if (task.bar)
    outcomes.push_back(
        outcome(task.bar->method, "", task, task.bar->probabilities, task.bar->seconds, NAN));
  for (const Model& model : choose_models(task, s)) {
    std::cout << model.name << ": " << model.description << '\n';
    add_infinite(model, task, s, outcomes);
    if (s.finite) add_finite(model, task, s, outcomes);
  }
  std::vector<Row> rows;
  for (const Outcome& o : outcomes) rows.push_back(o.row());
  const std::string gains = verdict(task, outcomes);
  std::cout << '\n' << table(rows) << (gains.empty() ? "" : "\n") << gains;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (!s.common.json.empty())
    write_json(s.common.json, "gp_classify", settings_json(s, task), spent.count(), rows);
  const std::filesystem::path picture = draw(s, task, outcomes);
  if (!picture.empty()) std::cout << "picture: " << picture.string() << '\n';
}

void add_options(CLI::App& app, Settings& s) {
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
  app.add_option("--train", s.train, "Training rows; 0 takes the task's default")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--test", s.test, "Test rows; 0 takes the task's default")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--models", s.models, "What to compare; by default all that suit the task")
      ->delimiter(',')
      ->check(CLI::IsMember(model_names()));
  app.add_option("--patch", s.patch, "Side of an image's patches; 0 takes the task's default")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--tokens", s.tokens, "Tokens of a review, at most")->check(CLI::PositiveNumber);
  app.add_option("--span", s.span, "Words that a token stands for")->check(CLI::PositiveNumber);
  app.add_option("--skip", s.skip, "Leave out so many words of the GloVe file, the most frequent")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--weight-variance", s.weight_variance, "Of every linear layer")
      ->check(CLI::PositiveNumber);
  app.add_option("--bias-variance", s.bias_variance, "Of every linear layer")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--sharpness", s.sharpness, "Factor of attention's logits")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--decay", s.decay, "How fast patches forget each other with their distance")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--kept", s.kept, "What residual attention keeps of the tokens")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--memory-budget", s.memory_budget, "MiB that a Gram matrix may take")
      ->check(CLI::PositiveNumber);
  app.add_option("--checkpoint", s.checkpoint, "Folder for finished tiles: a killed run resumes");
  app.add_flag("--finite,!--no-finite", s.finite, "Train the finite networks too");
  app.add_option("--width", s.width, "Of the finite networks' layers")->check(CLI::PositiveNumber);
  app.add_option("--epochs", s.epochs, "Of the finite networks")->check(CLI::PositiveNumber);
  app.add_option("--batch", s.batch_size, "Of the finite networks")->check(CLI::PositiveNumber);
  app.add_option("--lr", s.learning_rate, "Of the finite networks: Adam's first rate")
      ->check(CLI::PositiveNumber);
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  settings.common.out = "gp_classify.out";
  CLI::App app(lesson, "gp_classify");
  add_common_options(app, settings.common);
  add_options(app, settings);
  return run(app, settings.common, argc, argv, [&] { teach(settings); });
}
