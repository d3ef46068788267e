#pragma once
// Vocabulary of characters, for models that write texts character by character.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ladon {

/// Indices of characters, which are Unicode code points; no index is reserved. All texts must be
/// UTF-8, as read_text returns it; for other texts, functions throw Error naming the first bad
/// byte.
class CharacterVocabulary {
 public:
  /// Vocabulary of the characters of a text, each once, in the order of their code points.
  explicit CharacterVocabulary(std::string_view text);

  std::int64_t size() const { return static_cast<std::int64_t>(codes_.size()); }
  /// Code points, ascending; codes()[i] has index i.
  const std::vector<std::int32_t>& codes() const& { return codes_; }
  std::vector<std::int32_t> codes() && { return std::move(codes_); }
  /// The characters of a text as indices. Throws Error naming a character that is not in the
  /// vocabulary.
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// The text of these indices; throws Error for an index outside [0, size()).
  std::string decode(const std::vector<std::int64_t>& indices) const;

  /// Writes the characters to a text file, in the order of their indices. `load` makes a vocabulary
  /// of the characters of any text file.
  void save(const std::string& path) const;
  static CharacterVocabulary load(const std::string& path);

 private:
  std::vector<std::int32_t> codes_;
  std::unordered_map<std::int32_t, std::int64_t> index_;
};

}  // namespace ladon
