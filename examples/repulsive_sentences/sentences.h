#pragma once
// Sentences and their classes.

#include "ladon/core/random.h"
#include "ladon/core/text/text.h"
#include "ladon/core/text/vocabulary.h"
#include "ladon/examples/repulsive_sentences/settings.h"

namespace ladon::example {

struct Sentences {
  TextDataset texts;
  Vocabulary vocabulary;  ///< Words that occur twice.
  Tensor word_vectors;    ///< [vocabulary, width]; undefined: learned from scratch.

  std::int64_t count() const { return static_cast<std::int64_t>(texts.texts.size()); }
  std::int64_t classes() const { return static_cast<std::int64_t>(texts.label_names.size()); }
  /// Those of the given indices, in that order.
  TextDataset choose(const std::vector<std::int64_t>& indices) const;
};

/// Sentences from the files of the settings, or questions made by a small grammar: the noun that is
/// asked for tells the class, among clauses with nouns of any class.
Sentences sentences(const Settings& settings, Generator rng);

}  // namespace ladon::example
