// Attention as a sum over paths of heads. At finite width the data change the weights of the paths,
// and the network predicts better than an infinitely wide one.

#include <iostream>

#include "ladon/examples/attention_paths/study.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Data reweight paths of attention at finite width, not at infinite";
constexpr const char* duration = "about 15 s on 2 cores";
constexpr const char* lesson =
    "Two layers of two heads with fixed maps make four paths from the tokens to the answer. In an "
    "infinitely wide network all paths have equal weights; at finite width the data determine the "
    "weights of paths and of pairs of paths, an order parameter U (Tiberi et al. 2024). On hidden "
    "Markov chains these weights improve accuracy by more than ten points over equal ones. As "
    "published, the entry of U for one pair of paths is negative; but without that entry accuracy "
    "is the same. The theory's U is compared with the exact posterior of U, and with the network "
    "itself, whose weights are all sampled.";
const std::vector<Trial> trials = {
    {"attention_paths --widths 10,30,100,300,1000 --exact 10,40 --networks 10,20 --seeds 10",
     "accuracy and cross against N: between which of the widths does the advantage vanish?"},
    {"attention_paths --networks 10 --draws 60",
     "rhat: have the chains converged after 60 draws each? Which distances in its table would you "
     "trust?"}};

bool study(Program& program, const Settings& s) {
  std::cout << "100 training and 400 test chains of 30 states, 200 features; " << s.seeds
            << (s.seeds == 1 ? " seed" : " seeds") << std::endl;
  const Study found = run_study(s);
  const Table predictors = predictor_table(found), orders = order_table(found);
  print("\nDoes finite width help?", predictors);
  print("\nWhich paths do the data ask for?", orders);
  print("\nIs the saddle right, and what do the data say of the width?", found.exacts);
  if (!found.networks.empty())
    print("\nDoes the network itself do what the theory says?", found.networks);
  program.write({.tables = {{"predictors", predictors},
                            {"orders", orders},
                            {"exact", found.exacts},
                            {"networks", found.networks}},
                 .interrupted = found.interrupted});
  draw(s, found);
  return !found.interrupted;
}

void add_options(Program& program, Settings& s) {
  const Check width = whole_number<std::int64_t>(4, 100'000);
  program.option("--seeds", s.seeds, "Repetitions, each with new chains, noise and random heads",
                 "Confidence intervals need at least five", whole_number(1, 1000));
  program.list("--widths", s.widths, "Widths N at which the theory's saddle point is computed",
               "Add 30 and 300 for the whole curve; the head to prune is chosen at the first width",
               width);
  program.list("--exact", s.exact_widths, "Widths N at which the posterior of U is sampled exactly",
               "Add 40 to see that the saddle point's error is of order 1/N", width);
  program.list(
      "--networks", s.network_widths, "Widths N at which all weights of the network are sampled",
      "By default none, as it takes long. Trust distances only where rhat is below 1.02", width);
  program.option("--particles", s.particles, "Particles of each replicate of the exact posterior",
                 "More make the evidence more accurate", whole_number<std::int64_t>(20, 1'000'000));
  program.option("--draws", s.draws, "Draws of each of 16 chains of the network",
                 "Four times as many halve the Monte Carlo error `chance`",
                 whole_number<std::int64_t>(4, 1'000'000));
  program.check([&s] { refuse_repeated("--widths", s.widths); });
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("attention_paths", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return study(program, settings); });
}
