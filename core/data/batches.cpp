#include "ladon/core/data/batches.h"

#include <algorithm>
#include <numeric>

#include "ladon/core/error.h"

namespace ladon {
namespace {

constexpr std::int64_t run_length = 32;  // batches that are sorted by length together

std::vector<std::int64_t> random_order(std::int64_t n, Generator& rng) {
  return permutation(n, rng).to_vector<std::int64_t>();
}

}  // namespace

Batches::Batches(const TextDataset& data, const Vocabulary& vocabulary, const BatchOptions& options)
    : labels_(data.labels), options_(options) {
  LADON_CHECK(options.batch_size >= 1, "batches", "batch_size must be at least 1, got ",
              options.batch_size);
  LADON_CHECK(options.max_length >= 1, "batches", "max_length must be at least 1, got ",
              options.max_length);
  LADON_CHECK(!data.texts.empty(), "batches", "the dataset is empty: it has 0 texts");
  LADON_CHECK(data.texts.size() == data.labels.size(), "batches", "the dataset has ",
              data.texts.size(), " texts but ", data.labels.size(), " labels");
  const auto classes = static_cast<std::int64_t>(data.label_names.size());
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    LADON_CHECK(labels_[i] >= 0 && labels_[i] < classes, "batches", "text ", i, " has label ",
                labels_[i], ", outside the ", classes, " label names");
    std::vector<std::int64_t> tokens = vocabulary.encode(data.texts[i]);
    if (tokens.empty()) tokens.push_back(Vocabulary::unknown);
    tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(options.max_length)));
    encoded_.push_back(std::move(tokens));
  }
}

std::int64_t Batches::size() const { return (texts() - 1) / options_.batch_size + 1; }

std::vector<Batch> Batches::in_order() const {
  std::vector<std::int64_t> order(encoded_.size());
  std::iota(order.begin(), order.end(), 0);
  return cut(order);
}

std::vector<Batch> Batches::shuffled(Generator& rng) const {
  std::vector<std::int64_t> order = random_order(texts(), rng);
  if (!options_.by_length) return cut(order);
  const std::int64_t run = std::min(run_length, size()) * options_.batch_size;
  for (std::int64_t from = 0; from < texts(); from += run) {
    const auto length = [&](std::int64_t i) {
      return encoded_[static_cast<std::size_t>(i)].size();
    };
    std::stable_sort(order.begin() + from, order.begin() + std::min(from + run, texts()),
                     [&](std::int64_t a, std::int64_t b) { return length(a) < length(b); });
  }
  const std::vector<Batch> sorted = cut(order);
  // Otherwise every run would go from short texts to long ones.
  std::vector<Batch> batches;
  for (std::int64_t i : random_order(size(), rng))
    batches.push_back(sorted[static_cast<std::size_t>(i)]);
  return batches;
}

std::vector<Batch> Batches::cut(const std::vector<std::int64_t>& order) const {
  std::vector<Batch> batches;
  for (std::int64_t from = 0; from < texts();) {
    const std::int64_t to = from + std::min(options_.batch_size, texts() - from);
    batches.push_back(make_batch(order, from, to));
    from = to;
  }
  return batches;
}

Batch Batches::make_batch(const std::vector<std::int64_t>& order, std::int64_t from,
                          std::int64_t to) const {
  std::size_t longest = 0;
  for (std::int64_t i = from; i < to; ++i)
    longest = std::max(longest, encoded_[static_cast<std::size_t>(order[i])].size());
  const std::int64_t rows = to - from, columns = static_cast<std::int64_t>(longest);
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(rows) * longest, Vocabulary::pad);
  std::vector<bool> mask(tokens.size(), false);
  std::vector<std::int64_t> labels;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto item = static_cast<std::size_t>(order[from + row]);
    const auto start = row * columns,
               end = start + static_cast<std::int64_t>(encoded_[item].size());
    std::copy(encoded_[item].begin(), encoded_[item].end(), tokens.begin() + start);
    std::fill(mask.begin() + start, mask.begin() + end, true);
    labels.push_back(labels_[item]);
  }
  return {from_vector(tokens, {rows, columns}), from_vector(mask, {rows, columns}),
          from_vector(labels, {rows})};
}

}  // namespace ladon
