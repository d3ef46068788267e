#include "ladon/core/extra/text/byte_pair.h"

#include <algorithm>
#include <queue>

#include "ladon/core/error.h"
#include "ladon/core/extra/text/unicode.h"
#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

// Finds the ends of GPT-2's words. Each function `…_end` returns the end of a word, or of a run of
// characters of one class, that begins at `at`.
class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  std::size_t word_end(std::size_t at) const {
    if (const std::size_t end = contraction_end(at); end > at) return end;
    const std::size_t start = text_[at] == ' ' && at + 1 < text_.size() ? at + 1 : at;
    const CharacterClass kind = class_at(start);
    return kind == CharacterClass::space ? space_end(at) : run_end(start, kind);
  }

 private:
  CharacterClass class_at(std::size_t at) const { return class_of(character_at(text_, at).code); }
  std::size_t next(std::size_t at) const {
    return at + static_cast<std::size_t>(character_at(text_, at).length);
  }

  std::size_t contraction_end(std::size_t at) const {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text_.substr(at, ending.size()) == ending) return at + ending.size();
    return at;
  }

  std::size_t run_end(std::size_t at, CharacterClass kind) const {
    while (at < text_.size() && class_at(at) == kind) at = next(at);
    return at;
  }

  // The last character of white space before a word is left for the word, unless it is the only
  // character of white space.
  std::size_t space_end(std::size_t at) const {
    std::size_t last = at, end = next(at);
    while (end < text_.size() && class_at(end) == CharacterClass::space) {
      last = end;
      end = next(end);
    }
    return end == text_.size() || last == at ? end : last;
  }

  std::string_view text_;
};

std::uint64_t key(std::int64_t left, std::int64_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right);
}

}  // namespace

std::vector<std::string_view> byte_pair_words(std::string_view text) {
  const Cutter cutter(text);
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = cutter.word_end(at);
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

BytePairTokenizer::BytePairTokenizer(std::vector<std::string> tokens, std::vector<Merge> merges,
                                     const std::string& where)
    : tokens_(std::move(tokens)), merges_(std::move(merges)) {
  LADON_CHECK(size() < std::int64_t{1} << 31, "byte_pair", where, size(),
              " tokens are more than 2^31 − 1, the largest possible number");
  for (std::int64_t i = 0; i < size(); ++i) {
    const std::string& token = tokens_[i];
    LADON_CHECK(!token.empty(), "byte_pair", where, "token ", i,
                " is empty; every token must stand for at least one byte");
    const auto [entry, fresh] = index_.emplace(token, i);
    LADON_CHECK(fresh, "byte_pair", where, "tokens ", entry->second, " and ", i,
                " stand for the same bytes; tokens must be distinct");
  }
  for (int byte = 0; byte < 256; ++byte)
    LADON_CHECK(index_.contains(std::string(1, static_cast<char>(byte))), "byte_pair", where,
                "no token stands for the byte ", byte, "; all 256 are needed");
  add_merges(where);
}

void BytePairTokenizer::add_merges(const std::string& where) {
  std::vector<bool> ordinary(tokens_.size(), false);
  for (std::size_t i = 0; i < tokens_.size(); ++i) ordinary[i] = tokens_[i].size() == 1;
  for (std::size_t rank = 0; rank < merges_.size(); ++rank) {
    const auto [left, right] = merges_[rank];
    for (const std::int64_t part : {left, right})
      LADON_CHECK(part >= 0 && part < size() && ordinary[part], "byte_pair", where, "merge ", rank,
                  " is of token ", part, ", which is neither a byte nor made by an earlier merge");
    const auto whole = index_.find(tokens_[left] + tokens_[right]);
    LADON_CHECK(whole != index_.end(), "byte_pair", where, "merge ", rank, ", of tokens ", left,
                " and ", right, ", makes no token: their joined bytes must be a token too");
    const auto [entry, fresh] =
        made_.emplace(key(left, right), Made{static_cast<std::int64_t>(rank), whole->second});
    LADON_CHECK(fresh, "byte_pair", where, "merges ", entry->second.rank, " and ", rank,
                " must differ, but are both of tokens ", left, " and ", right);
    ordinary[whole->second] = true;
  }
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (ordinary[i]) continue;
    LADON_CHECK(is_utf8(tokens_[i]), "byte_pair", where, "the special token ", i,
                " is not UTF-8, as it must be");
    special_.push_back(static_cast<std::int64_t>(i));
  }
  special_by_bytes_ = special_;
  std::sort(special_by_bytes_.begin(), special_by_bytes_.end(),
            [&](std::int64_t a, std::int64_t b) { return tokens_[a] < tokens_[b]; });
}

