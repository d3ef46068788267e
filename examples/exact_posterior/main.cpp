// The exact posterior of attention, from one head to infinitely many.

#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/exact_posterior/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How the posterior of few heads becomes a Gaussian process";
constexpr const char* duration = "about 80 s of processor time";
constexpr const char* lesson =
    "A layer of attention with infinitely wide heads has a posterior that can be sampled exactly, "
    "for any number H of heads. Its mean and standard deviation are shown for few, many and "
    "infinitely many heads. With infinitely many it is a Gaussian process, and the distance to it "
    "falls as 1/H. Can eight targets tell how many heads there are?";
const std::vector<Trial> trials = {
    {"exact_posterior --labels one --draws 20",
     "evidence: do targets that one head made prefer one head?"},
    {"exact_posterior --heads 1,2,4,8,16,32", "heads_w2: from how many heads on is it constant?"},
    {"exact_posterior --scaling linear --heads 1,4",
     "evidence and mean_error: all 0, as every head is alike"}};

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(Program& program, const TaskSettings& s) {
  std::cout << s.draws << " data sets" << std::endl;
  const Study study = run_study(s);
  const Table table = approach_table(study);
  print("How far is the exact posterior of H heads from the Gaussian process?",
        table.part(0, approach_columns_printed));
  for (const Approach& a : study.approaches)
    std::cout << incomplete(s, join("exact ", a.heads), a.scores.size());
  program.write({.tables = {{"exact", table}},
                 .interrupted = study.interrupted,
                 .more = bands_json(study.bands)});
  draw(s, study);
  return !study.interrupted;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  TaskSettings settings;
  Program program("exact_posterior", {summary, duration, lesson, trials}, settings.common);
  add_task_options(program, settings);
  program.check([&] { refuse_repeated("--heads", settings.heads); });
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
