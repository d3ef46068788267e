// Lesson 4: many heads become Gaussian, one wide head does not.

#include <iostream>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Many heads become Gaussian, one wide head does not";
constexpr const char* duration = "6 s";
constexpr const char* lesson =
    "Of two layers with equally many weights one has many heads, the other has a single wide one. "
    "The excess kurtosis of the first falls as 1/H; that of the second stays.";
const std::vector<Trial> trials = {
    {"04_many_heads --seed 2", "rho: of another input; the laws hold as well, with its constants"}};

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  const Tensor x = normal({1, 4, 8}, rng, 0, 1, f64);  // one input: 4 tokens of 8 channels
  const Tensor k = matmul(select(x, 0, 0), transpose(select(x, 0, 0))) / 8.0;
  const Tensor squares = square(lapack::eigh(k).first);
  const double rho = (sum(square(squares)) / square(sum(squares))).item();
  const double c = 3 * (1.5 * 1.5 * (1 + 2 * rho) - 1);
  std::cout << "rho = " << rho << ", 6·rho = " << 6 * rho << ", c = " << c << '\n';

  const auto layer = [](const infinite::NetworkSize& size, Generator& own) {
    MultiHeadAttentionOptions o{.dim = 8, .heads = size.heads, .head_dim = size.width, .out = 64};
    o.form.weighting = Weighting::identity;
    o.prior.parameterization = Parameterization::ntk;
    return std::make_unique<MultiHeadAttention>(o, own);
  };
  infinite::CompareOptions drawn;
  drawn.networks = {.kernel = {.get = infinite::Get::nngp}, .dtype = f32};
  Table table("layer", {{"kurtosis", "excess kurtosis of the outputs of 4000 layers ± s.e."},
                        {"times_H", "the same times the number of heads ± s.e."},
                        {"law", "what theory says of times_H, at this width"},
                        {"z", "(times_H - law) / standard error"},
                        {"cov_z", "(covariance - limit) / s.e., root mean square of entries"}});
  std::vector<std::vector<double>> many, wide;  // n, kurtosis, standard error
  for (const auto& [heads, width] : std::vector<std::pair<int, int>>{
           {1, 4}, {4, 4}, {16, 4}, {64, 4}, {256, 4}, {1, 16}, {1, 64}, {1, 256}, {1, 1024}}) {
    const auto row = compare(layer, x, {{{heads, width}, 4000}}, drawn, rng).rows[0];
    const auto [kurtosis, se] = row.gaussianity.kurtosis;
    const double law = infinite::identity_kurtosis(k, k, {1, 1.0 * width, 1.0 * width});
    const Measured all{heads * kurtosis, heads * se}, z{(all.value - law) / all.se};
    table.add({join(heads, heads > 1 ? " heads" : " head", " of width ", width),
               {{kurtosis, se}, all, {law}, z, {row.nngp.rms_z}}});
    if (width == 4) many.push_back({1.0 * heads, kurtosis, se});
    if (heads == 1) wide.push_back({width / 4.0, kurtosis, se});
  }
  print("What do 256 times as many weights buy?", table);
  program.write({.tables = {{"kurtosis", table}}});

  Picture picture(options.out, "04_many_heads");
  const std::string exact = " with lines " + Style{grey, 2}.line(2) + " notitle, ";
  picture.panel(
      slide, "",
      join("set logscale xy\nset xrange [0.8:400]\nset xtics (1, 4, 16, 64, 256)\n",
           "set yrange [0.03:30]\nset ylabel 'excess kurtosis'\nset key bottom left Left reverse\n",
           "set xlabel 'n: weights of the layer / weights of one head of width 4'\nplot ", c, "/x",
           exact, "3*((1 + 0.5/x)**2*", 1 + 2 * rho, " - 1)", exact,
           with_errors(picture.data("wide", wide), "1:2:3", kind(1), "one head of width 4·n"), ", ",
           with_errors(picture.data("many", many), "1:2:3", kind(0), "n heads of width 4")));
  picture.draw_slide(summary, "dots: 4000 random layers each, ± s.e.; dashed: the exact laws");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "04_many_heads", {summary, duration, lesson, trials}, study);
}
