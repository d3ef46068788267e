#pragma once
// Training of one classifier by several methods, and which of its heads attends to the token that
// each question of the task (rule) asks for.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/extra/data/batches.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/rules_task.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/particles/method.h"

namespace ladon::example {

/// Names of methods: "plain"; "smoothing", which is svgd without repulsion (α = 0: each head moves
/// by an average of all heads' gradients); "svgd", "spos", "wgd"; "cosine".
std::vector<std::string> methods();

struct Settings {
  CommonOptions common;
  std::vector<std::string> methods = example::methods();
  int seeds = 6, epochs = 10, batch_size = 64, heads = 8, layers = 1, dim = 64;
  double learning_rate = 3e-3, dropout = 0, label_smoothing = 0;
  double alpha = 0.01;  ///< Weight of the repulsion (svgd, spos, wgd).
  /// Weight of the cosine penalty of the method "cosine", and SposOptions::diffusion.
  double cosine_weight = 1, noise = 0.1;
};

/// Adds the options that studies of this classifier share: --methods, --seeds, --epochs, --heads,
/// --layers, --dim, --lr and --alpha.
void add_training_options(Program& program, Settings& settings);
/// Checks these options in combination. Throws UsageError.
void check_training(const Settings& settings);

/// A classification task. Batches hold tokens [B, T] or [B, T, fields], their mask [B, T], and
/// labels [B, questions].
struct Task {
  std::string description;
  std::string unfamiliar_kind;  ///< How the unfamiliar sequences differ from `test`.
  std::int64_t vocabulary, questions, classes, max_length, train_items;
  Tensor embedding = {};  ///< Initial embedding [vocabulary, dim]; undefined: small random weights.
  std::function<std::vector<TextBatch>(Generator&)> training;  ///< Batches of a shuffled pass.
  std::vector<TextBatch> test;
  std::vector<TextBatch> unfamiliar;  ///< A model should be less confident of its answers here.
};

/// Task with the rules of common/rules_task.h: each question requires attention to a different
/// position, but a head has only one attention map. In an unfamiliar sequence one question has no
/// correct answer.
Task rules_task(const Settings& settings, Generator rng);

/// Classifier: tokens → embedding + positions → encoder → pooling → logits [B, questions, classes].
/// A token may have several fields ([B, T, fields]), whose vectors are summed.
struct Classifier : Module {
  Embedding embedding;
  LearnedPositions positions;
  Dropout embedding_dropout, feature_dropout;
  TransformerEncoder encoder;
  Pooling pooling;  ///< First token for several questions, else the maximum over tokens.
  Linear readout;
  std::int64_t questions;

  Classifier(const Settings& settings, const Task& task, Generator& rng);
  Tensor logits(const TextBatch& batch) const;
  /// Attention weights [B, heads, T, T] of each layer.
  std::vector<Tensor> attention_maps(const TextBatch& batch) const;
  void visit(Visitor& v) override;
  std::string describe() const override { return "Classifier"; }

