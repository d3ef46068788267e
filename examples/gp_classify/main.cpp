// Classification by infinitely wide networks, and by the finite networks of which they are the
// limit.

#include "ladon/examples/common/options.h"
#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Classification by networks of infinite width, without training";
constexpr const char* duration = "about 10 s on 2 cores";
constexpr const char* lesson =
    "Each model is described once; its limit gives the NNGP kernel (what a Bayesian believes of it "
    "after seeing the data) and the NTK (where gradient descent leads), and both classify by "
    "Gaussian-process regression. Beside them stands the finite network of the same description, "
    "trained by Adam. The models differ in how they read out an image's patches: side by side, "
    "their mean, or attention. Without data files it draws its own small pictures.";
const std::vector<Trial> trials = {
    {"gp_classify --models pool,attention --train 800 --epochs 40",
     "the finite networks against their limits: which of the two learns more from twice the rows?"},
    {"gp_classify --models flatten,attention --sharpness 8",
     "how far attention's kernels fall towards flatten's once every patch looks at itself alone"},
    {"gp_classify --models dense --no-finite --train 1600",
     "accuracy against the default's: how many rows make up for not knowing about patches?"}};

void add_options(Program& program, Settings& s) {
  Option mnist = program.option("--mnist", s.mnist, "IDX files: images, labels (gzip or not)",
                                "Real digits; the first rows train, the last ones test");
  program
      .option("--cifar", s.cifar, "CIFAR-10 binary files: train, test",
              "Photographs, where a thing may stand anywhere: compare pool with dense")
      .expected(2)
      .excludes(mnist.expected(2));
  add_model_options(program, s);
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("gp_classify", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] {
    return compare_models(program, "gp_classify", load_task(settings), settings);
  });
}
