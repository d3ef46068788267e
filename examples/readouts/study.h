#pragma once
// Readouts of a convolutional network: their limits, and trained networks beside them.

#include <map>
#include <string>
#include <vector>

#include "ladon/core/data/images.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/report.h"
#include "ladon/layers/containers.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<std::string> cifar;  ///< Two files; empty: generated images.
  /// 0: as main.cpp completes them, by the kind of the images.
  std::int64_t train = 0, test = 0, width = 0, epochs = 0;
  int seeds = 0;
  std::string bits;  ///< File of right and wrong answers.
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

/// Photographs averaged to 8 × 8 pixels, or images of 6 × 6 with one of four marks in one of
/// nine places: the mark decides, its place does not. Throws Error for files and counts that do not
/// fit.
Task load_task(const Settings& settings);

/// Attention behind the convolutions, by what its queries and keys see.
enum class Attention {
  none,
  structured,    ///< Tokens and positions, which are correlated where they are near, added.
  residual,      ///< The same, with half of the tokens' variance kept.
  bare,          ///< Tokens alone.
  concatenated,  ///< Positions beside the tokens.
};

/// A way from the positions of the last convolution to one vector.
struct Readout {
  const char* name;
  Attention attention = Attention::none;
  bool norm = false;     ///< Whether LayerNorm follows.
  bool flat = false;     ///< All positions side by side; otherwise their mean.
  bool trained = false;  ///< Whether networks of finite width are trained with it.
};

/// Arms of the study; `attention` has the control `frozen` besides.
const std::vector<Readout>& readouts();

/// Three Sequentials in ntk parameterization: four convolutions, attention (or nothing), the rest.
Sequential network(const Readout& kind, const Task& task, std::int64_t width, Generator& rng);

/// Answers of one limit, or of trained networks, to the test images.
struct Answers {
  std::string arm, of;        ///< Readout; "nngp", "ntk", "trained" or "frozen".
  Tensor probabilities = {};  ///< f64 [seeds, M, classes]; of a limit one "seed"
  double rate = 0;            ///< Learning rate that the inner fold chose.
  /// Of each trained network, how far training moved its attention's maps; NaN without attention.
  std::vector<double> moved = {};
};

/// NNGP and NTK of all readouts, by kernels that share the four convolutions. Counts two steps.
std::vector<Answers> answers_of_limits(const Task& task, const Settings& s, Progress& progress);

/// Networks of one readout, of all seeds; `frozen`: queries, keys and positions keep their start.
/// Counts one step.
Answers answers_of_networks(const Readout& kind, bool frozen, const Task& task, const Settings& s,
                            Progress& progress);

// --- of the answers of all arms, as far as they came ---

using AllAnswers = std::vector<Answers>;

/// Accuracy of every limit, and the difference of its NNGP to pool's.
Table limits_table(const Task& task, const AllAnswers& all);
/// Accuracy of trained networks, and the difference to their NNGP; of `frozen` to `attention`.
Table networks_table(const Task& task, const AllAnswers& all);
/// Accuracy by readout: NNGP, NTK, trained.
void draw(const Settings& s, const Task& task, const AllAnswers& all);
/// Arrays for --bits.
std::map<std::string, Tensor> bits(const Task& task, const AllAnswers& all);

}  // namespace ladon::example
