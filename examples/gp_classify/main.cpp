// Classification by infinitely wide networks, and by the same networks at finite width.

#include "ladon/examples/common/options.h"
#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Classification by networks of infinite width, without training";
constexpr const char* duration = "about 10 s on 2 cores";
constexpr const char* lesson =
    "Each model is described once; its infinitely wide limit gives the NNGP kernel (of Bayesian "
    "inference) and the NTK (of gradient descent), and both classify by Gaussian-process "
    "regression. They are compared with the finite network of the same description, trained by "
    "Adam. The models differ in how they combine an image's patches: by concatenation, by their "
    "mean, or by attention. Without data files, small images are generated.";
const std::vector<Trial> trials = {
    {"gp_classify --models pool,attention --train 800 --epochs 40",
     "accuracy of the finite networks and of their limits: which gain more from twice the rows?"},
    {"gp_classify --models flatten,attention --sharpness 8",
     "accuracy of attention's kernels: does it fall to flatten's when patches attend only to "
     "themselves?"},
    {"gp_classify --models dense --no-finite --train 1600",
     "accuracy: how many training rows make up for not knowing about patches?"}};

void add_options(Program& program, Settings& s) {
  Option mnist = program.option("--mnist", s.mnist, "IDX files: images, labels (gzip or not)",
                                "Real digits; the first rows train, the last ones test");
  program
      .option("--cifar", s.cifar, "CIFAR-10 binary files: train, test",
              "Photographs, where an object may be anywhere: compare pool with dense")
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
