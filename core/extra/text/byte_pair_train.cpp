// Learning the merges of a BytePairTokenizer. All pairs of adjacent tokens are counted once; after
// that, counts are updated only for the words that a merge changes.

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "ladon/core/error.h"
#include "ladon/core/extra/text/byte_alphabet.h"
#include "ladon/core/extra/text/byte_pair.h"

namespace ladon {
namespace {

using Pair = BytePairTokenizer::Merge;

struct Word {
  std::vector<std::int64_t> tokens;
  std::int64_t count;
};

// The 256 bytes in the order in which GPT-2 numbers them: the order of the characters that stand
// for them in files.
std::vector<std::string> byte_tokens() {
  std::vector<int> bytes(256);
  std::iota(bytes.begin(), bytes.end(), 0);
  std::sort(bytes.begin(), bytes.end(),
            [](int a, int b) { return letter_of_byte(a) < letter_of_byte(b); });
  std::vector<std::string> tokens;
  for (const int byte : bytes) tokens.emplace_back(1, static_cast<char>(byte));
  return tokens;
}

class PairCounts {
 public:
  explicit PairCounts(std::vector<Word> words) : words_(std::move(words)) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::vector<std::int64_t>& tokens = words_[i].tokens;
      for (std::size_t k = 1; k < tokens.size(); ++k)
        add({tokens[k - 1], tokens[k]}, i, words_[i].count);
    }
    for (const auto& [pair, places] : pairs_) queue_.push({places.count, pair});
  }

  /// The largest count of a pair and this pair; on a tie, the smallest pair. The count is 0 if
  /// there is no pair.
  std::pair<std::int64_t, Pair> best() {
    while (!queue_.empty()) {
      const Entry top = queue_.top();
      if (const auto entry = pairs_.find(top.pair);
          entry != pairs_.end() && entry->second.count == top.count)
        return {top.count, top.pair};
      queue_.pop();  // outdated: the pair has another count now
    }
    return {0, {}};
  }

  void merge(const Pair& pair, std::int64_t whole) {
    const std::vector<std::size_t> words = std::move(pairs_.at(pair).words);
    changed_.clear();
    for (const std::size_t word : words) merge_in(word, pair, whole);
    pairs_.erase(pair);
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (const Pair& other : changed_)
      if (const auto entry = pairs_.find(other); entry != pairs_.end())
        queue_.push({entry->second.count, other});
  }

 private:
  struct Places {
    std::int64_t count = 0;
    std::vector<std::size_t> words;  // words with the pair, now or earlier; may have duplicates
  };
  struct Entry {
    std::int64_t count;
    Pair pair;
    bool operator<(const Entry& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  void add(const Pair& pair, std::size_t word, std::int64_t count) {
    Places& places = pairs_[pair];
    places.count += count;
    if (places.words.empty() || places.words.back() != word) places.words.push_back(word);
  }

  void merge_in(std::size_t word, const Pair& pair, std::int64_t whole) {
    std::vector<std::int64_t>& tokens = words_[word].tokens;
    std::vector<std::int64_t> merged;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      const bool here = k + 1 < tokens.size() && Pair(tokens[k], tokens[k + 1]) == pair;
      merged.push_back(here ? whole : tokens[k]);
      k += here;
    }
    if (merged.size() == tokens.size()) return;  // the word no longer contains the pair
    for (std::size_t k = 1; k < tokens.size(); ++k) {
      const Pair before(tokens[k - 1], tokens[k]);
      pairs_.at(before).count -= words_[word].count;
      changed_.push_back(before);
    }
    for (std::size_t k = 1; k < merged.size(); ++k) {
      const Pair after(merged[k - 1], merged[k]);
      add(after, word, words_[word].count);
      changed_.push_back(after);
    }
    tokens = std::move(merged);
  }

  std::vector<Word> words_;
  std::map<Pair, Places> pairs_;
  std::priority_queue<Entry> queue_;
  std::vector<Pair> changed_;
};

}  // namespace

BytePairTokenizer BytePairTokenizer::train(const std::vector<std::string>& texts,
                                           const BytePairOptions& options) {
  const auto special = static_cast<std::int64_t>(options.special.size());
  LADON_CHECK(options.size >= 256 + special, "byte_pair", "a size of ", options.size,
              " leaves no room for the 256 bytes and ", special, " special tokens; increase it");
  LADON_CHECK(options.min_count >= 1, "byte_pair", "min_count must be at least 1, got ",
              options.min_count);
  std::vector<std::string> tokens = byte_tokens();
  detail::TextMap<std::int64_t> index;
  for (const std::string& token : tokens)
    index.emplace(token, static_cast<std::int64_t>(index.size()));

  std::map<std::string_view, std::int64_t> counts;
  for (const std::string& text : texts)
    for (const std::string_view word : byte_pair_words(text)) ++counts[word];
  std::vector<Word> words;
  for (const auto& [word, count] : counts) {
    words.push_back({{}, count});
    for (std::size_t i = 0; i < word.size(); ++i)
      words.back().tokens.push_back(index.find(word.substr(i, 1))->second);
  }

  PairCounts pairs(std::move(words));
  std::vector<Merge> merges;
  std::set<Merge> known;
  while (std::ssize(tokens) < options.size - special) {
    const auto [count, pair] = pairs.best();
    if (count < options.min_count) break;
    // Two merges may make the same token, which can then form a pair that was merged before.
    const std::string whole = tokens[pair.first] + tokens[pair.second];
    const auto [entry, fresh] = index.emplace(whole, std::ssize(tokens));
    if (fresh) tokens.push_back(whole);
    if (known.insert(pair).second) merges.push_back(pair);
    pairs.merge(pair, entry->second);
  }
  tokens.insert(tokens.end(), options.special.begin(), options.special.end());
  return {std::move(tokens), std::move(merges)};
}

}  // namespace ladon
