#include <algorithm>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/examples/common/paired.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/readouts/study.h"

namespace ladon::example {
namespace {

constexpr Measured unknown{std::numeric_limits<double>::quiet_NaN(), 0};

/// [seeds, M]: 1 where the most probable class is correct, else 0.
Tensor right(const Task& task, const Answers& answers) {
  return cast(equal(argmax(answers.probabilities, -1), task.test.labels), f64);
}

/// Accuracy: mean over seeds and images, with the standard error over images.
Measured accuracy(const Task& task, const Answers& answers) {
  return estimate(mean(right(task, answers), 0).to_vector());
}

/// The answers of a readout (Answers::arm) by one way of inference (Answers::of), or null.
const Answers* find(const AllAnswers& all, const std::string& arm, const std::string& of) {
  const auto found =
      std::ranges::find_if(all, [&](const Answers& a) { return a.arm == arm && a.of == of; });
  return found == all.end() ? nullptr : &*found;
}

/// A row of a table: an arm, its answers and figures, and the answers `base` that it is compared
/// with, or null. `base` has as many seeds as the arm's answers, or is a limit.
struct Line {
  std::string name;
  const Answers* of;
  std::vector<Measured> own;
  const Answers* base;
};

/// Table of all lines; `columns` describe Line::own. The contrasts of all lines with a base form
/// one family, for Holm's correction.
Table compared(const Task& task, const std::string& of, std::vector<Column> columns,
               const std::string& base, std::size_t comparisons, const std::vector<Line>& lines,
               bool seeds) {
  columns.insert(columns.begin(),
                 {"accuracy",
                  join("share of ", task.test.count(), " test images; chance is 1/", task.classes,
                       "; ± standard error over images, as all that follows"),
                  Better::higher});
  columns.push_back({"difference", join("accuracy less that of ", base, ", paired per image")});
  columns.push_back({"holm", join("two-sided p of the difference by its error over images, after "
                                  "Holm's correction for ",
                                  comparisons, " comparisons")});
  columns.push_back(
      {"detectable", "true difference that such a comparison by itself finds four times of five"});
  if (seeds) columns.push_back({"over_seeds", "standard error of the difference over seeds"});
  Fold fold;  // one fit answers all images
  fold.train.resize(task.train.count());
  for (std::int64_t i = 0; i < task.test.count(); ++i) fold.test.push_back(i);
  std::vector<Contrast> family;
  for (const Line& line : lines)
    if (const Tensor r = right(task, *line.of); line.base)
      family.push_back(contrast(r, contiguous(expand(right(task, *line.base), r.shape())), {fold}));
  correct(family);
  Table table(of, columns);
  auto next = family.begin();
  for (const Line& line : lines) {
    Row row{.method = line.name, .figures = {accuracy(task, *line.of)}};
    row.figures.insert(row.figures.end(), line.own.begin(), line.own.end());
    if (line.base) {
      const Contrast& c = *next++;
      row.figures.insert(row.figures.end(),
                         {{c.difference, c.over_questions}, {c.holm, 0}, {c.detectable, 0}});
      if (seeds) row.figures.push_back({c.over_seeds, 0});
    }
    row.figures.resize(columns.size(), unknown);
    table.add(row);
  }
  return table;
}

}  // namespace

Table limits_table(const Task& task, const AllAnswers& all) {
  std::vector<Line> lines;
  const Answers* pool = find(all, "pool", "nngp");
  for (const Readout& kind : readouts())
    if (const Answers* nngp = find(all, kind.name, "nngp"))
      lines.push_back({kind.name,
                       nngp,
                       {{metrics::nll(select(nngp->probabilities, 0, 0), task.test.labels), 0},
                        accuracy(task, *find(all, kind.name, "ntk"))},
                       nngp == pool ? nullptr : pool});
  return compared(
      task, "limit",
      {{"nll", "mean of −ln(probability of the right class)", Better::lower},
       {"ntk_accuracy", "accuracy of the NTK: of the mean of networks trained to the end",
        Better::higher}},
      "pool (NNGP both)", readouts().size() - 1, lines, false);
}

Table networks_table(const Task& task, const AllAnswers& all) {
  std::vector<Line> lines;
  for (const Answers& a : all)
    if (const bool frozen = a.of == "frozen"; frozen || a.of == "trained")
      lines.push_back({frozen ? a.arm + ", frozen" : a.arm,
                       &a,
                       {{a.rate, 0}, estimate(a.moved)},
                       find(all, a.arm, frozen ? "trained" : "nngp")});
  return compared(
      task, "trained network",
      {{"rate", "learning rate that the inner fold chose"},
       {"moved",
        "total variation between attention's maps before and after training: 0 where they "
        "stay, 1 where they look elsewhere altogether; ± over seeds"}},
      "the readout's NNGP (frozen: of attention, trained)", 4, lines, true);
}

void draw(const Settings& s, const Task& task, const AllAnswers& all) {
  Picture picture(s.common.out, "readouts", s.common.panels);
  const char* kinds[][2] = {
      {"nngp", "infinitely wide"}, {"trained", "trained"}, {"frozen", "attention frozen"}};
  std::vector<std::string> names, parts, legend;
  for (const Readout& readout : readouts()) names.emplace_back(readout.name);
  for (std::size_t k = 0; k < std::size(kinds); ++k) {
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const Answers* a = find(all, names[i], kinds[k][0])) {
        const Measured m = accuracy(task, *a);
        const double y = static_cast<double>(i) + 0.25 * (static_cast<double>(k) - 1);
        rows.push_back({m.value, y, m.value - m.se, m.value + m.se});
      }
    if (rows.empty()) continue;
    parts.push_back(with_intervals(picture.data(kinds[k][0], rows), "1:2:3:4", kind(k), ""));
    legend.push_back(join("NaN with points ", kind(k).points(), " title ", quoted(kinds[k][1])));
  }
  if (parts.empty()) return;
  picture.panel(
      {200, 90, 720, 330}, "",
      join("set xlabel 'accuracy ± standard error over test images'\nset yrange [", names.size(),
           ":-1]\nset ytics ", named_places(names), "\nplot ", listed(parts), "\n"));
  picture.legend(listed(legend));
  picture.draw_slide("Trained attention stays behind its limit", task.description);
}

std::map<std::string, Tensor> bits(const Task& task, const AllAnswers& all) {
  std::map<std::string, Tensor> arrays = {{"labels", task.test.labels}};
  for (const Answers& a : all) {
    arrays[join(a.arm, ", ", a.of, "/right")] = right(task, a);
    arrays[join(a.arm, ", ", a.of, "/probability")] = a.probabilities;
  }
  return arrays;
}

}  // namespace ladon::example
