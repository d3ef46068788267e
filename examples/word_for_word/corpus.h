#pragma once
// Pairs of sentences and translations.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/extra/text/text.h"
#include "ladon/examples/common/program.h"

namespace ladon::example {

struct CorpusSettings {
  CommonOptions common;
  std::string source, target;  ///< Files with aligned lines; empty: sentences of a grammar.
  std::vector<std::string> validation, test;  ///< Two files each; empty: split off from training.
  std::int64_t pairs = 1000;                  ///< Number of the grammar's training pairs.
};
void add_corpus_options(Program& program, CorpusSettings& settings);

struct Corpus {
  std::string name;
  ParallelText train, validation, test;
};

/// Pairs from the settings' files; or pairs of the grammar, with separate ones for validation (200)
/// and test (500). If files for validation or test are not given, the last twentieth of the
/// remaining training lines is split off, at most 1,000 lines. Throws Error for files that cannot
/// be read or differ in their number of lines, and if fewer than 20 pairs are left for training, or
/// none for validation.
Corpus read_corpus(const CorpusSettings& s);

}  // namespace ladon::example
