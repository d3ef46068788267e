// Paths through attention: at finite width the data reweight them, and that improves accuracy.

#include <iostream>

#include "ladon/examples/attention_paths/study.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"

namespace ladon::example {
namespace {

constexpr const char* summary =
    "Data weigh the paths of narrow attention, and not of infinitely wide";
constexpr const char* duration = "about 15 s on 2 cores";
constexpr const char* lesson =
    "Two layers of two heads with fixed maps make four paths from the tokens to the answer. In an "
    "infinitely wide network all count alike; at finite width the data weigh them, and pairs of "
    "them, by an order parameter U (Tiberi et al. 2024). On hidden Markov chains that is worth "
    "more than ten points of accuracy over equal weights. One entry of U, of a pair, is negative, "
    "as published; but without it as many chains are right. The theory's U is held against its "
    "exact posterior, and against the network itself, sampled in all its weights.";
const std::vector<Trial> trials = {
    {"attention_paths --widths 10,30,100,300,1000 --exact 10,40 --networks 10,20 --seeds 10",
     "accuracy and cross against N: where between 10 and 1000 does the advantage go?"},
    {"attention_paths --networks 10 --draws 60",
     "rhat: have 60 draws of each chain converged? Which of its distances would you believe?"}};

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
  program.option("--seeds", s.seeds, "Repetitions: chains, noise and random heads anew",
                 "Intervals want at least five", whole_number(1, 1000));
  program.list("--widths", s.widths, "Widths N at which the theory's saddle is found",
               "Add 30 and 300 for the whole curve; the first one tells which head is pruned",
               width);
  program.list("--exact", s.exact_widths, "Widths whose posterior of U is sampled exactly",
               "Add 40: the saddle is right to 1/N", width);
  program.list("--networks", s.network_widths, "Widths whose network is sampled in all its weights",
               "None: it takes long. A distance is a result where rhat is below 1.02", width);
  program.option("--particles", s.particles, "Particles of each replicate of the exact posterior",
                 "More make its evidence more exact", whole_number<std::int64_t>(20, 1'000'000));
  program.option("--draws", s.draws, "Draws of each of 16 chains of the network",
                 "Four times as many halve `chance`", whole_number<std::int64_t>(4, 1'000'000));
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
