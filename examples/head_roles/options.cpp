#include "ladon/examples/common/options.h"

#include "ladon/examples/common/text.h"
#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

void add_training_options(Program& program, Settings& s) {
  const Check count = whole_number(1, 1'000'000);
  program.list("--methods", s.methods, "What to compare",
               "Fewer leave time for more seeds; verdicts need plain", one_of(methods()));
  program.option("--seeds", s.seeds, "Repetitions, with seeds --seed, --seed + 1 and so on",
                 "Four times as many see differences of half the size", count);
  program.option("--epochs", s.epochs, "Passes over the training data",
                 "Repulsion keeps moving heads that have stopped learning: try 20", count);
  program.option("--heads", s.heads, "Attention heads; they divide --dim",
                 "1 cannot answer all questions of the rules; 16 have heads to spare", count);
  program.option("--layers", s.layers, "Encoder layers",
                 "Heads of each layer repel among themselves", count);
  program.option("--dim", s.dim, "Width of the model",
                 "Repulsion acts on rows of dim·dim/heads numbers: it weakens as they grow", count);
  program.option("--lr", s.learning_rate, "Peak learning rate of AdamW",
                 "Lower it where a method diverges", number_above(0));
  program.option("--alpha", s.alpha, "Weight of the repulsion (svgd, spos, wgd)",
                 "Lower it until the difference to plain is gone; raise it to see it grow",
                 number(0));
}

void check_training(const Settings& s) {
  refuse_repeated("--methods", s.methods);
  if (s.dim % s.heads != 0)
    throw UsageError("--heads", join(s.heads, " heads do not divide --dim ", s.dim));
}

}  // namespace ladon::example
