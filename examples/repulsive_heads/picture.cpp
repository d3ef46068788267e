#include "ladon/examples/repulsive_heads/picture.h"

#include <algorithm>
#include <cstdio>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/examples/common/plot.h"

namespace ladon::example {
namespace {

/// A matrix of numbers as lines, for gnuplot.
std::string lines(const Tensor& matrix) {
  const auto values = matrix.to_vector<double>();
  const auto columns = static_cast<std::size_t>(matrix.size(1));
  std::string text;
  char number[32];
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::snprintf(number, sizeof number, "%.6g%c", values[i], (i + 1) % columns == 0 ? '\n' : ' ');
    text += number;
  }
  return text;
}

Tensor mean_similarity(const std::vector<Outcome>& outcomes, Tensor Outcome::*which) {
  std::vector<Tensor> all;
  for (const Outcome& outcome : outcomes) all.push_back(outcome.*which);
  return mean(stack(all), 0);
}

/// [epochs, 1 + methods]: the epoch, then each method's curve, mean over seeds.
Tensor curves(const Outcomes& outcomes, std::vector<double> Outcome::*which) {
  const auto epochs = static_cast<std::int64_t>((outcomes[0].second[0].*which).size());
  std::vector<Tensor> columns{arange(1, static_cast<double>(epochs) + 1, 1, f64)};
  for (const auto& [method, runs] : outcomes) {
    std::vector<Tensor> all;
    for (const Outcome& run : runs) all.push_back(from_vector(run.*which, {epochs}));
    columns.push_back(mean(stack(all), 0));
  }
  return stack(columns, 1);
}

std::string heat_map(const std::string& title, const std::string& file) {
  return concat("set title '", title, "'\nplot '", file, "' matrix with image pixels notitle\n");
}

std::string curve_panel(const std::string& title, const std::string& file, const std::string& key,
                        const Outcomes& outcomes) {
  std::string script = concat("set title '", title, "'\nset key ", key, "\nplot ");
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    script += concat(i ? ", " : "", "'", file, "' using 1:", i + 2, " with lines lw 2 title '",
                     outcomes[i].first, "'");
  return script + "\n";
}

}  // namespace

std::filesystem::path draw(const Settings& settings, const Outcomes& outcomes) {
  const auto& folder = settings.common.out;
  // Plain first, then the first repulsive method, or whatever was run.
  const auto repulsive = std::find_if(outcomes.begin(), outcomes.end(),
                                      [](const auto& o) { return o.first != "plain"; });
  const auto& shown = repulsive == outcomes.end() ? outcomes.front() : *repulsive;
  write_atomically(folder / "before.dat",
                   lines(mean_similarity(outcomes.front().second, &Outcome::similarity_before)));
  write_atomically(folder / "after_first.dat",
                   lines(mean_similarity(outcomes.front().second, &Outcome::similarity_after)));
  write_atomically(folder / "after_repulsive.dat",
                   lines(mean_similarity(shown.second, &Outcome::similarity_after)));
  write_atomically(folder / "loss.dat", lines(curves(outcomes, &Outcome::train_loss)));
  write_atomically(folder / "accuracy.dat", lines(curves(outcomes, &Outcome::test_accuracy)));
  write_atomically(folder / "distance.dat", lines(curves(outcomes, &Outcome::head_distance)));

  const int heads = settings.heads;
  std::string script = concat(
      "set multiplot layout 2,3 title 'Attention heads under repulsion: similarity of their maps, "
      "and "
      "learning curves'\n",
      "set palette defined (0 '#f7fbff', 0.5 '#6baed6', 1 '#08306b')\nset cbrange [0:1]\n",
      "set xrange [-0.5:", heads, "-0.5]\nset yrange [", heads, "-0.5:-0.5]\n",
      "set xlabel 'head'\nset ylabel 'head'\nset size square\nset xtics 1\nset ytics 1\n");
  script += heat_map("before training", "before.dat");
  script += heat_map("after training, " + outcomes.front().first, "after_first.dat");
  script += heat_map("after training, " + shown.first, "after_repulsive.dat");
  script +=
      "set size nosquare\nset autoscale x\nset autoscale y\nset xtics autofreq\nset ytics "
      "autofreq\n"
      "set xlabel 'epoch'\nset ylabel ''\nset grid\n";
  script += curve_panel("training loss", "loss.dat", "top right", outcomes);
  script += curve_panel("test accuracy", "accuracy.dat", "bottom right", outcomes);
  script += curve_panel("distance between heads", "distance.dat", "top left", outcomes);
  script += "unset multiplot\n";
  return plot(folder, "repulsive_heads", script, 1200, 760);
}

}  // namespace ladon::example
