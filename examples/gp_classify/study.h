#pragma once
// Models that are described once: each classifies by its infinite limit, without training, and as a
// finite network that is trained beside it.

#include <cmath>
#include <string>
#include <vector>

#include "ladon/examples/common/classifiers.h"
#include "ladon/examples/common/marks.h"
#include "ladon/layers/infinite/gram/gram.h"

namespace ladon::example {

using Task = ClassifierTask;
using Model = ClassifierModel;

struct Settings : ClassifierSettings {
  CommonOptions common;
  std::vector<std::string> mnist, cifar;  ///< Two files each; both empty: generated images.
  int train = 0, test = 0;                ///< Rows; 0: the task's default.
  std::vector<std::string> models;        ///< Empty: all that suit the task.
  std::int64_t memory_budget = 2048;      ///< MB that a Gram matrix may take.
  bool finite = true;                     ///< Train the finite networks too.
};

// --- tasks ---

/// Images of 12 × 12 pixels, each with a mark on one of nine patches, and the test images as they
/// were drawn.
struct MarkedTask {
  Task task;
  MarkedImages test;
};
MarkedTask marked_task(const Settings& settings);

/// The images that the settings name: digits (the first rows train, the last ones test),
/// photographs, or by default those of marked_task(). Throws Error where a file or a number does
/// not fit.
Task load_task(const Settings& settings);

/// `chosen` rows, or for 0 `usual` ones, of the `there` that there are; throws Error, naming the
/// option, where those are fewer than chosen.
std::int64_t row_count(const char* option, int chosen, std::int64_t usual, std::int64_t there);

// --- outcomes ---

/// A model in one of its forms, on the test set.
struct Outcome {
  std::string model, form;    ///< Form: "NNGP", "NTK", "finite", or "" of a rule to compare with.
  Tensor probabilities = {};  ///< f64 [test, classes]; undefined if it diverged.
  double seconds = NAN, peak_mb = NAN;

  std::string method() const { return form.empty() ? model : model + " " + form; }
  bool diverged() const { return !probabilities.defined(); }
};

// --- kernels: regression to 1 − 1/C for an input's class and −1/C for the others ---

/// A kernel that a limit has.
struct KernelForm {
  const char* name;
  infinite::Get get;
  infinite::KernelMatrix infinite::Gram::*matrix;
};
constexpr KernelForm kernel_forms[] = {{"NNGP", infinite::Get::nngp, &infinite::Gram::nngp},
                                       {"NTK", infinite::Get::ntk, &infinite::Gram::ntk}};

/// Variance of the noise, in units of the kernel's mean diagonal, and factor of all variances.
struct Choice {
  double noise = 0, amplitude = 0;
};
/// Those whose leave-one-out probabilities of the training set have the smallest NLL: of five
/// noises, and amplitudes by a line search. Says what was chosen; counts as one step.
Choice choose(const Tensor& kernel, const Tensor& labels, std::int64_t classes,
              const std::string& label, Progress& progress);

/// P(class | input), of that output, with noise, being the largest: from the posterior's means
/// [M, classes] and variances [M], noise included; f64 [M, classes].
Tensor probabilities(const Tensor& mean, const Tensor& variance, double amplitude);

/// Of Gram matrices: says what one will take, and counts its tiles as one step.
inline auto counted_tiles(const std::string& label, Progress& progress) {
  return [label, &progress, done = std::int64_t{0}](const auto& state) mutable {
    if (state.tiles_done == 0) progress.say("  " + label + ": " + state.estimate.describe());
    progress.step(label, double(state.tiles_done - done) / double(state.estimate.tiles));
    done = state.tiles_done;
  };
}
/// Runs `body`; to an Error from it the options that help are added.
void with_memory_options(const Settings& settings, const std::function<void()>& body);

/// Adds the outcome of each kernel. Says what a matrix will take before it is computed. Counts
/// kernel_steps of the progress. Throws Error where that is more than the budget, and Interrupted.
void add_infinite(const Model& model, const Task& task, const Settings& settings,
                  Progress& progress, std::vector<Outcome>& outcomes);
constexpr int kernel_steps = 6;

/// The network that the model describes, trained from its own initialization. Its logits are scaled
/// so as to predict the held-out rows best.
Outcome train_finite(const Model& model, const Task& task, const Settings& settings,
                     Progress& progress);

// --- all of them ---

/// Accuracy, NLL and ECE. Standard errors are from the size of the test set; all NaN if it
/// diverged.
std::vector<Measured> figures(const Outcome& outcome, const Task& task);
/// Their columns.
std::vector<Column> answer_columns(const Task& task);

/// Draws accuracy and NLL of every model in its forms, with 95% intervals.
void draw(const std::string& name, const Settings& settings, const Task& task,
          const std::vector<Outcome>& outcomes);

/// Runs every model, beside outcomes of other rules, and reports; whether it was not interrupted.
bool compare_models(Program& program, const std::string& name, const Task& task,
                    const Settings& settings, std::vector<Outcome> outcomes = {});

/// Options of the models.
void add_model_options(Program& program, Settings& settings);

}  // namespace ladon::example
