// Lesson 10: particles that stay apart, and yet collapse.

#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "The variance that SVGD loses with the dimension, and noise keeps";
constexpr const char* duration = "4 s";
constexpr const char* lesson =
    "Particles that repel each other stay apart, and still their variance per coordinate falls as "
    "1/D. Enough noise beside the forces (SPOS) keeps it, in any dimension.";
const std::vector<Trial> trials = {{"10_collapse --seed 99", "distance: it does not change"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr double m = 10, b = 1, rate = 0.05;  // particles M, weight b of the noise, step size ε
  // Stationary variance per coordinate of M particles on N(0, 1) in D dimensions.
  const auto variance = [&options](double dim, double diffusion, double lr) {
    std::vector<double> seeds;
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      Generator rng = Generator(options.seed).split(seed);
      Tensor x = parameter(normal({10, std::int64_t(dim)}, rng, 0, 1, f64));
      Spos spos(particles_of_rows(x), {.diffusion = diffusion}, rng.split(1));
      Sgd sgd({x}, {.lr = lr});
      seeds.push_back(0);
      for (int step = 1; step <= 500; ++step) {
        x.set_grad(clone(x.detach()));  // gradient of −ln p = ½‖x‖²
        spos.apply();
        sgd.step();
        if (step > 250) seeds.back() += mean(var(x.detach(), 0)).item() / 250;
      }
    }
    return estimate(seeds);
  };
  Table table("D", {{"svgd", "variance per coordinate of 10 particles; that of the target is 1"},
                    {"law", "ln(M + 1)/D, from D = M - 1 on"},
                    {"distance", "between particles of svgd, root mean square"},
                    {"spos", "variance per coordinate with noise, b = 1"},
                    {"spos_law", "its law, equation (3) of the page"},
                    {"z", "(spos - spos_law)/standard error"}});
  std::vector<std::vector<double>> rows;
  for (const double d : {1, 3, 10, 30, 100, 300, 1000}) {
    const Measured svgd = variance(d, 0, 1), spos = variance(d, b, rate);
    const double law = d < m - 1 ? NAN : std::log(m + 1) / d, g = b + 1 / (m + 1);
    const double spos_law = (b / (1 - rate * g / 2) + law / (m + 1)) / g;
    const double distance = std::sqrt(2 * d * svgd.value), z = (spos.value - spos_law) / spos.se;
    table.add({join(d), {svgd, {law}, {distance}, spos, {spos_law}, {z}}});
    rows.push_back({d, svgd.value, law, spos.value, spos.se});
  }
  print("What is left of the variance?", table);
  program.write({.tables = {{"collapse", table}}});
  Picture picture(options.out, "10_collapse");
  const std::string file = picture.data("variance", rows);
  picture.panel(
      slide, "",
      join("set logscale xy\nset xlabel 'dimension D'\nset format y '%g'\n",
           "set xrange [0.8:1200]\nset yrange [0.001:3]\nset key bottom left Left reverse\n",
           "set ylabel 'variance per coordinate'\nplot ", curve(file, "1:3", {grey}, "ln(M + 1)/D"),
           ", 1 title 'target' ", Style{grey, 2}.line(), ", ",
           with_errors(file, "1:4:5", kind(1), "SPOS"), ", ", file, " using 1:2 title 'SVGD' ",
           kind(0).points(1.4)));
  picture.draw_slide("SVGD loses the variance, noise keeps it", "10 particles on N(0, 1), b = 1");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "10_collapse", {summary, duration, lesson, trials}, study);
}
