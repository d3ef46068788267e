#include "ladon/examples/gp_classify/picture.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

constexpr double least_rows = 10;  // a bin with fewer says too little to be drawn.
/// What an outcome can be, and its colour. The empty form is the bar's.
constexpr std::pair<const char*, const char*> forms[] = {
    {"NNGP", "#1f77b4"}, {"NTK", "#ff7f0e"}, {"finite", "#2ca02c"}, {"", "#7f7f7f"}};

std::size_t form_index(const Outcome& o) {
  return static_cast<std::size_t>(
      std::find_if(std::begin(forms), std::end(forms), [&](auto f) { return o.form == f.first; }) -
      std::begin(forms));
}

struct Bars {
  std::string names;  ///< Gnuplot's names of the places.
  int models = 0;
};

/// Writes a line an outcome: its place, form, accuracy and NLL. Models stand at 0, 1, …, their
/// forms side by side.
Bars write_bars(const std::filesystem::path& path, const std::vector<Outcome>& outcomes) {
  std::string data;
  Bars bars;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& o = outcomes[i];
    if (i == 0 || outcomes[i - 1].model != o.model)
      bars.names += join(i ? ", " : "", "'", o.model, "' ", bars.models++);
    const std::size_t form = form_index(o);
    const double shift = form == 3 ? 0 : 0.25 * (static_cast<double>(form) - 1);
    const double nll = o.diverged() ? NAN : o.nll.value;  // gnuplot leaves a NaN out
    data += join(bars.models - 1 + shift, ' ', form, ' ', o.accuracy.value, ' ', nll, '\n');
  }
  write_atomically(path, data);
  return bars;
}

/// A line for each bin of confidence with enough rows: mean confidence, share of right answers,
/// number of rows.
std::string reliability(const Outcome& o, const Tensor& labels) {
  std::string text;
  for (const CalibrationBin& bin : calibration(o, labels))
    if (bin.rows >= least_rows) text += join(bin.confidence, ' ', bin.right, ' ', bin.rows, '\n');
  return text;
}

std::string bar_panel(const std::string& title, const Bars& bars, int column) {
  std::string script =
      join("set title '", title, "'\nset xtics (", bars.names,
           ") rotate by -25\nset xrange [-0.6:", bars.models, "-0.4]\nset yrange [0:*]\nplot ");
  for (std::size_t f = 0; f < std::size(forms); ++f)
    script += join(f ? ", " : "", "'bars.dat' using ($2==", f, "?$1:NaN):", column,
                   " with boxes lc rgb '", forms[f].second, "' ",
                   *forms[f].first ? join("title '", forms[f].first, "'") : "notitle");
  return script + "\n";
}

/// The models in `form`, a line each, over the diagonal of perfect calibration.
std::string reliability_panel(const std::filesystem::path& folder, const Task& task,
                              const std::vector<Outcome>& outcomes, const std::string& form) {
  std::string script = join("set title 'right answers against confidence, ", form,
                            "'\nplot x with lines lc 'black' dt 2 notitle");
  for (const Outcome& o : outcomes) {
    if (o.form != form) continue;
    const std::string file = join("reliability_", o.model, "_", form, ".dat");
    const std::string lines = reliability(o, task.test.labels);
    if (lines.empty()) continue;
    write_atomically(folder / file, lines);
    script +=
        join(", '", file, "' using 1:2 with linespoints lw 2 pt 7 ps 0.4 title '", o.model, "'");
  }
  return script + "\n";
}

}  // namespace

std::filesystem::path draw(const Settings& s, const Task& task,
                           const std::vector<Outcome>& outcomes) {
  const Bars all = write_bars(s.common.out / "bars.dat", outcomes);
  const bool finite = std::any_of(outcomes.begin(), outcomes.end(),
                                  [](const Outcome& o) { return o.form == "finite"; });
  std::string script = join(
      "set multiplot layout 2,2 title 'Networks of infinite and of finite width, task: ", task.name,
      R"('
set grid ytics
set boxwidth 0.23
set style fill solid 0.8
set key outside top center horizontal
)");
  script += bar_panel("test accuracy", all, 3) + bar_panel("test NLL (nats)", all, 4);
  script += R"(set grid
set xtics autofreq norotate
set xrange [0:1]
set yrange [0:1]
set key inside top left vertical
set xlabel 'mean confidence'
)";
  script += reliability_panel(s.common.out, task, outcomes, "NNGP");
  script += reliability_panel(s.common.out, task, outcomes, finite ? "finite" : "NTK");
  return plot(s.common.out, "gp_classify", script + "unset multiplot\n", 1200, 860);
}

}  // namespace ladon::example
