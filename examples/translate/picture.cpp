#include "ladon/examples/translate/picture.h"

#include "ladon/autograd/ops/shape.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// ('the' 1, 'dog' 2)
std::string places(const std::vector<std::string>& words) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i)
    all += join(i ? ", " : "", quoted(words[i]), " ", i + 1);
  return "(" + all + ")";
}

void add_map(Picture& picture, const Box& box, const std::string& title, const std::string& name,
             const Attention& attention, bool bar) {
  const std::int64_t rows = std::ssize(attention.target), columns = std::ssize(attention.source);
  std::vector<std::vector<double>> numbers;
  for (std::int64_t i = 0; i < rows; ++i)
    numbers.push_back(select(attention.weights, 0, i).to_vector());
  picture.panel(
      box, title,
      join("set xtics ", places(attention.source), " rotate by 40 right\nset ytics ",
           places(attention.target), "\n",
           heat_map(picture.data(name, numbers), static_cast<std::size_t>(rows),
                    static_cast<std::size_t>(columns), bar ? "attention to the source" : "")));
}

}  // namespace

std::filesystem::path draw(const Settings& s, const std::string& corpus, const Course& course,
                           const Attention& last, double word_for_word) {
  Picture picture(s.common.out, "translate");
  std::vector<std::vector<double>> rows;
  for (const Look& look : course.looks)
    rows.push_back({static_cast<double>(look.step), look.train, look.validation, look.bleu});
  const std::string file = picture.data("looks", rows);
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
  add_map(picture, {170, second, 410, high},
          join("(c) attention after ", course.looks.front().step, " steps"), "first", course.first,
          false);
  add_map(picture, {780, second, 410, high}, join("(d) after ", course.looks.back().step, " steps"),
          "last", last, true);
  return picture.draw(join("A Transformer learns to translate ", corpus),
                      join(s.layers, " + ", s.layers, " layers, ", s.heads, " heads, width ", s.dim,
                           ", seed ", s.common.seed),
                      1300, second + high + 120);
}

}  // namespace ladon::example
