// Approximate methods for the posterior of weights, compared with the exact posterior of attention.

#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "What Bayesian means: methods compared with the exact posterior";
constexpr const char* duration = "about 2 minutes on 2 cores";
constexpr const char* lesson =
    "A layer of attention with infinitely wide heads has a posterior that can be sampled exactly, "
    "for any number H of heads. Methods that move the weights of whole layers, from Hamiltonian "
    "Monte Carlo to SVGD and ensembles, are compared with it: which find its mean, and which its "
    "standard deviation? Samplers find both; with more than a few heads, SVGD in weights (α = 1), "
    "kde-WGD and plain ensembles are far too confident, the more so the longer they run.";
const std::vector<Trial> trials = {
    {"posterior --heads 1 --labels one",
     "variance_ratio of gp: for data of one head, infinitely many heads have the wrong posterior "
     "variance"},
    {"posterior --methods hmc,svgd,svgd_auto --steps 2400 --draws 1",
     "variance_ratio of svgd, at four times the steps: it keeps falling"}};

void add_options(Program& program, Settings& s) {
  add_task_options(program, s);
  program
      .list("--methods", s.methods, join("Methods to compare, of ", listed(method_names())),
            "A few methods take a fraction of the time; wrong_prior is hmc under a prior twice as "
            "wide, a control",
            one_of(method_names()).described(""))
      .default_str("the nine of the page's first table");
  program.option("--members", s.members, "Networks of an ensemble, particles, or chains",
                 "With 100, SVGD still collapses, but less", whole_number<std::int64_t>(2, 1000));
  program.option(
      "--steps", s.steps,
      "Gradients per network; samplers take four times as many. Runs with a quarter of them are "
      "made, too",
      "If results differ between the two lengths, the method has not converged",
      whole_number<std::int64_t>(4, 1'000'000));
  program.page_option();
  program.check([&s] {
    refuse_repeated("--methods", s.methods);
    refuse_repeated("--heads", s.heads);
  });
}

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(Program& program, const Settings& s) {
  std::cout << s.draws << " data sets, " << s.members << " networks per method" << std::endl;
  const Study study = run_study(s);
  const Table methods = method_table(s, study.methods, false),
              to_limit = method_table(s, study.to_limit, true);
  print("How far are methods from the exact posterior of the same network?",
        methods.part(0, method_columns_printed));
  if (!to_limit.empty())
    std::cout << "\nDoes the network, sampled in all its weights, come to the Gaussian process?\n"
              << to_limit.part(0, method_columns_printed).text();
  for (const auto* rows : {&study.methods, &study.to_limit})
    for (const MethodRuns& r : *rows)
      std::cout << incomplete(s,
                              join(r.method, ", ", r.heads, r.heads == 1 ? " head" : " heads",
                                   r.steps > 0 ? join(", ", r.steps, " steps") : "",
                                   rows == &study.to_limit ? ", against the limit" : ""),
                              r.scores.size());
  program.write({.tables = {{"methods", methods}, {"to_limit", to_limit}},
                 .interrupted = study.interrupted,
                 .more = bands_json(study.bands)});
  if (!study.draws.empty()) program.write_page([&] { return page(s, study); });
  draw(s, study);
  return !study.interrupted;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("posterior", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
