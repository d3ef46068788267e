#include "ladon/examples/gp_classify/dot_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/models.h"

namespace ladon::example {
namespace {

constexpr int row_height = 64;  // of a model
constexpr int band = 26;        // of a line's label, above the models
constexpr double apart = 0.25;  // forms, of a row

std::string two_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", x);
  return text;
}

}  // namespace

Style model_style(const std::string& model) {
  const std::vector<std::string> all = model_names();
  return kind(static_cast<std::size_t>(std::find(all.begin(), all.end(), model) - all.begin()));
}

int form_marker(std::size_t form) {
  constexpr int circle = 7, square = 5, open_diamond = 12;
  return form == 0 ? circle : form == 1 ? square : open_diamond;
}

int DotPlot::height() const {
  return row_height * static_cast<int>(models.size()) + band * static_cast<int>(references.size());
}

/// Where the intervals are; wider for a reference that is not farther off than half of that.
std::pair<double, double> DotPlot::range() const {
  double low = most, high = 0;
  for (const Dot& dot : dots) {
    if (!(dot.value <= most)) continue;
    low = std::min(low, dot.low);
    high = std::max(high, std::min(dot.high, most));
  }
  if (low >= high) return {0, most};
  const double reach = (high - low) / 2, from = low - reach, to = std::min(high + reach, most);
  for (const Reference& reference : references)
    if (reference.at >= from && reference.at <= to) {
      low = std::min(low, reference.at);
      high = std::max(high, reference.at);
    }
  const double margin = 0.05 * (high - low);
  return {low - margin, high + margin};
}

double DotPlot::place(const Dot& dot) const {
  const double middle = (static_cast<double>(forms.size()) - 1) / 2;
  return static_cast<double>(dot.model) + apart * (static_cast<double>(dot.form) - middle);
}

/// A dashed line with its label beside its upper end; a label with an arrow at the side where it
/// would be.
std::string DotPlot::line(const Reference& reference, double label_at) const {
  const auto [low, high] = range();
  const double at = reference.at;
  const std::string words = reference.name + " " + two_digits(at);
  const auto label = [&](const std::string& text, const std::string& x, const char* aligned) {
    return join("set label ", quoted(text), " at ", x, ", graph ", label_at, " ", aligned,
                " tc rgb '", grey, "'\n");
  };
  if (at < low) return label("← " + words, "graph 0.01", "left");
  if (!(at <= high)) return label(words + " →", "graph 0.99", "right");
  return join("set arrow from ", at, ", graph 0 to ", at, ", graph ", label_at,
              " nohead lw 2 dt 2 lc rgb '", grey, "'\n") +
         label(words, join(at),
               at < (low + high) / 2 ? "left offset 0.6,0" : "right offset -0.6,0");
}

/// A value that the axis does not show.
std::string DotPlot::beyond(const Dot& dot) const {
  const std::string value = std::isnan(dot.value) ? "diverged" : two_digits(dot.value) + " →";
  return join("set label ", quoted(forms[dot.form] + " " + value), " at graph 0.99, first ",
              place(dot), " right tc rgb '", model_style(models[dot.model]).colour, "'\n");
}

void DotPlot::add_to(Picture& picture, int left, int top, int width, bool named) const {
  const auto [low, high] = range();
  const double above = 0.5 + static_cast<double>(references.size()) * band / row_height;
  std::string script = join("set xrange [", low, ":", high, "]\nset yrange [", models.size(),
                            "-0.5:", -above, "]\nset xlabel ", quoted(axis), "\nset grid noytics\n",
                            named ? "set ytics " + named_places(models) : "unset ytics", "\n");
  for (std::size_t i = 0; i < references.size(); ++i)
    script += line(references[i], 1 - (static_cast<double>(i) + 0.5) * band / height());
  std::vector<std::vector<double>> rows;
  std::vector<Style> styles;
  for (const Dot& dot : dots) {
    if (!(dot.value <= high)) {
      script += beyond(dot);
      continue;
    }
    rows.push_back({dot.value, place(dot), dot.low, dot.high});
    styles.push_back({model_style(models[dot.model]).colour, 1, form_marker(dot.form)});
  }
  const std::string file = picture.data(name, rows);
  script += "plot ";
  for (std::size_t i = 0; i < rows.size(); ++i)
    script +=
        with_intervals(join(file, " every ::", i, "::", i), "1:2:3:4", styles[i], "", 1.2) + ", ";
  picture.panel({left, top, width, height()}, "", script + "NaN notitle");
}

}  // namespace ladon::example
