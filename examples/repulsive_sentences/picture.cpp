#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_sentences/results.h"

namespace ladon::example {

std::filesystem::path draw(const Settings& s, const Study& study) {
  if (study.arms.empty()) return {};
  using By = Arm::By;
  const std::vector<std::pair<By, std::string>> groups = {
      {By::size, "larger W_s2"}, {By::repulsion, "repulsion"}, {By::neither, "neither"}};
  Picture picture(s.common.out, "repulsive_sentences", s.common.panels);
  std::string answers, maps, legend;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& [by, name] = groups[g];
    std::vector<std::vector<double>> right, alike;
    for (const Answers& a : study.arms) {
      if (a.arm.by != by) continue;
      const Contrast c = contrast(a.right, study.arms[0].right, study.folds);
      right.push_back({estimate(a.size).value, 100 * c.difference, 100 * c.over_questions});
      for (const Tried& t : study.tried)
        if (t.arm == a.arm.name) alike.push_back({t.size, t.redundancy});
    }
    if (right.empty()) continue;
    answers += with_errors(picture.data(join("answers", g), right), "1:2:3", kind(g), "") + ", ";
    maps += join(picture.data(join("maps", g), alike), " using 1:2 with points ",
                 kind(g).points(1.2), " notitle, ");
    legend += join(legend.empty() ? "" : ", ", "NaN with points ", kind(g).points(1.2), " title ",
                   quoted(name));
  }
  picture.legend(legend);
  const std::string axis =
      "set logscale x\nset xlabel 'size of W_s2 at the end (rms)'\nset xtics (0.1, 0.2, 0.5, 1, 2, "
      "5)\nset xrange [0.1:*]\n";
  const auto box = [](std::size_t i) { return column(i, 2, 110); };
  picture.panel(box(0), "Answers, all questions",
                join(axis, "set ylabel 'points over plain'\nplot 0 with lines lc rgb '", grey,
                     "' notitle, ", answers, "NaN notitle"));
  picture.panel(
      box(1), "Maps, every number tried",
      axis + "set ylabel 'redundancy of maps'\nset yrange [0:1]\nplot " + maps + "NaN notitle");
  return picture.draw("Is it repulsion, or only a larger matrix of hops?",
                      join("an arm per dot; bars: standard error over ", study.folds.size(),
                           " folds' questions, ", study.seeds, " seeds"));
}

}  // namespace ladon::example
