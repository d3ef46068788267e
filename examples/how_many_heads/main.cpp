// How many heads are enough? Errors by number of heads, and evidence for the layer behind the data.

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/how_many_heads/results.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How many heads are enough: errors against heads, and evidence";
constexpr const char* duration = "about 8 seconds of processor time";
constexpr const char* lesson =
    "A layer that has to retrieve 4 things at once is trained with 1 to 8 heads, under a fixed "
    "total width and a fixed width of each head, beside one wide head. Then the evidence for one "
    "head against infinitely many is found for data that 1 and 64 heads made.";
const std::vector<Trial> trials = {
    {"how_many_heads --part errors --steps 600", "bend: is it clear after longer training?"},
    {"how_many_heads --part evidence --targets 12,18",
     "for_one, for_many: how soon do data decide?"}};

void add_options(Program& program, Settings& s) {
  const auto size = [](std::int64_t most) { return whole_number<std::int64_t>(1, most); };
  program.option("--part", s.part, "Parts to run: errors, evidence, or both",
                 "One alone where its settings are changed",
                 one_of({"errors", "evidence", "both"}));
  program.list("--tokens", s.tokens, "Numbers of tokens T", "More tokens ask for sharper attention",
               size(1024));
  program.option("--seeds", s.seeds, "Trained layers of each kind",
                 "Standard errors are over them; with one there are none", size(1000));
  program.option("--steps", s.steps, "Steps of Adam", "More show what training has not reached",
                 size(1'000'000));
  program.list("--truths", s.truths, "Heads that make labels", "Others show what lies between",
               size(1024));
  program.list("--targets", s.targets, "Targets N of a data set",
               "The evidence grows with them, and so does its cost", size(200));
  program.option("--sets", s.sets, "Data sets of each kind",
                 "More narrow the errors of ln B, which are over them",
                 whole_number<std::int64_t>(2, 10'000));
  program.option("--particles", s.particles, "Particles per target",
                 "More where two runs of the same data are far apart (runs)", size(10'000));
  program.list("--data", s.data, "Files TRAIN,GLOVE of TREC and its word vectors",
               "For the evidence of real questions alone", name_of("files"));
  program.check([&s] {
    refuse_repeated("--tokens", s.tokens);
    refuse_repeated("--truths", s.truths);
    refuse_repeated("--targets", s.targets);
    if (!s.data.empty() && s.data.size() != 2)
      throw UsageError("--data", "needs two files: TRAIN,GLOVE");
    if (!s.data.empty() && s.sets % pairs != 0)
      throw UsageError("--sets", "must be a multiple of the 10 pairs of TREC's classes");
  });
}

/// Returns whether the run was not interrupted.
bool teach(Program& program, const Settings& s) {
  const Study study = run_study(s);
  const Table errors = error_table(s, study), contrasts = contrast_table(s, study),
              evidence = evidence_table(s, study);
  print("How far does the error fall with heads?", errors);
  print("Is D = 4 a special number of heads, and does width replace heads?", contrasts);
  print(s.data.empty() ? "Does the evidence find the heads that made the labels?"
                       : "Does the evidence ask for one head or for many?",
        evidence);
  program.write({.tables = {{"errors", errors}, {"contrasts", contrasts}, {"evidence", evidence}},
                 .interrupted = study.interrupted});
  if (study.interrupted) return false;
  draw_errors(s, study);
  draw_evidence(s, study);
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("how_many_heads", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
