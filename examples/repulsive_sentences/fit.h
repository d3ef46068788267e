#pragma once
// Settings, sentences, and one fit of the sentence model: an arm, its number, a fold.

#include <string>
#include <vector>

#include "ladon/core/text/text.h"
#include "ladon/core/text/vocabulary.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/paired.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string format = "generated";  ///< generated, trec or lines
  std::vector<std::string> data;     ///< Files; of `lines` one per class.
  std::string glove;                 ///< Word vectors; empty: none.
  std::vector<std::string> arms;     ///< Beside plain; empty: all.
  std::int64_t folds = 3, seeds = 1, epochs = 12, batch_size = 32;
  std::string bits, checkpoint;  ///< Files; empty: none.
};

struct Sentences {
  TextDataset texts;
  Vocabulary vocabulary;  ///< Words that occur twice.
  Tensor word_vectors;    ///< [vocabulary, width]; undefined: learned from scratch.

  std::int64_t count() const { return std::ssize(texts.labels); }
  std::int64_t classes() const { return std::ssize(texts.label_names); }
  TextDataset choose(const std::vector<std::int64_t>& indices) const;
};

/// Sentences from the files of the settings, or questions made by a small grammar: the noun that is
/// asked for tells the class, among nouns of any class.
Sentences sentences(const Settings& settings, Generator rng);

/// Way to train W_s2, the rows of which are the hops; all else is the same.
struct Arm {
  enum class By { neither, size, repulsion };
  std::string name;
  By by;                       ///< How the rows of W_s2 may become larger.
  std::vector<double> values;  ///< Numbers to choose from.
};

/// plain, which has one value that means nothing, and the others.
const std::vector<Arm>& arms();

struct Fit {
  Tensor probabilities;   ///< f64 [test questions, classes]
  double redundancy = 0;  ///< Cosine between the maps of two hops.
  double size = 0;        ///< Root mean square of the entries of W_s2.
  double ratio = 0;       ///< Repulsive over driving force at the last step; NaN without.
};

/// Trains on one part of the fold and answers the other. `rng` fixes first weights, order of
/// batches and dropout, alike for all arms. Throws Interrupted.
Fit fit(const Sentences& data, const Settings& settings, const Fold& fold, const Arm& arm,
        double value, const Generator& rng);

}  // namespace ladon::example
