// Lesson 6: what a prior believes.

#include <cmath>
#include <numbers>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "What a prior believes: weights of N(0, 1) say much of functions";
constexpr const char* duration = "3 s";
constexpr const char* lesson =
    "Value and output weights decide how sure a network is before it has seen any data.";
const std::vector<Trial> trials = {{"06_prior", "formula: from which vo on is a network sure?"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr int networks = 4000;
  const NoGrad off;
  Generator rng(options.seed);
  const Tensor w = normal({2, 3}, rng, 0, 1.2), b = uniform({2, 3}, rng, 0, 6.28);
  const Tensor s = reshape(tensor({0, 0.25}), {2, 1, 1}), x = std::sqrt(2.0) * cos(s * w + b);
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
  Picture picture(options.out, "06_prior");
  picture.panel(slide, "",
                join("c(i) = word('#0072b2 #00805f #d55e00', i)\nvo(i) = word('1 2 20', i)\n",
                     "set xlabel 'P(y = 1) of a network'\nset ylabel 'share of networks'\n",
                     "set key center top\nplot [0:1][0:0.5] for [i=1:3] ",
                     picture.data("logits", {f.to_vector()}), " matrix using ",
                     "(floor(9.999/(1 + exp(-vo(i)*$3)))/10. + 0.05):(1/4000.) smooth frequency ",
                     "with histeps dt i lw 3 lc rgb c(i) title sprintf(\"σ = %s\", vo(i))"));
  picture.draw_slide("A wide prior is sure before it has seen any data",
                     "4000 untrained networks, one input; σ: of value and output weights");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "06_prior", {summary, duration, lesson, trials}, study);
}
