// Lesson 2: attention, head by head.

#include <iostream>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/lessons/02_attention/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "A head is a weighted mean of all values, a layer a sum of heads";
constexpr const char* duration = "1 s";
constexpr const char* lesson =
    "A softmax makes a query's logits q·k/√d into weights of sum 1; a head's output is the mean of "
    "all values with these weights. The square root keeps the logits' variance at 1, whatever the "
    "width d. A layer's output is the sum of its heads' parts.";
const std::vector<Trial> trials = {
    {"02_attention --seed 2", "one_token: another layer; do its heads look at one token?"}};

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  Table widths("d", {{.name = "variance/d", .meaning = "variance of q·k, entries from N(0, 1)"},
                     {.name = "largest", .meaning = "largest of 8 weights, logits q·k/√d"},
                     {.name = "unscaled", .meaning = "the same, logits q·k"},
                     {.name = "slope", .meaning = "1 − Σ a² of these unscaled weights"}});
  Tensor logits;  // [queries, keys]
  for (const int d : {4, 16, 64, 256}) {
    const Tensor q = normal({4000, 1, d}, rng, f64), k = normal({4000, 8, d}, rng, f64);
    const Tensor products = sum(q * k, -1), unscaled = softmax(products);
    logits = products / std::sqrt(d);
    const auto largest = [](const Tensor& a) { return estimate(amax(a, -1).to_vector()); };
    widths.add({join(d),
                {estimate(mean(square(products) / d, -1).to_vector()), largest(softmax(logits)),
                 largest(unscaled), estimate((1 - sum(square(unscaled), -1)).to_vector())}});
  }
  print("Eight random keys: how much weight has the largest?", widths);

  const MultiHeadAttention layer({.dim = 64, .heads = 4, .bias = false}, rng);
  const Tensor x = normal({1, 8, 64}, rng), values = matmul(x, transpose(layer.value));
  const auto [output, maps, contexts] = layer.forward_with_weights(x, x, x, causal());
  const Tensor parts = matmul(contexts, layer.output);  // [1,H,T,d] · [H,d,64] → [1,H,T,64]
  Table heads("head", {{.name = "largest", .meaning = "largest of its 8 weights"},
                       {.name = "keys", .meaning = "1/Σ a²: so many equal weights have this sum"},
                       {.name = "one_token", .meaning = "|c − v|/|c|, c = Σ a·v, v of that key"}});
  for (std::int64_t h = 0; h < layer.heads(); ++h) {
    const Tensor a = at(maps, {0, h, -1}), c = at(contexts, {0, h, -1});
    const Tensor v = at(values, {h, argmax(a).item<std::int64_t>()}), spread = 1 / sum(square(a));
    heads.add({join(h + 1), {{amax(a).item()}, {spread.item()}, {(norm(c - v) / norm(c)).item()}}});
  }
  print("A causal layer, the last of 8 queries: does a head look at one token?", heads);
  std::cout << "\nhead 1, weights of the third query: " << at(maps, {0, 0, 2})
            << "\noutput − sum over heads, largest: " << amax(abs(output - sum(parts, 1))) << '\n';
  program.write({.tables = {{"widths", widths}, {"heads", heads}}});
  program.write_page([&] { return page(widths); });

  Picture picture(options.out, "02_attention");
  std::string bars = "set boxwidth 0.18\nplot [0.4:8.6] ";
  for (int i = 0; i < 4; ++i) {
    std::vector<std::vector<double>> row;
    const double t = std::pow(4, 1 - i);
    for (const double a : softmax(at(logits, {0}) / t).to_vector()) row.push_back({a});
    bars += join(picture.data(join("t", i), row), " using ($0 + ", 0.7 + 0.2 * i, "):1 with boxes ",
                 "fs solid lc rgb '", step(i, 4).colour, "' title 'T = ", t, "', ");
  }
  picture.panel(slide, "", "set xlabel 'key'\nset ylabel 'weight'\nset xtics 1\n" + bars);
  picture.draw_slide("Every key has a share; the scale of the logits says how even",
                     "one query, eight keys: softmax(logits/T); T = 1 in a Transformer");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "02_attention", {summary, duration, lesson, trials}, study);
}
