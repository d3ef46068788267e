#pragma once
// Texts as padded batches of word indices.

#include <cstdint>
#include <vector>

#include "ladon/core/extra/data/loader.h"
#include "ladon/core/extra/data/sequences.h"
#include "ladon/core/extra/text/text.h"
#include "ladon/core/extra/text/vocabulary.h"
#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// B texts, padded to the T tokens of the longest text.
struct TextBatch {
  Tensor tokens;  ///< i64 [B, T], Vocabulary::pad after a text's end
  Tensor mask;    ///< bool [B, T], true at tokens, false at padding
  Tensor labels;  ///< i64 [B]
};

struct TextBatchOptions {
  std::int64_t batch_size = 32;
  std::int64_t max_length = 256;  ///< longer texts are cut to their first max_length tokens
  bool by_length = false;         ///< batches of similar lengths when shuffled (see LoaderOptions)
};

/// A dataset of texts that is encoded once and can be cut into batches many times. The last batch
/// of a pass over the texts may be smaller; no text is dropped. A text without tokens counts as a
/// single `<unk>`.
class TextBatches {
 public:
  /// Throws Error for a dataset without texts, with more or fewer labels than texts, or a label
  /// outside label_names, and for a batch_size or max_length below 1.
  TextBatches(const TextDataset& data, const Vocabulary& vocabulary,
              const TextBatchOptions& options = {});

  /// Number of texts, and number of batches in a pass.
  std::int64_t texts() const { return static_cast<std::int64_t>(encoded_.size()); }
  std::int64_t size() const;
  /// Every text once, in the dataset's order.
  std::vector<TextBatch> in_order() const;
  /// Every text once, in a random order that depends on the generator alone.
  std::vector<TextBatch> shuffled(Generator& rng) const;
  /// Loader of the batches of endless shuffled passes; it can start at any position.
  Loader<TextBatch> loader(Generator& rng) const;

 private:
  TextBatch make_batch(const ItemIndices& items) const;
  std::vector<std::int64_t> lengths() const;

  std::vector<TokenSequence> encoded_;
  std::vector<std::int64_t> labels_;
  TextBatchOptions options_;
};

}  // namespace ladon
