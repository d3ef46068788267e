// Particles in many dimensions: how much of a distribution's spread does repulsion preserve?

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/many_dimensions/collapse.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How much variance particles keep in many dimensions: a 1/D-th";
constexpr const char* duration = "about 2 seconds on 2 cores";
constexpr const char* lesson =
    "A few particles move by SVGD on a normal distribution in D dimensions, until they are at "
    "rest. With the median rule the share of the variance that they keep falls as 1/D, by an exact "
    "formula (column law). It does not fall if the weight α of the repulsion is computed from the "
    "particles, or if each coordinate has its own kernel.";
const std::vector<Trial> trials = {
    {"many_dimensions --particles 50", "svgd and law: from which dimension on do they agree?"},
    {"many_dimensions --alpha 10 --dimensions 1,10,100",
     "svgd: the α that is right in 10 dimensions is wrong in 1 and in 100"}};

void add_options(Program& program, CollapseSettings& s) {
  program.list("--dimensions", s.dimensions, "Dimensions of the normal distribution",
               "Add 10000: a head of a Transformer has more weights",
               whole_number<std::int64_t>(1, 10'000));
  program.option("--particles", s.particles, "Particles, M", "Column law holds from D = M - 1 on",
                 whole_number<std::int64_t>(2, 200));
  program.option("--alpha", s.alpha, "Weight of the repulsion",
                 "The variance is proportional to it where column law holds", number_above(0));
  program.check([&s] { refuse_repeated("--dimensions", s.dimensions); });
}

/// Runs the study and reports its results. Returns false if it was interrupted.
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
