// Attention at finite width: the distance from the limit distribution, measured and by theory.

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/finite_width/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How far a layer of finite width is from its limit, and why";
constexpr const char* duration = "about 25 seconds of processor time";
constexpr const char* lesson =
    "An output of a random attention layer is a scale mixture of Gaussians at every width n. Its "
    "KL divergence from the distribution at infinite width falls as K/n², and K can be computed "
    "from the limit alone. More heads lower K only a little, since all heads see the same tokens. "
    "The distribution is not Gaussian at any width.";
const std::vector<Trial> trials = {
    {"finite_width --heads 1,16",
     "columns tokens and heads: which of the two contributes more to K?"},
    {"finite_width --head-width 16", "ratio: for heads this narrow, first order is not accurate"}};

void add_options(Program& program, Settings& s) {
  const auto size = [](std::int64_t low) { return whole_number<std::int64_t>(low, 1'000'000); };
  program.list("--heads", s.heads, "Numbers of heads H",
               "With 256 the distribution is nearly Gaussian, and K nearly that of the tokens",
               whole_number<std::int64_t>(1, 1024));
  program.list("--widths", s.widths, "Widths n of tokens and heads, each at least 4",
               "More widths of at least 64 make the extrapolation more precise", size(4));
  program.option("--head-width", s.head_width,
                 "Width m of low-rank heads in the third table, 0: none",
                 "Narrower heads show what first order leaves out", size(0));
  program.option("--draws", s.draws, "Draws of the variance per repetition",
                 "Four times as many halve all errors", size(100));
  program.option("--repetitions", s.repetitions, "Independent repetitions",
                 "Standard errors are over repetitions", whole_number<std::int64_t>(2, 1000));
  program.option("--outputs", s.outputs,
                 "Outputs for each kernel density estimate, as in the paper; 0: none",
                 "The paper uses 50000; fewer outputs detect less of the divergence", size(0));
  program.check([&s] {
    refuse_repeated("--heads", s.heads);
    refuse_repeated("--widths", s.widths);
    if (s.head_width > 0 && s.head_width < tokens)
      throw UsageError("--head-width",
                       detail::join("must be 0 (no low-rank heads), or at least ", tokens,
                                    ", the number of tokens, but is ", s.head_width));
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
