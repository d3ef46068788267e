#include "ladon/examples/gp_classify/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/models.h"

namespace ladon::example {
namespace {

using Names = std::vector<std::string>;

std::size_t index_of(const Names& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// The models (or forms) that there are, in the order of the outcomes. The bar is none of them.
Names different(const std::vector<Outcome>& outcomes, std::string Outcome::*name) {
  Names names;
  for (const Outcome& o : outcomes)
    if (!o.form.empty() && index_of(names, o.*name) == names.size()) names.push_back(o.*name);
  return names;
}

/// Of a model, in all panels; of a form, filled where the width is infinite.
Style style_of(const std::string& model) { return kind(index_of(model_names(), model)); }
int marker_of(const std::string& form) {
  constexpr int circle = 7, square = 5, open_diamond = 12;
  return form == "NNGP" ? circle : form == "NTK" ? square : open_diamond;
}

// --- figures as dots with intervals: models below each other, forms within them ---

constexpr double band = 0.5;  // of a line's label, above the models, in rows of models

struct Dot {
  std::string model, form;          ///< No form: what models are compared with, a line.
  double value, low = 0, high = 0;  ///< The value is NaN where training diverged.
};

struct DotPlot {
  Names models, forms;
  std::string name, axis;
  double most;  ///< The axis ends here at the latest; a value beyond is told in numbers.
  std::vector<Dot> lines, dots = {};

  void add(const Outcome& o, double value, const Interval& range) {
    (o.form.empty() ? lines : dots).push_back({o.model, o.form, value, range.low, range.high});
  }
  double bands() const { return band * static_cast<double>(lines.size()); }
  /// Of a dot, on the vertical axis.
  double place(const Dot& dot) const {
    constexpr double apart = 0.25;  // forms, of a row
    const double middle = (static_cast<double>(forms.size()) - 1) / 2;
    return static_cast<double>(index_of(models, dot.model)) +
           apart * (static_cast<double>(index_of(forms, dot.form)) - middle);
  }
};

/// The axis: where the intervals are; wider for a line that is not farther off than half of that.
Interval range_of(const DotPlot& plot) {
  double low = plot.most, high = 0;
  for (const Dot& dot : plot.dots) {
    if (!(dot.value <= plot.most)) continue;
    low = std::min(low, dot.low);
    high = std::max(high, std::min(dot.high, plot.most));
  }
  if (low >= high) return {0, plot.most};
  const double reach = (high - low) / 2, from = low - reach, to = std::min(high + reach, plot.most);
  for (const Dot& line : plot.lines)
    if (line.value >= from && line.value <= to) {
      low = std::min(low, line.value);
      high = std::max(high, line.value);
    }
  const double margin = 0.05 * (high - low);
  return {low - margin, high + margin};
}

std::string two_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", x);
  return text;
}

std::string label(const std::string& text, const std::string& at, const std::string& colour) {
  return join("set label ", quoted(text), " at ", at, " tc rgb '", colour, "'\n");
}

/// A dashed line with its label beside its upper end; a label with an arrow at the side where it
/// would be.
std::string line_script(const Dot& line, const Interval& range, double label_at) {
  const double at = line.value;
  const bool left = at < (range.low + range.high) / 2;
  const std::string words = line.model + " " + two_digits(at),
                    placed = join(", graph ", label_at, left ? " left" : " right");
  if (at < range.low) return label("← " + words, "graph 0.01" + placed, grey);
  if (at > range.high) return label(words + " →", "graph 0.99" + placed, grey);
  return join("set arrow from ", at, ", graph 0 to ", at, ", graph ", label_at,
              " nohead lw 2 dt 2 lc rgb '", grey, "'\n") +
         label(words, join(at, placed, " offset ", left ? 0.6 : -0.6, ",0"), grey);
}

void add_dots(Picture& picture, const DotPlot& plot, std::size_t at) {
  const Interval range = range_of(plot);
  const double rows_high = static_cast<double>(plot.models.size()) + plot.bands();
  std::string script = join("set xrange [", range.low, ":", range.high, "]\nset yrange [",
                            plot.models.size(), "-0.5:", -0.5 - plot.bands(), "]\nset xlabel ",
                            quoted(plot.axis), "\nset grid noytics\n");
  for (std::size_t i = 0; i < plot.lines.size(); ++i)
    script +=
        line_script(plot.lines[i], range, 1 - (static_cast<double>(i) + 0.5) * band / rows_high);
  std::vector<std::vector<double>> rows;
  std::vector<Style> styles;
  for (const Dot& dot : plot.dots) {
    const Style style{style_of(dot.model).colour, 1, marker_of(dot.form)};
    if (dot.value <= range.high) {
      rows.push_back({dot.value, plot.place(dot), dot.low, dot.high});
      styles.push_back(style);
    } else {
      const std::string value =
          std::isnan(dot.value) ? " diverged" : join(" ", two_digits(dot.value), " →");
      script += label(dot.form + value, join("graph 0.99, first ", plot.place(dot), " right"),
                      style.colour);
    }
  }
  const std::string file = picture.data(plot.name, rows);
  script += "plot ";
  for (std::size_t i = 0; i < rows.size(); ++i)
    script +=
        with_intervals(join(file, " every ::", i, "::", i), "1:2:3:4", styles[i], "", 1.2) + ", ";
  picture.panel(column(at, 2, 40, slide), "", script + "NaN notitle");
}

// --- reliability ---

constexpr double least_rows = 10;  // a bin with fewer says too little

/// The colour with most of it taken away: many intervals cross.
std::string faint(const std::string& colour) { return "#A0" + colour.substr(1); }

/// The models in one form, under the diagonal of perfect calibration.
std::string reliability_panel(Picture& picture, const Task& task,
                              const std::vector<Outcome>& outcomes, const std::string& form) {
  const double least = std::floor(10 / static_cast<double>(task.classes())) / 10;
  std::string intervals, curves;
  for (const Outcome& o : outcomes) {
    if (o.form != form || o.diverged()) continue;
    std::vector<std::vector<double>> rows;
    for (const CalibrationBin& bin : calibration(o, task))
      if (bin.rows >= least_rows)
        rows.push_back({bin.confidence, bin.right, bin.range.low, bin.range.high});
    if (rows.empty()) continue;
    const Style style = style_of(o.model);
    const std::string file = picture.data(join("reliability_", o.model, "_", form), rows);
    intervals += join(file, " using 1:3:(0):($4-$3) with vectors nohead lw 2 lc rgb '",
                      faint(style.colour), "' notitle, ");
    curves += curve(file, "1:2", style, "", 2) + ", " +
              join(file, " using 1:2 with points ", style.points(0.8), " notitle, ");
  }
  return join("set xrange [", least, ":1]\nset yrange [0:1]\nset xtics 0.2\nset ytics 0.2\n",
              "set xlabel 'confidence'\n",
              curves.empty()
                  ? "set label 'diverged, or too few rows' at graph 0.5, graph 0.2 center\n"
                  : "",
              "plot ", intervals, curves, "x with lines lw 3 lc rgb '", grey, "' notitle");
}

std::string forms_legend(const Names& forms) {
  std::string parts;
  for (const std::string& form : forms)
    parts += join("NaN with points lc rgb '#333333' ps 1.2 pt ", marker_of(form), " title ",
                  quoted(form), ", ");
  return parts + "NaN with lines lw 2.2 lc rgb '#333333' title '95% interval'";
}

std::string models_legend(const Names& models) {
  std::string parts;
  for (const std::string& model : models) {
    const Style style = style_of(model);
    parts += join(parts.empty() ? "" : ", ", "NaN with linespoints ", style.line(2), " pt ",
                  style.marker, " ps 0.8 title ", quoted(model));
  }
  return parts;
}

/// "Best kernel: pool NTK (0.84); best trained network: residual (0.90)"
std::string best(const Task& task, const std::vector<Outcome>& outcomes) {
  std::string words[2];
  double most[2] = {-1, -1};
  for (const Outcome& o : outcomes) {
    const bool finite = o.form == "finite";
    const double right = figures(o, task).accuracy.value;
    if (o.form.empty() || !(right > most[finite])) continue;
    most[finite] = right;
    words[finite] = join(o.model, finite ? "" : " " + o.form, " (", two_digits(right), ")");
  }
  return (words[0].empty() ? "" : "Best kernel: " + words[0]) +
         (words[1].empty() ? "" : "; best trained network: " + words[1]);
}

std::string settings_line(const Settings& s, const Task& task) {
  return join(task.name, ": ", task.train.size(), " training rows, ", task.classes(), " classes",
              s.finite ? join("; finite networks: width ", s.width, ", ", s.epochs, " epochs") : "",
              "; seed ", s.common.seed);
}

}  // namespace

std::filesystem::path draw_figures(const Settings& s, const Task& task,
                                   const std::vector<Outcome>& outcomes) {
  const Names models = different(outcomes, &Outcome::model),
              forms = different(outcomes, &Outcome::form);
  if (models.empty()) return {};
  const double guessing = 1 / static_cast<double>(task.classes()), uncertain = -std::log(guessing);
  // Figures much worse than guessing would press all others together: an axis ends before it.
  DotPlot accuracy{
      models, forms, "accuracy", "accuracy: more is better", 1, {{"guessing", "", guessing}}};
  DotPlot nll{models,
              forms,
              "nll",
              "log loss (nats): less is better",
              1.25 * uncertain,
              {{"guessing", "", uncertain}}};
  for (const Outcome& o : outcomes) {
    const Figures f = figures(o, task);
    const double half = 1.96 * f.nll.se;
    accuracy.add(o, f.accuracy.value,
                 wilson(f.accuracy.value, static_cast<double>(task.test.size())));
    nll.add(o, f.nll.value, {f.nll.value - half, f.nll.value + half});
  }
  Picture picture(s.common.out, "gp_classify", s.common.panels);
  picture.shared("set ytics " + named_places(models) + "\n");
  picture.legend(forms_legend(forms));
  add_dots(picture, accuracy, 0);
  add_dots(picture, nll, 1);
  return picture.draw(best(task, outcomes), settings_line(s, task));
}

std::filesystem::path draw_calibration(const Settings& s, const Task& task,
                                       const std::vector<Outcome>& outcomes) {
  const Names models = different(outcomes, &Outcome::model),
              forms = different(outcomes, &Outcome::form);
  if (!s.common.panels || models.empty()) return {};
  Picture picture(s.common.out, "gp_classify_calibration", true);
  picture.shared("set ylabel 'right answers (share)'\n");
  picture.legend(models_legend(models));
  for (std::size_t i = 0; i < forms.size(); ++i)
    picture.panel(square(column(i, forms.size())), forms[i],
                  reliability_panel(picture, task, outcomes, forms[i]));
  return picture.draw("How often is right who is sure? Grey: as often as sure",
                      settings_line(s, task));
}

}  // namespace ladon::example
