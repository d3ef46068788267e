// Lesson 6: a prior's beliefs before any data.

#include <cmath>
#include <numbers>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/lessons/06_prior/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {
constexpr const char* summary = "What a prior believes: weights of N(0, 1) say much of functions";
constexpr const char* duration = "3 s";
constexpr const char* lesson = "Value and output weights decide how sure an untrained network is.";
const std::vector<Trial> trials = {{"06_prior", "formula: from which vo on is a network sure?"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr int networks = 4000;
  const NoGrad off;
  Generator rng(options.seed);
  const Tensor w = normal({2, 3}, rng, 0, 1.2), b = uniform({2, 3}, rng, 0, 6.28);
  const auto inputs = [&](const Tensor& s) { return std::sqrt(2.0) * cos(s * w + b); };
  const Tensor x = inputs(tensor({0, 0.25}, {2, 1, 1}));
  const auto network = [&](double qk) {
    MultiHeadAttentionOptions o = {.dim = 3, .heads = 64, .head_dim = 32, .bias = false, .out = 1};
    o.prior = {.parameterization = Parameterization::ntk, .query_key_std = qk};
    return Sequential(MultiHeadAttention(o, rng), MeanPositions());
  };
  const auto draw = [&](double qk) {
    std::vector<Tensor> f;
    while (std::ssize(f) < networks) f.push_back(cast(flatten(network(qk)(x)), f64));
    return stack(f, 1);  // [2, networks]
  };
  const Column drawn = {"networks", "share of 4000 networks ± standard error"};
  const Column z = {"z", "(networks - formula)/standard error"};
  const auto add = [](Table& table, double std, double of, double p, const Tensor& event) {
    const double share = mean(cast(event, f64)).item(), se = std::sqrt(p * (1 - p) / networks);
    table.add({join(std), {{of}, {p}, {share, se}, {(share - p) / se}}});
  };
  const Column more = {"formula", "P(a class has more than 95%) = erfc(ln 19/sqrt(2v))"};
  Table sure("vo", {{"v", "variance of the logit f(0)"}, more, drawn, z});
  const Tensor f = select(draw(4), 0, 0);
  const double v = at(infinite::limit(network(4))(x, infinite::Get::nngp).nngp, {0, 0}).item();
  for (const double vo : {1.0, 2.0, 5.0, 20.0})
    add(sure, vo, vo * vo * v, std::erfc(std::log(19) / (vo * std::sqrt(2 * v))),
        abs(vo * f) > std::log(19));
  print("How sure are networks that have seen no data?", sure);
  const Column other = {"formula", "P(the class at s = 0 is not that at s = 1/4) = θ/π"};
  Table changing("qk", {{"cos_theta", "correlation of f(0) and f(1/4)"}, other, drawn, z});
  for (const double qk : {0.0, 1.0, 4.0, 16.0, 64.0}) {
    const Tensor k = infinite::limit(network(qk))(x, infinite::Get::nngp).nngp, g = draw(qk);
    const double c = (at(k, {0, 1}) / sqrt(at(k, {0, 0}) * at(k, {1, 1}))).item();
    add(changing, qk, c, std::acos(c) / std::numbers::pi, select(g, 0, 0) * select(g, 0, 1) < 0);
  }
  print("How often does the class change on the way from s = 0 to s = 1/4?", changing);
  program.write({.tables = {{"sure", sure}, {"changing", changing}}});
  const Tensor line = inputs(reshape(linspace(-2, 2, 161), {161, 1, 1}));
  std::vector<std::vector<double>> rows;  // functions of networks with vo = 1
  while (rows.size() < 6) rows.push_back(network(4)(line).to_vector());
  Picture picture(options.out, "06_prior");
  picture.panel(slide, "",
                join("vo(i) = i < 6 ? 1 : 20\nset xlabel 's'\nset ylabel 'P(y = 1)'\n",
                     "set key top center horizontal\nplot [-2:2][-0.02:1.16] for [i=0:11] ",
                     picture.data("functions", rows), " matrix every :::(i%6)::(i%6) using ",
                     "(($1 - 80)/40):(1/(1 + exp(-vo(i)*$3))) with lines lw 2.5 dt 1+i/6 lc rgb",
                     " i < 6 ? '#0072b2' : '#d55e00' title i%6 ? '' : sprintf('σ = %d', vo(i))"));
  picture.draw_slide("A wide prior is sure before it has seen any data",
                     "six networks without training; σ: of value and output weights");
  program.write_page([&] { return page(w, b, network, sure); });
  return true;
}
}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "06_prior", {summary, duration, lesson, trials}, study);
}
