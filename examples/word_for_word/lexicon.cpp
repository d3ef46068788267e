#include "ladon/examples/word_for_word/lexicon.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "ladon/core/extra/text/bleu.h"

namespace ladon::example {
namespace {

using Indices = std::vector<std::size_t>;

/// Numbers words in order of appearance.
struct Numbering {
  std::unordered_map<std::string, std::size_t> number;
  std::vector<std::string> words;

  Indices of(const std::string& text) {
    Indices all;
    for (const std::string& word : metrics::tokenize_13a(text)) {
      const auto [entry, fresh] = number.emplace(word, words.size());
      if (fresh) words.push_back(word);
      all.push_back(entry->second);
    }
    return all;
  }
};

/// Probability t(w | s) that source word s becomes target word w, as t[s][w], for words that occur
/// in a common pair of sentences.
using Table = std::vector<std::unordered_map<std::size_t, double>>;

/// A round of EM: expected counts of s translated to w, then their shares.
Table improved(Table t, const std::vector<Indices>& from, const std::vector<Indices>& to) {
  Table counts = t;
  for (auto& row : counts)
    for (auto& [w, count] : row) count = 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    for (const std::size_t w : to[i]) {
      double sum = 0;
      for (const std::size_t s : from[i]) sum += t[s][w];
      for (const std::size_t s : from[i]) counts[s][w] += t[s][w] / sum;
    }
  for (auto& row : counts) {
    double sum = 0;
    for (const auto& [w, count] : row) sum += count;
    for (auto& [w, count] : row) count /= sum;
  }
  return counts;
}

/// The most probable target word for every source word; of equally probable words the first that
/// appeared.
std::unordered_map<std::string, std::string> lexicon(const ParallelText& pairs) {
  constexpr int rounds = 5;
  Numbering sources, targets;
  sources.words.emplace_back();  // number 0: the empty word
  std::vector<Indices> from, to;
  Table t;  // initially all 1: EM needs only equal values
  for (std::size_t i = 0; i < pairs.sources.size(); ++i) {
    from.push_back(sources.of(pairs.sources[i]));
    from.back().push_back(0);
    to.push_back(targets.of(pairs.targets[i]));
    t.resize(sources.words.size());
    for (const std::size_t s : from.back())
      for (const std::size_t w : to.back()) t[s][w] = 1;
  }
  for (int round = 0; round < rounds; ++round) t = improved(std::move(t), from, to);
  std::unordered_map<std::string, std::string> best;
  for (std::size_t s = 1; s < t.size(); ++s) {
    const auto becomes = std::ranges::max_element(t[s], {}, [](const auto& entry) {
      return std::pair(entry.second, -static_cast<std::int64_t>(entry.first));
    });
    if (becomes != t[s].end()) best[sources.words[s]] = targets.words[becomes->first];
  }
  return best;
}

}  // namespace

std::vector<std::string> word_for_word(const ParallelText& pairs,
                                       const std::vector<std::string>& sources) {
  const auto best = lexicon(pairs);
  std::vector<std::string> texts;
  for (const std::string& source : sources) {
    texts.emplace_back();
    for (const std::string& word : metrics::tokenize_13a(source)) {
      const auto found = best.find(word);
      texts.back() +=
          (texts.back().empty() ? "" : " ") + (found == best.end() ? word : found->second);
    }
  }
  return texts;
}

}  // namespace ladon::example
