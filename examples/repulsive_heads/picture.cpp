#include "ladon/examples/repulsive_heads/picture.h"

#include <algorithm>
#include <cstdio>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

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

/// Three panels of the heads' similarity. `first` is plain training, or whatever was run first; `shown`
/// the first method that is not plain.
std::string heat_maps(const Settings& settings, const Outcomes& outcomes) {
  const auto other = std::find_if(outcomes.begin(), outcomes.end(),
                                  [](const auto& o) { return o.first != "plain"; });
  const auto& first = outcomes.front();
  const auto& shown = other == outcomes.end() ? first : *other;
  const auto& folder = settings.common.out;
  const auto panel = [&](const std::string& title, const std::string& file, const Tensor& matrix) {
    write_atomically(folder / file, lines(matrix));
    return join("set title '", title, "'\nplot '", file, "' matrix with image pixels notitle\n");
  };
  const std::string axes = join("[-0.5:", settings.heads, "-0.5]");
  const std::string reversed = join("[", settings.heads, "-0.5:-0.5]");
  return join(R"(set palette defined (0 '#f7fbff', 0.5 '#6baed6', 1 '#08306b')
set cbrange [0:1]
set xlabel 'head'
set ylabel 'head'
set size square
set xtics 1
set ytics 1
)",
              "set xrange ", axes, "\nset yrange ", reversed, "\n",
              panel("before training", "before.dat",
                    mean_similarity(first.second, &Outcome::similarity_before)),
              panel("after training, " + first.first, "after_first.dat",
                    mean_similarity(first.second, &Outcome::similarity_after)),
              panel("after training, " + shown.first, "after_other.dat",
                    mean_similarity(shown.second, &Outcome::similarity_after)),
              R"(set size nosquare
set autoscale y
set xtics autofreq
set ytics autofreq
)");
}

/// Gnuplot warns where it finds a range of no height, as that of one point.
std::string y_range(const Tensor& points) {
  const auto y = slice(points, 1, {.start = 1}).to_vector();
  const auto [least, most] = std::minmax_element(y.begin(), y.end());
  return *least < *most ? "set autoscale y\n"
                        : join("set yrange [", *least, "-0.1:", *most, "+0.1]\n");
}

std::string curve_panel(const Settings& settings, const Outcomes& outcomes,
                        const std::string& title, const std::string& file, const std::string& key,
                        std::vector<double> Outcome::*which) {
  const Tensor points = curves(outcomes, which);
  write_atomically(settings.common.out / file, lines(points));
  std::string script =
      join("set title '", title, "'\nset key ", key, "\n", y_range(points), "plot ");
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    script += join(i ? ", " : "", "'", file, "' using 1:", i + 2,
                   " with linespoints lw 2 pt 7 ps 0.4 title '", outcomes[i].first, "'");
  return script + "\n";
}

}  // namespace

std::filesystem::path draw(const Settings& s, const Outcomes& outcomes) {
  const bool several = s.heads > 1;  // one head is like no other, and has no distance
  std::string script = join("set multiplot layout ", several ? "2,3" : "1,2",
                            " title 'Attention heads under repulsion'\n");
  if (several) script += heat_maps(s, outcomes);
  script += join("set xrange [0:", s.epochs, "]\nset xlabel 'epoch'\nset ylabel ''\nset grid\n");
  script +=
      curve_panel(s, outcomes, "training loss", "loss.dat", "top right", &Outcome::train_loss);
  script += curve_panel(s, outcomes, "test accuracy", "accuracy.dat", "bottom right",
                        &Outcome::test_accuracy);
  if (several)
    script += curve_panel(s, outcomes, "distance between heads", "distance.dat", "top left",
                          &Outcome::head_distance);
  return plot(s.common.out, "repulsive_heads", script + "unset multiplot\n", 1200,
              several ? 760 : 400);
}

}  // namespace ladon::example
