// Outputs of finite attention compared with the normal distribution of the limit: with how many
// heads are they Gaussian?

#include <algorithm>
#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gaussian_outputs/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How Gaussian the outputs of one head and of many heads are";
constexpr const char* duration = "about 15 s of processor time";
constexpr const char* lesson =
    "Thousands of attention layers are drawn, and their outputs are compared with the normal "
    "distribution of the infinitely wide limit (Hron et al. 2020, \"Infinite attention\"). With "
    "the Transformer's 1/sqrt(d_k) one head stays non-Gaussian at any width (excess kurtosis 6ρ/H "
    "for identity ζ); outputs become Gaussian only with many heads. All layers are at "
    "initialization; nothing is trained.";
const std::vector<Trial> trials = {
    {"gaussian_outputs --heads 1,2,4 --width 8",
     "kurtosis compared with law and wide_law: narrow heads have heavier tails, with linear "
     "scaling too"},
    {"gaussian_outputs --zeta softmax --heads 1,4,16",
     "wide_law: softmax weights, which sum to 1, make it smaller than identity ζ does"}};

void add_options(Program& program, Settings& s) {
  const Check size = whole_number<std::int64_t>(1, 1'000'000);
  add_network_options(program, s);
  program.list("--heads", s.heads, "Numbers of heads to compare",
               "Add 256 to see from when on kurtosis cannot detect that heads are finitely many",
               size);
  program.option(
      "--width", s.width, "Width of each head",
      "Wider heads bring linear scaling to the limit, and law to wide_law, but not sqrt scaling to "
      "the limit",
      size);
  program.option("--draws", s.draws, "Networks per number of heads",
                 "More networks resolve the tails farther out",
                 whole_number<std::int64_t>(3, 1'000'000));
  program.page_option();
  program.check([&s] {
    refuse_repeated("--scaling", s.scalings);
    const bool sqrt = std::ranges::count(s.scalings, "sqrt") > 0;
    if (s.common.page.empty()) return;
    if (s.zeta != "identity")
      throw UsageError("--page", "needs --zeta identity, but --zeta is " + s.zeta);
    if (!sqrt) throw UsageError("--page", "needs --scaling with sqrt among its values");
    if (s.heads.empty()) throw UsageError("--page", "needs numbers of heads; give --heads");
  });
}

/// Returns true if the run completed, false if it was interrupted.
bool teach(Program& program, const Settings& s) {
  const Tensor x = load_inputs(s);
  LADON_CHECK(s.common.page.empty() || x.size(1) > 1, "gaussian_outputs",
              "--page needs inputs of at least two tokens; they have ", x.size(1));
  std::cout << x.size(0) << " inputs of " << x.size(1) << " tokens of " << x.size(2) << " channels"
            << std::endl;
  Study study;
  const bool whole = run_study(s, x, study);
  const Table heads = head_table(study);
  print(join("How Gaussian are the outputs of heads of width ", s.width, " (", s.draws,
             " networks)?"),
        heads);
  if (!heads.empty())
    std::cout << "\nHeads of linear scaling converge with width instead: what they miss the limit "
                 "by is of order 1/w.\n";
  program.write({.tables = {{"heads", heads}}, .interrupted = !whole, .more = densities(study)});
  if (!study.empty()) program.write_page([&] { return page(study, x); });
  draw(s, study);
  return whole;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("gaussian_outputs", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
