// Particles in the plane: where does each method take them?

#include <iostream>

#include "ladon/examples/particles/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Where particles go: alone, repelling each other, or as chains";
constexpr const char* duration = "about 1 minute on 2 cores";
constexpr const char* lesson =
    "Particles start at one side of a density in the plane. Without interaction (none: an "
    "ensemble) each climbs to a mode. With repulsion (svgd, spos, wgd) they spread over the "
    "density. Or they are independent chains of a sampler (sgld, hmc). All methods take the same "
    "number of gradients, and are compared with the exact moments.";
const std::vector<Trial> trials = {
    {"particles --targets modes --apart 4",
     "mode_mass and ksd: repulsion moves no particle to the other mode, and ksd does not detect "
     "that"},
    {"particles --targets modes --steps 20000",
     "mode_mass of svgd: it approaches one half, but slowly"},
    {"particles --targets gaussian --alpha 0.1",
     "variance_ratio of svgd and wgd: with weak repulsion it is between an ensemble's and the "
     "target's"},
    {"particles --targets gaussian,banana --alpha auto",
     "variance_ratio: auto is made for many dimensions, and overshoots in two; wgd the most"}};

/// Runs the study and prints its results; after an interrupt, those that are finished. Returns
/// false if it was interrupted.
bool teach(const Program& program, const Settings& s) {
  std::cout << settings_line(s) << ", b = " << s.noise << "; " << s.seeds
            << (s.seeds == 1 ? " seed" : " seeds") << std::endl;
  std::vector<TargetStudy> studies;
  const bool complete = run_studies(s, studies);
  std::vector<NamedTable> tables;
  if (!studies.empty()) std::cout << "\nWhere do they end, and what would chance alone give?\n";
  for (const TargetStudy& study : studies) {
    const std::string& name = study.target.name;
    std::cout << table_of(study, name).text() << '\n';
    tables.push_back({name, table_of(study, "method", name + ", ")});
  }
  if (!studies.empty()) std::cout << tables[0].table.explained();
  program.write({.tables = tables, .interrupted = !complete, .more = details(studies)});
  draw(s, studies);
  return complete;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("particles", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
