// Lesson 11: the noise that a sampler needs.

#include <bit>
#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/lessons/11_noise/page.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Noise of the right size and in the right place makes a sampler";
constexpr const char* duration = "3 s";
constexpr const char* lesson =
    "Descent with noise rests at a density; the noise's size and its place decide at which.";
const std::vector<Trial> trials = {
    {"11_noise", "variance: which rule comes to the posterior's 1 as the step becomes smaller?"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr std::int64_t chains = 2048, items = 20, batch = 10;
  Generator rng(options.seed);
  Tensor x = parameter(zeros({chains}, f64)), y = normal({items}, rng, 0, std::sqrt(items), f64);
  y = y - mean(y);  // U(x) = Σ_i (x − y_i)²/(2·items), so the posterior of x is N(0, 1)
  const double c = mean(square(y)).item() / batch;  // variance of the gradient of a batch
  const auto at_rest = [&](Optimizer&& rule, const std::function<Tensor()>& gradient_noise) {
    Tensor squares = zeros({chains}, f64);
    for (int t = -1500; t < 500; ++t) {
      x.set_grad(x.detach() + gradient_noise());
      rule.step();
      if (t >= 0) add_(squares, square(x.detach()), 1 / 500.0);
    }
    return estimate(squares.to_vector());
  };
  Table table("step, rule", {{"variance", "of x at rest, in 2048 chains ± standard error"},
                             {"formula", "its formula; the posterior's variance is 1"},
                             {"z", "their difference in standard errors"}});
  std::vector<std::vector<double>> rows;  // step size, formulas of the variances, measured ones
  const char* const rules[] = {"Langevin", "batches", "noise through RMSprop"};
  for (unsigned k = 0; k <= 64; ++k) {
    const double step = std::max(k / 80.0, 1e-9), rest = 1 / (1 - step / 2);
    const double s = std::pow(step, 3), a = (std::sqrt(s * s + 32 * s) - s) / 16;  // 8a² = s(1 − a)
    const double f[] = {rest, rest * (1 + step * c / 2), 2 * a / (step * (1 - a))};
    rows.push_back({step, f[0], f[1], f[2]});
    if (k < 8 || !std::has_single_bit(k)) continue;
    const auto none = [] { return scalar(0, f64); };
    const auto drawn = [&] { return index_select(y, 0, randint({chains * batch}, rng, 0, items)); };
    const auto of_batch = [&] { return -mean(reshape(drawn(), {chains, batch}), 1); };
    const auto given = [&] { return normal({chains}, rng, 0, std::sqrt(2 / step), f64); };
    const Measured v[] = {at_rest(Sgld({x}, {.lr = step}, rng.split(1)), none),
                          at_rest(Sgld({x}, {.lr = step}, rng.split(2)), of_batch),
                          at_rest(Rmsprop({x}, {.lr = step, .decay = 0.995}), given)};
    for (int i = 0; i < 3; ++i) {
      table.add({join(step, ", ", rules[i]), {v[i], {f[i]}, {(v[i].value - f[i]) / v[i].se}}});
      rows.back().push_back(v[i].value);
    }
  }
  print("Which variance does each rule rest at?", table);
  program.write({.tables = {{"variances", table}}});
  program.write_page([&] { return page(rows, y); });
  Picture picture(options.out, "11_noise");
  const std::string file = picture.data("variances", rows);
  std::string plot = "plot 1 lc 'black' dt 2 title 'posterior'";
  for (const int i : {0, 1, 2})
    plot += join(", ", curve(file, join("1:", i + 2), kind(i), rules[i]), ", ", file,
                 " using 1:", i + 5, " notitle ", kind(i).points(1.3));
  picture.panel(slide, "", "set key left\nset xlabel 'step'\nset ylabel 'variance'\n" + plot);
  picture.draw_slide("Small steps mend two rules and ruin one", "dots: measured; lines: formulas");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_with_page(argc, argv, "11_noise", {summary, duration, lesson, trials}, study);
}
