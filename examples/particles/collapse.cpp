#include "ladon/examples/particles/collapse.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/optim.h"

namespace ladon::example {
namespace {

/// The mean variance of the rows of x where SVGD lets them rest. −ln p = ½|θ|², so the gradient is
/// θ.
double settled(const Tensor& start, const SvgdOptions& options) {
  Tensor x = parameter(clone(start));
  Svgd svgd(particles_of_rows(x), options);
  Sgd sgd({x}, {.lr = 1});
  const auto variance = [&] { return mean(var(x.detach(), 0, Dims::drop, 0)).item(); };
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

Table collapse_table(const Settings& s) {
  return {
      "dimension",
      {{"svgd", join("variance per coordinate that ", s.collapse_particles,
                     " particles keep of N(0, 1) in D dimensions, median rule; the target's is 1")},
       {"law", "α·ln(M + 1)(M - 1)/(M·D), where the particles are a regular simplex: D ≥ M - 1"},
       {"automatic", "the same with --alpha auto: α follows from the particles at every step"},
       {"per_coordinate",
        "the same with a kernel of its own for each coordinate, which has no dimension to collapse "
        "in; up to 100"}}};
}

void run_collapse(const Settings& s, Table& table, Progress& progress) {
  constexpr std::int64_t most_kernels = 100;  // a kernel per coordinate takes time
  const auto m = static_cast<double>(s.collapse_particles);
  const Alpha alpha = alpha_of(s);
  for (const std::int64_t dim : s.dimensions) {
    Generator rng = Generator(s.common.seed, 4).split(static_cast<std::uint64_t>(dim));
    const Tensor start = normal({s.collapse_particles, dim}, rng, 0, 1, f64);
    double svgd = NAN, law = NAN, per_kernel = NAN;
    if (!alpha.automatic()) {
      svgd = settled(start, {.alpha = alpha});
      if (dim >= s.collapse_particles - 1)
        law = alpha.value() * std::log(m + 1) * (m - 1) / (m * static_cast<double>(dim));
      if (dim <= most_kernels)
        per_kernel = settled(start, {.kernel = per_coordinate(rbf()), .alpha = alpha});
    }
    const double fair = settled(start, {.alpha = automatic});
    table.add({join("D = ", dim), {{svgd}, {law}, {fair}, {per_kernel}}});
    progress.step(join("collapse, ", dim, " dimensions"));
  }
}

std::filesystem::path draw_collapse(const Settings& s, const Table& table) {
  Picture picture(s.common.out, "particles_collapse");
  // A column of the table against the dimension.
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
          series(1, "lines " + Style{grey, 1, 0}.line(2), "α·ln(M + 1)·(M − 1)/(M·D)"),
          series(0, "points " + kind(1).points(1), "svgd"), "1 with lines lw 1.5 dt 2 lc rgb '",
          grey, "' title 'the target'"));
  return picture.draw("SVGD keeps a 1/D-th of the variance, unless α grows with D",
                      join(s.collapse_particles, " particles, α = ", s.alpha,
                           ", bandwidth by the median, seed ", s.common.seed));
}

}  // namespace ladon::example
