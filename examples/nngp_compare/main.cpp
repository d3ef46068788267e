// Finite attention against its Gaussian process: which networks converge, and how fast.

#include <algorithm>
#include <iostream>

#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/nngp_compare/page.h"
#include "ladon/examples/nngp_compare/picture.h"
#include "ladon/examples/nngp_compare/results.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "How attention becomes a Gaussian process, and when it does not";
constexpr const char* duration = "about 30 s on 2 cores";
constexpr const char* lesson =
    "Many finite attention layers are drawn and compared with their infinitely wide limit (Hron et "
    "al. 2020, \"Infinite attention\"): the kernels NNGP and NTK, and the distribution of the "
    "outputs. With linear scaling of the logits, 1/d_k, one wide head is enough to become a "
    "Gaussian process. With the Transformer's 1/sqrt(d_k) logits stay random, one head stays "
    "non-Gaussian however wide (excess kurtosis 6ρ/H for identity ζ), and only many heads "
    "converge. Everything is at initialization, and says nothing of training.";
const std::vector<Trial> trials = {
    {"nngp_compare --heads 1,2,4 --head-width 8",
     "kurtosis against law and wide_law: narrow heads have tails of their own, with linear scaling "
     "too"},
    {"nngp_compare --zeta softmax --heads 1,4,16",
     "wide_law: weights that sum to 1 leave outputs less room to be random than identity ζ; the "
     "slopes are much the same"},
    {"nngp_compare --preset reference --widths 16,64",
     "ntk_error beside reference: two programs, the same networks?"}};

void add_options(Program& program, Settings& s) {
  const CLI::Validator size = whole_number<std::int64_t>(1, 1'000'000);
  const CLI::Validator draws = whole_number<std::int64_t>(3, 1'000'000);
  program.option(
      "--preset", s.preset,
      "tour: the lesson; reference: the network whose errors are known from another program, "
      "beside those",
      "That checks Ladon against others; it takes several minutes, and of the options below only "
      "--inputs, --widths and --draws apply",
      CLI::IsMember({"tour", "reference"}));
  program.option(
      "--inputs", s.inputs,
      "Inputs, .npy of floating numbers [N, T, d] (default: 3 drawn from the seed, of 4 tokens of "
      "8 channels)",
      "Bring your own: the more alike its tokens, the larger ρ and the kurtosis of one head",
      CLI::ExistingFile);
  program.option("--zeta", s.zeta, "What turns logits into weights",
                 "The identity has an exact law; softmax is the Transformer's: watch how much less "
                 "wide_law is",
                 CLI::IsMember({"identity", "softmax", "relu", "abs"}));
  program.list("--scaling", s.scalings, "Scaling of logits: linear 1/d_k, sqrt 1/sqrt(d_k)",
               "Each alone tells its half of the story in about half the time",
               CLI::IsMember({"linear", "sqrt"}));
  program.list("--widths", s.widths,
               "Widths of a head, and of the output (default: 16,32,64,128,256,512; in the other "
               "preset 16,64,256,1024, and four times that where there is one head)",
               "A wide range makes the slopes sharp; the widest takes most of the time", size);
  program.option(
      "--draws", s.draws, "Networks per width",
      "Four times as many halve standard errors: watch z grow where the mean misses the limit",
      draws);
  program.list("--heads", s.heads, "Numbers of heads whose outputs are looked at",
               "Add 256 to see when kurtosis, too, stops noticing that heads are finitely many",
               size);
  program.option(
      "--head-width", s.head_width, "Width of those heads",
      "Wider ones bring linear scaling to the limit, and law to wide_law, but not sqrt scaling",
      size);
  program.option("--gaussian-draws", s.gaussian_draws, "Networks a number of heads",
                 "More of them see farther into the tails", draws);
  program.page_option();
  program.check([&s] {
    refuse_repeated("--scaling", s.scalings);
    const bool sqrt = std::ranges::count(s.scalings, "sqrt") > 0;
    if (!s.common.page.empty() &&
        (s.preset != "tour" || s.zeta != "identity" || !sqrt || s.heads.empty()))
      throw CLI::ValidationError(
          "--page", "needs --preset tour, --zeta identity, --scaling sqrt and --heads");
  });
}

/// Whether it was not interrupted.
bool teach(Program& program, Settings& s) {
  if (s.widths.empty())
    s.widths = s.preset == "tour" ? std::vector<std::int64_t>{16, 32, 64, 128, 256, 512}
                                  : std::vector<std::int64_t>{16, 64, 256, 1024};
  const Tensor x = load_inputs(s);
  LADON_CHECK(s.common.page.empty() || x.size(1) > 1, "nngp_compare",
              "--page shows answers at two tokens, and the inputs have ", x.size(1));
  std::cout << x.size(0) << " inputs of " << x.size(1) << " tokens of " << x.size(2)
            << " channels; " << s.draws << " networks per width" << std::endl;
  const Study study = run_study(s, x);
  const Table widths = width_table(study), slopes = slope_table(study), heads = head_table(study);
  print("How far is one network from the limit, and the mean of all, in its standard errors?",
        widths);
  print("The error falls with width to the power of", slopes);
  print(join("How Gaussian are the outputs of heads of width ", s.head_width, " (",
             s.gaussian_draws, " networks)?"),
        heads);
  if (!heads.empty())
    std::cout << "\nHeads of linear scaling converge with width instead: what they miss the limit "
                 "by is of order 1/w.\n";
  program.write({.tables = {{"widths", widths}, {"slopes", slopes}, {"heads", heads}},
                 .interrupted = study.interrupted,
                 .more = panels(study)});
  if (!study.by_heads.empty()) program.write_page([&] { return page(study, x); });
  for (const std::filesystem::path& picture : draw(s, study))
    std::cout << "picture: " << picture.string() << '\n';
  return !study.interrupted;
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
