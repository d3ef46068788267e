// Lesson 13: is it repulsion, or a larger matrix? An arm (compared method) with only one of the two
// decides.

#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/lessons/13_control/arms.h"
#include "ladon/examples/lessons/13_control/page.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Is it repulsion, or a larger matrix? Controls tell them apart";
constexpr const char* duration = "1 s";
constexpr const char* lesson = "What goes together is told apart by an arm that has one alone.";
const std::vector<Trial> trials = {{"13_control --seed 2", "start 4 − plain: the same sign?"}};

bool study(const CommonOptions& options, const Program& program) {
  const auto [hits, size, parts] = fitted(options.seed);
  const std::size_t pairs[][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {4, 3}, {5, 3}, {5, 1}};
  Table table("arm − base", {{"size", "of W_s2 at the end (rms), arm over base"},
                             {"accuracy", "arm − base, ± standard error over questions"},
                             {"seeds", "standard error over 3 seeds"},
                             {"corrected", "the same of Nadeau and Bengio"},
                             {"p", "of the error over questions, of this row alone"}});
  std::vector<std::vector<double>> rows = {{1, 0, 0}};
  for (const auto& [a, b] : pairs) {
    const Contrast c = contrast(hits[a], hits[b], parts);
    const Measured gain{c.difference, c.over_questions}, ratio{size[a] / size[b]};
    if (b == 0) rows.push_back({ratio.value, 100 * gain.value, 100 * gain.se});
    table.add(
        {arm_names[a] + " − " + arm_names[b], {ratio, gain, {c.over_seeds}, {c.corrected}, {c.p}}});
  }
  print("Which arm answers more questions rightly?", table);
  program.write({.tables = {{"differences", table}}});
  program.write_page([&] { return page(options.seed); });
  Picture picture(options.out, "13_control");
  const std::string arms = picture.data("arms", rows) + " every ::";
  picture.panel(titled, "points over plain",
                "set key bottom\nset xlabel 'size of the matrix over that of plain'\nplot " +
                    with_errors(arms + "0::2", "1:2:3", kind(0), "start × 1, 2, 4") + ", " +
                    with_errors(arms + "3", "1:2:3", kind(1), "svgd, α = 0, 0.01, 1"));
  picture.draw_slide("Most of svgd's gain is there without repulsion", "± error over questions");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "13_control", {summary, duration, lesson, trials}, study);
}
