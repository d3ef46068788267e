// Paths of particles over time: as pictures, a film, and a page on which they move.

#include <algorithm>
#include <iostream>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/moving_particles/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How particles move to where they end: their paths, and a film";
constexpr const char* duration = "about 1 minute on 2 cores";
constexpr const char* lesson =
    "The particles of the example `particles` over time. All methods start from the same "
    "positions, at one side of a density. How soon are half of the particles in the region with "
    "half of the probability, and which paths do they take: straight to a mode, away from each "
    "other, or to and fro?";
const std::vector<Trial> trials = {
    {"moving_particles --targets ring --seeds 1",
     "the film: which methods move particles around the hole, and how?"},
    {"moving_particles --targets modes --steps 20000",
     "svgd by steps: its share still grows at the end"}};

/// Target of the film and of the table: the one with two modes, or the first target if it is not
/// included.
const TargetStudy& in_time(const std::vector<TargetStudy>& studies) {
  const auto modes =
      std::ranges::find_if(studies, [](const TargetStudy& study) { return study.target.modes; });
  return modes == studies.end() ? studies.front() : *modes;
}

/// Table of shares of particles, with a row for each method and a column for each of some frames.
Table table_of(const Settings& s, const TargetStudy& study) {
  const double Figures::*share = study.target.modes ? &Figures::mode_mass : &Figures::inner_half;
  constexpr std::size_t some[] = {4, 8, 16, 28, last_frame};
  std::vector<Column> columns;
  for (const std::size_t frame : some)
    columns.push_back({join("step_", step_of(frame, s)), "the same later"});
  columns[0].meaning =
      join("share of particles ", study.target.modes ? "at the right mode" : "in the inner half",
           " after so many gradients each: 0.5 is right; mean over seeds ± standard error");
  Table table("method", columns);
  for (const std::vector<Outcome>& runs : study.runs) {
    Row row{runs[0].method, {}};
    for (const std::size_t frame : some) {
      std::vector<double> shares;
      for (const Outcome& o : runs) {
        row.diverged |= o.diverged_at != 0;
        shares.push_back(o.diverged_at == 0 ? figures_of(o.frames[frame], study).*share : NAN);
      }
      row.figures.push_back(estimate(shares));
    }
    table.add(row);
  }
  return table;
}

/// {"target", "seed", "frames"} of the run that is shown: positions of particles by method.
nlohmann::ordered_json frames(const Settings& s, const TargetStudy& study) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  const std::size_t shown = typical_run(study);
  for (const std::vector<Outcome>& runs : study.runs)
    for (std::size_t i = 0; i <= last_frame; ++i)
      all[runs[shown].method].push_back(
          {{"step", step_of(i, s)}, {"places", json_rows(runs[shown].frames[i])}});
  return {{"target", study.target.name}, {"seed", study.runs[0][shown].seed}, {"frames", all}};
}

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(const Program& program, const Settings& s) {
  std::vector<TargetStudy> studies;
  const bool complete = run_studies(s, studies);
  Report report;
  report.interrupted = !complete;
  if (studies.empty()) {
    program.write(report);
    return complete;
  }
  const TargetStudy& study = in_time(studies);
  report.tables = {{study.target.name, table_of(s, study)}};
  report.more = frames(s, study);
  std::cout << settings_line(s) << "; seeds: " << s.seeds << std::endl;
  print(join("How many are where half of the probability is? ", study.target.title),
        report.tables[0].table);
  program.write(report);
  std::vector<std::filesystem::path> pictures = draw_ends(s, studies);
  for (const std::filesystem::path& path : draw_film(s, study)) pictures.push_back(path);
  for (const std::filesystem::path& path : pictures)
    std::cout << "picture: " << path.string() << '\n';
  return ran_to_the_end([&] { program.write_page([&] { return page(s, studies); }); }) && complete;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("moving_particles", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  program.page_option();
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
