// Classification by infinitely wide networks, beside the finite ones they are the limit of.

#include <iostream>

#include "ladon/core/ranks/ranks.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/kernels.h"
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
const std::vector<Trial> trials = {
    {"gp_classify --models pool,attention --train 800 --epochs 40",
     "the finite networks against their limits: which of the two learns more from twice the rows?"},
    {"gp_classify --models flatten,attention --sharpness 8",
     "how far attention's kernels fall towards flatten's once every patch looks at itself alone"},
    {"gp_classify --models dense --no-finite --train 1600",
     "accuracy against the default's: how many rows make up for not knowing about patches?"}};

/// Runs every model; whether it was not interrupted.
bool run_all(const Task& task, const Settings& s, std::vector<Outcome>& outcomes) {
  if (task.bar) outcomes.push_back(*task.bar);
  const std::vector<Model> models = choose_models(task, s);
  return ran_to_the_end([&] {
    Progress progress(static_cast<double>(models.size()) * (kernel_steps + s.finite));
    for (const Model& model : models) {
      progress.say(join(model.name, ": ", model.description));
      add_infinite(model, task, s, progress, outcomes);
      if (!s.finite) continue;
      outcomes.push_back(train_finite(model, task, s, progress));
      progress.say(join("  ", model.name, " finite: ", outcomes.back().parameters, " parameters"));
    }
  });
}

/// Whether it was not interrupted.
bool teach(Program& program, const Settings& s) {
  const Task task = load_task(s);
  program.setting("task", [&] { return task.name; });
  program.setting("train", [&] { return task.train.size(); });
  program.setting("test", [&] { return task.test.size(); });
  std::cout << task.description << std::endl;
  std::vector<Outcome> outcomes;
  const bool complete = run_all(task, s, outcomes);
  const Table table = table_of(task, s, outcomes);
  const std::vector<Comparison> compared = comparisons(task, outcomes);
  const std::string words = verdict(task, outcomes, compared);
  if (!table.empty())
    std::cout << '\n'
              << table.text() << '\n'
              << table.explained() << (words.empty() ? "" : "\n") << words;
  if (ranks::rank() > 0) return complete;  // all hold the same; one writes
  program.write({.tables = {{"models", table}},
                 .interrupted = !complete,
                 .more = details(task, outcomes, compared)});
  for (const auto& picture : {draw_figures(s, task, outcomes), draw_calibration(s, task, outcomes),
                              draw_attention(s, task, outcomes)})
    if (!picture.empty()) std::cout << "picture: " << picture.string() << '\n';
  return complete;
}

/// Files, and what only one kind of them has.
void add_tasks(Program& program, Settings& s) {
  const auto files = [&](const char* name, std::vector<std::string>& paths, const char* what,
                         const char* when) {
    return program.option(name, paths, what, when)->expected(2);
  };
  auto* mnist = files("--mnist", s.mnist, "IDX files: images, labels (gzip or not)",
                      "Real digits; the first rows train, the last ones test");
  auto* cifar = files("--cifar", s.cifar, "CIFAR-10 binary files: train, test",
                      "Photographs, where a thing may stand anywhere: compare pool with dense");
  auto* reviews = files("--reviews", s.reviews, "Label-TSV files: train, test",
                        "Text, with naive Bayes as the bar that every model should reach");
  mnist->excludes(cifar)->excludes(reviews);
  cifar->excludes(reviews);
  auto* glove =
      program.option("--glove", s.glove, "Word vectors: GloVe's text format, or a JSON object",
                     "Words without one are left out: a larger file keeps more");
  reviews->needs(glove);
  glove->needs(reviews);
  program
      .option("--patch", s.patch, "Side of an image's patches; 0 takes the task's default",
              "Smaller patches make more tokens; the kernels' time grows with their square",
              whole_number(0))
      ->excludes(reviews);
  program
      .option("--tokens", s.tokens, "Tokens of a review, at most",
              "More of them read on in long reviews, at the square of the time",
              whole_number(1, 100'000))
      ->needs(reviews);
  program
      .option("--span", s.span, "Words that a token stands for",
              "1 tells every word apart; longer ones read further at no cost",
              whole_number(1, 10'000))
      ->needs(reviews);
  program
      .option("--skip", s.skip, "Leave out this many words of the GloVe file, the most frequent",
              "0 shows what words as 'the' do to a mean", whole_number(0))
      ->needs(reviews);
}

void add_models(Program& program, Settings& s) {
  program.list("--models", s.models, "What to compare; by default all that suit the task",
               "Fewer comparisons find smaller differences", CLI::IsMember(model_names()));
  program.option("--bias-variance", s.bias_variance, "Of every linear layer",
                 "Raise it, and all inputs look more alike", number(0));
  program.option(
      "--sharpness", s.sharpness, "Factor of attention's logits",
      "0 makes attention the mean of all tokens; large ones make each token look at itself alone",
      number(0));
  program.option("--kept", s.kept, "What residual attention keeps of the tokens",
                 "0 is the model attention; 1 passes by what attention says", number(0, 1));
}

void add_options(Program& program, Settings& s) {
  const CLI::Validator count = whole_number(1, 1'000'000);
  program.option("--train", s.train, "Training rows; 0 takes the task's default",
                 "Twice as many take four times the memory, and up to eight times the time",
                 whole_number(0));
  program.option("--test", s.test, "Test rows; 0 takes the task's default",
                 "Four times as many halve every standard error", whole_number(0));
  add_models(program, s);
  program.option("--memory-budget", s.memory_budget, "MB that a Gram matrix may take",
                 "Raise it where a run says that it needs more, and your machine has it",
                 whole_number<std::int64_t>(1, 1'000'000'000));
  auto* checkpoint = program.option("--checkpoint", s.checkpoint,
                                    "Folder for finished tiles: a killed run resumes",
                                    "For kernels that take hours", name_of("a folder"));
  auto* solver = program.option(
      "--solver", s.solver,
      "Kernels in memory; or as tiles in the --checkpoint folder, solved directly or by conjugate "
      "gradients",
      "Past the memory; cg says how far it may be off", CLI::IsMember({"memory", "direct", "cg"}));
  program.flag("--finite,!--no-finite", s.finite,
               "Train the finite networks too. Leave them out where the kernels alone matter");
  program.option("--width", s.width, "Of the finite networks' layers",
                 "Raise it, and they should come nearer to their limits", count);
  program.option("--epochs", s.epochs, "Of the finite networks",
                 "Too few, and a network has not learnt what its limit knows", count);
  program.option("--lr", s.learning_rate, "Of the finite networks: Adam's first rate",
                 "Lower it where a network diverges", number_above(0));
  program.check([&s, solver, checkpoint] {
    refuse_repeated("--models", s.models);
    if (s.solver != "memory" && checkpoint->count() == 0)
      throw CLI::RequiresError(solver->get_name() + " " + s.solver, checkpoint->get_name());
  });
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("gp_classify", {summary, duration, lesson, trials}, settings.common);
  add_tasks(program, settings);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
