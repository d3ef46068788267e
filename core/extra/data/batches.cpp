#include "ladon/core/extra/data/batches.h"

#include <algorithm>
#include <memory>

#include "ladon/core/error.h"

namespace ladon {

TextBatches::TextBatches(const TextDataset& data, const Vocabulary& vocabulary,
                         const TextBatchOptions& options)
    : labels_(data.labels), options_(options) {
  LADON_CHECK(options.batch_size >= 1, "batches", "batch_size must be at least 1, got ",
              options.batch_size);
  LADON_CHECK(options.max_length >= 1, "batches", "max_length must be at least 1, got ",
              options.max_length);
  LADON_CHECK(!data.texts.empty(), "batches", "the dataset is empty: it has 0 texts");
  LADON_CHECK(data.texts.size() == data.labels.size(), "batches", "the dataset has ",
              data.texts.size(), " texts but ", data.labels.size(),
              " labels; every text needs one label");
  const auto classes = static_cast<std::int64_t>(data.label_names.size());
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    LADON_CHECK(labels_[i] >= 0 && labels_[i] < classes, "batches", "text ", i, " has label ",
                labels_[i], ", outside the ", classes,
                " label names; a label must be an index into label_names");
    TokenSequence tokens = vocabulary.encode(data.texts[i]);
    if (tokens.empty()) tokens.push_back(Vocabulary::unknown);
    tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(options.max_length)));
    encoded_.push_back(std::move(tokens));
  }
}

std::int64_t TextBatches::size() const { return (texts() - 1) / options_.batch_size + 1; }

std::vector<TextBatch> TextBatches::in_order() const {
  std::vector<TextBatch> batches;
  for (const ItemIndices& items : ordered_batches(texts(), options_.batch_size))
    batches.push_back(make_batch(items));
  return batches;
}

std::vector<TextBatch> TextBatches::shuffled(Generator& rng) const {
  std::vector<TextBatch> batches;
  for (const ItemIndices& items : random_batches(texts(), options_.batch_size, rng, lengths()))
    batches.push_back(make_batch(items));
  return batches;
}

Loader<TextBatch> TextBatches::loader(Generator& rng) const {
  const LoaderOptions options{.batch_size = options_.batch_size, .by_length = options_.by_length};
  const auto texts = std::make_shared<const TextBatches>(*this);
  return {BatchPlan(this->texts(), options, rng, lengths()),
          [texts](const ItemIndices& items, Generator&) { return texts->make_batch(items); }};
}

// Numbers of tokens of the texts, for TextBatchOptions::by_length; empty if it is not set.
std::vector<std::int64_t> TextBatches::lengths() const {
  std::vector<std::int64_t> lengths;
  if (options_.by_length)
    for (const TokenSequence& tokens : encoded_) lengths.push_back(std::ssize(tokens));
  return lengths;
}

TextBatch TextBatches::make_batch(const ItemIndices& items) const {
  std::vector<TokenSequence> sequences;
  std::vector<std::int64_t> labels;
  for (const std::int64_t i : items) {
    sequences.push_back(encoded_[i]);
    labels.push_back(labels_[i]);
  }
  PaddedSequences padded = pad_sequences(sequences, Vocabulary::pad);
  return {std::move(padded.tokens), std::move(padded.mask),
          from_vector(labels, {std::ssize(items)})};
}

}  // namespace ladon
