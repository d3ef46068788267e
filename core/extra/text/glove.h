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
  Tensor vectors;               ///< f32 [n, d]: the vector of words[i] is row i
  std::int64_t duplicates = 0;  ///< number of entries left out because their word came before
};

/// Reads a file with one JSON object, {"word": [v1, …, vd], …}, or with a line `word v1 … vd` for
/// each word; the start of the file decides between the formats. It may be compressed by gzip. A
/// word that occurs twice keeps its first vector. Words keep the file's order. Throws Error, naming
/// the path, the word or line, and the values found and expected, for a file without vectors,
/// vectors of different lengths, or a number that is not finite in f32.
Glove read_glove(const std::string& path);

struct EmbeddingTable {
  Tensor weights;      ///< f32 [vocabulary.size(), d], with d as in Glove
  std::int64_t found;  ///< number of words with a vector, without the two reserved ones
  std::int64_t words;  ///< number of words, without the two reserved ones
  double coverage() const { return words == 0 ? 0 : double(found) / double(words); }
};

/// Table of the vectors of a vocabulary's words, in the order of the vocabulary. Rows of words
/// without a vector, including `<unk>`, are drawn from N(0, (scale·σ)²), where σ is the root mean
/// square of all elements of the vectors found (of all vectors in `glove` if no word was found).
/// Row `<pad>` is zero. The draw for a row does not depend on which other words are found. A small
/// scale keeps unknown words close to zero. Throws Error unless the vectors are f32 [n, d] with a
/// row per word.
EmbeddingTable embedding_table(const Vocabulary& vocabulary, const Glove& glove, Generator& rng,
                               double scale = 1);

}  // namespace ladon
