// Particles in the plane: where does each method take them, and what is lost in many dimensions?

#include <algorithm>
#include <iostream>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/particles/collapse.h"
#include "ladon/examples/particles/page.h"
#include "ladon/examples/particles/picture.h"
#include "ladon/examples/particles/results.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Where particles go: alone, repelling each other, or as chains";
constexpr const char* duration = "about 1 minute on 2 cores";
constexpr const char* lesson =
    "Densities in the plane, and particles that begin off to a side. Each climbs alone (none: an "
    "ensemble) and ends at a mode. They repel each other (svgd, spos, wgd) and spread over the "
    "density. Or they are chains that know nothing of each other (sgld, hmc). All take the same "
    "number of gradients, and are judged by the exact moments. Then many dimensions: what "
    "particles under the median rule keep of a normal distribution falls as 1/D.";
const std::vector<Trial> trials = {
    {"particles --targets modes --apart 4",
     "mode_mass and ksd: no repulsion carries a particle across, and ksd finds nothing wrong"},
    {"particles --targets modes --steps 20000",
     "mode_mass of svgd: it nears one half, but how slowly"},
    {"particles --targets gaussian --alpha 0.1",
     "variance_ratio of svgd and wgd: a weak repulsion lies between an ensemble and a posterior"},
    {"particles --targets gaussian,banana --alpha auto",
     "variance_ratio: auto is made for many dimensions, and overshoots in two; wgd the most"}};

void add_options(Program& program, Settings& s) {
  program.list("--targets", s.targets, "Densities in the plane",
               "Each has one difficulty: a slant, two modes, a hole, a bend, a narrow neck",
               CLI::IsMember(target_names()));
  program.list("--methods", s.methods, "What moves the particles",
               "Only none and svgd show what repulsion adds to an ensemble",
               CLI::IsMember(method_names()));
  program.option("--course", s.course,
                 "The target that is drawn in time, as frames and as a film (default: modes)",
                 "See how a method came where it is", CLI::IsMember(target_names()));
  program.option("--seeds", s.seeds, "Repetitions, with seeds --seed, --seed + 1 and so on",
                 "Four times as many halve the standard errors; 1 is quick, and has none",
                 whole_number<std::int64_t>(1, 1000));
  program.option(
      "--particles", s.particles, "Particles of each method",
      "Fewer keep less of the variance; the work of those that repel grows as the square",
      whole_number<std::int64_t>(1, 2000));
  program.option("--steps", s.steps, "Gradients of each particle",
                 "More show who is still on the way: compare mode_mass with pooled_mode_mass",
                 whole_number<std::int64_t>(1, 100'000));
  program.option(
      "--rate", s.rate, "Rate of a step on -ln p; of hmc's steps sqrt(2·rate)",
      "Halve it, with twice the steps: what changes beyond chance was the error of a step",
      number_above(0));
  program.option(
      "--alpha", s.alpha, "Weight of the repulsion (svgd, spos, wgd): a number, or auto",
      "Lower it, and particles near the modes; auto is the one that many dimensions need",
      (number_above(0) | CLI::IsMember({"auto"})).description("auto or above 0"));
  program.option("--noise", s.noise, "b of spos: own gradient and noise",
                 "0 is svgd; large ones make independent chains", number(0));
  program.option("--apart", s.apart, "Distance of the two modes, whose standard deviation is 0.6",
                 "At 4 no repulsion reaches the other mode, and chains that are lucky do",
                 number(0, 6));
  program.list("--dimensions", s.dimensions, "Dimensions of the normal distribution that collapses",
               "Add 10000: a head of a Transformer has more",
               whole_number<std::int64_t>(1, 10'000));
  program.option("--collapse-particles", s.collapse_particles, "Particles there, M",
                 "The law holds from D = M - 1 on: move the bend",
                 whole_number<std::int64_t>(2, 200));
  program.page_option();
  program.check([&s] {
    refuse_repeated("--targets", s.targets);
    refuse_repeated("--methods", s.methods);
    const auto among = [&s](const std::string& name) {
      return std::ranges::count(s.targets, name);
    };
    if (s.course.empty()) s.course = among("modes") ? "modes" : s.targets.front();
    if (!among(s.course)) throw CLI::ValidationError("--course", s.course + " is not in --targets");
  });
}

/// The tables, each with what its columns mean.
void print(const std::vector<TargetStudy>& studies, const Table& collapse) {
  if (!studies.empty()) std::cout << "\nWhere do they end, and what would chance alone give?\n";
  for (const TargetStudy& study : studies)
    std::cout << table_of(study, study.target.name).text() << '\n';
  if (!studies.empty()) std::cout << table_of(studies[0], "").explained();
  if (!collapse.empty())
    std::cout << "\nWhat is left of a normal distribution in D dimensions?\n"
              << collapse.text() << '\n'
              << collapse.explained();
}

void draw(const Settings& s, const std::vector<TargetStudy>& studies, const Table& collapse) {
  std::vector<std::filesystem::path> pictures;
  const auto add = [&](const std::vector<std::filesystem::path>& drawn) {
    pictures.insert(pictures.end(), drawn.begin(), drawn.end());
  };
  if (!studies.empty()) add(draw_ends(s, studies));
  for (const TargetStudy& study : studies)
    if (study.target.name == s.course) add(draw_course(s, study));
  if (!collapse.empty()) add({draw_collapse(s, collapse)});
  for (const std::filesystem::path& picture : pictures)
    if (!picture.empty()) std::cout << "picture: " << picture.string() << '\n';
}

/// Runs everything, or what there is time for before an interrupt; whether it was not.
bool teach(Program& program, const Settings& s) {
  std::cout << s.particles << " particles, " << s.steps << " gradients each, rate " << s.rate
            << ", α = " << s.alpha << ", b = " << s.noise << "; " << s.seeds
            << (s.seeds == 1 ? " seed" : " seeds") << std::endl;
  std::vector<TargetStudy> studies;
  Table collapse = collapse_table(s);
  const auto runs = s.targets.size() * s.methods.size() * static_cast<std::size_t>(s.seeds);
  Progress progress(static_cast<double>(runs + s.dimensions.size()));
  const bool complete = ran_to_the_end([&] {
    for (const std::string& name : s.targets) {
      studies.emplace_back(plane_target(name, s.apart));
      run_methods(s, studies.back(), progress);
    }
    run_collapse(s, collapse, progress);
  });
  std::erase_if(studies, [](const TargetStudy& study) { return study.runs.empty(); });
  print(studies, collapse);
  std::vector<NamedTable> tables;
  for (const TargetStudy& study : studies)
    tables.push_back({study.target.name, table_of(study, "method", study.target.name + ", ")});
  tables.push_back({"collapse", collapse});
  program.write({.tables = tables, .interrupted = !complete, .more = details(s, studies)});
  if (!studies.empty() && !collapse.empty())
    program.write_page([&] { return page(s, studies, collapse); });
  draw(s, studies, collapse);
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
