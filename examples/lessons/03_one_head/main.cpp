// Lesson 3: one head is one random draw.

#include <iostream>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

using namespace infinite;
constexpr const char* summary = "One head is one random draw, however wide it is";
constexpr const char* duration = "4 s";
constexpr const char* lesson =
    "Square-root scaling leaves the logits of a random head random, however wide it is. Given its "
    "attention map its output is Gaussian; without it the tails are heavier, at the same variance.";
const std::vector<Trial> trials = {
    {"03_one_head --seed 2", "kurtosis: other draws; does it go to 0 with the width?"}};

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  const Tensor k = eye(2, f64), x = std::sqrt(2) * reshape(k, {1, 2, 2});  // x·xᵀ/2 = k
  const auto head = [](Weighting zeta) {
    return [=](const NetworkSize& size, Generator& draw) {
      MultiHeadAttentionOptions o{.dim = 2, .heads = size.heads, .head_dim = size.width};
      o.form.weighting = zeta;
      o.prior.parameterization = Parameterization::ntk;
      return std::make_unique<MultiHeadAttention>(o, draw);
    };
  };
  Table table("head",
              {{.name = "variance", .meaning = "of its output at the first token"},
               {.name = "limit", .meaning = "the same with infinitely many heads, ± if drawn"},
               {.name = "kurtosis", .meaning = "excess kurtosis; 0 for a Gaussian"},
               {.name = "law", .meaning = "3·((1 + 2/width)²·(1 + 2ρ) − 1), ρ = 1/2"}});
  const auto first = [](const Tensor& kernel) { return at(kernel, {0, 0, 0, 0}).item(); };
  std::vector<std::vector<double>> draws;  // outputs of the widest head
  for (const int width : {16, 64, 256}) {
    const auto row = compare(head(Weighting::identity), x, {{{1, width}, 8000}}, rng).rows[0];
    const Tensor y = slice(row.outputs, 1, {0, 1});  // [draws, 1, channels]
    const Measured variance = estimate(mean(square(y), {1, 2}).to_vector());
    const Measured law{identity_kurtosis(k, k, {1, 1.0 * width, 1.0 * width})};
    table.add({join("identity, width ", width),
               {variance, {first(row.nngp.limit)}, excess_kurtosis(y), law}});
    draws.clear();
    for (const double output : y.to_vector()) draws.push_back({output});
  }
  for (const Weighting zeta : {Weighting::identity, Weighting::softmax}) {
    const auto wide = head(zeta)({1, 1}, rng);
    const Kernel drawn = limit(*wide)(x, Get::nngp);
    const Measured process{first(drawn.nngp), drawn.nngp_se.defined() ? first(drawn.nngp_se) : 0};
    const ScaleMixture s = finite_heads(*wide).outputs(x, 40'000, rng)[0];
    const Measured law{zeta == Weighting::identity ? identity_kurtosis(k, k, {}) : NAN};
    table.add({join(to_string(zeta), ", wide"),
               {estimate(s.variances()), process, s.excess_kurtosis(), law}});
  }
  print("Does the output of one random head become Gaussian as it grows wide?", table);
  program.write({.tables = {{"heads", table}}});
  Picture picture(options.out, "03_one_head");
  std::string plot = "set logscale y\nset format y '%g'\nset xr [-9:9]\nset yr [1e-5:1]\n";
  plot += "set xlabel 'output'\nset ylabel 'density'\nplot " + picture.data("draws", draws);
  plot += join(" using (0.5*floor(2*$1) + 0.25):(2.0/", draws.size(), ") smooth frequency with ",
               "points ", kind(0).points(1.3), " title 'one head, width 256', ",
               curve("'+'", "1:(exp(-abs($1))/2)", kind(1), "one head, infinitely wide"), ", ",
               curve("'+'", "1:(exp(-$1**2/4)/sqrt(4*pi))", kind(5), "Gaussian"));
  picture.panel(slide, "", plot);
  picture.draw_slide("However wide, one random head has heavy tails",
                     "outputs of 8000 random layers, identity in place of the softmax");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "03_one_head", {summary, duration, lesson, trials}, study);
}
