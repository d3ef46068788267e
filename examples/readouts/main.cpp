// Readouts of a convolutional network: flatten, pool, attention; infinitely wide and trained.

#include <iostream>

#include "ladon/core/extra/io/npz.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/readouts/study.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Which readout of convolutions is best, in the limit and trained";
constexpr const char* duration = "about 4 s of processor time";
constexpr const char* lesson =
    "Four convolutions see an image, and a readout makes one vector of all positions: by "
    "concatenation, by their mean, or by attention with positions. At infinite width each readout "
    "gives a kernel (Hron et al. 2020) that classifies without training. For comparison networks "
    "of finite width are trained, one of them with frozen queries and keys, so that it cannot "
    "learn where to attend.";
const std::vector<Trial> trials = {
    {"readouts --train 120",
     "difference: which differences remain with twice the training images?"},
    {"readouts --width 64", "difference of trained networks: are wider ones nearer to the limit?"}};

/// Sets options that were not given, depending on the kind of images.
void complete(Settings& s) {
  const bool drawn = s.cifar.empty();
  const auto set = [](auto& value, auto usual) { value = value == 0 ? usual : value; };
  set(s.train, drawn ? 50 : 1000);
  set(s.test, drawn ? 100 : 1000);
  set(s.width, drawn ? 8 : 32);
  set(s.epochs, drawn ? 40 : 20);
  set(s.seeds, drawn ? 2 : 5);
}

bool study(Program& program, const Settings& s) {
  const Task task = load_task(s);
  std::cout << task.description << "; width " << s.width << ", " << s.epochs << " epochs, "
            << s.seeds << (s.seeds == 1 ? " seed" : " seeds") << std::endl;
  AllAnswers all;
  Progress progress(6);
  const bool whole = ran_to_the_end([&] {
    all = answers_of_limits(task, s, progress);
    for (const Readout& kind : readouts())
      for (const bool frozen : {false, true})
        if (kind.trained && (!frozen || kind.attention != Attention::none))
          all.push_back(answers_of_networks(kind, frozen, task, s, progress));
  });
  const Table limits = limits_table(task, all), networks = networks_table(task, all);
  print("\nWhich limit classifies best?", limits);
  print("\nDo trained networks do better than their limits, and by learning where to look?",
        networks);
  program.write({.tables = {{"limits", limits}, {"networks", networks}}, .interrupted = !whole});
  if (!s.bits.empty()) save_npz(s.bits, bits(task, all));
  draw(s, task, all);
  return whole;
}

void add_options(Program& program, Settings& s) {
  const Check count = whole_number<std::int64_t>(0, 1'000'000);
  program
      .option("--cifar", s.cifar, "CIFAR-10 binary files: train, test; averaged to 8 × 8 pixels",
              "Without them simple images of four marks are generated")
      .expected(2);
  program.option("--train", s.train, "Training images; 0: 50, or 1,000 photographs",
                 "The time of kernels grows as the square", count);
  program.option("--test", s.test, "Test images; 0: 100, or 1,000 photographs",
                 "Standard errors fall as the inverse square root", count);
  program.option("--width", s.width, "Channels of trained networks; 0: 8, or 32 for photographs",
                 "Wider networks are nearer to their limits", whole_number<std::int64_t>(0, 4096));
  program.option("--epochs", s.epochs, "Passes over the images; 0: 40, or 20 over photographs",
                 "Raise it to see whether networks had converged", count);
  program.option("--seeds", s.seeds, "Trained networks per readout; 0: 2, or 5 for photographs",
                 "One is quick, but gives no standard error over seeds", whole_number(0, 1000));
  program.option("--bits", s.bits, "File (.npz) for right and wrong answers and probabilities",
                 "To analyse them by another test");
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("readouts", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  program.check([&] { complete(settings); });
  return program.run(argc, argv, [&] { return study(program, settings); });
}
