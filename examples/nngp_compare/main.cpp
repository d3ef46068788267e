// Kernels of finite attention and of the limit: which networks converge, and how fast?

#include <algorithm>
#include <iostream>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How attention becomes a Gaussian process, and when it does not";
constexpr const char* duration = "about 20 s of processor time";
constexpr const char* lesson =
    "Many finite attention layers are drawn and compared with their infinitely wide limit (Hron et "
    "al. 2020, \"Infinite attention\") by their kernels NNGP and NTK. With linear scaling of the "
    "logits, 1/d_k, one wide head is enough to become a Gaussian process. With the Transformer's "
    "1/sqrt(d_k) logits stay random: only many heads converge, one head does not at any width. All "
    "layers are at initialization; nothing is trained.";
const std::vector<Trial> trials = {
    {"nngp_compare --zeta softmax", "the slopes: are they those of identity ζ?"},
    {"nngp_compare --preset reference --widths 16,64",
     "ntk_error and reference: do two programs agree on the same networks?"}};

void add_options(Program& program, Settings& s) {
  const Check size = whole_number<std::int64_t>(1, 1'000'000);
  program.option(
      "--preset", s.preset,
      "tour: the study; reference: a network whose errors are known from another program, with "
      "those errors",
      "With reference Ladon is checked against another program; it takes several minutes, and of "
      "the options below only --inputs, --widths and --draws apply",
      one_of({"tour", "reference"}));
  add_network_options(program, s);
  program.list(
      "--widths", s.widths,
      "Widths of a head, and of the output (default: 16,32,64,128,256,512; with --preset reference "
      "16,64,256,1024, and four times that for one head)",
      "A wide range makes slopes more precise; the largest width takes most of the time", size);
  program.option(
      "--draws", s.draws, "Networks per width",
      "Four times as many halve standard errors: z grows where the mean differs from the limit",
      whole_number<std::int64_t>(3, 1'000'000));
  program.check([&s] { refuse_repeated("--scaling", s.scalings); });
}

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(Program& program, Settings& s) {
  if (s.widths.empty())
    s.widths = s.preset == "tour" ? std::vector<std::int64_t>{16, 32, 64, 128, 256, 512}
                                  : std::vector<std::int64_t>{16, 64, 256, 1024};
  std::ranges::sort(s.widths);  // the last one is shown as the widest
  const Tensor x = inputs_of(s);
  std::cout << x.size(0) << " inputs of " << x.size(1) << " tokens of " << x.size(2)
            << " channels; " << s.draws << " networks per width" << std::endl;
  Study study = width_series(s, x.size(2));
  Progress progress(static_cast<double>(study.size() * s.widths.size()) *
                    static_cast<double>(s.draws));
  Generator rng(s.common.seed, 2);
  const bool whole = ran_to_the_end([&] {
    for (Series& series : study) compare(x, infinite::Get::ntk, progress, rng, series);
  });
  std::erase_if(study, [](const Series& series) { return series.rows.empty(); });
  const Table widths = width_table(study), slopes = slope_table(study);
  print("How far is one network from the limit, and the mean of all, in its standard errors?",
        widths);
  print("The error falls with width to the power of", slopes);
  program.write({.tables = {{"widths", widths}, {"slopes", slopes}},
                 .interrupted = !whole,
                 .more = entries(study)});
  draw(s, study);
  return whole;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("nngp_compare", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
