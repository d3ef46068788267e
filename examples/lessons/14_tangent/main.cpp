// Lesson 14: the tangent kernel, and training in closed form.

#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/lessons/14_tangent/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Wide networks train along the tangent kernel, past the posterior";
constexpr const char* duration = "3 s";
constexpr const char* lesson = "Training has a formula at any time; its end is not the posterior.";
const std::vector<Trial> trials = {{"14_tangent", "mean: does training end at the posterior?"}};

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  const Tensor y = tensor({1, -1, 1, 1}, {4, 1}), s = tensor({-3, -1, 1, 3, -2.5}, {5, 1, 1});
  const Tensor w = normal({2, 3}, rng, 0, 1.2), phase = uniform({2, 3}, rng, 0, 6.28);
  const Tensor x = std::sqrt(2.0) * cos(s * w + phase);  // an input: two tokens of three channels
  MultiHeadAttentionOptions layer = {.dim = 3, .heads = 64, .head_dim = 8, .bias = false, .out = 1};
  layer.prior.parameterization = Parameterization::ntk;
  const auto network = [&] { return Sequential(MultiHeadAttention(layer, rng), MeanPositions()); };
  const infinite::Limit limit = infinite::limit(network());
  const Tensor train = slice(x, 0, {0, 4}), test = slice(x, 0, {4, 5});
  const infinite::Kernel own = limit(train), cross = limit(test, train), tests = limit(test);
  const double rate = max_learning_rate(own.ntk, 4) / 4;
  const GradientFlow flow(own.ntk, y, {.learning_rate = rate});
  const GpPrediction posterior = GaussianProcess(own.nngp, y).predict(cross.nngp, tests.nngp);
  std::vector<std::vector<double>> f(101), dots;  // f(test), per step and network
  for (int i = 0; i < 100; ++i) {
    Sequential net = network();
    Sgd sgd(net.parameters(), {.lr = rate});
    for (std::vector<double>& at_step : f) {
      const Tensor output = net(x);
      at_step.push_back(at(output, {4, 0}).item());
      sgd.zero_grad();
      backward(mse_loss(slice(output, 0, {0, 4}), y) / 2.0);
      sgd.step();
    }
  }
  Table table("step", {{"mean", "of f(test) over all initializations, by the tangent kernel"},
                       {"sd", "its standard deviation there, by both kernels"},
                       {"networks", "mean of 100 trained networks ± standard error"},
                       {"z", "(networks - mean)/standard error"},
                       {"spread", "standard deviation of the networks; its standard error is 7%"}});
  for (const int t : {0, 1, 3, 10, 30, 100}) {
    const auto p = flow.ensemble(t, cross.ntk, {own.nngp, cross.nngp, tests.nngp});
    const double mean = p.mean.item(), sd = std::sqrt(p.variance().item());
    const auto [value, se] = estimate(f[t]);
    table.add({std::to_string(t), {{mean}, {sd}, {value, se}, {(value - mean) / se}, {10 * se}}});
    dots.push_back({1.0 * t, value, se});
  }
  const double m = posterior.mean.item(), sd = std::sqrt(posterior.variance().item());
  table.add({"posterior", {{m}, {sd}, {}, {}, {}}});
  print("Where does training go at the test input?", table);
  program.write({.tables = {{"training", table}}});
  for (int t = 0; t <= 100; ++t)
    f[t].insert(f[t].begin(), {1.0 * t, flow.test(t, cross.ntk).item(), m - sd, m + sd});
  Picture picture(options.out, "14_tangent");
  const std::string file = picture.data("flow", f);
  const std::string mean = with_errors(picture.data("mean", dots), "1:2:3", kind(1), "mean of 100");
  std::string plot = "set log x\nset key bottom\nset xlabel 'step'\nset ylabel 'f(test)'\nplot ";
  plot += file + " using 1:3:4 with filledcurves fc '#a8d8c0' title 'posterior', for [i=5:12] ";
  plot += file + " using 1:i with lines lw 2 lc 'gray70' title i == 5 ? 'networks' : '', ";
  picture.panel(slide, "", plot + curve(file, "1:2", kind(0), "tangent kernel") + ", " + mean);
  picture.draw_slide("Training ends beside the posterior", "8 of 100 networks; posterior ± sd");
  program.write_page([&] { return page(w, phase, limit, y, f); });
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "14_tangent", {summary, duration, lesson, trials}, study);
}
