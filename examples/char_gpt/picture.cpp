#include "ladon/examples/char_gpt/picture.h"

#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

std::filesystem::path draw(const Settings& s, const std::string& corpus,
                           const std::vector<Look>& looks, double bigram) {
  if (looks.empty()) return {};
  Picture picture(s.common.out, "char_gpt");
  std::vector<std::vector<double>> rows;
  for (const Look& look : looks)
    rows.push_back({static_cast<double>(look.step), look.train, look.validation});
  const std::string file = picture.data("looks", rows);
  picture.panel(
      slide, "",
      join("set xlabel 'steps'\nset ylabel 'nats per character'\nset key top right\nplot ",
           curve(file, "1:2", kind(0), "training, mean since the last look"), ", ",
           curve(file, "1:3", kind(1), "validation"), ", ", bigram,
           " with lines lw 2 dt 2 lc rgb '", grey, "' title 'counted pairs'"));
  const double gain = bigram - looks.back().validation;
  return picture.draw(
      join("After ", looks.back().step, " steps a small GPT ",
           gain > 0 ? join("beats counted pairs by ", std::round(100 * gain) / 100, " nats")
                    : "has not yet learnt more than pairs"),
      join(corpus, "; ", s.layers, " layers, ", s.heads, " heads, width ", s.dim, ", context ",
           s.context, ", particles: ", s.particles, ", seed ", s.common.seed));
}

}  // namespace ladon::example
