// A task of several look-ups (rules): does training divide them between the heads, with repulsion
// or without it?

#include <iostream>

#include "ladon/examples/common/text.h"
#include "ladon/examples/head_roles/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Do heads divide the work, with repulsion or without?";
constexpr const char* duration = "about 30 s on 2 cores";
constexpr const char* lesson =
    "A Transformer answers eight questions about a sequence. Each question needs attention to a "
    "different token, and a head has one attention map: so the maps show which head serves which "
    "question's rule. It is trained plainly; with its heads as particles that repel each other "
    "(svgd, spos, wgd: An et al. 2020); by svgd without its repulsion (smoothing); and with a "
    "cosine penalty between heads.";
const std::vector<Trial> trials = {
    {"head_roles --heads 1 --methods plain",
     "leading_attention: one head has one attention map, and the task needs eight"},
    {"head_roles --heads 16 --methods plain,wgd",
     "the picture: do two heads share a rule, and does repulsion change that?"}};

const std::vector<Column> columns = {
    {"leading_heads",
     "heads that attend more to some rule's token than all other heads do: 8 would be one for each "
     "rule"},
    {"untrained_heads", "the same before training"},
    {"leading_attention",
     "share of its attention that the leading head gives to its rule's token, mean over rules"},
    {"untrained_attention", "the same before training"}};

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(const Program& program, const Settings& s) {
  const Task task = rules_task(s, Generator(s.common.seed));
  std::cout << task.description << std::endl;
  Outcomes outcomes;
  const Watch watch = [&task](const Moment& moment, Run& run) {
    if (moment.first) run.before = on_right_tokens(moment.model, task);
    if (!moment.last) return;
    run.after = on_right_tokens(moment.model, task);
    const Leaders first = leaders(run.before), last = leaders(run.after);
    run.leading = last.heads;
    run.figures = {static_cast<double>(last.heads), static_cast<double>(first.heads),
                   last.attention, first.attention};
  };
  const bool complete = run_all(task, s, columns.size(), watch, outcomes);
  const Table table = table_of(columns, outcomes);
  if (!table.empty()) std::cout << settings_line(s, outcomes);
  print("Do its heads divide the rules?", table);
  std::cout << diverged_lines(outcomes);
  program.write({.tables = {{"methods", table}},
                 .interrupted = !complete,
                 .more = {{"runs", details(columns, outcomes)}}});
  const Outcomes shown = that_converged(outcomes);
  if (shown.empty() || s.heads == 1) return complete;
  std::vector<HeadMap> maps = shown_maps(shown);
  for (HeadMap& map : maps) {
    map.rows = heads_by_rule(map.matrix);
    map.columns = counted(map.matrix.size(1));
  }
  const Run run = typical(shown[0].second);
  draw_maps(s, "head_roles",
            join("Heads that lead some rule: ", leaders(run.before).heads, " of ", s.heads,
                 " before training, ", run.leading, " after"),
            join("generated task, ", picture_line(s), ", seed ", run.seed), maps, "rule",
            "attention on the right token");
  return complete;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("head_roles", {summary, duration, lesson, trials}, settings.common);
  add_training_options(program, settings);
  program.check([&] { check_training(settings); });
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
