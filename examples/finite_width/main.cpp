// Attention at finite width: the distance from the limit distribution, measured and by theory.

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/finite_width/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How far is a layer of finite width from its limit, and why so far";
constexpr const char* duration = "about 25 seconds of processor time";
constexpr const char* lesson =
    "An output of a random attention layer is a scale mixture of Gaussians at every width n. Its "
    "divergence from the law at infinite width falls as K/n², and K follows from the limit alone. "
    "More heads lower K little, as all see the same tokens. A Gaussian stays wrong at any width.";
const std::vector<Trial> trials = {
    {"finite_width --heads 1,16", "tokens and heads: of which of the two does K tell?"},
    {"finite_width --head-width 16", "ratio: first order at heads so narrow is not enough"}};

void add_options(Program& program, Settings& s) {
  const auto size = [](std::int64_t low) { return whole_number<std::int64_t>(low, 1'000'000); };
  program.list("--heads", s.heads, "Numbers of heads H",
               "With 256 the law is nearly Gaussian, and the constant nearly that of the tokens",
               whole_number<std::int64_t>(1, 1024));
  program.list("--widths", s.widths, "Widths n of tokens and heads, each 4 at least",
               "More of 64 and above sharpen the extrapolation", size(4));
  program.option("--head-width", s.head_width,
                 "Width m of low-rank heads in the third table, 0: none",
                 "Narrower ones show what first order leaves out", size(0));
  program.option("--draws", s.draws, "Draws of the variance per repetition",
                 "Four times as many halve all errors", size(100));
  program.option("--repetitions", s.repetitions, "Independent repetitions",
                 "Standard errors are over them", whole_number<std::int64_t>(2, 1000));
  program.option(
      "--outputs", s.outputs, "Outputs for each kernel density estimate, as in the paper; 0: none",
      "50000 are the paper's; they see less of the divergence the fewer they are", size(0));
  program.check([&s] {
    refuse_repeated("--heads", s.heads);
    refuse_repeated("--widths", s.widths);
    if (s.head_width > 0 && s.head_width < tokens)
      throw UsageError("--head-width", "must be 0, or at least the number of tokens");
  });
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("finite_width", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] {
    const Study study = run_study(settings);
    report(program, settings, study);
    return !study.interrupted;
  });
}
