#include <algorithm>
#include <cmath>
#include <numeric>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

std::string picture_line(const Settings& s) {
  return join(s.heads, " heads, ", s.layers, s.layers == 1 ? " layer" : " layers", " of width ",
              s.dim, ", α = ", s.alpha, ", ", s.epochs, " epochs");
}

std::vector<std::size_t> counted(std::int64_t n) {
  std::vector<std::size_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::vector<HeadMap> shown_maps(const Outcomes& outcomes) {
  const auto& [first_name, first] = outcomes.front();
  const auto repels = [](const auto& o) {
    return o.first == "svgd" || o.first == "spos" || o.first == "wgd";
  };
  const auto other = std::ranges::find_if(outcomes, repels);
  const Run run = typical(first);
  std::vector<HeadMap> maps = {{"before training", "before", run.before},
                               {first_name + ", trained", "first", run.after}};
  if (other != outcomes.end() && other->first != first_name)
    for (const Run& each : other->second)
      if (each.seed == run.seed) maps.push_back({other->first + ", trained", "other", each.after});
  return maps;
}

void draw_maps(const Settings& s, const std::string& name, const std::string& title,
               const std::string& line, const std::vector<HeadMap>& maps, const std::string& across,
               const std::string& bar) {
  Picture picture(s.common.out, name, s.common.panels);
  picture.shared("set ylabel 'head'\n", bar);
  double most = 0;
  for (const HeadMap& map : maps) most = std::max(most, amax(flatten(map.matrix), 0).item());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto& [panel, file, matrix, rows, columns] = maps[i];
    const auto values = matrix.to_vector();
    std::vector<std::vector<double>> cells;
    for (const std::size_t row : rows) {
      cells.emplace_back();
      for (const std::size_t column : columns)
        cells.back().push_back(values[row * columns.size() + column]);
    }
    picture.panel(square(column(i, maps.size(), 25, {75, titled.top, 770, titled.height})), panel,
                  join("set xlabel '", across, "'\n",
                       rows.size() < 12 ? "set xtics 1\nset ytics 1\n" : "",  // tics at integers
                       heat_map(picture.data(file, cells), rows.size(), columns.size(),
                                std::ceil(10 * most) / 10)));
  }
  picture.draw_slide(title, line);
}

}  // namespace ladon::example
