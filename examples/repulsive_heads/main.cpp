// Repulsive heads: what changes when the heads of a Transformer repel each other in training.

#include <algorithm>
#include <iostream>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/repulsive_heads/page.h"
#include "ladon/examples/repulsive_heads/picture.h"
#include "ladon/examples/repulsive_heads/task.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "What changes in training when attention heads repel each other";
constexpr const char* duration = "about 30 s on 2 cores";
constexpr const char* lesson =
    "One Transformer classifier is trained several times: plainly; with its heads as particles "
    "that repel each other (svgd, spos, wgd: An et al. 2020); by svgd without its repulsion "
    "(smoothing), which tells the two halves of svgd apart; and with a cosine penalty between "
    "heads. Without --format it makes its own task, in which every question needs a head of its "
    "own, so that one can see which head looks after which.";
const std::vector<Trial> trials = {
    {"repulsive_heads --heads 1 --methods plain",
     "accuracy: one head has one look a sequence, and the task needs eight"},
    {"repulsive_heads --methods plain,smoothing,svgd --alpha 1 --seeds 4",
     "nll and map_redundancy against plain: what does a hundred times the repulsion cost?"},
    {"repulsive_heads --heads 16 --methods plain,wgd",
     "the picture of maps: do two heads share a rule, and does repulsion change that?"}};

