#pragma once
// Training of one classifier by several methods, and which of its heads looks after which rule.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/data/batches.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/rules_task.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/particles/method.h"

namespace ladon::example {

/// Kinds of runs: "plain"; "smoothing", which is svgd without its repulsion (α = 0: each head
/// moves by an average of all heads' gradients); "svgd", "spos", "wgd"; "cosine".
std::vector<std::string> methods();

struct Settings {
  CommonOptions common;
  std::vector<std::string> methods = example::methods();
  int seeds = 6, epochs = 10, batch_size = 64, heads = 8, layers = 1, dim = 64;
  double learning_rate = 3e-3, dropout = 0, label_smoothing = 0;
  double alpha = 0.01;                    ///< Weight of the repulsion (svgd, spos, wgd).
  double cosine_weight = 1, noise = 0.1;  ///< Of the cosine penalty; b of SPOS.
};

/// Options of what the studies have in common: methods to learning_rate, and alpha.
void add_training_options(Program& program, Settings& settings);
/// Check of these options together. Throws UsageError.
void check_training(const Settings& settings);

/// Batches hold tokens [B, T] or [B, T, fields], their mask [B, T], and labels [B, questions].
struct Task {
  std::string description;
  std::string unfamiliar_kind;  ///< Reason why the unfamiliar sequences are so.
  std::int64_t vocabulary, questions, classes, max_length, train_items;
  Tensor embedding = {};  ///< First weights [vocabulary, dim]; undefined: small random ones.
  std::function<std::vector<TextBatch>(Generator&)> training;  ///< One pass, shuffled.
  std::vector<TextBatch> test;
  std::vector<TextBatch> unfamiliar;  ///< A model should be less sure of these.
};

/// The rules of common/rules_task.h: each question needs a look at a place of its own, and one head
/// has one look. In an unfamiliar sequence one question has no right answer.
Task rules_task(const Settings& settings, Generator rng);

/// tokens → embedding + positions → encoder → pooling → logits [B, questions, classes]. A token may
/// have several fields ([B, T, fields]): its vector is the sum of theirs.
struct Classifier : Module {
  Embedding embedding;
  LearnedPositions positions;
  Dropout embedding_dropout, feature_dropout;
  TransformerEncoder encoder;
  Pooling pooling;  ///< The first token of several questions, else the maximum over tokens.
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

/// One training: a method, a seed. A study says by a Watch what it measures.
struct Run {
  std::uint64_t seed = 0;
  std::vector<double> figures = {};     ///< In the order of the study's columns.
  Tensor before = {}, after = {};       ///< Matrix of the heads that the study draws.
  std::int64_t leading = 0;             ///< Heads that lead a rule in the end, where that is known.
  std::vector<double> train_loss = {};  ///< An entry per epoch.
  std::int64_t parameters = 0;
  double epoch_seconds = 0;
  int diverged_in_epoch = 0;  ///< Counted from 1; 0: it did not. Its figures are NaN then.
  std::string diverged_because = {};
};

/// Thrown where training runs away.
struct Diverged {
  std::string because;
};

/// A model in training, which an observer leaves as it is, in eval() and without gradients.
struct Moment {
  Classifier& model;
  const Particles& heads;
  const ParticleMethod* repulsion;  ///< Null of methods that have none.
  bool first, last;                 ///< Before the training; after it.
};
/// Is called before the training and after each epoch.
using Watch = std::function<void(const Moment&, Run&)>;

/// Trains a classifier by `method`, one of methods(). The seed fixes the initial weights, the order
/// of batches and the dropout, alike for all methods. Ends where loss or gradient is not finite.
/// Throws Interrupted.
Run train(const Task& task, const Settings& settings, const std::string& method, std::uint64_t seed,
          const Watch& watch);

/// Runs of each method, one per seed, in the order of seeds. An interrupted one has fewer.
using Outcomes = std::vector<std::pair<std::string, std::vector<Run>>>;

/// Trains by every method with every seed, each for so many figures; returns whether it was not
/// interrupted.
bool run_all(const Task& task, const Settings& settings, std::size_t figures, const Watch& watch,
             Outcomes& outcomes);

/// "40896 parameters; heads: 8; …": of outcomes with one run at least.
std::string settings_line(const Settings& settings, const Outcomes& outcomes);
/// Without the runs that diverged, and the methods that have no other.
Outcomes that_converged(const Outcomes& outcomes);
/// A line for each run that diverged.
std::string diverged_lines(const Outcomes& outcomes);
/// The run in the middle by how many heads lead a rule.
Run typical(std::vector<Run> runs);

/// A row for each method that was run, means over seeds. One run that diverged makes its method's
/// row a diverged one: a mean over the others would flatter it.
Table table_of(const std::vector<Column>& columns, const Outcomes& outcomes);
/// Every run's method, seed, figures, curve and, where it has them, matrices.
nlohmann::ordered_json details(const std::vector<Column>& columns, const Outcomes& outcomes);

/// Test batches of which the attention is measured.
constexpr std::size_t map_batches = 4;

/// The last layer's attention on the token that answers each rule's question, from where the
/// answers are read, mean over test sequences: [heads, rules].
Tensor on_right_tokens(const Classifier& model, const Task& task);

/// Which heads look at the rules' tokens, of such a matrix.
struct Leaders {
  std::int64_t heads = 0;  ///< That attend more to some rule's token than all other heads do.
  double attention = 0;    ///< Of the head that leads a rule on its token, mean over rules.
};
Leaders leaders(const Tensor& right_tokens);

/// Heads in the order of the rules that they look after: the largest entry of the matrix gives its
/// head to its rule, then the largest of the heads and rules that are left. Heads without a rule
/// come last.
std::vector<std::size_t> heads_by_rule(const Tensor& right_tokens);

/// A matrix of heads under a title, its rows and columns in an order.
struct HeadMap {
  std::string title, file;
  Tensor matrix;
  std::vector<std::size_t> rows = {}, columns = {};
};
/// Draws out/NAME.svg: such matrices side by side, the colour bar beside the last.
void draw_maps(const Settings& settings, const std::string& name, const std::string& title,
               const std::string& line, const std::vector<HeadMap>& maps, const std::string& across,
               const std::string& bar);
/// 0, 1, …, n − 1
std::vector<std::size_t> counted(std::int64_t n);
/// Titles and matrices to show: before training, after it by the first method (plain, or whatever
/// was run first) and by the first that repels, with the typical seed of the first.
std::vector<HeadMap> shown_maps(const Outcomes& outcomes);
/// "8 heads, 1 layer of width 64, α = 0.01, 10 epochs"
std::string picture_line(const Settings& settings);

}  // namespace ladon::example
