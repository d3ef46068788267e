// Lesson 9: particles climb together and repel each other; so may heads.

#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Particles that repel each other, and heads that seem to differ";
constexpr const char* duration = "1 s";
constexpr const char* lesson =
    "SVGD: particles climb the log density together, and repel each other. Heads are particles.";
const std::vector<Trial> trials = {{"09_particles --seed 3", "picture: how many end at right?"}};

bool study(const CommonOptions& options, const Program& program) {
  Generator rng(options.seed);
  // Positions of the particles after each step on the density ½·N(−c, 1) + ½·N(c, 1), whose score
  // is c·tanh(c·x) − x.
  const auto move = [](const Tensor& start, double c, const SvgdOptions& how) {
    Tensor x = parameter(clone(start));
    Svgd svgd(particles_of_rows(x), how);
    Sgd sgd({x}, {.lr = 0.5});
    std::vector<std::vector<double>> rows;
    for (int step = 0; step <= 400; ++step) {
      rows.push_back(x.to_vector());
      x.set_grad(x.detach() - c * tanh(c * x.detach()));  // gradient of the loss, −ln p
      svgd.apply();
      sgd.step();
    }
    return rows;
  };
  Table pair("α", {{"formula", "distance of two particles at rest: √(2·ln(1 + 2α)), h = 1"},
                   {"svgd", "their distance after 400 steps of Svgd"}});
  const Tensor two = tensor({1.3, -1.1}, {2, 1}, f64), many = normal({12, 1}, rng, -4, 0.5, f64);
  for (const double alpha : {0.0, 0.5, 1.0, 4.0}) {
    const auto end = move(two, 0, {rbf({.bandwidth = Bandwidth::fixed}), alpha}).back();
    pair.add({join(alpha), {{std::sqrt(2 * std::log(1 + 2 * alpha))}, {end[0] - end[1]}}});
  }
  print("At what distance do two particles rest on N(0, 1)?", pair);
  // Query and key weights [2, 1, head_dim, dim] of a head; all heads share the values x.
  const Tensor x = normal({1, 6, 16}, rng), head = normal({2, 1, 8, 16}, rng, 0, 0.3, f64);
  const auto output = [&x](const Tensor& w) {
    return scaled_dot_product_attention(matmul(x, transpose(select(w, 0, 0))),
                                        matmul(x, transpose(select(w, 0, 1))), x);
  };
  Table heads("head", {{"distance", "of its query and key weights from the first head's"},
                       {.name = "difference", .meaning = "largest, of outputs", .tiny = true}});
  const auto add = [&](const char* name, const Tensor& w) {
    heads.add({name, {{norm(w - head).item()}, {amax(abs(output(w) - output(head))).item()}}});
  };
  add("rows reversed", flip(head, {2}));
  add("signs flipped", -head);
  add("another draw", normal(head.shape(), rng, 0, 0.3, f64));
  print("Which heads differ?", heads);
  program.write({.tables = {{"pair", pair}, {"heads", heads}}});
  Picture picture(options.out, "09_particles");
  picture.panel(slide, "",
                join("set xlabel 'step'\nset ytics ('left peak' -2, 'right peak' 2)\n",
                     "set yrange [-5:5]\nset key top left Left reverse\nplot for [i=1:12] ",
                     curve(picture.data("1", move(many, 2, {.alpha = 1})), "0:i", kind(0), ""),
                     ", for [i=1:12] ",
                     curve(picture.data("0", move(many, 2, {.alpha = 0})), "0:i", kind(1), "", 4),
                     ", NaN title 'with repulsion, α = 1' ", kind(0).line(),
                     ", NaN title 'without, α = 0' ", kind(1).line(4)));
  picture.draw_slide("Without repulsion all end at one peak", "paths of 12 particles under SVGD");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "09_particles", {summary, duration, lesson, trials}, study);
}