// The longest special token that the text begins with; −1 if there is none.
std::int64_t BytePairTokenizer::special_at(std::string_view text) const {
  const auto token = [&](std::int64_t i) -> const std::string& { return tokens_[i]; };
  std::int64_t longest = -1;
  // [first, last) are the special tokens that begin with the first `length` bytes of the text. If a
  // token equals these bytes, it is `first`.
  auto first = special_by_bytes_.begin(), last = special_by_bytes_.end();
  for (std::size_t length = 0; first != last; ++length) {
    if (token(*first).size() == length) longest = *first++;
    if (length == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[length]);
    const auto at = [&](std::int64_t i) { return static_cast<unsigned char>(token(i)[length]); };
    first = std::partition_point(first, last, [&](std::int64_t i) { return at(i) < byte; });
    last = std::partition_point(first, last, [&](std::int64_t i) { return at(i) == byte; });
  }
  return longest;
}

std::int64_t BytePairTokenizer::at(std::string_view bytes) const {
  const auto entry = index_.find(bytes);
  LADON_CHECK(entry != index_.end(), "byte_pair", "'", bytes, "' is not one of the ", size(),
              " tokens; encode() cuts it into several");
  return entry->second;
}

auto BytePairTokenizer::find(std::int64_t left, std::int64_t right) const -> const Made* {
  const auto entry = made_.find(key(left, right));
  return entry == made_.end() ? nullptr : &entry->second;
}

// A word's tokens as a linked list, and the pairs that can be merged, ordered by merge (the
// earliest first) and then from the left.
struct BytePairTokenizer::Scratch {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Link {
    std::int64_t token;  // −1 if it was merged into the token before it
    std::size_t previous, next;
  };
  // Rank of a merge, and position of the left token of the pair.
  using Pair = std::pair<std::int64_t, std::size_t>;

  std::vector<Link> links;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> pairs;
  std::vector<std::size_t> changed;
};

void BytePairTokenizer::encode_word(std::string_view word, Scratch& s,
                                    std::vector<std::int64_t>& out) const {
  constexpr std::size_t none = Scratch::none;
  const std::size_t n = word.size();
  s.links.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    s.links[i] = {index_.find(word.substr(i, 1))->second, i == 0 ? none : i - 1,
                  i + 1 == n ? none : i + 1};
  const auto merge_at = [&](std::size_t i) -> const Made* {
    const std::size_t next = i == none ? none : s.links[i].next;
    return next == none ? nullptr : find(s.links[i].token, s.links[next].token);
  };
  const auto note = [&](std::size_t i) {
    if (const Made* made = merge_at(i)) s.pairs.emplace(made->rank, i);
  };
  for (std::size_t i = 0; i < n; ++i) note(i);
  while (!s.pairs.empty()) {
    // Applies all occurrences of one merge before considering new pairs (GPT-2's order).
    s.changed.clear();
    for (const std::int64_t rank = s.pairs.top().first;
         !s.pairs.empty() && s.pairs.top().first == rank; s.pairs.pop()) {
      const std::size_t i = s.pairs.top().second;
      const Made* made = s.links[i].token < 0 ? nullptr : merge_at(i);
      if (!made || made->rank != rank) continue;  // one of the two tokens has been merged
      const std::size_t gone = s.links[i].next, after = s.links[gone].next;
      s.links[i] = {made->token, s.links[i].previous, after};
      s.links[gone].token = -1;
      if (after != none) s.links[after].previous = i;
      s.changed.push_back(i);
    }
    for (const std::size_t i : s.changed) {
      note(s.links[i].previous);
      note(i);
    }
  }
  for (std::size_t i = 0; i != none; i = s.links[i].next) out.push_back(s.links[i].token);
}

void BytePairTokenizer::encode_words(std::string_view text, std::vector<std::int64_t>& out) const {
  Scratch scratch;
  // Range of positions in `out` of the tokens of each word that occurred before.
  std::unordered_map<std::string_view, std::pair<std::size_t, std::size_t>> known;
  for (const std::string_view word : byte_pair_words(text)) {
    const std::size_t start = out.size();
    if (const auto entry = known.find(word); entry != known.end()) {
      for (std::size_t i = entry->second.first; i < entry->second.second; ++i)
        out.push_back(out[i]);
    } else {
      encode_word(word, scratch, out);
      known.emplace(word, std::pair(start, out.size()));
    }
  }
}

std::vector<std::int64_t> BytePairTokenizer::encode(std::string_view text,
                                                    SpecialTokens special) const {
  std::vector<std::int64_t> out;
  if (special == SpecialTokens::as_text) {
    encode_words(text, out);
    return out;
  }
  std::size_t start = 0;  // start of the text that is not encoded yet
  for (std::size_t at = 0; at < text.size();) {
    const std::int64_t longest = special_at(text.substr(at));
    if (longest < 0) {
      ++at;
      continue;
    }
    encode_words(text.substr(start, at - start), out);
    out.push_back(longest);
    start = at += tokens_[longest].size();
  }
  encode_words(text.substr(start), out);
  return out;
}

std::string BytePairTokenizer::decode(const std::vector<std::int64_t>& tokens) const {
  std::string bytes;
  for (const std::int64_t token : tokens) {
    LADON_CHECK(token >= 0 && token < size(), "byte_pair", "token ", token, " is outside [0, ",
                size(), ")");
    bytes += tokens_[token];
  }
  return bytes;
}

}  // namespace ladon
