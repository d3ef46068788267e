// Lesson 21, an appendix: a small GPT, and whether its heads differ.
#include <iostream>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {
constexpr const char* summary = "A small GPT, whose heads differ and do not divide the work";
constexpr const char* duration = "4 s";
constexpr const char* lesson = "Heads that differ need not have a job each: one may do all.";
const std::vector<Trial> trials = {{"21_small_gpt --seed 3", "who does all four jobs"}};
const Tensor all = arange(19), marks = arange(2, 20, 2);  // marks: positions before a letter
const Tensor sources = stack({marks - 1, maximum(marks - 3, 0), 0 * marks, 0 * marks + 1});
Tensor draw_texts(std::int64_t n, Generator& rng) {
  Tensor x = randint({n, 2}, rng, 0, 8);
  for (int i = 0; i < 9; ++i) {
    const Tensor kind = randint({n, 1}, rng, 0, 4), noise = bernoulli({n, 1}, rng, 0.1);
    const Tensor place = index_select(slice(sources, 1, {i, i + 1}), 0, squeeze(kind, 1));
    const Tensor old = gather(x, 1, place), next = where(equal(old, 7), 0, old + 1);
    x = concat({x, kind + 8, where(noise, randint({n, 1}, rng, 0, 8), next)}, 1);
  }
  return x;  // [n, 20]
}
Tensor loss(const LanguageModel& gpt, const Tensor& x, const Tensor& places) {
  const Tensor logits = index_select(gpt(slice(x, 1, {0, -1})), 1, places);
  return cross_entropy(logits, index_select(x, 1, places + 1));
}
Tensor maps(const LanguageModel& gpt, const Tensor& x) {  // attention at marks: [n, heads, 9, 19]
  const Tensor y = (*gpt.positions)(gpt.embedding(slice(x, 1, {0, -1})));
  return index_select(gpt.body.forward_with_weights(y, {}).weights[0].detach(), 2, marks);
}
bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  const Tensor texts = draw_texts(1000, rng), place = permute(one_hot(sources, 19), {1, 2, 0});
  const Tensor kind = one_hot(index_select(texts, 1, marks) - 8, 4);  // [n, 9, 4]
  const char* to = "attention to this letter, where it is asked for";
  const char* off = "loss of letters, nats, with this head off";
  Table jobs("head", {{"last", to}, {"before", to}, {"first", to}, {"second", to}, {"off", off}});
  const double letter = -0.9125 * std::log(0.9125) - 7 * 0.0125 * std::log(0.0125);
  const double floor = (std::log(8) + 9 * std::log(4) + 9 * letter) / 19;
  std::cout << "\nfloor of the loss " << floor << ", of letters " << letter << '\n';
  std::vector<std::vector<double>> bars;
  for (const std::string network : {"A", "B", "C"}) {
    const TransformerEncoderLayerOptions layer{.dim = 32, .heads = 4, .dropout = 0};
    LanguageModel gpt({.vocabulary = 12, .layers = 1, .layer = layer, .max_length = 20}, rng);
    std::cout << network << ": cosine of maps untrained " << map_redundancy(maps(gpt, texts));
    Adam adam(gpt.parameters(), {.lr = 5e-3});
    for (int step = 0; step < 300; ++step) {
      adam.zero_grad();
      backward(loss(gpt, draw_texts(64, rng), all));
      adam.step();
    }
    const Tensor a = maps(gpt, texts), seen = matmul(transpose(a, 1, 2), place);
    const Tensor shares = sum(seen * unsqueeze(kind, 2), {0, 1}) / sum(kind, {0, 1});  // [4, 4]
    std::cout << ", trained " << map_redundancy(a) << ", loss " << loss(gpt, texts, all).item()
              << '\n';
    for (int h = 0; h < 4; ++h) {
      const HeadMask mask(*gpt.body.layers[0].attention, cast(not_equal(arange(4), h), f32));
      std::vector<double>& b = bars.emplace_back(select(shares, 0, h).to_vector());
      b.push_back(loss(gpt, texts, marks).item());
      jobs.add({network + std::to_string(h + 1), {{b[0]}, {b[1]}, {b[2]}, {b[3]}, {b[4]}}});
    }
  }
  print("What do the heads of three trained networks attend to?", jobs);
  program.write({.tables = {{"jobs", jobs}}});
  Picture picture(options.out, "21_small_gpt");
  const std::string plot = "plot [] [0:1.2] for [i=1:4] " + picture.data("jobs", bars);
  const char* bar =
      " using i:xtic(word('A1 A2 A3 A4 B1 B2 B3 B4 C1 C2 C3 C4', int($0)+1)) w hist fs solid "
      "lc rgb word('#0072b2 #d55e00 #009e73 #767676', i) title word('last before first second', i)";
  picture.panel(slide, "", "set key horizontal\nset ylabel 'share of attention'\n" + plot + bar);
  picture.draw_slide("Heads do not take one job each: some do all", "networks A, B and C");
  return true;
}
}  // namespace
}  // namespace ladon::example
int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "21_small_gpt", {summary, duration, lesson, trials}, study);
}
