#include <array>
#include <cstring>

#include "ladon/core/extra/text/text.h"

namespace ladon {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_space(char c) { return c == '\0' || std::strchr(" \t\r\n\v\f", c) != nullptr; }
char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The endings of contractions after the apostrophe.
constexpr std::array<std::string_view, 6> endings = {"s", "m", "d", "re", "ve", "ll"};

// Length of the contraction that starts with the apostrophe at `at` and ends a word, or 0.
std::size_t contraction_length(std::string_view text, std::size_t at) {
  for (std::string_view ending : endings) {
    const std::size_t end = at + 1 + ending.size();
    if (text.substr(at + 1, ending.size()) == ending && (end >= text.size() || !is_word(text[end])))
      return 1 + ending.size();
  }
  return 0;
}

// Whether the character at `at`, which is not part of a word, joins the words before and after it.
bool joins(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return false;
  const char before = text[at - 1], here = text[at], after = text[at + 1];
  if (here == '.' || here == ',') return is_digit(before) && is_digit(after);
  if (here == '\'') return is_word(after) && contraction_length(text, at) == 0;
  return here == '-' && is_word(after);
}

std::size_t word_length(std::string_view text, std::size_t start) {
  std::size_t end = start + 1;
  while (end < text.size() && (is_word(text[end]) || joins(text, end))) ++end;
  return end - start;
}

}  // namespace

std::vector<std::string> tokenize(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < lower.size();) {
    const char c = lower[i];
    if (is_space(c)) {
      ++i;
      continue;
    }
    std::size_t length = 1;
    if (is_word(c)) {
      length = word_length(lower, i);
      // "don't" becomes "do" and "n't"; a word "n't", which is split off already, stays.
      if (length > 3 && lower.compare(i + length - 3, 3, "n't") == 0) {
        tokens.push_back(lower.substr(i, length - 3));
        i += length - 3;
        length = 3;
      }
    } else if (c == '\'' && contraction_length(lower, i) > 0) {
      length = contraction_length(lower, i);
    } else if (std::strchr(".'`-", c) != nullptr) {
      while (i + length < lower.size() && lower[i + length] == c) ++length;
    }
    tokens.push_back(lower.substr(i, length));
    i += length;
  }
  return tokens;
}

}  // namespace ladon
