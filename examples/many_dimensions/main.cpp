// How much of a distribution's spread repulsion preserves in many dimensions.

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/many_dimensions/collapse.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "What particles keep of a spread in many dimensions: a 1/D-th";
constexpr const char* duration = "about 2 seconds on 2 cores";
constexpr const char* lesson =
    "A few particles repel each other on a normal distribution in D dimensions, until they rest. "
    "What svgd under the median rule keeps of the variance falls as 1/D, by a law. It stays where "
    "the weight α of the repulsion follows from the particles, or where each coordinate has a "
    "kernel of its own.";
const std::vector<Trial> trials = {
    {"many_dimensions --particles 50", "svgd and law: from which dimension on do they agree?"},
    {"many_dimensions --alpha 10 --dimensions 1,10,100",
     "svgd: the α that is right in 10 dimensions is wrong in 1 and in 100"}};

void add_options(Program& program, CollapseSettings& s) {
  program.list("--dimensions", s.dimensions, "Dimensions of the normal distribution",
               "Add 10000: a head of a Transformer has more",
               whole_number<std::int64_t>(1, 10'000));
  program.option("--particles", s.particles, "Particles, M",
                 "The law holds from D = M - 1 on: move the bend",
                 whole_number<std::int64_t>(2, 200));
  program.option("--alpha", s.alpha, "Weight of the repulsion",
                 "The variance is proportional to it where the law holds", number_above(0));
  program.check([&s] { refuse_repeated("--dimensions", s.dimensions); });
}

/// Returns whether the run was not interrupted.
bool teach(const Program& program, const CollapseSettings& s) {
  Table table = collapse_table(s);
  Progress progress(static_cast<double>(s.dimensions.size()));
  const bool complete = ran_to_the_end([&] { run_collapse(s, table, progress); });
  print("What is left of a normal distribution in D dimensions?", table);
  program.write({.tables = {{"collapse", table}}, .interrupted = !complete});
  if (!table.empty()) draw_collapse(s, table);
  return complete;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  CollapseSettings settings;
  Program program("many_dimensions", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
