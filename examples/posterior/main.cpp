// The exact posterior of attention, and what methods make of it.

#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/page.h"
#include "ladon/examples/posterior/picture.h"
#include "ladon/examples/posterior/results.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "What Bayesian means: the exact posterior, and methods beside it";
constexpr const char* duration = "about 2 minutes on 2 cores";
constexpr const char* lesson =
    "A layer of attention with infinitely wide heads has a posterior that can be sampled exactly, "
    "for any number H of heads: its bands are shown for few heads, many, and infinitely many, "
    "where it is a Gaussian process that it comes to as 1/H. Methods that move the weights of "
    "whole layers, from Hamiltonian Monte Carlo to SVGD and ensembles, are held against it: which "
    "find its mean, and which its width? Samplers do; from a few heads on, SVGD in weights (α = "
    "1), kde-WGD and plain ensembles are far too sure of themselves, the more so the longer they "
    "run.";
const std::vector<Trial> trials = {
    {"posterior --heads 1 --labels one",
     "variance_ratio of gp: data of one head are not what infinitely many believe"},
    {"posterior --methods hmc,svgd,svgd_auto --steps 2400 --draws 1",
     "variance_ratio of svgd, at four times the steps: it falls on"},
    {"posterior --scaling linear --heads 1,4",
     "evidence and mean_error of the first table: all 0, as every head is alike"}};

void add_options(Program& program, Settings& s) {
  const CLI::Validator size = whole_number<std::int64_t>(1, 256);
  program.list("--heads", s.heads, "Numbers of heads H",
               "Add 16 for a sharper slope of 1/H; methods at many heads take most of the time",
               size);
  program
      .list("--methods", s.methods, join("Methods, of ", listed(method_names())),
            "A few take a fraction of the time; wrong_prior is hmc under a prior twice as wide, a "
            "control",
            CLI::IsMember(method_names()).description(""))
      ->default_str("the nine of the page's first table");
  program.option("--draws", s.draws, "Data sets", "Standard errors are over them",
                 whole_number<std::int64_t>(1, 1000));
  program.option("--members", s.members, "Networks of an ensemble, particles, or chains",
                 "With 100, SVGD collapses less, but still does",
                 whole_number<std::int64_t>(2, 1000));
  program.option(
      "--steps", s.steps,
      "Gradients of each member; samplers take four times as many. A quarter is run beside it",
      "What has not converged at both is no answer", whole_number<std::int64_t>(4, 1'000'000));
  program.option(
      "--particles", s.particles,
      "Particles of the sequential Monte Carlo that finds the truth at one head (with more heads "
      "fewer), four times",
      "More make the truth more exact where there are several modes: with one head, and many data",
      whole_number<std::int64_t>(20, 1'000'000));
  program.option("--labels", s.labels, "What made the targets: gp (the limit) or one (one head)",
                 "With one, see the evidence prefer few heads", CLI::IsMember({"gp", "one"}));
  program.option(
      "--scaling", s.scaling,
      "Scaling of logits: sqrt 1/sqrt(d_k), or linear 1/d_k, by which wide heads are all alike",
      "A control: every number of heads is then the Gaussian process",
      CLI::IsMember({"sqrt", "linear"}));
  program.page_option();
  program.check([&s] {
    refuse_repeated("--methods", s.methods);
    refuse_repeated("--heads", s.heads);
  });
}

/// Whether it was not interrupted.
bool teach(Program& program, const Settings& s) {
  std::cout << s.draws << " data sets, " << s.members << " networks per method" << std::endl;
  const Study study = run_study(s);
  const Table approach = approach_table(study), methods = method_table(s, study.methods, false),
              to_limit = method_table(s, study.to_limit, true);
  print("How far is the exact posterior of H heads from the Gaussian process?",
        approach.part(0, approach_columns_printed));
  print("How far are methods from the exact posterior of the same network?",
        methods.part(0, method_columns_printed));
  if (!to_limit.empty())
    std::cout << "\nDoes the network, sampled in all its weights, come to the Gaussian process?\n"
              << to_limit.part(0, method_columns_printed).text();
  if (const std::string few = incomplete(s, study); !few.empty()) std::cout << '\n' << few;
  program.write({.tables = {{"exact", approach}, {"methods", methods}, {"to_limit", to_limit}},
                 .interrupted = study.interrupted,
                 .more = bands_json(study)});
  if (!study.draws.empty()) program.write_page([&] { return page(s, study); });
  for (const std::filesystem::path& picture : draw(s, study))
    std::cout << "picture: " << picture.string() << '\n';
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
