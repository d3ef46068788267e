#pragma once
// Vocabulary of a model: words as indices.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ladon/core/extra/text/text_map.h"

namespace ladon {

struct VocabularyOptions {
  std::int64_t min_count = 1;  ///< rarer words are left out
  std::int64_t max_size = 0;   ///< maximum number of entries, reserved ones included; 0: no limit
  bool ends = false;  ///< includes Vocabulary::bos and Vocabulary::eos, for models that write texts
};

/// Indices of words. Index 0 is "<pad>", index 1 "<unk>" (every word that is not in the
/// vocabulary). For models that write texts, two more words mark the beginning (bos) and the end
/// (eos) of a text; they occur in no text.
class Vocabulary {
 public:
  static constexpr std::int64_t pad = 0, unknown = 1;
  static constexpr const char *bos = "<bos>", *eos = "<eos>";

  /// Vocabulary of the reserved entries and these words, in this order. Throws Error for a word
  /// that is empty, contains white space, or occurs twice.
  explicit Vocabulary(const std::vector<std::string>& words = {});
  /// Vocabulary of the tokens (see tokenize) of the texts, the most frequent first, and equally
  /// frequent tokens in the order of their bytes. Throws Error if min_count is below 1, or if
  /// max_size is not 0 but is below the number of reserved entries (2, or 4 with `ends`).
  static Vocabulary from_texts(const std::vector<std::string>& texts,
                               const VocabularyOptions& options = {});

  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  /// All words, including the reserved entries; words()[i] has index i.
  const std::vector<std::string>& words() const& { return words_; }
  std::vector<std::string> words() && { return std::move(words_); }
  bool contains(std::string_view word) const;
  /// The index of a word; throws Error naming it if it is outside the vocabulary.
  std::int64_t at(std::string_view word) const;
  /// The index of a word, `unknown` if it is outside the vocabulary.
  std::int64_t find(std::string_view word) const;
  /// The tokens of a text (see tokenize) as indices, each found by find().
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// The words of the indices up to the first "<eos>", without "<pad>" and "<bos>", with a blank
  /// between words. Throws Error for an index outside [0, size()).
  std::string decode(const std::vector<std::int64_t>& indices) const;

  /// Writes a file of one word per line; line i + 1 has the word of index i. `load` reads it, and
  /// throws Error naming path:line if the file does not begin with the reserved entries, or for a
  /// word that the constructor rejects.
  void save(const std::string& path) const;
  static Vocabulary load(const std::string& path);

 private:
  // Adds a word. Returns an empty string, or what is wrong with the word.
  std::string add(const std::string& word);

  std::vector<std::string> words_;
  detail::TextMap<std::int64_t> index_;
};

}  // namespace ladon
