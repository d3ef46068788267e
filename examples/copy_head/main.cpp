// Emergence of a copy head, which attends to the previous token, as the data grow: the exact
// posterior of the head, compared with approximate methods.

#include <algorithm>
#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/copy_head/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How a copy head emerges: its exact posterior through a transition";
constexpr const char* duration = "about 30 s of processor time";
constexpr const char* lesson =
    "One attention head has to learn that every position repeats the token before it. As the "
    "number N of sequences grows, the exact posterior of its attention map jumps: near N* it "
    "has two peaks, heads that do not attend to the token before and heads that copy it, and "
    "few between. Linear attention on the same data has one peak, which moves. For methods "
    "that start from the prior, the share of copying heads is compared with the exact one, at "
    "N* and after it.";
const std::vector<Trial> trials = {
    {"copy_head --sets 1 --sequences 24,26,28,30,32,34,36 --particles 1000",
     "ordered and valley of softmax: over which range of N does one data set jump?"},
    {"copy_head --sets 2 --steps 1600",
     "error of the methods after N*: are their networks still in the wrong phase?"}};

void add_options(Program& program, Settings& s) {
  program.list("--sequences", s.sequences, "Numbers of sequences N",
               "A finer list near N* shows the jump of one data set",
               whole_number<std::int64_t>(1, 1000));
  program.option("--sets", s.sets, "Number of data sets", "Standard errors are over data sets",
                 whole_number<std::int64_t>(1, 1000));
  program.option("--particles", s.particles,
                 "Particles of each of four runs of sequential Monte Carlo",
                 "Raise it where the Monte Carlo error, column mc, is not small",
                 whole_number<std::int64_t>(20, 1'000'000));
  program.option(
      "--steps", s.steps,
      "Gradients per network; samplers take four times as many. Runs with a quarter of them are "
      "made, too",
      "Networks that are still in the wrong phase after many steps are stuck",
      whole_number<std::int64_t>(4, 1'000'000));
  program.check([&s] { refuse_repeated("--sequences", s.sequences); });
}

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(Program& program, Settings& s) {
  std::ranges::sort(s.sequences);
  std::cout << s.sets << " data sets" << std::endl;
  const Study study = run_study(s);
  const Table exact = exact_table(s, study), valleys = valley_table(s, study),
              methods = method_table(s, study);
  print("Does the posterior of the head jump?", exact);
  print("Are there two peaks?", valleys);
  print("Which methods are in the right phase? (softmax)", methods);
  program.write({.tables = {{"exact", exact}, {"valleys", valleys}, {"methods", methods}},
                 .interrupted = study.interrupted});
  for (const std::filesystem::path& picture : draw(s, study))
    std::cout << "picture: " << picture.string() << '\n';
  return !study.interrupted;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("copy_head", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
