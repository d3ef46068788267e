#pragma once
// Sentences with their translations.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/text/text.h"
#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::string source, target;  ///< Files of aligned lines; empty: sentences of a grammar.
  std::vector<std::string> validation, test;     ///< Two files; empty: the last lines of those.
  std::int64_t pairs = 1000;                     ///< Of the grammar, to be trained on.
  std::int64_t layers = 2, heads = 4, dim = 64;  ///< Layers of the encoder, and of the decoder.
  std::int64_t tokens = 1000;                    ///< Of the vocabulary, at most.
  std::int64_t batch = 64;
  std::int64_t steps = 600;
  double rate = 2e-3;  ///< Highest learning rate.
  double dropout = 0.1;
  std::int64_t every = 50;  ///< Steps between looks at the validation pairs.
  std::string resume;       ///< A run's file, to go on from or translate by; empty: a new run.
  std::string translate;    ///< Sentence to translate by that run, without training.
  std::int64_t beams = 4;
};

struct Corpus {
  std::string name;
  ParallelText train, validation, test;
};

/// The settings' files, or pairs of the grammar, of which those for validation (200) and test (500)
/// are not trained on. Files for one of these that are not given are the last twentieth of what is
/// left of the training's, at most 1,000 lines. Throws Error for files that cannot be read, are not
/// as long as each other, or hold fewer than 20 pairs to train on.
Corpus read_corpus(const Settings& s);

}  // namespace ladon::example
