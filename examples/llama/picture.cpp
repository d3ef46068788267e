#include "ladon/examples/llama/picture.h"

#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

std::filesystem::path draw(const Settings& s, const Lesson& lesson, const Study& study) {
  if (study.rows.size() < 2) return {};
  Picture picture(s.common.out, "llama", s.common.panels);
  std::vector<std::vector<double>> losses, bytes;
  std::string places;
  for (const Sharing& row : study.rows) {
    const Measured loss = estimate(row.validation);
    const auto m = static_cast<double>(row.kv_heads);
    losses.push_back({m, loss.value, std::isfinite(loss.se) ? loss.se : 0});
    bytes.push_back({m, static_cast<double>(row.cache_bytes)});
    places += join(places.empty() ? "" : ", ", row.kv_heads);
  }
  const std::string axis =
      join("set logscale x 2\nset xlabel 'heads of keys'\nset xtics (", places, ")\nset nokey\n");
  const std::string sizes = picture.data("bytes", bytes);
  picture.panel(column(0, 2, 110), "what sharing costs",
                join(axis, "set offsets graph 0.1, graph 0.1, graph 0.3, graph 0.3\n",
                     "set ylabel 'validation loss, nats per token'\nplot ",
                     with_errors(picture.data("losses", losses), "1:2:3", kind(0), "")));
  picture.panel(
      column(1, 2, 110), "what it saves",
      join(axis, "set offsets graph 0.1, graph 0.1\nset yrange [0:*]\n",
           "set ylabel 'bytes of cache per token'\nplot ", sizes, " using 1:2 with impulses ",
           kind(1).line(), ", ", sizes, " using 1:2 with points ", kind(1).points(1.2)));
  const double shrinks = bytes.back()[1] / bytes.front()[1],
               costs = losses.front()[1] - losses.back()[1];
  return picture.draw(join("A cache ", std::round(10 * shrinks) / 10, " times smaller costs ",
                           std::round(1000 * costs) / 1000, " nats per token"),
                      join(lesson.name, ": ", s.heads, " heads of queries, ", s.layers,
                           " layers, width ", s.dim, ", ", s.steps, " steps, ", s.runs,
                           s.runs == 1 ? " run" : " runs", ", seed ", s.common.seed));
}

}  // namespace ladon::example
