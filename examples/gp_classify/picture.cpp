#include "ladon/examples/gp_classify/picture.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/dot_plot.h"

namespace ladon::example {
namespace {

constexpr int page = 1200;  // wide

/// The models (or forms) that there are, in the order of the outcomes. The bar is none of them.
std::vector<std::string> different(const std::vector<Outcome>& outcomes,
                                   std::string Outcome::*name) {
  std::vector<std::string> names;
  for (const Outcome& o : outcomes)
    if (!o.form.empty() && std::find(names.begin(), names.end(), o.*name) == names.end())
      names.push_back(o.*name);
  return names;
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// --- figures ---

DotPlot dot_plot(const std::string& name, const std::string& axis, double guessing, double most,
                 const std::vector<Outcome>& outcomes, Measured Outcome::*figure,
                 const std::function<Interval(const Measured&)>& interval) {
  DotPlot plot{
      name, axis, different(outcomes, &Outcome::model), different(outcomes, &Outcome::form), {},
      {},   most};
  plot.references.push_back({"guessing", guessing});
  for (const Outcome& o : outcomes) {
    const Measured& x = o.*figure;
    if (o.form.empty()) {
      plot.references.push_back({o.model, x.value});
      continue;
    }
    const Interval range = interval(x);
    plot.dots.push_back({index_of(plot.models, o.model), index_of(plot.forms, o.form), x.value,
                         range.low, range.high});
  }
  return plot;
}

DotPlot accuracies(const Task& task, const std::vector<Outcome>& outcomes) {
  const auto n = static_cast<double>(task.test.size());
  return dot_plot("accuracy", "accuracy: → better", 1 / static_cast<double>(task.classes()), 1,
                  outcomes, &Outcome::accuracy,
                  [n](const Measured& x) { return wilson(x.value, n); });
}

/// What is much worse than guessing would press all others together, so the axis ends before it.
DotPlot losses(const Task& task, const std::vector<Outcome>& outcomes) {
  const double guessing = std::log(static_cast<double>(task.classes()));
  return dot_plot("nll", "nll (nats): ← better", guessing, 1.25 * guessing, outcomes, &Outcome::nll,
                  [](const Measured& x) {
                    const double half = std::isfinite(x.se) ? 1.96 * x.se : 0;
                    return Interval{x.value - half, x.value + half};
                  });
}

// --- reliability ---

/// The colour with most of it taken away: many intervals cross.
std::string faint(const std::string& colour) { return "#A0" + colour.substr(1); }

constexpr double least_rows = 10;  // a bin with fewer says too little

/// Confidence, share of right answers and its interval, of bins with enough rows.
std::vector<std::vector<double>> reliability(const Outcome& o, const Task& task) {
  std::vector<std::vector<double>> rows;
  for (const CalibrationBin& bin : calibration(o, task.test.labels)) {
    const Interval range = wilson(bin.right, bin.rows);
    if (bin.rows >= least_rows) rows.push_back({bin.confidence, bin.right, range.low, range.high});
  }
  return rows;
}

/// The models in one form, under the diagonal of perfect calibration.
std::string reliability_panel(Picture& picture, const Task& task,
                              const std::vector<Outcome>& outcomes, const std::string& form) {
  const double least = std::floor(10 / static_cast<double>(task.classes())) / 10;
  std::string intervals, curves;
  bool diverged = true;
  for (const Outcome& o : outcomes) {
    if (o.form != form || o.diverged()) continue;
    diverged = false;
    const auto rows = reliability(o, task);
    if (rows.empty()) continue;
    const Style style = model_style(o.model);
    const std::string file = picture.data(join("reliability_", o.model, "_", form), rows);
    intervals += join(file, " using 1:3:(0):($4-$3) with vectors nohead lw 2 lc rgb '",
                      faint(style.colour), "' notitle, ");
    curves += curve(file, "1:2", style, "", 2) + ", " +
              join(file, " using 1:2 with points ", style.points(0.8), " notitle, ");
  }
  return join("set xrange [", least, ":1]\nset yrange [0:1]\nset xtics 0.2\nset ytics 0.2\n",
              "set xlabel 'confidence (probability)'\n",
              curves.empty() ? join("set label '", diverged ? "diverged" : "too few test rows",
                                    "' at graph 0.5, graph 0.2 center\n")
                             : "",
              "plot ", intervals, curves, "x with lines lw 3 lc rgb '", grey, "' notitle");
}

// --- legends, each in a row of its own ---

using Entry = std::pair<std::string, std::string>;  // what is drawn, and its name

void add_legend(Picture& picture, int top, const std::vector<Entry>& entries,
                const std::string& note = "") {
  std::string script =
      join("unset border\nunset tics\nunset grid\nset key center center horizontal\nset label ",
           quoted(note), " at graph 0.5, graph -0.4 center\nplot [0:1] [0:1] ");
  for (std::size_t i = 0; i < entries.size(); ++i)
    script +=
        join(i ? ", " : "", "NaN with ", entries[i].first, " title ", quoted(entries[i].second));
  picture.panel({0, top, page, 40}, "", script);
}

void add_forms_legend(Picture& picture, int top, const std::vector<std::string>& forms) {
  std::vector<Entry> entries;
  for (std::size_t form = 0; form < forms.size(); ++form)
    entries.emplace_back(join("points lc rgb '#333333' ps 1.2 pt ", form_marker(form)),
                         forms[form]);
  entries.emplace_back("lines lw 2.2 lc rgb '#333333'", "95% interval");
  add_legend(picture, top, entries);
}

void add_models_legend(Picture& picture, int top, const std::vector<std::string>& models) {
  std::vector<Entry> entries;
  for (std::size_t model = 0; model < models.size(); ++model) {
    const Style style = model_style(models[model]);
    entries.emplace_back(join("linespoints ", style.line(2), " pt ", style.marker, " ps 0.8"),
                         models[model]);
  }
  add_legend(picture, top, entries,
             join("grey: perfect calibration; ten bins of confidence, those with ", least_rows,
                  " test rows or more, with 95% intervals"));
}

std::string settings_line(const Settings& s, const Task& task) {
  std::string line = join(task.name, ": ", task.train.size(), " training and ", task.test.size(),
                          " test rows, ", task.classes(), " classes");
  if (s.finite) line += join("; finite networks: width ", s.width, ", ", s.epochs, " epochs");
  return join(line, "; seed ", s.common.seed);
}

}  // namespace

std::filesystem::path draw_figures(const Settings& s, const Task& task,
                                   const std::vector<Outcome>& outcomes) {
  const DotPlot left = accuracies(task, outcomes), right = losses(task, outcomes);
  if (left.models.empty()) return {};
  Picture picture(s.common.out, "gp_classify");
  constexpr int names = 120, gap = 50, dots = (page - names - 2 * gap) / 2;
  left.add_to(picture, names, Picture::top + 10, dots, true);
  right.add_to(picture, names + dots + gap, Picture::top + 10, dots, false);
  int top = Picture::top + 10 + left.height() + 70;
  add_forms_legend(picture, top, left.forms);

  constexpr int side = 320, between = 385;
  const int panels = static_cast<int>(left.forms.size());
  top += 90;
  for (int i = 0; i < panels; ++i) {
    const std::string& form = left.forms[static_cast<std::size_t>(i)];
    const int at = (page - (panels - 1) * between - side) / 2 + 25 + i * between;
    picture.panel({at, top, side, side}, form + ": calibration",
                  (i == 0 ? "set ylabel 'right answers (share)'\n" : "") +
                      reliability_panel(picture, task, outcomes, form));
  }
  top += side + 75;
  add_models_legend(picture, top, left.models);
  return picture.draw("Classification by networks of infinite and of finite width",
                      settings_line(s, task), page, top + 85);
}

}  // namespace ladon::example
