#include "ladon/autograd/ops/shape.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/translate/results.h"

namespace ladon::example {
namespace {

/// ('the' 1, 'dog' 2)
std::string places(const std::vector<std::string>& words) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i)
    all += join(i ? ", " : "", quoted(words[i]), " ", i + 1);
  return "(" + all + ")";
}

std::string map_of(const std::string& file, const Attention& words, const std::string& bar) {
  return join("set xtics ", places(words.source), " rotate by 40 right\nset ytics ",
              places(words.target), "\n",
              heat_map(file, words.target.size(), words.source.size(), bar));
}

}  // namespace

std::filesystem::path draw(const Settings& s, const std::string& corpus, const Course& course,
                           const Attention& last, double word_for_word) {
  Picture picture(s.common.out, "translate");
  const auto looks = rows_of(course.looks);
  const std::string file =
      picture.data("looks", rows_of(slice(course.looks, 1, {.stop = Course::speed})));
  constexpr int first = Picture::top + 45, high = 330, second = first + high + 130;
  const std::string steps =
      join("set xlabel 'steps'\nset xrange [0:", s.steps, "]\nset xtics ", s.steps / 4.0, '\n');
  picture.panel({100, first, 480, high}, "(a) loss",
                join(steps, "set ylabel 'nats a token'\nset yrange [0:*]\nplot ",
                     curve(file, "1:2", kind(0), "trained on"), ", ",
                     curve(file, "1:3", kind(1), "validation")));
  picture.panel({710, first, 480, high}, "(b) BLEU, validation",
                join(steps, "set yrange [0:100]\nset key bottom right\nplot ",
                     curve(file, "1:4", kind(1), "greedy"), ", ", word_for_word,
                     " with lines lw 1.5 dt 2 lc rgb '", grey, "' title 'word for word, test'"));
  picture.panel({170, second, 410, high},
                join("(c) attention after ", looks.front()[Course::steps], " steps"),
                map_of(picture.data("first", rows_of(course.first)), last, ""));
  picture.panel(
      {780, second, 410, high}, join("(d) after ", looks.back()[Course::steps], " steps"),
      map_of(picture.data("last", rows_of(last.weights)), last, "attention to the source"));
  return picture.draw(join("A Transformer learns to translate ", corpus),
                      join(s.layers, " + ", s.layers, " layers, ", s.heads, " heads, width ", s.dim,
                           ", seed ", s.common.seed),
                      1300, second + high + 120);
}

}  // namespace ladon::example
