#include "ladon/examples/llama/picture.h"

#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

std::filesystem::path draw(const Settings& s, const Lesson& lesson, const Study& study) {
  if (study.rows.empty()) return {};
  Picture picture(s.common.out, "llama");
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
      join("set logscale x 2\nset xlabel 'heads of keys and values, for ", s.heads,
           " of queries'\nset xtics (", places, ")\nset offsets graph 0.08, graph 0.08\n");
  picture.panel({90, Picture::top + 20, 440, 320}, "what sharing costs",
                join(axis, "set ylabel 'validation loss, nats a token'\nset offsets graph 0.08, ",
                     "graph 0.08, graph 0.3, graph 0.3\nset nokey\nplot ",
                     with_errors(picture.data("losses", losses), "1:2:3", kind(0), "")));
  picture.panel(
      {650, Picture::top + 20, 440, 320}, "what it saves",
      join(axis, "set ylabel 'bytes of cache a token'\nset yrange [0:*]\nset nokey\nplot ",
           curve(picture.data("bytes", bytes), "1:2", kind(1), "")));
  return picture.draw(
      "Heads that share their keys",
      join("small Llamas on ", lesson.name, ": ", s.layers, " layers, width ", s.dim, ", ", s.steps,
           " steps, ", s.runs, s.runs == 1 ? " run" : " runs", ", seed ", s.common.seed),
      1130, Picture::top + 430);
}

}  // namespace ladon::example
