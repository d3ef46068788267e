#include "ladon/examples/common/options.h"

#include "ladon/examples/common/text.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

void add_options(Program& program, Settings& s) {
  const auto count = [](std::int64_t most) { return whole_number<std::int64_t>(1, most); };
  program.list("--targets", s.targets, "Densities in the plane",
               "Each has one difficulty: a slant, two modes, a hole, a bend, a narrow neck",
               one_of(target_names()));
  program.list("--methods", s.methods, "What moves the particles",
               "Only none and svgd show what repulsion adds to an ensemble",
               one_of(method_names()));
  program.option("--seeds", s.seeds, "Repetitions, with seeds --seed, --seed + 1 and so on",
                 "Four times as many halve the standard errors; 1 has none", count(1000));
  program.option("--particles", s.particles, "Particles of each method",
                 "Fewer keep less of the variance; the work of repulsion grows as the square",
                 count(2000));
  program.option("--steps", s.steps, "Gradients of each particle",
                 "More show who is still on the way: compare mode_mass with pooled_mode_mass",
                 count(100'000));
  program.option("--rate", s.rate, "Rate of a step on -ln p; of hmc's steps sqrt(2·rate)",
                 "Halve it, with twice the steps: what changes beyond chance is a step's error",
                 number_above(0));
  program.option("--alpha", s.alpha, "Weight of the repulsion (svgd, spos, wgd): a number, or auto",
                 "Lower it, and particles near the modes; auto is made for many dimensions",
                 (number_above(0) | one_of({"auto"})).described("auto or above 0"));
  program.option("--noise", s.noise, "b of spos: own gradient and noise",
                 "0 is svgd; large ones make independent chains", number(0));
  program.option("--apart", s.apart, "Distance of the two modes, whose standard deviation is 0.6",
                 "At 4 no repulsion reaches the other mode, and chains that are lucky do",
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
