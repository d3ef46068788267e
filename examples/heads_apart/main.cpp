// Repulsion moves heads apart in weights. Does it also move their attention apart?

#include <iostream>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/heads_apart/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Do heads with distant weights have different attention maps?";
constexpr const char* duration = "about 30 s on 2 cores";
constexpr const char* lesson =
    "The classifier of the example head_roles is trained plainly, with repulsion between heads, or "
    "with a penalty on their similarity. Repulsion pushes the weights of heads apart. Do their "
    "attention maps become different, too? A table shows both after training, and a page (--page) "
    "shows them epoch by epoch.";
const std::vector<Trial> trials = {
    {"heads_apart --methods plain,svgd --alpha 1 --seeds 4",
     "map_redundancy and head_distance: what does a hundred times the repulsion change?"},
    {"heads_apart --epochs 30 --methods plain,svgd",
     "head_distance: repulsion keeps moving heads that have stopped learning"}};

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(const Program& program, const Settings& s) {
  const Task task = rules_task(s, Generator(s.common.seed));
  std::cout << task.description << std::endl;
  Outcomes outcomes;
  const bool complete = run_all(task, s, columns().size(), apart(task), outcomes);
  const Table table = table_of(columns(), outcomes);
  if (!table.empty()) std::cout << settings_line(s, outcomes);
  print("What do its heads do?", table);
  std::cout << diverged_lines(outcomes);
  program.write({.tables = {{"methods", table}},
                 .interrupted = !complete,
                 .more = {{"runs", details(columns(), outcomes)}}});
  const Outcomes shown = that_converged(outcomes);
  if (shown.empty() || s.heads == 1) return complete;
  draw(s, shown);
  if (!complete) return false;
  return ran_to_the_end([&] { program.write_page([&] { return page(s, task, shown); }); });
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("heads_apart", {summary, duration, lesson, trials}, settings.common);
  add_training_options(program, settings);
  program.page_option();
  program.check([&] {
    check_training(settings);
    if (!settings.common.page.empty() && settings.heads < 2)
      throw UsageError("--page", "needs --heads 2 or more");
  });
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
