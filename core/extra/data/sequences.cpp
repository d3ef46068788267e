#include "ladon/core/extra/data/sequences.h"

#include <algorithm>
#include <memory>

#include "ladon/core/error.h"

namespace ladon {
namespace {

void check_pairs(const std::vector<TokenSequence>& sources,
                 const std::vector<TokenSequence>& targets, const PairTokens& tokens) {
  LADON_CHECK(tokens.bos >= 0 && tokens.eos >= 0 && tokens.pad >= 0, "pad_pairs", "bos ",
              tokens.bos, ", eos ", tokens.eos, " and pad ", tokens.pad,
              " must be tokens, which are at least 0; for bos of a Vocabulary use "
              "Vocabulary::at(Vocabulary::bos)");
  LADON_CHECK(sources.size() == targets.size(), "pad_pairs", sources.size(), " sources, but ",
              targets.size(), " targets; every source needs one target");
  for (std::size_t i = 0; i < sources.size(); ++i)
    LADON_CHECK(!sources[i].empty(), "pad_pairs", "source ", i,
                " has no token; every source needs at least one");
}

std::vector<TokenSequence> chosen(const std::vector<TokenSequence>& sequences,
                                  const ItemIndices& items) {
  std::vector<TokenSequence> some;
  for (const std::int64_t i : items) some.push_back(sequences[i]);
  return some;
}

}  // namespace

PaddedSequences pad_sequences(const std::vector<TokenSequence>& sequences, std::int64_t pad) {
  std::size_t longest = 0;
  for (const TokenSequence& sequence : sequences) longest = std::max(longest, sequence.size());
  const Shape shape{std::ssize(sequences), static_cast<std::int64_t>(longest)};
  PaddedSequences padded{empty(shape, i64), empty(shape, boolean)};
  auto* token = padded.tokens.mutable_data<std::int64_t>();
  auto* mask = padded.mask.mutable_data<bool>();
  for (const TokenSequence& sequence : sequences) {
    std::fill(std::copy(sequence.begin(), sequence.end(), token), token + longest, pad);
    std::fill(std::fill_n(mask, sequence.size(), true), mask + longest, false);
    token += longest;
    mask += longest;
  }
  return padded;
}

PairBatch pad_pairs(const std::vector<TokenSequence>& sources,
                    const std::vector<TokenSequence>& targets, const PairTokens& tokens) {
  check_pairs(sources, targets, tokens);
  std::vector<TokenSequence> in, out = targets;
  for (TokenSequence& target : out) {
    in.push_back({tokens.bos});
    in.back().insert(in.back().end(), target.begin(), target.end());
    target.push_back(tokens.eos);
  }
  const PaddedSequences source = pad_sequences(sources, tokens.pad),
                        before = pad_sequences(in, tokens.pad),
                        after = pad_sequences(out, tokens.pad);
  return {source.tokens, source.mask, before.tokens, after.tokens, after.mask};
}

Loader<PairBatch> pair_loader(std::vector<TokenSequence> sources,
                              std::vector<TokenSequence> targets, const PairTokens& tokens,
                              const LoaderOptions& options, Generator& rng) {
  check_pairs(sources, targets, tokens);
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < sources.size(); ++i)
    lengths.push_back(std::ssize(sources[i]) + std::ssize(targets[i]));
  BatchPlan plan(std::ssize(sources), options, rng, std::move(lengths));
  using Both = std::pair<std::vector<TokenSequence>, std::vector<TokenSequence>>;
  const auto all = std::make_shared<const Both>(std::move(sources), std::move(targets));
  return {std::move(plan), [all, tokens](const ItemIndices& items, Generator&) {
            return pad_pairs(chosen(all->first, items), chosen(all->second, items), tokens);
          }};
}

Loader<WindowBatch> window_loader(TokenSequence tokens, std::int64_t length, std::int64_t stride,
                                  const LoaderOptions& options, Generator& rng) {
  LADON_CHECK(length >= 1, "window_loader", "length must be at least 1, got ", length);
  LADON_CHECK(stride >= 1, "window_loader", "stride must be at least 1, got ", stride);
  LADON_CHECK(length < std::ssize(tokens), "window_loader", "a window of ", length,
              " tokens and the token after it do not fit in a text of ", tokens.size(),
              " tokens; lower length");
  BatchPlan plan((std::ssize(tokens) - 1 - length) / stride + 1, options, rng);
  const auto text = std::make_shared<const TokenSequence>(std::move(tokens));
  return {std::move(plan), [text, length, stride](const ItemIndices& items, Generator&) {
            const Shape shape{std::ssize(items), length};
            WindowBatch batch{empty(shape, i64), empty(shape, i64)};
            auto* input = batch.inputs.mutable_data<std::int64_t>();
            auto* target = batch.targets.mutable_data<std::int64_t>();
            for (const std::int64_t i : items) {
              const auto start = text->begin() + i * stride;
              input = std::copy(start, start + length, input);
              target = std::copy(start + 1, start + length + 1, target);
            }
            return batch;
          }};
}

}  // namespace ladon
