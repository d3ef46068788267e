#include "ladon/core/extra/text/characters.h"

#include <set>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

// Calls use(code, at) for every character.
template <class F>
void for_each_character(std::string_view text, F use) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    LADON_CHECK(character.code >= 0, "characters", "the text is not UTF-8 at byte ", at,
                ", which is ", int{static_cast<unsigned char>(text[at])});
    use(character.code, at);
    at += static_cast<std::size_t>(character.length);
  }
}

std::string as_text(std::int32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

}  // namespace

CharacterVocabulary::CharacterVocabulary(std::string_view text) {
  std::set<std::int32_t> codes;
  for_each_character(text, [&](std::int32_t code, std::size_t) { codes.insert(code); });
  for (const std::int32_t code : codes) {
    index_.emplace(code, size());
    codes_.push_back(code);
  }
}

std::vector<std::int64_t> CharacterVocabulary::encode(std::string_view text) const {
  std::vector<std::int64_t> indices;
  for_each_character(text, [&](std::int32_t code, std::size_t at) {
    const auto entry = index_.find(code);
    LADON_CHECK(entry != index_.end(), "characters", "the character '", as_text(code), "' at byte ",
                at, " is not among the ", size(), " characters of the vocabulary");
    indices.push_back(entry->second);
  });
  return indices;
}

std::string CharacterVocabulary::decode(const std::vector<std::int64_t>& indices) const {
  std::string text;
  for (const std::int64_t index : indices) {
    LADON_CHECK(index >= 0 && index < size(), "characters", "index ", index, " is outside [0, ",
                size(), ")");
    append_utf8(text, codes_[index]);
  }
  return text;
}

void CharacterVocabulary::save(const std::string& path) const {
  std::string text;
  for (const std::int32_t code : codes_) append_utf8(text, code);
  write_atomically(path, text);
}

CharacterVocabulary CharacterVocabulary::load(const std::string& path) {
  return CharacterVocabulary(read_file(path));
}

}  // namespace ladon
