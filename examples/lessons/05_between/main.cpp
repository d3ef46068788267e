// Lesson 5: between one head and infinitely many, the distribution is known.

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/lessons/05_between/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {
constexpr const char* summary = "Finitely many heads have an exact law, and layers follow it";
constexpr const char* duration = "7 s";
constexpr const char* lesson = "Given its logits a layer is Gaussian: its law is a scale mixture.";
const std::vector<Trial> trials = {{"05_between --seed 2", "n2_kl: nearly constant again"}};

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  const Tensor x = normal({2, 8, 8}, rng, 0, 1, f64);  // two inputs: 8 tokens of 8 channels
  const auto layer = [](const infinite::NetworkSize& size, Generator& own) {
    MultiHeadAttentionOptions o{.dim = 8, .heads = size.heads, .head_dim = size.width, .out = 16};
    o.prior.parameterization = Parameterization::ntk;
    return std::make_unique<Sequential>(MultiHeadAttention(o, own), FirstToken());
  };
  const auto law = [&](std::int64_t heads, std::int64_t width) {  // width 0: infinitely wide
    const auto model = layer({heads, 1}, rng);
    const auto k = latent_kernel(infinite::finite_heads(*model, {heads, width, width}), x);
    return infinite::ScaleMixture(k.at(normal({40000, k.dim}, rng, f64), 1).to_vector());
  };
  const infinite::CompareOptions few{.networks = {.kernel = {infinite::Get::nngp}}};
  Table tails("heads", {{"drawn", "share of outputs beyond 3 standard deviations ± s.e."},
                        {"law", "the same by the exact law (0.0027 for a Gaussian)"},
                        {"z", "(drawn - law) / s.e."}});
  Picture picture(options.out, "05_between");
  std::string script =
      "set logscale y\nplot [0:6] [2e-5:1] exp(-x*x/2)/sqrt(2*pi) dt 2 lc 8 title 'Gaussian'";
  Drawn all;
  for (const int heads : {1, 4, 16}) {
    const infinite::ScaleMixture exact = law(heads, 8);
    const double sd = std::sqrt(exact.variance()), expected = 2 * exact.cdf(-3 * sd);
    const auto drawn = infinite::compare(layer, x, {{{heads, 8}, 10000}}, few, rng).rows[0];
    const Tensor size = abs(select(drawn.outputs, 1, 0)) / sd;  // [layers, channels]
    const auto share = [&](double from, double to) {
      return estimate(mean(cast(size >= from, f64) * cast(size < to, f64), 1).to_vector());
    };
    const Measured beyond = share(3, 1e9), z{(beyond.value - expected) / beyond.se};
    tails.add({std::to_string(heads), {beyond, {expected}, z}});
    auto& bins = all[heads];  // rows: bin centre, density, standard error, exact density
    for (double y = 0.125; y < 6; y += 0.25) {
      const auto [half, se] = share(y - 0.125, y + 0.125);
      bins.push_back({y, 2 * half, 2 * se, exact.density(y * sd) * sd});
    }
    script += ", " + curve(picture.data(std::to_string(heads), bins), "1:4", kind(heads / 4), "");
    script += ", " + with_errors("''", "1:2:3", kind(heads / 4), "H = " + std::to_string(heads));
  }
  print("How often is an output large?", tails);
  Table widths("width", {{"n2_kl", "width²·KL(law at this width, law at infinite width) ± s.e."}});
  for (const int n : {2, 4, 8, 16, 32}) {
    std::vector<double> n2_kl(5, 0);
    for (double& sum : n2_kl) {
      const infinite::ScaleMixture p = law(1, n), q = law(1, 0);
      for (double y = 1e-6; y < 12; y *= 1.3)  // ∫ p ln(p/q) dy, on a grid of ln |y|
        sum += n * n * 2 * std::log(1.3) * y * p.density(y) * std::log(p.density(y) / q.density(y));
    }
    widths.add({std::to_string(n), {estimate(n2_kl)}});
  }
  print("How far is the law of wide heads?", widths);
  program.write({.tables = {{"tails", tails}, {"widths", widths}}});
  picture.panel(slide, "",
                "set xlabel 'output / sd'\nset ylabel 'density'\nset format y '%g'\n" + script);
  picture.draw_slide(summary, "H heads; dots: 10000 random layers each, ± s.e.; lines: exact laws");
  program.write_page([&] { return page(law, all, tails, widths); });
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "05_between", {summary, duration, lesson, trials}, study);
}
