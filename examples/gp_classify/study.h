#pragma once
// Models, each described once, classify both by their infinite-width limit, without training, and
// as finite networks that are trained.

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
  int train = 0, test = 0;                ///< Numbers of rows; 0: the task's default.
  std::vector<std::string> models;        ///< Empty: all that suit the task.
  std::int64_t memory_budget = 2048;      ///< Limit in MB for a Gram matrix.
  bool finite = true;                     ///< Also train the finite networks.
};

// --- tasks ---

/// Task on images of 12 × 12 pixels with a mark on one of nine patches, and the raw test images.
struct MarkedTask {
  Task task;
  MarkedImages test;
};
MarkedTask marked_task(const Settings& settings);

/// The images that the settings name: digits (the first rows for training, the last for testing),
/// photographs, or by default those of marked_task(). Throws Error if a file is unsuitable or a
/// number too large.
Task load_task(const Settings& settings);

/// Returns `chosen`, or, if that is 0, the smaller of `usual` and `there`, the number of available
/// rows. Throws Error, which names the option, if chosen > there.
std::int64_t row_count(const char* option, int chosen, std::int64_t usual, std::int64_t there);

// --- outcomes ---

/// Results of a model in one of its forms on the test set.
struct Outcome {
  std::string model, form;    ///< Form: "NNGP", "NTK", "finite", or "" for other methods.
  Tensor probabilities = {};  ///< f64 [test, classes]; undefined if it diverged.
  double seconds = NAN, peak_mb = NAN;

  std::string method() const { return form.empty() ? model : model + " " + form; }
  bool diverged() const { return !probabilities.defined(); }
};

// --- kernels: regression with C outputs ---
// The target is 1 − 1/C for the output of the input's class, and −1/C for all other outputs.

/// A kernel of an infinite-width limit: the NNGP kernel or the NTK.
struct KernelForm {
  const char* name;
  infinite::Get get;
  infinite::KernelMatrix infinite::Gram::*matrix;
};
constexpr KernelForm kernel_forms[] = {{"NNGP", infinite::Get::nngp, &infinite::Gram::nngp},
                                       {"NTK", infinite::Get::ntk, &infinite::Gram::ntk}};

/// Noise variance relative to the kernel's mean diagonal, and a factor that multiplies all
/// variances.
struct Choice {
  double noise = 0, amplitude = 0;
};
/// Chooses the noise (from five values) and the amplitude (by a line search) that minimize the NLL
/// of leave-one-out probabilities on the training set. Prints the choice; counts as one step of the
/// progress.
Choice choose(const Tensor& kernel, const Tensor& labels, std::int64_t classes,
              const std::string& label, Progress& progress);

/// P(class | input), the probability that the class has the largest noisy output, from posterior
/// means [M, classes] and variances [M], noise included; f64 [M, classes].
Tensor probabilities(const Tensor& mean, const Tensor& variance, double amplitude);

/// Progress callback of a Gram matrix: prints its cost estimate, and counts all its tiles as one
/// step.
inline auto counted_tiles(const std::string& label, Progress& progress) {
  return [label, &progress, done = std::int64_t{0}](const auto& state) mutable {
    if (state.tiles_done == 0) progress.say("  " + label + ": " + state.estimate.describe());
    progress.step(label, double(state.tiles_done - done) / double(state.estimate.tiles));
    done = state.tiles_done;
  };
}
/// Runs `body`; appends to the message of an Error the options that determine the use of memory.
void with_memory_options(const Settings& settings, const std::function<void()>& body);

/// Adds the outcomes of both kernels (NNGP and NTK). Prints the cost of a matrix before it is
/// computed. Counts kernel_steps steps of the progress. Throws Error if a matrix exceeds the memory
/// budget, and Interrupted after an interrupt.
void add_infinite(const Model& model, const Task& task, const Settings& settings,
                  Progress& progress, std::vector<Outcome>& outcomes);
constexpr int kernel_steps = 6;

/// Trains one network of this model from random initial weights. Its logits are rescaled to best
/// predict the held-out rows.
Outcome train_finite(const Model& model, const Task& task, const Settings& settings,
                     Progress& progress);

// --- all models ---

/// Accuracy, NLL and ECE, with standard errors that reflect the size of the test set; all NaN if it
/// diverged.
std::vector<Measured> figures(const Outcome& outcome, const Task& task);
/// Columns for the numbers that figures() returns.
std::vector<Column> answer_columns(const Task& task);

/// Draws accuracy and NLL of every model in each form, with 95% intervals.
void draw(const std::string& name, const Settings& settings, const Task& task,
          const std::vector<Outcome>& outcomes);

/// Runs every model, and reports it together with the given outcomes of other methods. Returns
/// false if it was interrupted.
bool compare_models(Program& program, const std::string& name, const Task& task,
                    const Settings& settings, std::vector<Outcome> outcomes = {});

/// Adds the options of the models.
void add_model_options(Program& program, Settings& settings);

}  // namespace ladon::example
