#pragma once
// Settings, sentences, and one fit of the sentence model: an arm, with one value of its parameter,
// on a fold.

#include <string>
#include <vector>

#include "ladon/core/extra/text/text.h"
#include "ladon/core/extra/text/vocabulary.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/paired.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string format = "generated";  ///< generated, trec or lines
  std::vector<std::string> data;     ///< Files; for `lines` one per class.
  std::string glove;                 ///< Word vectors; empty: none.
  std::vector<std::string> arms;     ///< Arms in addition to plain; empty: all.
  std::int64_t folds = 3, seeds = 1, epochs = 12, batch_size = 32;
  std::string bits, checkpoint;  ///< Files of answers, of finished fits; empty: none.
};

struct Sentences {
  TextDataset texts;
  Vocabulary vocabulary;  ///< Words that occur at least twice.
  Tensor word_vectors;    ///< [vocabulary, width]; undefined: learned from scratch.

  std::int64_t count() const { return std::ssize(texts.labels); }
  std::int64_t classes() const { return std::ssize(texts.label_names); }
  TextDataset choose(const std::vector<std::int64_t>& indices) const;
};

/// Sentences from the files of the settings, or questions that a small grammar generates. The class
/// of a generated question is the class of the noun that it asks for; its other nouns are of any
/// class.
Sentences sentences(const Settings& settings, Generator rng);

/// A way to train W_s2, the matrix whose rows are the hops of attention; all else is equal between
/// arms.
struct Arm {
  enum class By { neither, size, repulsion };
  std::string name;
  By by;                       ///< Why W_s2 grows; `size`: larger initial values or learning rate.
  std::vector<double> values;  ///< Values of the arm's parameter to choose from.
};

/// All arms: first `plain`, which has no parameter (its single entry in `values` is ignored), then
/// the others.
const std::vector<Arm>& arms();

struct Fit {
  Tensor probabilities;   ///< f64 [test questions, classes]
  double redundancy = 0;  ///< Cosine between the maps of two hops, mean over pairs.
  double size = 0;        ///< Root mean square of the entries of W_s2.
  double ratio = 0;       ///< Repulsive over driving force at the last step, or NaN.
};

/// Trains on the fold's training part and answers its test part. `rng` determines initial weights,
/// order of batches and dropout, identically for all arms. Throws Interrupted.
Fit fit(const Sentences& data, const Settings& settings, const Fold& fold, const Arm& arm,
        double value, const Generator& rng);

}  // namespace ladon::example
