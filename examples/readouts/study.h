#pragma once
// Readouts of a convolutional network: their infinite-width limits, and trained networks.

#include <map>
#include <string>
#include <vector>

#include "ladon/core/extra/data/images.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/report.h"
#include "ladon/layers/containers.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<std::string> cifar;  ///< Two files; empty: generated images.
  /// 0: set by main.cpp, depending on the kind of images.
  std::int64_t train = 0, test = 0, width = 0, epochs = 0;
  int seeds = 0;
  std::string bits;  ///< File for right and wrong answers.
};

/// Images f64 [N, side, side, channels], standardized, and their labels.
struct Images {
  Tensor x, labels;
  std::int64_t count() const { return labels.size(0); }
};

struct Task {
  std::string description;
  Images train, test;
  std::int64_t classes = 0;
  std::int64_t side() const { return train.x.size(1); }
};

/// Photographs averaged to 8 × 8 pixels, or images of 6 × 6 pixels with one of four marks at one of
/// nine positions: the class is the mark, wherever it is. Throws Error for unsuitable files and
/// numbers.
Task load_task(const Settings& settings);

/// Attention after the convolutions, by the inputs of its queries and keys.
enum class Attention {
  none,
  structured,    ///< Sums of tokens and positions; near positions are correlated.
  residual,      ///< Half the variance from `structured` attention, half from its input.
  bare,          ///< Tokens only.
  concatenated,  ///< Positions appended to the tokens.
};

/// Reduces the positions of the last convolution to one vector.
struct Readout {
  const char* name;
  Attention attention = Attention::none;
  bool norm = false;     ///< Whether LayerNorm follows the attention.
  bool flat = false;     ///< Concatenates all positions; otherwise averages them.
  bool trained = false;  ///< Whether networks of finite width are trained with it.
};

/// Readouts that the study compares. For the readout "attention" there is also the control
/// "frozen", in which queries, keys and positions are not trained.
const std::vector<Readout>& readouts();

/// Three Sequentials in ntk parameterization: four convolutions, attention (or nothing), the
/// readout.
Sequential network(const Readout& kind, const Task& task, std::int64_t width, Generator& rng);

/// Predictions of one limit, or of trained networks, for the test images.
struct Answers {
  std::string arm, of;        ///< Name of the readout; "nngp", "ntk", "trained" or "frozen".
  Tensor probabilities = {};  ///< f64 [seeds, M, classes]; a limit has one "seed"
  double rate = 0;            ///< Learning rate chosen on the inner fold.
  /// Per trained network, how much training changed its attention maps; NaN without attention.
  std::vector<double> moved = {};
};

/// NNGP and NTK of all readouts; the kernels of the four convolutions are shared. Counts two steps
/// of the progress.
std::vector<Answers> answers_of_limits(const Task& task, const Settings& s, Progress& progress);

/// Trains networks of one readout for all seeds; with `frozen`, queries, keys and positions keep
/// their initial values. Counts one step of the progress.
Answers answers_of_networks(const Readout& kind, bool frozen, const Task& task, const Settings& s,
                            Progress& progress);

// --- results of all limits and networks that are finished ---

using AllAnswers = std::vector<Answers>;

/// Accuracy of every limit, and the difference of its NNGP from that of the readout "pool".
Table limits_table(const Task& task, const AllAnswers& all);
/// Accuracy of trained networks, and their difference from their NNGP; `frozen` is compared with
/// trained `attention`.
Table networks_table(const Task& task, const AllAnswers& all);
/// Accuracy by readout: NNGP, NTK, trained.
void draw(const Settings& s, const Task& task, const AllAnswers& all);
/// Arrays for the file of --bits: labels, and for each arm right and wrong answers and
/// probabilities.
std::map<std::string, Tensor> bits(const Task& task, const AllAnswers& all);

}  // namespace ladon::example
