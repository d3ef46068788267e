#pragma once
// One training run: a method, a seed.

#include <functional>
#include <string>
#include <vector>

#include "ladon/examples/repulsive_heads/measure.h"

namespace ladon::example {

/// Kinds of runs: "plain"; "smoothing", which is svgd without its repulsion (α = 0: each head
/// moves by an average of all heads' gradients); "svgd", "spos", "wgd"; "cosine".
std::vector<std::string> methods();

struct Outcome {
  std::vector<double> figures;                    ///< In the order of columns().
  std::vector<double> train_loss, head_distance;  ///< An entry per epoch.
  HeadMaps before, after;
  std::int64_t parameters = 0;
  std::uint64_t seed = 0;
  int diverged_in_epoch = 0;  ///< Counted from 1; 0: it did not. Its figures are NaN then.
  std::string diverged_because = {};

  bool diverged() const { return diverged_in_epoch > 0; }
};

/// Observer of a training: called before it and after each epoch, with the model, which it must
/// leave as it is, and its heads.
using Watch = std::function<void(Classifier&, const Particles&)>;

/// Trains a classifier by `method`, one of methods(), and measures it. The seed
/// fixes the initial weights, the order of batches and the dropout, alike for all methods. Calls
/// `after_epoch` once per epoch. Ends where loss or gradient is not finite. Throws Interrupted.
Outcome train(const Task& task, const Settings& settings, const std::string& method,
              std::uint64_t seed, const std::function<void()>& after_epoch,
              const Watch& watch = {});

}  // namespace ladon::example
