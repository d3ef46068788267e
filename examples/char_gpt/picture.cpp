#include "ladon/examples/char_gpt/picture.h"

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

std::filesystem::path draw(const Settings& s, const std::string& corpus,
                           const std::vector<Look>& looks, double bigram) {
  Picture picture(s.common.out, "char_gpt");
  std::vector<std::vector<double>> rows;
  for (const Look& look : looks)
    rows.push_back({static_cast<double>(look.step), look.train, look.validation});
  const std::string file = picture.data("looks", rows);
  picture.panel({90, Picture::top, 640, 360}, "",
                join("set xlabel 'steps'\nset ylabel 'nats a character'\nset yrange [0:*]\n"
                     "set key bottom left Left reverse\nplot ",
                     curve(file, "1:2", kind(0), "training, mean since the last look"), ", ",
                     curve(file, "1:3", kind(1), "validation"), ", ", bigram,
                     " with lines lw 1.5 dt 2 lc rgb '", grey, "' title 'counted pairs'"));
  return picture.draw(join("A small GPT learns ", corpus, " by heart and by rule"),
                      join(s.layers, " layers, ", s.heads, " heads, width ", s.dim, ", context ",
                           s.context, ", particles: ", s.particles, ", seed ", s.common.seed),
                      780, Picture::top + 450);
}

}  // namespace ladon::example
