#pragma once
// Pretrained word vectors, in the formats of GloVe (Pennington, Socher and Manning, "GloVe: Global
// Vectors for Word Representation", EMNLP 2014).

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/extra/text/vocabulary.h"
#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

struct Glove {
  std::vector<std::string> words;
  Tensor vectors;               ///< f32 [n, d], row i is words[i]
  std::int64_t duplicates = 0;  ///< later entries for a word already read, which were left out
};

/// Reads one JSON object, {"word": [v1, …, vd], …}, or text with a line `word v1 … vd` for each
/// word; the start of the file tells which. It may be compressed by gzip. A word that occurs twice
/// keeps its first vector. Words keep the file's order. Throws Error, naming path, word or line and
/// both values, for a file without vectors, vectors of different lengths, or a number that is not
/// finite in f32.
Glove read_glove(const std::string& path);

struct EmbeddingTable {
  Tensor weights;      ///< f32 [vocabulary.size(), d]
  std::int64_t found;  ///< words, the reserved two not counted, that have a vector
  std::int64_t words;  ///< words, the reserved two not counted
  double coverage() const { return words == 0 ? 0 : double(found) / double(words); }
};

/// The vectors of a vocabulary's words, in its order. Words without one, also `<unk>`, are drawn
/// from N(0, (scale·σ)²), with σ the root mean square of all entries of the vectors found (of all
/// that were loaded if none was); row `<pad>` is zero. The draw for a row does not depend on which
/// others are found. A small scale keeps unknown words close to zero. Throws Error unless the
/// vectors are f32 [n, d] with a row per word.
EmbeddingTable embedding_table(const Vocabulary& vocabulary, const Glove& glove, Generator& rng,
                               double scale = 1);

}  // namespace ladon
