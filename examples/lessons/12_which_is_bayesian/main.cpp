// Lesson 12: which method is Bayesian? One whose predictions have the right spread at only one step
// of training is not.

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr const char* summary =
    "Which method is Bayesian? The right spread at one step of training is not enough";
constexpr const char* duration = "7 s";
constexpr const char* lesson =
    "Training that is stopped early looks calibrated: its spread passes through the posterior's.";
const std::vector<Trial> trials = {{"12_which_is_bayesian --seed 2", "spread: which ends at 1?"}};

bool study(const CommonOptions& options, const Program& program) {
  constexpr std::int64_t n = 8, all = n + 17, members = 50;
  constexpr double noise = 0.05;
  Generator rng(options.seed);
  const Tensor place = concat({linspace(-2, 2, n, f64), linspace(-3, 3, all - n, f64)}, 0);
  const Tensor wave = normal({2, 3}, rng, f64), phase = 3 * normal({2, 3}, rng, f64);
  const Tensor x = std::sqrt(2) * sin(reshape(place, {all, 1, 1}) * wave + phase);
  const WideHeadsOptions network{.dim = 3, .heads = 4, .query_key_std = 4};
  RegressionTask task = wide_heads_task(network, x, zeros({n}, f64), noise);
  task.targets = flatten(task.functions(normal({1, task.dim}, rng, f64), n)) +
                 normal({n}, rng, 0, std::sqrt(noise), f64);
  const AttentionPrior prior{.parameterization = Parameterization::ntk, .query_key_std = 4};
  const Sequential model(MultiHeadAttention({.dim = 3, .heads = 1, .prior = prior}, rng),
                         MeanPositions());
  const auto kernel = infinite::latent_kernel(infinite::finite_heads(model, {.heads = 4}), x);
  const LatentPosteriorOptions smc{.noise = noise, .smc = {.particles = 100}};
  const LatentPosterior exact = sample_posterior(kernel, all, task.targets, smc, rng);
  const Tensor few = slice(exact.latents, 0, {.step = exact.latents.size(0) / members});
  const auto row = [&](const std::string& name, double gradients, const Tensor& functions) {
    const BeliefScore s = score_belief(belief_of_draws(functions), belief_of(exact), noise);
    return Row{name, {{gradients}, {std::sqrt(s.variance_ratio)}, {s.coverage90}, {s.w2}}};
  };
  Table table(
      "method, steps",
      {{.name = "gradients", .meaning = "of each of 50 networks", .whole = true},
       {.name = "spread", .meaning = "standard deviation of functions, over the exact one"},
       {.name = "coverage", .meaning = "mass of its 90% intervals under the exact posterior"},
       {.name = "W2", .meaning = "distance to the exact posterior, over its spread"}});
  Picture picture(options.out, "12_which_is_bayesian");
  std::string plot = "plot 1 lc rgb '#333333' dt 2 notitle";
  for (const char* method : {"sgld", "ensemble", "svgd", "randomized_prior"}) {
    std::vector<std::vector<double>> line;
    for (const std::int64_t steps : {8, 16, 32, 64, 80, 128, 256, 512}) {
      const PosteriorRun run =
          run_posterior_method(method, task, {.members = members, .steps = steps}, rng);
      const Row r = row(join(method, ", ", steps), run.gradients / members, run.functions);
      line.push_back({r.figures[0].value, r.figures[1].value});
      if (steps == 16 || steps == 80 || steps == 512) table.add(r);
    }
    const std::string file = picture.data(method, line);
    plot += ", " + curve(file, "1:2", kind(table.rows().size() / 3 - 1), method);
  }
  const Tensor drawn = draw_functions(kernel, all, task.targets, noise, few, rng);
  table.add(row("50 exact draws", 0, squeeze(drawn, 2)));
  print("When is the spread of a method the posterior's?", table);
  program.write({.tables = {{"methods", table}}});
  picture.panel(slide, "",
                join("set logscale x\nset xrange [8:2500]\nset xlabel 'gradients per network'\n",
                     "set ylabel 'spread over the exact one'\nset yrange [0:3.5]\n", plot));
  picture.draw_slide("An ensemble passes the exact spread; a sampler stays there",
                     "50 networks per method");
  return true;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  return run_program(argc, argv, "12_which_is_bayesian", {summary, duration, lesson, trials},
                     study);
}