 private:
  Tensor embed(const TextBatch& batch) const;
};

/// Probabilities [sequences·questions, classes] and labels of a list of batches.
struct Predictions {
  Tensor probabilities, labels;
};
Predictions predict(const Classifier& model, const std::vector<TextBatch>& batches);

/// One training run of a method with a seed. A study's observer (Watch) measures its figures.
struct Run {
  std::uint64_t seed = 0;
  std::vector<double> figures = {};     ///< Measured figures, one per column of the table.
  Tensor before = {}, after = {};       ///< Matrix [heads, …] before/after training, to draw.
  std::int64_t leading = 0;             ///< Leaders::heads after training, if known.
  std::vector<double> train_loss = {};  ///< An entry per epoch.
  std::int64_t parameters = 0;
  double epoch_seconds = 0;
  int diverged_in_epoch = 0;  ///< Epoch, from 1, in which it diverged (figures are NaN), or 0.
  std::string diverged_because = {};
};

/// Thrown when training diverges.
struct Diverged {
  std::string because;
};

/// State of a model during training, in evaluation mode and without gradients; observers must not
/// change it.
struct Moment {
  Classifier& model;
  const Particles& heads;
  const ParticleMethod* repulsion;  ///< Null for methods without repulsion.
  bool first, last;                 ///< Whether it is the state before, or after, all epochs.
};
/// Observer, called before training and after each epoch.
using Watch = std::function<void(const Moment&, Run&)>;

/// Trains a classifier by `method`, one of methods(). The seed determines the initial weights, the
/// order of batches and the dropout, identically for all methods. Ends early if the loss, the
/// gradient or the force is not finite. Throws Interrupted.
Run train(const Task& task, const Settings& settings, const std::string& method, std::uint64_t seed,
          const Watch& watch);

/// Runs of each method, one per seed, in the order of seeds. After an interrupt a method may have
/// fewer runs.
using Outcomes = std::vector<std::pair<std::string, std::vector<Run>>>;

/// Trains with every method and seed, and measures `figures` numbers for each run. Returns false if
/// it was interrupted.
bool run_all(const Task& task, const Settings& settings, std::size_t figures, const Watch& watch,
             Outcomes& outcomes);

/// Line such as "40896 parameters; heads: 8; …", for outcomes with at least one run.
std::string settings_line(const Settings& settings, const Outcomes& outcomes);
/// The outcomes without diverged runs, and without methods whose runs all diverged.
Outcomes that_converged(const Outcomes& outcomes);
/// A line for each run that diverged.
std::string diverged_lines(const Outcomes& outcomes);
/// The run with the median number of leading heads (Leaders).
Run typical(std::vector<Run> runs);

/// Table with a row for each method that was run, with means over seeds. If any run of a method
/// diverged, its row is marked as diverged, since a mean over the remaining runs would be too
/// favourable.
Table table_of(const std::vector<Column>& columns, const Outcomes& outcomes);
/// Method, seed, figures, loss curve and, if present, matrices of every run.
nlohmann::ordered_json details(const std::vector<Column>& columns, const Outcomes& outcomes);

/// Number of test batches on which attention is measured.
constexpr std::size_t map_batches = 4;

/// Attention in the last layer from the token where answers are read to the token that each rule's
/// question asks for, mean over test sequences: [heads, rules].
Tensor on_right_tokens(const Classifier& model, const Task& task);

/// Summary of the matrix on_right_tokens(): which heads attend to the rules' tokens.
struct Leaders {
  std::int64_t heads = 0;  ///< Number of heads that lead for a rule: attend most to its token.
  double attention = 0;    ///< Attention of a rule's leading head to its token, mean over rules.
};
Leaders leaders(const Tensor& right_tokens);

/// Heads in the order of their rules, matched greedily: the largest entry of the matrix assigns its
/// head to its rule, then the largest among the remaining heads and rules. Heads without a rule
/// come last.
std::vector<std::size_t> heads_by_rule(const Tensor& right_tokens);

/// A matrix with a row per head, its title, and the order of its rows and columns in the picture.
struct HeadMap {
  std::string title, file;
  Tensor matrix;
  std::vector<std::size_t> rows = {}, columns = {};
};
/// Draws matrices side by side as NAME.svg in the output folder; the last one has a colour bar.
void draw_maps(const Settings& settings, const std::string& name, const std::string& title,
               const std::string& line, const std::vector<HeadMap>& maps, const std::string& across,
               const std::string& bar);
/// Indices 0, 1, …, n − 1.
std::vector<std::size_t> counted(std::int64_t n);
/// Matrices to show with their titles: before training; after training by the first method that was
/// run; after training by the first method that repels. All are from runs with one seed, that of
/// the typical() run of the first method.
std::vector<HeadMap> shown_maps(const Outcomes& outcomes);
/// Settings below a picture's title, such as "8 heads, 1 layer of width 64, α = 0.01, 10 epochs".
std::string picture_line(const Settings& settings);

}  // namespace ladon::example
