// Repulsive heads: the effect of repulsion between a Transformer's heads in training.

#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_heads/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "What changes in training when attention heads repel each other";
constexpr const char* duration = "about 30 s on 2 cores";
constexpr const char* lesson =
    "One Transformer classifier is trained several times: plainly; with its heads as particles "
    "that repel each other (svgd, spos, wgd: An et al. 2020); by svgd without its repulsion "
    "(smoothing), which separates the effects of svgd's two parts; and with a cosine penalty "
    "between heads. Without --format a task is generated in which each question needs a different "
    "head.";
const std::vector<Trial> trials = {
    {"repulsive_heads --heads 1 --methods plain",
     "accuracy: one head has one attention map, and the task needs eight"},
    {"repulsive_heads --methods plain,smoothing,svgd --alpha 1 --seeds 4",
     "nll compared with plain: what does a hundred times the repulsion cost?"}};

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(const Program& program, const TextFiles& files, const Settings& s) {
  const Generator rng(s.common.seed);
  const Task task = files.format == "generated" ? rules_task(s, rng) : text_task(files, s, rng);
  std::cout << task.description << std::endl;
  Outcomes outcomes;
  const std::vector<Column> figures = columns(task);
  const bool complete = run_all(task, s, figures.size(), answers(task), outcomes);
  const Table table = table_of(figures, outcomes);
  const std::vector<Comparison> all = comparisons(outcomes);
  if (!table.empty()) std::cout << settings_line(s, outcomes);
  print("What does it predict?", table);
  std::cout << verdict(figures, all) << diverged_lines(outcomes);
  program.write(
      {.tables = {{"methods", table}},
       .interrupted = !complete,
       .more = {{"runs", details(figures, outcomes)}, {"verdict", as_json(figures, all)}}});
  draw(s, files.format, figures, all);
  return complete;
}

/// Checks all options in combination. Throws UsageError.
void check_usage(const TextFiles& files, const Settings& s) {
  const auto refuse = [](bool wrong, const std::string& why) {
    if (wrong) throw UsageError("--format", why);
  };
  check_training(s);
  if (files.format == "generated") {
    refuse(!files.train.empty() || !files.test.empty() || !files.glove.empty(),
           "--train, --test and --glove are files, which need --format trec, lines or tsv");
    return;
  }
  refuse(files.train.empty() || files.test.empty(), files.format + " needs --train and --test");
  refuse(files.format != "lines" && (files.train.size() > 1 || files.test.size() > 1),
         files.format + " takes one file for --train and one for --test");
}

void add_options(Program& program, TextFiles& files, Settings& s) {
  program.option("--format", files.format, "Task: generated, or text files",
                 "Text shows what repulsion does on real data",
                 one_of({"generated", "trec", "lines", "tsv"}));
  program.option("--train", files.train, "Training file; with --format lines one file per class",
                 "For your own sentences");
  program.option("--test", files.test, "Test file(s), in the same format",
                 "Never data by which settings were chosen");
  program.option("--glove", files.glove, "Word vectors: GloVe's text format, or a JSON object",
                 "Helps where the training set is small");
  add_training_options(program, s);
  program.option("--batch", s.batch_size, "Sequences per step",
                 "Smaller batches make gradient noise larger relative to the repulsion",
                 whole_number(1, 1'000'000));
  program.option("--dropout", s.dropout,
                 "Dropout of embeddings and features; half of it inside the encoder",
                 "Raise it for little text", number(0, 1));
  program.option("--word-dropout", files.word_dropout,
                 "Probability with which a word of a text is hidden in training",
                 "Raise it for little text", number(0, 1));
  program.option("--label-smoothing", s.label_smoothing, "Label smoothing of the cross-entropy",
                 "With 0 the model may become overconfident: see nll and ece", number(0, 1));
  program.option("--cosine", s.cosine_weight, "Weight of the cosine penalty",
                 "Raise it to see heads become orthogonal", number(0));
  program.option("--noise", s.noise, "b of SPOS: weight of each head's own gradient and noise",
                 "0 is svgd; large values make the heads independent", number(0));
  program.check([&] { check_usage(files, s); });
}

/// Value of --format, read before parsing because the defaults that --help shows depend on it.
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
  TextFiles files;
  files.format = format_of(argc, argv);
  Settings settings;
  if (files.format != "generated") {  // text files are small: wider model, more regularization
    settings.seeds = 3;
    settings.epochs = 20;
    settings.dim = 128;
    settings.learning_rate = 1e-3;
    settings.dropout = 0.4;
    settings.label_smoothing = 0.1;
  }
  Program program("repulsive_heads", {summary, duration, lesson, trials}, settings.common);
  add_options(program, files, settings);
  return program.run(argc, argv, [&] { return teach(program, files, settings); });
}
