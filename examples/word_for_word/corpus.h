#pragma once
// Sentences with their translations.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/text/text.h"
#include "ladon/examples/common/program.h"

namespace ladon::example {

struct CorpusSettings {
  CommonOptions common;
  std::string source, target;  ///< Files of aligned lines; empty: sentences of a grammar.
  std::vector<std::string> validation, test;  ///< Two files; empty: the last lines of those.
  std::int64_t pairs = 1000;                  ///< Of the grammar, to be trained on.
};
void add_corpus_options(Program& program, CorpusSettings& settings);

struct Corpus {
  std::string name;
  ParallelText train, validation, test;
};

/// The settings' files, or pairs of the grammar, of which those for validation (200) and test (500)
/// are not trained on. Files for one of these that are not given are the last twentieth of what is
/// left of the training's, at most 1,000 lines. Throws Error for files that cannot be read, are not
/// as long as each other, or hold fewer than 20 pairs to train on.
Corpus read_corpus(const CorpusSettings& s);

}  // namespace ladon::example
