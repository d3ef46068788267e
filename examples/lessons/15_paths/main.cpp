// Lesson 15: paths through heads, and the width at which data reweight them.

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/lessons/15_paths/chains.h"
#include "ladon/examples/lessons/15_paths/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "At finite width data weigh the paths through heads";
constexpr const char* duration = "5 s";
constexpr const char* lesson = "Narrow layers learn which paths help, one pair by a minus sign.";
const std::vector<Trial> trials = {{"15_paths --seed 2", "gain: is the widest network best?"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr std::int64_t n = 100;  // training chains
  const char* arms[] = {"∞", "10", "30", "100", "300", "1000", "10000", "∞, pruned"};
  std::vector<double> of[8][4];  // for each arm and column of the table: a value per data set
  Generator rng(options.seed);
  const Tensor one = eye(4, f64);
  Chains set;
  for (int drawn = 0; drawn < 4; ++drawn) {
    set = chains(n, rng);
    const Tensor &y = set.classes, &c = set.overlaps, train = slice(y, 0, {0, n});
    for (int i = 0; i < 8; ++i) {
      const int w = std::atoi(arms[i]);  // 0 for an infinite width
      const PathOptions layers{.heads = {2, 2}, .widths = {w, w}, .readout = w};
      const Tensor known = slice(c, 2, {0, n}), pruned = one * tensor({1, 0, 1, 0}, {4}, f64);
      const Tensor u = i == 7 ? pruned : w ? path_saddle(known, train, 0.01, layers).order[0] : one;
      const Tensor k = sum(sum(reshape(u, {4, 4, 1, 1}) * c, 0), 0) / 4.0;
      const Tensor a = GaussianProcess(slice(k, 0, {0, n}), train, {.noise = 0.01}).weights().x;
      const Tensor inverse = solve(slice(k, 0, {0, n}) + 0.01 * eye(n, f64), eye(n, f64));
      const double g = sum((inverse - matmul(a, transpose(a))) * at(known, {0, 2})).item() / 4;
      const double hits = mean(sign(matmul(slice(k, 0, {n}), a) * slice(y, 0, {n}))).item();
      const std::vector<double> v = flatten(u).to_vector();
      const double own[] = {0.5 + hits / 2, v[0], v[15], w > 0 ? w * v[2] : i > 0 ? NAN : -g};
      for (int j = 0; j < 4; ++j) of[i][j].push_back(own[j]);
    }
  }
  Table table("N", {{"right", "share of 400 test chains; mean of 4 data sets ± standard error"},
                    {"good", "entry of U of the good path (same, uniform) with itself"},
                    {"random", "the same of the path (random, random)"},
                    {"N·cross", "N times that of the good path with (random, uniform); at ∞ −g"}});
  std::vector<std::vector<double>> lines;
  for (int i = 0; i < 8; ++i) {
    std::vector<Measured> m;
    for (const auto& figure : of[i]) m.push_back(estimate(figure));
    table.add({arms[i], m});
    lines.push_back({std::atof(arms[i]), m[1].value, m[2].value, m[3].value});
  }
  print("Which paths does a network of width N use?", table);
  program.write({.tables = {{"paths", table}}});
  program.write_page([&] { return page(set, table); });
  Picture picture(options.out, "15_paths");
  std::string plot = "set log x\nset xlabel 'width N'\nplot 0 lc 'gray' notitle, for [i=2:4] ";
  plot += picture.data("order", lines) + " u 1:(column(i)/(i<4 ? 1 : $1)) w lp lw 3 lc i title ";
  picture.panel(slide, "", plot + "word('good random good×denoising', i - 1)");
  picture.draw_slide("Narrow layers weigh paths, and one pair by a minus sign", "entries of U");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "15_paths", {summary, duration, lesson, trials}, study);
}
