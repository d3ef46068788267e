#include "ladon/examples/many_dimensions/collapse.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/optim.h"

namespace ladon::example {
namespace {

/// Mean variance per coordinate of M particles, with the divisor M − 1, after SVGD has moved the
/// rows of `start` on N(0, I) until they are at rest. −ln p = ½|θ|², so the gradient is θ.
double settled(const Tensor& start, const SvgdOptions& options) {
  Tensor x = parameter(clone(start));
  Svgd svgd(particles_of_rows(x), options);
  Sgd sgd({x}, {.lr = 1});
  const auto variance = [&] { return mean(var(x.detach(), 0, Dims::drop, 1)).item(); };
  double before = variance();
  constexpr int most_steps = 20000, between = 100;
  for (int step = 1; step <= most_steps; ++step) {
    x.set_grad(clone(x.detach()));
    svgd.apply();
    sgd.step();
    sgd.zero_grad();
    if (step % between != 0) continue;
    stop_if_interrupted();
    const double now = variance();
    if (std::abs(now - before) < 1e-7 * now) return now;
    before = now;
  }
  return variance();
}

}  // namespace

Table collapse_table(const CollapseSettings& s) {
  return {
      "dimension",
      {{"svgd", join("variance per coordinate that ", s.particles,
                     " particles keep of N(0, 1) in D dimensions, median rule; the target's is 1")},
       {"law", "α·ln(M + 1)/D, where the particles are a regular simplex: D ≥ M - 1"},
       {"automatic", "the same with α = auto: it follows from the particles at every step"},
       {"per_coordinate",
        "the same with a kernel of its own for each coordinate, which has no dimension to collapse "
        "in; up to 100"}}};
}

void run_collapse(const CollapseSettings& s, Table& table, Progress& progress) {
  constexpr std::int64_t most_kernels = 100;  // one kernel per coordinate takes time
  const auto m = static_cast<double>(s.particles);
  for (const std::int64_t dim : s.dimensions) {
    Generator rng = Generator(s.common.seed, 4).split(static_cast<std::uint64_t>(dim));
    const Tensor start = normal({s.particles, dim}, rng, 0, 1, f64);
    const double svgd = settled(start, {.alpha = s.alpha});
    const bool lawful = dim >= s.particles - 1;
    const double law = s.alpha * std::log(m + 1) / static_cast<double>(dim);
    const double fair = settled(start, {.alpha = automatic});
    const double per_kernel =
        dim > most_kernels ? NAN
                           : settled(start, {.kernel = per_coordinate(rbf()), .alpha = s.alpha});
    table.add({join("D = ", dim), {{svgd}, {lawful ? law : NAN}, {fair}, {per_kernel}}});
    progress.step(join(dim, " dimensions"));
  }
}

void draw_collapse(const CollapseSettings& s, const Table& table) {
  Picture picture(s.common.out, "many_dimensions", s.common.panels);
  // One column of the table against the dimension.
  const auto series = [&](std::size_t column, const std::string& how, const std::string& title) {
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < table.rows().size(); ++i)
      if (const double kept = table.rows()[i].figures[column].value; std::isfinite(kept))
        rows.push_back({static_cast<double>(s.dimensions[i]), kept});
    if (rows.empty()) return std::string();
    return join(picture.data(table.columns()[column].name, rows), " using 1:2 with ", how,
                " title ", quoted(title), ", ");
  };
  picture.panel(
      slide, "",
      join(
          "set logscale xy\nset xlabel 'dimension D'\nset ylabel 'variance per coordinate'\n"
          "set key bottom left Left reverse\nset format y '%g'\nset yrange [*:2]\nset xrange [0.7:*]\nplot ",
          series(2, "points " + kind(2).points(1), "svgd, α = auto"),
          series(3, "points " + kind(3).points(1), "svgd, one kernel per coordinate"),
          series(1, "lines " + Style{grey, 1, 0}.line(2), "α·ln(M + 1)/D"),
          series(0, "points " + kind(1).points(1), "svgd"), "1 with lines lw 1.5 dt 2 lc rgb '",
          grey, "' title 'the target'"));
  picture.draw_slide("SVGD keeps a 1/D-th of the variance, unless α grows with D",
                     join(s.particles, " particles, α = ", s.alpha,
                          ", bandwidth by the median, seed ", s.common.seed));
}

}  // namespace ladon::example