/// Defaults that depend on the task; options given on the command line replace them.
void set_defaults(Settings& s) {
  const bool generated = s.format == "generated";
  const auto choose = [generated](auto& field, auto for_generated, auto for_text) {
    field = generated ? for_generated : for_text;
  };
  s.methods = methods();
  choose(s.seeds, 6, 3);
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

/// Runs every method for every seed; whether it was not interrupted.
bool run_all(const Task& task, const Settings& s, Outcomes& outcomes) {
  for (const std::string& method : s.methods) outcomes.emplace_back(method, std::vector<Outcome>{});
  return ran_to_the_end([&] {
    Progress progress(static_cast<double>(s.methods.size()) * s.seeds * s.epochs);
    for (int i = 0; i < s.seeds; ++i)
      for (auto& [method, runs] : outcomes) {
        const std::uint64_t seed = s.common.seed + static_cast<std::uint64_t>(i);
        const std::string what = join(method, ", seed ", seed);
        runs.push_back(train(task, s, method, seed, [&] { progress.step(what); }));
      }
  });
}

std::size_t runs(const Outcomes& outcomes) {
  std::size_t all = 0;
  for (const auto& [method, of_seeds] : outcomes) all += of_seeds.size();
  return all;
}

/// Of a run that was interrupted fewer than were asked for.
std::size_t most_seeds(const Outcomes& outcomes) {
  std::size_t most = 0;
  for (const auto& [method, of_seeds] : outcomes) most = std::max(most, of_seeds.size());
  return most;
}

/// Some of the table's columns, and what they mean, under a question.
std::string explained(const Table& table, std::size_t first, std::size_t count,
                      const std::string& question) {
  const Table part = table.part(first, count);
  return join(question, '\n', part.text(), '\n', part.explained(), '\n');
}

/// Whether it was not interrupted.
bool teach(Program& program, const Settings& s) {
  const Generator rng(s.common.seed);
  const Task task = s.format == "generated" ? generated_task(s, rng) : text_task(s, rng);
  std::cout << task.description << std::endl;

  Outcomes outcomes;
  const bool complete = run_all(task, s, outcomes);
  const Table table = table_of(task, outcomes);
  const std::int64_t parameters = table.empty() ? 0 : outcomes[0].second[0].parameters;
  const std::size_t rules = rule_columns(task);
  if (!table.empty())
    std::cout << parameters << " parameters; heads: " << s.heads << "; alpha: " << s.alpha
              << "; seeds: " << most_seeds(outcomes) << "; mean ± standard error over seeds\n\n"
              << explained(table, 0, figures_judged, "What does it predict?")
              << (rules == 0
                      ? ""
                      : explained(table, figures_judged, rules, "Do its heads divide the rules?"))
              << explained(table, figures_judged + rules,
                           table.columns().size() - figures_judged - rules, "What do its heads do?")
              << verdict(task, outcomes);
  if (!complete)
    std::cout << "interrupted after " << runs(outcomes) << " runs of "
              << s.methods.size() * static_cast<std::size_t>(s.seeds) << '\n';
  program.setting("parameters", [=] { return parameters; });
  program.write(
      {.tables = {{"methods", table}}, .interrupted = !complete, .more = details(task, outcomes)});
  const Outcomes shown = that_converged(outcomes);
  if (!shown.empty())
    for (const std::filesystem::path& picture : draw(s, task, shown))
      std::cout << "picture: " << picture.string() << '\n';
  if (!complete || shown.empty()) return complete;
  return ran_to_the_end([&] { program.write_page([&] { return page(s, task, shown); }); });
}

/// Check of all options together. Throws CLI::ValidationError.
void check_usage(const Settings& s) {
  const auto refuse = [](bool wrong, const std::string& option, const std::string& why) {
    if (wrong) throw CLI::ValidationError(option, why);
  };
  refuse_repeated("--methods", s.methods);
  refuse(s.dim % s.heads != 0, "--heads",
         join(s.heads, " heads do not divide --dim ", s.dim, " evenly"));
  refuse(!s.common.page.empty() && (s.format != "generated" || s.heads < 2), "--page",
         "needs --format generated and two heads or more");
  if (s.format == "generated") {
    refuse(!s.train.empty() || !s.test.empty() || !s.glove.empty(), "--format",
           "--train, --test and --glove are files, which need --format trec, lines or tsv");
    return;
  }
  refuse(s.train.empty() || s.test.empty(), "--format", s.format + " needs --train and --test");
  refuse(s.format != "lines" && (s.train.size() > 1 || s.test.size() > 1), "--format",
         s.format + " takes one file for --train and one for --test");
}

void add_options(Program& program, Settings& s) {
  const CLI::Validator count = whole_number(1, 1'000'000);
  program.option("--format", s.format, "Task: generated, or text files",
                 "Text shows what repulsion does where nobody planted a rule",
                 CLI::IsMember({"generated", "trec", "lines", "tsv"}));
  program.option("--train", s.train, "Training file; with --format lines one file a class",
                 "Bring your own sentences");
  program.option("--test", s.test, "Test file(s), in the same format",
                 "Never those that you chose settings by");
  program.option("--glove", s.glove, "Word vectors: GloVe's text format, or a JSON object",
                 "Helps where the training set is small");
  program.list("--methods", s.methods, "What to compare",
               "Fewer methods leave time for more seeds; verdicts need plain",
               CLI::IsMember(methods()));
  program.option("--seeds", s.seeds, "Repetitions, with seeds --seed, --seed + 1 and so on",
                 "Four times as many see differences of half the size", count);
  program.option("--epochs", s.epochs, "Passes over the training data",
                 "Repulsion keeps moving heads that have stopped learning: try twice as many",
                 count);
  program.option("--batch", s.batch_size, "Sequences a step",
                 "Smaller ones make the gradient's noise larger against the repulsion", count);
  program.option("--heads", s.heads, "Attention heads; they divide --dim",
                 "1 cannot answer all questions of the generated task; 16 have heads to spare",
                 count);
  program.option("--layers", s.layers, "Encoder layers",
                 "Heads of each layer repel among themselves", count);
  program.option(
      "--dim", s.dim, "Width of the model",
      "Repulsion acts on heads as rows of dim·dim/heads numbers: it weakens as they grow", count);
  program.option("--lr", s.learning_rate, "Peak learning rate of AdamW",
                 "Lower it where a method diverges", number_above(0));
  program.option("--dropout", s.dropout,
                 "Dropout of embeddings and features; half of it inside the encoder",
                 "More of it on little text", number(0, 1));
  program.option("--word-dropout", s.word_dropout, "Probability to hide a word in training",
                 "More of it on little text", number(0, 1));
  program.option("--label-smoothing", s.label_smoothing, "Of the cross-entropy",
                 "0 lets the model be as sure as it likes: watch nll and ece", number(0, 1));
  program.option("--alpha", s.alpha, "Weight of the repulsion (svgd, spos, wgd)",
                 "Lower it tenfold until the difference to plain is gone; raise it to see it grow",
                 number(0));
  program.option("--cosine", s.cosine_weight, "Weight of the cosine penalty",
                 "Raise it to see heads become orthogonal", number(0));
  program.option("--noise", s.noise, "b of SPOS: own gradient and noise",
                 "0 is svgd; large ones make the heads independent", number(0));
  program.page_option();
  program.check([&s] { check_usage(s); });
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
  set_defaults(settings);
  Program program("repulsive_heads", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
