#include <algorithm>
#include <array>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {
namespace {

constexpr std::array forms = {"NNGP", "NTK", "finite"};

/// A vertical reference line.
std::string line_at(double x, int dash, const std::string& name) {
  return join(x, ",t with lines lw 2 dt ", dash, " lc rgb '", grey, "' ",
              name.empty() ? "notitle" : "title " + quoted(name));
}

/// Title, such as "Best kernel: pool NTK (0.845); best trained network: residual (0.9025)".
std::string best(const Task& task, const std::vector<Outcome>& outcomes) {
  std::string title;
  for (const bool finite : {false, true}) {
    const Outcome* first = nullptr;
    const auto accuracy = [&](const Outcome& o) { return figures(o, task)[0].value; };
    for (const Outcome& o : outcomes)
      if (!o.form.empty() && !o.diverged() && (o.form == "finite") == finite &&
          (first == nullptr || accuracy(o) > accuracy(*first)))
        first = &o;
    if (first == nullptr) continue;
    title +=
        join(title.empty() ? "" : "; ", finite ? "best" : "Best",
             finite ? " trained network: " : " kernel: ", finite ? first->model : first->method(),
             " (", accuracy(*first), ")");
  }
  return title;
}

}  // namespace

void draw(const std::string& name, const Settings& s, const Task& task,
          const std::vector<Outcome>& outcomes) {
  std::vector<std::string> models, rules = {"guessing"};
  for (const Outcome& o : outcomes)
    if (auto& names = o.form.empty() ? rules : models;
        std::ranges::find(names, o.model) == names.end())
      names.push_back(o.model);
  if (models.empty()) return;
  Picture picture(s.common.out, name, s.common.panels);
  const double guessing = 1 / static_cast<double>(task.classes);
  for (const std::size_t figure : {0, 1}) {
    std::array<std::vector<std::vector<double>>, forms.size()> rows;
    std::string plot = line_at(figure == 0 ? guessing : -std::log(guessing), 2, "");
    for (const Outcome& o : outcomes) {
      const Measured m = figures(o, task)[figure];
      if (o.form.empty()) plot += ", " + line_at(m.value, 3, "");
      if (o.form.empty() || o.diverged()) continue;
      const auto form = std::ranges::find(forms, o.form) - forms.begin();
      const auto model = std::ranges::find(models, o.model) - models.begin();
      const double half = 1.96 * m.se;
      rows[form].push_back(
          {m.value, double(model) + 0.25 * double(form - 1), m.value - half, m.value + half});
    }
    for (std::size_t f = 0; f < forms.size(); ++f)
      if (!rows[f].empty())
        plot +=
            ", " + with_intervals(
                       picture.data(join(figure == 0 ? "accuracy_" : "nll_", forms[f]), rows[f]),
                       "1:2:3:4", kind(f), "", 1.2);
    picture.panel(column(figure, 2, 40, slide), "",
                  join("set parametric\nset trange [-1:", models.size(), "]\nset yrange [",
                       double(models.size()) - 0.5, ":-0.5]\nset xlabel '",
                       figure == 0 ? "accuracy: more is better" : "log loss (nats): less is better",
                       "'\nset grid noytics\nplot ", plot));
  }
  picture.shared("set ytics " + named_places(models) + "\n");
  std::string legend;
  for (std::size_t f = 0; f < forms.size(); ++f)
    legend += join("NaN with points ", kind(f).points(1.2), " title '", forms[f], "', ");
  for (std::size_t i = 0; i < rules.size(); ++i)
    legend += join("NaN with lines lw 2 dt ", i + 2, " lc rgb '", grey, "' title ",
                   quoted(rules[i]), i + 1 < rules.size() ? ", " : "");
  picture.legend(legend);
  picture.draw_slide(
      best(task, outcomes),
      join(task.name, ": ", task.train.size(), " training rows",
           s.finite ? join("; finite networks: width ", s.width, ", ", s.epochs, " epochs") : "",
           "; 95% intervals; seed ", s.common.seed));
}

}  // namespace ladon::example
