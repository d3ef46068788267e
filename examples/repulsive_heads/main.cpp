// Repulsive heads: what changes when the heads of a Transformer repel each other in training.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "ladon/core/error.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_heads/picture.h"
#include "ladon/examples/repulsive_heads/task.h"
#include "ladon/examples/repulsive_heads/train.h"

namespace ladon::example {
namespace {

const char* lesson =
    "Trains one Transformer classifier several times: plainly, with its attention heads as "
    "particles that "
    "repel each other (svgd, spos, wgd: An et al. 2020), and with a cosine penalty between heads; "
    "then "
    "prints what repulsion changed. Without --format it makes its own task, in which every "
    "question needs "
    "a head of its own.";

/// Defaults that depend on the task; options given on the command line replace them.
void set_defaults(Settings& s) {
  const bool generated = s.format == "generated";
  const auto choose = [generated](auto& field, auto for_generated, auto for_text) {
    field = generated ? for_generated : for_text;
  };
  choose(s.epochs, 10, 20);
  choose(s.batch_size, 64, 64);
  choose(s.heads, 8, 8);
  choose(s.layers, 1, 1);
  choose(s.dim, 64, 128);
  choose(s.learning_rate, 3e-3, 1e-3);
  choose(s.dropout, 0.0, 0.4);
  choose(s.word_dropout, 0.0, 0.1);
  choose(s.label_smoothing, 0.0, 0.1);
  choose(s.alpha, 0.01, 0.01);
  choose(s.cosine_weight, 1.0, 1.0);
  choose(s.noise, 0.1, 0.1);
}

nlohmann::json settings_json(const Settings& s, std::int64_t parameters) {
  return {{"format", s.format},
          {"train", s.train},
          {"test", s.test},
          {"glove", s.glove},
          {"seed", s.common.seed},
          {"seeds", s.seeds},
          {"epochs", s.epochs},
          {"batch", s.batch_size},
          {"heads", s.heads},
          {"layers", s.layers},
          {"dim", s.dim},
          {"lr", s.learning_rate},
          {"dropout", s.dropout},
          {"word_dropout", s.word_dropout},
          {"label_smoothing", s.label_smoothing},
          {"alpha", s.alpha},
          {"cosine", s.cosine_weight},
          {"noise", s.noise},
          {"parameters", parameters}};
}

std::vector<Row> rows_of(const Outcomes& outcomes) {
  std::vector<Row> rows;
  for (const auto& [method, runs] : outcomes) {
    Row row{method, {}};
    for (std::size_t f = 0; f < runs[0].figures.size(); ++f) {
      std::vector<double> repetitions;
      for (const Outcome& run : runs) repetitions.push_back(run.figures[f].second);
      row.figures.emplace_back(runs[0].figures[f].first, estimate(repetitions));
    }
    rows.push_back(row);
  }
  return rows;
}

/// 97.5% quantile of Student's t with n − 1 degrees of freedom (2.0 from n = 11 on, a little low).
double t_quantile(std::size_t n) {
  constexpr double table[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26};
  return n < 2 ? INFINITY : n - 2 < std::size(table) ? table[n - 2] : 2.0;
}

/// A line a method: what it did to the accuracy. Runs of one seed share weights, batches and dropout, so
/// the differences are paired; "better" and "worse" mean a two-sided t test at 5%.
std::string verdict(const Outcomes& outcomes) {
  const auto plain = std::find_if(outcomes.begin(), outcomes.end(),
                                  [](const auto& o) { return o.first == "plain"; });
  if (plain == outcomes.end()) return "";
  std::string text;
  for (const auto& [method, runs] : outcomes) {
    if (method == "plain") continue;
    std::vector<double> gains;
    for (std::size_t i = 0; i < runs.size(); ++i)
      gains.push_back(runs[i].figures[0].second - plain->second[i].figures[0].second);
    const Estimate gain = estimate(gains);
    const bool clear = std::abs(gain.mean) > t_quantile(gains.size()) * gain.se;
    char line[160];
    std::snprintf(line, sizeof line, "%-6s against plain: accuracy %+.4f ± %.4f, %s",
                  method.c_str(), gain.mean, gain.se,
                  !clear          ? "no clear difference"
                  : gain.mean > 0 ? "better"
                                  : "worse");
    text += line;
    if (runs[0].force_ratio > 0)
      text += join("; repulsive/driving force at the end ", runs[0].force_ratio);
    text += '\n';
  }
  return text;
}

void teach(const Settings& s) {
  const auto start = std::chrono::steady_clock::now();
  const Generator rng(s.common.seed);
  const Task task = s.format == "generated" ? generated_task(s, rng) : text_task(s, rng);
  std::cout << task.description << '\n';

  Outcomes outcomes;
  for (const std::string& method : s.methods) outcomes.emplace_back(method, std::vector<Outcome>{});
  {
    Progress progress(static_cast<std::int64_t>(s.methods.size()) * s.seeds * s.epochs);
    for (int i = 0; i < s.seeds; ++i)
      for (auto& [method, runs] : outcomes)
        runs.push_back(train(task, s, method, s.common.seed + static_cast<std::uint64_t>(i), [&] {
          progress.step(join(method, ", seed ", s.common.seed + static_cast<std::uint64_t>(i)));
        }));
  }
  const std::vector<Row> rows = rows_of(outcomes);
  const std::int64_t parameters = outcomes[0].second[0].parameters;
  std::cout << parameters << " parameters; heads: " << s.heads << "; seeds: " << s.seeds
            << "; mean ± standard error\n\n"
            << table(rows) << '\n'
            << verdict(outcomes);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (!s.common.json.empty())
    write_json(s.common.json, "repulsive_heads", settings_json(s, parameters), spent.count(), rows);
  const std::filesystem::path picture = draw(s, outcomes);
  if (!picture.empty()) std::cout << "picture: " << picture.string() << '\n';
}

void add_options(CLI::App& app, Settings& s) {
  app.add_option("--format", s.format, "Task: generated, or text files")
      ->check(CLI::IsMember({"generated", "trec", "lines", "tsv"}));
  app.add_option("--train", s.train, "Training file; with --format lines one file a class");
  app.add_option("--test", s.test, "Test file(s), in the same format");
  app.add_option("--glove", s.glove, "Word vectors: GloVe's text format, or a JSON object");
  app.add_option("--methods", s.methods, "What to compare")
      ->delimiter(',')
      ->check(CLI::IsMember({"plain", "svgd", "spos", "cosine", "wgd"}));
  app.add_option("--seeds", s.seeds, "Repetitions, with seeds --seed, --seed + 1, …")
      ->check(CLI::PositiveNumber);
  app.add_option("--epochs", s.epochs, "Passes over the training data")->check(CLI::PositiveNumber);
  app.add_option("--batch", s.batch_size, "Sequences a step")->check(CLI::PositiveNumber);
  app.add_option("--heads", s.heads, "Attention heads; they divide --dim")
      ->check(CLI::PositiveNumber);
  app.add_option("--layers", s.layers, "Encoder layers")->check(CLI::PositiveNumber);
  app.add_option("--dim", s.dim, "Width of the model")->check(CLI::PositiveNumber);
  app.add_option("--lr", s.learning_rate, "Peak learning rate of AdamW")
      ->check(CLI::PositiveNumber);
  app.add_option("--dropout", s.dropout,
                 "Dropout of embeddings and features; half of it inside the encoder")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--word-dropout", s.word_dropout, "Probability to hide a word in training")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--label-smoothing", s.label_smoothing, "Of the cross-entropy")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--alpha", s.alpha, "Weight of the repulsion (svgd, spos, wgd)");
  app.add_option("--cosine", s.cosine_weight, "Weight of the cosine penalty");
  app.add_option("--noise", s.noise, "b of SPOS: own gradient and noise")
      ->check(CLI::NonNegativeNumber);
}

/// The value of --format, wanted before parsing because the defaults that --help shows depend on
/// it.
std::string format_of(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--format=")) return words[i].substr(9);
    if (words[i] == "--format" && i + 1 < words.size()) return words[i + 1];
  }
  return "generated";
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  settings.format = format_of(argc, argv);
  settings.common.out = "repulsive_heads.out";
  set_defaults(settings);
  CLI::App app(lesson, "repulsive_heads");
  add_common_options(app, settings.common);
  add_options(app, settings);
  return run(app, settings.common, argc, argv, [&] { teach(settings); });
}
