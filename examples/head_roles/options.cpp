#include "ladon/examples/common/options.h"

#include "ladon/examples/common/text.h"
#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

void add_training_options(Program& program, Settings& s) {
  const Check count = whole_number(1, 1'000'000);
  program.list("--methods", s.methods, "Methods to compare",
               "Fewer leave time for more seeds; comparisons are with plain", one_of(methods()));
  program.option("--seeds", s.seeds, "Repetitions, with seeds --seed, --seed + 1 and so on",
                 "Four times as many detect differences of half the size", count);
  program.option("--epochs", s.epochs, "Passes over the training data",
                 "Repulsion keeps moving heads that have stopped learning: try 20", count);
  program.option("--heads", s.heads, "Attention heads; must divide --dim",
                 "1 head cannot answer all questions of the rules; 16 are more than needed", count);
  program.option("--layers", s.layers, "Encoder layers", "Heads of the same layer repel each other",
                 count);
  program.option("--dim", s.dim, "Width of the model",
                 "Repulsion acts on vectors of dim·dim/heads elements, and weakens as they grow",
                 count);
  program.option("--lr", s.learning_rate, "Peak learning rate of AdamW",
                 "Lower it if a method diverges", number_above(0));
  program.option(
      "--alpha", s.alpha, "Weight of the repulsion (svgd, spos, wgd)",
      "Lower it until the difference from plain vanishes; raise it to see the difference grow",
      number(0));
}

void check_training(const Settings& s) {
  refuse_repeated("--methods", s.methods);
  if (s.dim % s.heads != 0)
    throw UsageError("--heads", join(s.heads, " heads do not divide --dim ", s.dim));
}

}  // namespace ladon::example
