#include <cmath>

#include "ladon/autograd/ops/shape.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/translate/study.h"

namespace ladon::example {
namespace {

/// Tics with words as labels: ('the' 1, 'dog' 2)
std::string places(const std::vector<std::string>& words) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i)
    all += join(i ? ", " : "", quoted(words[i]), " ", i + 1);
  return "(" + all + ")";
}

void draw_course(const Settings& s, const std::string& settings, const Course& course,
                 double word_for_word) {
  Picture picture(s.common.out, "translate_course", s.common.panels);
  const std::string file =
      picture.data("looks", rows_of(slice(course.looks, 1, {.stop = Course::speed})));
  const std::string steps =
      join("set xlabel 'steps'\nset xrange [0:", s.steps, "]\nset xtics ", s.steps / 4.0, '\n');
  picture.panel(column(0, 2, 110), "loss",
                join(steps, "set ylabel 'nats per token'\nset yrange [0:*]\nplot ",
                     curve(file, "1:2", kind(0), "training"), ", ",
                     curve(file, "1:3", kind(1), "validation")));
  picture.panel(
      column(1, 2, 110), "translation",
      join(steps, "set ylabel 'BLEU'\nset yrange [0:100]\nset key at graph 1,graph 0.5\nplot ",
           curve(file, "1:4", kind(1), "validation"), ", ", word_for_word,
           " with lines lw 2 dt 2 lc rgb '", grey, "' title 'word for word'"));
  picture.draw_slide(join("BLEU of ", std::round(rows_of(course.looks).back()[3]),
                          " on unseen sentences, ", std::round(word_for_word), " word for word"),
                     settings);
}

void draw_attention(const Settings& s, const std::string& settings, const Course& course,
                    const Attention& last) {
  Picture picture(s.common.out, "translate", s.common.panels);
  picture.shared("set ytics " + places(last.target) + "\n", "attention to the source");
  const auto looks = rows_of(course.looks);
  const auto map_of = [&](const std::string& file) {
    return join("set xtics ", places(last.source), " rotate by 40 right\n",
                heat_map(file, last.target.size(), last.source.size()));
  };
  constexpr Box both{110, titled.top, 730, 290};
  picture.panel(column(0, 2, 25, both), join("after ", looks.front()[Course::steps], " steps"),
                map_of(picture.data("first", rows_of(course.first))));
  picture.panel(column(1, 2, 25, both), join("after ", looks.back()[Course::steps], " steps"),
                map_of(picture.data("last", rows_of(last.weights))));
  picture.draw_slide("Trained, each word looks at the word that it translates", settings);
}

}  // namespace

void draw(const Settings& s, const std::string& corpus, const Course& course, const Attention& last,
          double word_for_word) {
  const std::string settings = join(corpus, "; ", s.layers, " + ", s.layers, " layers, ", s.heads,
                                    " heads, width ", s.dim, ", seed ", s.common.seed);
  draw_attention(s, settings, course, last);
  draw_course(s, settings, course, word_for_word);
}

}  // namespace ladon::example
