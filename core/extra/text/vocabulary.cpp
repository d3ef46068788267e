#include "ladon/core/extra/text/vocabulary.h"

#include <algorithm>
#include <map>

#include "ladon/core/error.h"
#include "ladon/core/extra/text/text.h"
#include "ladon/core/io/file.h"

namespace ladon {
namespace {
constexpr const char* reserved[] = {"<pad>", "<unk>"};
}

Vocabulary::Vocabulary(const std::vector<std::string>& words) {
  for (const char* word : reserved) add(word);
  for (const std::string& word : words) {
    const std::string problem = add(word);
    LADON_CHECK(problem.empty(), "vocabulary", problem);
  }
}

std::string Vocabulary::add(const std::string& word) {
  if (word.empty()) return "a word is empty; every word needs at least one character";
  if (word.find_first_of(" \t\r\n\v\f") != std::string::npos)
    return detail::join("the word '", word, "' contains white space; split it into words");
  const auto [entry, fresh] = index_.emplace(word, size());
  if (!fresh)
    return detail::join("the word '", word, "' occurs twice, with the indices ", entry->second,
                        " and ", size());
  words_.push_back(word);
  return {};
}

Vocabulary Vocabulary::from_texts(const std::vector<std::string>& texts,
                                  const VocabularyOptions& options) {
  LADON_CHECK(options.min_count >= 1, "vocabulary", "min_count must be at least 1, got ",
              options.min_count);
  const std::int64_t least = options.ends ? 4 : 2;
  LADON_CHECK(options.max_size == 0 || options.max_size >= least, "vocabulary",
              "max_size must be 0 (no bound) or at least ", least,
              ", for the reserved entries; got ", options.max_size);
  std::map<std::string, std::int64_t> counts;
  for (const std::string& text : texts) {
    for (std::string& token : tokenize(text)) ++counts[std::move(token)];
  }
  std::vector<std::pair<std::int64_t, std::string>> ranked;
  for (const auto& [word, count] : counts) {
    if (count >= options.min_count) ranked.emplace_back(-count, word);
  }
  std::sort(ranked.begin(), ranked.end());  // most frequent first, then by bytes
  if (options.max_size > 0)
    ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(options.max_size - least)));
  Vocabulary vocabulary;
  if (options.ends)
    for (const char* word : {bos, eos}) vocabulary.add(word);
  for (const auto& [count, word] : ranked) vocabulary.add(word);
  return vocabulary;
}

bool Vocabulary::contains(std::string_view word) const { return index_.find(word) != index_.end(); }

std::int64_t Vocabulary::at(std::string_view word) const {
  const auto entry = index_.find(word);
  LADON_CHECK(entry != index_.end(), "vocabulary", "the word '", word, "' is not among the ",
              size(), " words of the vocabulary; find() returns the index of <unk> for it");
  return entry->second;
}

std::int64_t Vocabulary::find(std::string_view word) const {
  const auto entry = index_.find(word);
  return entry == index_.end() ? unknown : entry->second;
}

std::vector<std::int64_t> Vocabulary::encode(std::string_view text) const {
  std::vector<std::int64_t> indices;
  for (const std::string& token : tokenize(text)) indices.push_back(find(token));
  return indices;
}

std::string Vocabulary::decode(const std::vector<std::int64_t>& indices) const {
  std::string text;
  for (const std::int64_t index : indices) {
    LADON_CHECK(index >= 0 && index < size(), "vocabulary", "index ", index, " is outside [0, ",
                size(), ")");
    const std::string& word = words_[index];
    if (word == eos) break;
    if (index == pad || word == bos) continue;
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

void Vocabulary::save(const std::string& path) const {
  std::string text;
  for (const std::string& word : words_) text += word + "\n";
  write_atomically(path, text);
}

Vocabulary Vocabulary::load(const std::string& path) {
  const std::string text = read_file(path);
  Vocabulary vocabulary;
  std::size_t start = 0;
  for (std::int64_t line = 0; start < text.size() || line < 2; ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string word = text.substr(std::min(start, text.size()), end - start);
    start = end + 1;
    if (line < 2) {
      LADON_CHECK(word == reserved[line], "vocabulary", path, ":", line + 1, ": needs ",
                  reserved[line], ", got '", word.substr(0, 40), "'");
    } else {
      const std::string problem = vocabulary.add(word);
      LADON_CHECK(problem.empty(), "vocabulary", path, ":", line + 1, ": ", problem);
    }
  }
  return vocabulary;
}

}  // namespace ladon
