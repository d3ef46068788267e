#include "ladon/examples/particles/collapse.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/particles/methods.h"
#include "ladon/optim/optim.h"

namespace ladon::example {
namespace {

constexpr std::int64_t most_kernels = 100;  // a kernel per coordinate takes time

/// The mean variance of the rows of x where SVGD lets them rest. −ln p = ½|θ|², so the gradient is
/// θ.
double settled(const Tensor& start, const SvgdOptions& options, int most_steps) {
  Tensor x = parameter(clone(start));
  Svgd svgd(particles_of_rows(x), options);
  Sgd sgd({x}, {.lr = 1});
  const auto variance = [&] { return mean(var(x.detach(), 0, Dims::drop, 0)).item(); };
  double before = variance();
  constexpr int between = 100;
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

/// In the steps of Progress, which are those of a single particle's gradient in the plane.
double work_in(std::int64_t dim) {
  return 1e4 + (dim <= most_kernels ? 3000 : 30) * static_cast<double>(dim);
}

}  // namespace

double collapse_work(const Settings& s) {
  double all = 0;
  for (const std::int64_t dim : s.dimensions) all += work_in(dim);
  return all;
}

void run_collapse(const Settings& s, std::vector<Remaining>& all, Progress& progress) {
  constexpr int steps = 20000;
  const auto m = static_cast<double>(s.collapse_particles);
  const Alpha alpha = alpha_of(s);
  for (const std::int64_t dim : s.dimensions) {
    Generator rng = Generator(s.common.seed, 4).split(static_cast<std::uint64_t>(dim));
    const Tensor start = normal({s.collapse_particles, dim}, rng, 0, 1, f64);
    Remaining r{dim, NAN, NAN, NAN, NAN};
    if (!alpha.automatic()) {
      r.svgd = settled(start, {.alpha = alpha}, steps);
      if (dim >= s.collapse_particles - 1)
        r.law = alpha.value() * std::log(m + 1) * (m - 1) / (m * static_cast<double>(dim));
      if (dim <= most_kernels)
        r.per_coordinate = settled(start, {.kernel = per_coordinate(rbf()), .alpha = alpha}, steps);
    }
    r.automatic = settled(start, {.alpha = automatic}, steps);
    all.push_back(r);
    progress.step(join("collapse, ", dim, " dimensions"), work_in(dim));
  }
}

}  // namespace ladon::example
