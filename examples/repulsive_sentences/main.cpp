// The experiment of An et al. 2020 (Repulsive Attention) with controls, on their kind of model: a
// sentence model with hops of attention (Lin et al. 2017).

#include <iostream>
#include <map>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_sentences/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Does repulsive attention gain by repulsion, or by larger weights?";
constexpr const char* duration = "about 20 s on 2 cores";
constexpr const char* lesson =
    "A sentence model attends to a sentence by 30 hops, the rows of one matrix. Rows that repel "
    "each other become more distant, and also larger: which of the two changes the answers? svgd "
    "is compared with arms that make the matrix larger without repulsion, by its initial values or "
    "its learning rate; each arm has one parameter, chosen from three values. All arms are "
    "compared sentence by sentence.";
const std::vector<Trial> trials = {
    {"repulsive_sentences --arms svgd,start,frozen --seeds 4",
     "difference of svgd from start and frozen, which only enlarge W_s2: is there any?"},
    {"repulsive_sentences --epochs 4", "accuracy of all arms, and which gain by a larger W_s2"}};

void add_options(Program& program, Settings& s) {
  const auto count = [](std::int64_t low) { return whole_number<std::int64_t>(low, 1'000'000); };
  std::vector<std::string> names;
  for (const Arm& arm : arms()) names.push_back(arm.name);
  program.option("--format", s.format,
                 "Sentences: generated, or from files: trec, or lines, a file per class",
                 "README.md shows the results for trec", one_of({"generated", "trec", "lines"}));
  program.list("--data", s.data, "Files of the sentences", "With --format trec or lines",
               name_of("a file"));
  program.option("--glove", s.glove, "File of word vectors of width 50, with --data",
                 "Few sentences are not enough to learn words from", name_of("a file"));
  program.list("--arms", s.arms,
               join("Arms in addition to plain, of ", listed(names), " (default: all)"),
               "A few take less time", one_of(names).described(""));
  program.option("--folds", s.folds, "Number of folds",
                 "More folds leave more sentences to train on", count(2));
  program.option("--seeds", s.seeds, "Fits per arm and fold",
                 "More make the standard error over seeds smaller", count(1));
  program.option("--epochs", s.epochs, "Passes over the training part", "README.md uses 8 for TREC",
                 count(1));
  program.option("--batch-size", s.batch_size, "Batch size", "README.md uses 64 for TREC",
                 count(1));
  program.check([&s] {
    refuse_repeated("--arms", s.arms);
    const bool generated = s.format == "generated";
    if (generated && !s.data.empty())
      throw UsageError("--data", "needs --format trec or lines, but --format is generated");
    if (!generated && s.data.empty())
      throw UsageError("--data", "is missing; --format " + s.format + " needs it");
    if (s.data.empty() && !s.glove.empty())
      throw UsageError("--glove", "holds word vectors, which need texts; give them by --data");
  });
  program.option("--bits", s.bits, "File (.npz) for the answers per question",
                 "To analyse them anew: see examples/common/paired.h", name_of("a file"));
  program.option("--checkpoint", s.checkpoint, "File (.npz) of finished fits, to resume from",
                 "For long runs", name_of("a file"));
}

/// Arrays for --bits, as described in paired.h.
std::map<std::string, Tensor> bits_of(const Sentences& data, const Study& study) {
  std::vector<std::int64_t> fold(data.texts.labels.size());
  for (std::size_t f = 0; f < study.folds.size(); ++f)
    for (const std::int64_t i : study.folds[f].test) fold[i] = static_cast<std::int64_t>(f);
  std::map<std::string, Tensor> bits = {{"labels", from_vector(data.texts.labels, {data.count()})},
                                        {"fold", from_vector(fold, {data.count()})}};
  for (const Answers& a : study.arms) {
    bits[a.arm.name + "/right"] = stack(a.right);
    bits[a.arm.name + "/probability"] = stack(a.probability);
  }
  return bits;
}

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(Program& program, const Settings& s) {
  const Sentences data = sentences(s, Generator(s.common.seed).split(3));
  std::cout << data.count() << " sentences, " << data.classes() << " classes, "
            << data.vocabulary.size() << " words" << std::endl;
  const Study study = run_study(data, s);
  const Report report = report_of(study);
  print("Which number was chosen for each arm?", report.tables[0].table);
  print(join("What do the arms answer? Seeds: ", study.seeds), report.tables[1].table);
  print("Is an arm better than plain, and svgd than what makes W_s2 larger?",
        report.tables[2].table);
  if (!s.bits.empty() && !study.arms.empty()) save_npz(s.bits, bits_of(data, study));
  program.write(report);
  if (const auto picture = draw(s, study); !picture.empty())
    std::cout << "picture: " << picture.string() << '\n';
  return !study.interrupted;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("repulsive_sentences", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
