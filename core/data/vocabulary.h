#pragma once
// The words a model knows, as indices.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ladon {

struct VocabularyOptions {
  std::int64_t min_count = 1;  ///< rarer words are left out
  std::int64_t max_size = 0;  ///< at most this many entries, the two reserved included; 0: no bound
};

/// A numbering of words. Index 0 is "<pad>", index 1 "<unk>" (every word that is not in it).
class Vocabulary {
 public:
  static constexpr std::int64_t pad = 0, unknown = 1;

  /// The reserved entries and these words, in this order. Throws Error for a word that is empty,
  /// holds white space, or stands twice.
  explicit Vocabulary(const std::vector<std::string>& words = {});
  /// The tokens (see tokenize) of the texts, most frequent first, ties in the order of their bytes.
  /// Throws Error if min_count is below 1 or max_size negative or below 2 (other than 0).
  static Vocabulary from_texts(const std::vector<std::string>& texts,
                               const VocabularyOptions& options = {});

  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  /// Reserved entries included; words()[i] has index i.
  const std::vector<std::string>& words() const& { return words_; }
  std::vector<std::string> words() && { return std::move(words_); }
  bool contains(std::string_view word) const;
  /// The index of a word; throws Error naming it if it is outside the vocabulary.
  std::int64_t at(std::string_view word) const;
  /// The index of a word, `unknown` if it is outside the vocabulary.
  std::int64_t find(std::string_view word) const;
  /// The tokens of a text as indices, by `find`.
  std::vector<std::int64_t> encode(std::string_view text) const;

  /// One word a line, line i + 1 holding index i. `load` throws Error naming path:line where a file
  /// does not begin with the reserved entries, or for a word that the constructor rejects.
  void save(const std::string& path) const;
  static Vocabulary load(const std::string& path);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>{}(word);
    }
  };
  // Empty if the word was added, else what is wrong with it.
  std::string add(const std::string& word);

  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> index_;
};

}  // namespace ladon
