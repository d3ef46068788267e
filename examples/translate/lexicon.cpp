#include "ladon/examples/translate/lexicon.h"

#include <cstdint>
#include <vector>

#include "ladon/core/text/bleu.h"
#include "ladon/core/text/text_map.h"

namespace ladon::example {
namespace {

using Indices = std::vector<std::int64_t>;

/// Numbers words as they come.
struct Numbering {
  std::unordered_map<std::string, std::int64_t> number;
  std::vector<std::string> words;

  Indices of(const std::string& text) {
    Indices all;
    for (const std::string& word : metrics::tokenize_13a(text)) {
      const auto [entry, fresh] = number.emplace(word, std::ssize(words));
      if (fresh) words.push_back(word);
      all.push_back(entry->second);
    }
    return all;
  }
};

constexpr int rounds = 5;

}  // namespace

Lexicon::Lexicon(const ParallelText& pairs) {
  Numbering sources, targets;
  sources.words.emplace_back();  // number 0: none of them
  std::vector<Indices> from, to;
  // t of each pair of words that stand in one pair of sentences; 1 at first, as any equal numbers
  std::vector<std::unordered_map<std::int64_t, double>> t;
  for (std::size_t i = 0; i < pairs.sources.size(); ++i) {
    from.push_back(sources.of(pairs.sources[i]));
    from.back().push_back(0);
    to.push_back(targets.of(pairs.targets[i]));
    t.resize(sources.words.size());
    for (const std::int64_t s : from.back())
      for (const std::int64_t w : to.back()) t[static_cast<std::size_t>(s)][w] = 1;
  }
  for (int round = 0; round < rounds; ++round) {
    auto counts = t;
    for (auto& row : counts)
      for (auto& [w, count] : row) count = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
      for (const std::int64_t w : to[i]) {
        double sum = 0;
        for (const std::int64_t s : from[i]) sum += t[static_cast<std::size_t>(s)][w];
        for (const std::int64_t s : from[i])
          counts[static_cast<std::size_t>(s)][w] += t[static_cast<std::size_t>(s)][w] / sum;
      }
    for (auto& row : counts) {
      double sum = 0;
      for (const auto& [w, count] : row) sum += count;
      for (auto& [w, count] : row) count /= sum;
    }
    t = std::move(counts);
  }
  for (std::size_t s = 1; s < t.size(); ++s) {
    const std::pair<const std::int64_t, double>* best = nullptr;
    for (const auto& entry : t[s])
      if (!best || entry.second > best->second ||
          (entry.second == best->second && entry.first < best->first))
        best = &entry;
    if (best) words_[sources.words[s]] = targets.words[static_cast<std::size_t>(best->first)];
  }
}

std::string Lexicon::translate(const std::string& source) const {
  std::string text;
  for (const std::string& word : metrics::tokenize_13a(source)) {
    const auto found = words_.find(word);
    text += (text.empty() ? "" : " ") + (found == words_.end() ? word : found->second);
  }
  return text;
}

}  // namespace ladon::example
