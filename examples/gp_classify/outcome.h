#pragma once
// Outcome of a model on the test set, and its cost.

#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>

#include "ladon/core/tensor.h"

namespace ladon::example {

/// Choices for a kernel, made without the test set.
struct Choice {
  double noise = 0;      ///< Variance of the noise, in units of the kernel's mean diagonal.
  double amplitude = 0;  ///< Factor of all variances.
  double loo_nll = 0, loo_accuracy = 0;  ///< Leave-one-out, of the training set.
};

/// Result of conjugate gradients: each mean and variance is within its error of the exact one.
struct Iterated {
  double iterations = NAN;                        ///< For the targets.
  double mean_error = NAN, variance_error = NAN;  ///< Of variances in units of the mean diagonal.
};

/// Attention maps of a network on the task's shown images, before and after training: f64 [images,
/// rows, columns], undefined where it does not attend.
struct AttentionMaps {
  Tensor before = {}, after = {};
};

/// A model in one of its forms.
struct Outcome {
  std::string model, form;    ///< Form: "NNGP", "NTK", "finite", or "" for the bar.
  Tensor probabilities = {};  ///< f64 [test, classes]; undefined if it diverged.
  double seconds = NAN, peak_mb = NAN;
  std::optional<Choice> choice = {};      ///< Of a kernel.
  std::optional<Iterated> iterated = {};  ///< Of a kernel that conjugate gradients solved with.
  std::int64_t parameters = 0;            ///< Of a finite network.
  AttentionMaps attention = {};           ///< Of a finite network.

  std::string method() const { return form.empty() ? model : model + " " + form; }
  bool diverged() const { return !probabilities.defined(); }
};

/// Time and memory since it was made, one at a time: where the system allows it (Linux:
/// /proc/self), the peak so far is forgotten.
class Meter {
 public:
  Meter() { std::ofstream("/proc/self/clear_refs") << 5; }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// The largest resident memory of the process, in MB (10⁶ bytes); NaN where nobody says.
  double peak_mb() const {
    std::ifstream status("/proc/self/status");
    double kibibytes;
    for (std::string word; status >> word;)
      if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024 / 1e6;
    return NAN;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ladon::example
