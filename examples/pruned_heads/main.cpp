// Heads of a trained layer, pruned by the evidence of a Gaussian process.

#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/pruned_heads/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Which heads of a trained layer to keep: evidence or gradients";
constexpr const char* duration = "about 10 seconds of processor time";
constexpr const char* lesson =
    "With its attention maps frozen, a trained layer is a Gaussian process whose kernel is a "
    "sum over heads: the evidence of every set of heads is exact. Heads are removed as long as "
    "the evidence falls by less than 3 nats; this rule is compared with mask gradients, the "
    "size of weights, and chance. Which heads should stay, and does that certificate hold on "
    "new questions?";
const std::vector<Trial> trials = {
    {"pruned_heads --sizes 16,64,256", "held: how many questions does a certificate need?"},
    {"pruned_heads --epochs 2", "keep8: accuracy of networks whose training was cut short"}};

void add_options(Program& program, Settings& s) {
  program.list("--sizes", s.sizes, "Numbers N of questions from which heads are chosen",
               "The cost grows as N³; the evidence of few questions says little",
               whole_number<std::int64_t>(8, 1024));
  program.option("--networks", s.networks, "Networks, each trained from its own initialization",
                 "Standard errors are over networks", whole_number<std::int64_t>(1, 1000));
  program.option("--splits", s.splits, "Random draws of the N questions for each network",
                 "More make the share of certificates that held more precise",
                 whole_number<std::int64_t>(1, 1000));
  program.option("--epochs", s.epochs, "Passes of training",
                 "After few, attention maps are not yet informative",
                 whole_number<std::int64_t>(1, 1000));
  program.list("--data", s.data, "Three files TRAIN,TEST,GLOVE: TREC's questions and word vectors",
               "For real questions; without it the generated task", name_of("files"));
  program.option("--bits", s.bits, "File for the answers per question (.npz)",
                 "To recompute the statistics from it", name_of("a file"));
  program.check([&s] {
    refuse_repeated("--sizes", s.sizes);
    if (!s.data.empty() && s.data.size() != 3)
      throw UsageError(
          "--data", detail::join("needs three files, TRAIN,TEST,GLOVE, but got ", s.data.size()));
  });
}

bool teach(Program& program, const Settings& s) {
  const Study study = run_study(s);
  if (study.networks.empty()) return false;
  std::cout << study.networks.size() << " networks, " << s.splits << " splits of each\n";
  const Table network = accuracy_table(s, study, false), process = accuracy_table(s, study, true),
              contrasts = contrast_table(s, study), certificates = certificate_table(s, study);
  print("How good is the trained network with the others masked?", network);
  print("How good is the Gaussian process of the kept heads?", process);
  print("Does the evidence choose better heads?", contrasts);
  print("Did the certificates hold?", certificates);
  std::cout << certificate_text(s, study);
  program.write({.tables = {{"network", network},
                            {"process", process},
                            {"contrasts", contrasts},
                            {"certificates", certificates}},
                 .interrupted = study.interrupted});
  if (!s.bits.empty()) write_bits(s, study);
  std::cout << "picture: " << draw(s, study).string() << '\n';
  return !study.interrupted;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("pruned_heads", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
