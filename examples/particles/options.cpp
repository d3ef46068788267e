#include "ladon/examples/common/options.h"

#include "ladon/examples/common/text.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

void add_options(Program& program, Settings& s) {
  const auto count = [](std::int64_t most) { return whole_number<std::int64_t>(1, most); };
  program.list("--targets", s.targets, "Densities in the plane",
               "Each has one difficulty: correlation, two modes, a hole, a bend, a narrow neck",
               one_of(target_names()));
  program.list("--methods", s.methods, "Methods that move the particles",
               "With none,svgd alone one sees what repulsion adds to an ensemble",
               one_of(method_names()));
  program.option("--seeds", s.seeds, "Repetitions, with seeds --seed, --seed + 1 and so on",
                 "Four times as many halve the standard errors; with 1 there are none",
                 count(1000));
  program.option("--particles", s.particles, "Particles of each method",
                 "Fewer keep less of the variance; the cost of repulsion grows as their square",
                 count(2000));
  program.option(
      "--steps", s.steps, "Gradients per particle",
      "More show which methods have not converged: compare mode_mass with pooled_mode_mass",
      count(100'000));
  program.option(
      "--rate", s.rate, "Step size on -ln p; the step size of hmc is sqrt(2·rate)",
      "Halve it, with twice the steps: what changes by more than chance is discretization error",
      number_above(0));
  program.option(
      "--alpha", s.alpha, "Weight of the repulsion (svgd, spos, wgd): a number, or auto",
      "The lower it is, the nearer particles are to the modes; auto is made for many dimensions",
      (number_above(0) | one_of({"auto"})).described("auto or above 0"));
  program.option("--noise", s.noise, "b of spos: weight of each particle's own gradient and noise",
                 "0 is svgd; large values make independent chains", number(0));
  program.option(
      "--apart", s.apart, "Distance of the two modes, whose standard deviation is 0.6",
      "At 4 repulsion moves no particle to the other mode; a few chains get there by chance",
      number(0, 6));
  program.check([&s] {
    refuse_repeated("--targets", s.targets);
    refuse_repeated("--methods", s.methods);
  });
}

std::string settings_line(const Settings& s) {
  return join(s.particles, " particles, ", s.steps, " gradients each, rate ", s.rate,
              ", α = ", s.alpha);
}

}  // namespace ladon::example
