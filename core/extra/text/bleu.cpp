#include "ladon/core/extra/text/bleu.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ladon/core/error.h"
#include "ladon/core/extra/text/unicode.h"
#include "ladon/core/io/utf8.h"

namespace ladon::metrics {
namespace {

constexpr std::size_t longest = 4;  // length of the longest n-grams

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_point(char c) { return c == '.' || c == ','; }
// Whether c is a blank, or an ASCII punctuation character or symbol other than ' , - and .
bool is_symbol(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Replaces all matching pairs of characters, as a regular expression would: if here(a, b), the pair
// becomes spaced(a, b), and the next match begins after both.
template <class Here, class Spaced>
std::string replace_pairs(std::string_view text, Here here, Spaced spaced) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && here(text[i], text[i + 1])) {
      out += spaced(std::string(1, text[i]), std::string(1, text[i + 1]));
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::string> split_at_space(std::string_view text) {
  std::vector<std::string> tokens;
  bool inside = false;
  for (std::size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    const bool space = class_of(character.code) == CharacterClass::space;
    if (!space) {
      if (!inside) tokens.emplace_back();
      tokens.back() += text.substr(i, static_cast<std::size_t>(character.length));
    }
    inside = !space;
    i += static_cast<std::size_t>(character.length);
  }
  return tokens;
}

using Counts = std::map<std::vector<std::string>, std::int64_t>;

Counts count_ngrams(const std::vector<std::string>& tokens, std::size_t n) {
  Counts counts;
  for (std::size_t i = 0; i + n <= tokens.size(); ++i) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    ++counts[{first, first + static_cast<std::ptrdiff_t>(n)}];
  }
  return counts;
}

// For one hypothesis: the number of its n-grams, and the number of those that occur in a reference;
// an n-gram counts at most as often as in the reference that has it most often.
std::pair<std::int64_t, std::int64_t> matches(
    const std::vector<std::string>& hypothesis,
    const std::vector<std::vector<std::string>>& references, std::size_t n) {
  Counts most;
  for (const auto& reference : references)
    for (const auto& [ngram, count] : count_ngrams(reference, n))
      most[ngram] = std::max(most[ngram], count);
  std::int64_t total = 0, found = 0;
  for (const auto& [ngram, count] : count_ngrams(hypothesis, n)) {
    total += count;
    if (const auto entry = most.find(ngram); entry != most.end())
      found += std::min(count, entry->second);
  }
  return {total, found};
}

std::int64_t nearest_length(std::int64_t length,
                            const std::vector<std::vector<std::string>>& references) {
  std::pair<std::int64_t, std::int64_t> best{INT64_MAX, 0};  // distance, length
  for (const auto& reference : references)
    best = std::min(best, {std::abs(std::ssize(reference) - length), std::ssize(reference)});
  return best.second;
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view text) {
  std::string line(text);
  replace_all(line, "<skipped>", "");
  replace_all(line, "-\n", "");
  replace_all(line, "\n", " ");
  for (const auto& [name, character] :
       {std::pair("&quot;", "\""), {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    replace_all(line, name, character);
  std::string spaced = " ";
  for (const char c : line) spaced += is_symbol(c) ? std::string{' ', c, ' '} : std::string(1, c);
  spaced += " ";
  spaced = replace_pairs(
      spaced, [](char a, char b) { return !is_digit(a) && is_point(b); },
      [](const std::string& a, const std::string& b) { return a + " " + b + " "; });
  spaced = replace_pairs(
      spaced, [](char a, char b) { return is_point(a) && !is_digit(b); },
      [](const std::string& a, const std::string& b) { return " " + a + " " + b; });
  spaced = replace_pairs(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; },
      [](const std::string& a, const std::string& b) { return a + " " + b + " "; });
  return split_at_space(spaced);
}

Bleu bleu(const std::vector<std::string>& hypotheses,
          const std::vector<std::vector<std::string>>& references) {
  LADON_CHECK(!hypotheses.empty() && hypotheses.size() == references.size(), "bleu",
              hypotheses.size(), " hypotheses and ", references.size(),
              " lists of references; needs at least one hypothesis, and one list per hypothesis");
  std::array<std::int64_t, longest> total{}, found{};
  std::int64_t c = 0, r = 0;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    LADON_CHECK(!references[i].empty(), "bleu", "hypothesis ", i,
                " has no reference; every hypothesis needs at least one");
    const std::vector<std::string> hypothesis = tokenize_13a(hypotheses[i]);
    std::vector<std::vector<std::string>> own;
    for (const std::string& reference : references[i]) own.push_back(tokenize_13a(reference));
    c += std::ssize(hypothesis);
    r += nearest_length(std::ssize(hypothesis), own);
    for (std::size_t n = 1; n <= longest; ++n) {
      const auto [all, right] = matches(hypothesis, own, n);
      total[n - 1] += all;
      found[n - 1] += right;
    }
  }
  Bleu result{0, {}, 1, c, r};
  if (c < r) result.brevity_penalty = std::exp(1 - static_cast<double>(r) / static_cast<double>(c));
  double logarithms = 0;
  for (std::size_t n = 0; n < longest; ++n) {
    if (total[n] > 0)
      result.precisions[n] = static_cast<double>(found[n]) / static_cast<double>(total[n]);
    logarithms += std::log(result.precisions[n]);
  }
  result.score = 100 * result.brevity_penalty * std::exp(logarithms / longest);
  return result;
}

Bleu bleu(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references) {
  std::vector<std::vector<std::string>> lists;
  for (const std::string& reference : references) lists.push_back({reference});
  return bleu(hypotheses, lists);
}

}  // namespace ladon::metrics
