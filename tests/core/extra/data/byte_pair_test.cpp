#include "ladon/core/extra/text/byte_pair.h"

#include <algorithm>
#include <map>

#include "ladon/core/extra/io/gzip.h"
#include "ladon/core/extra/text/byte_alphabet.h"
#include "ladon/core/io/file.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::byte_pair_test {
namespace {

using test::expect_error;
using test::TemporaryFolder;
using Strings = std::vector<std::string>;
using Indices = std::vector<std::int64_t>;

Strings bytes() {
  Strings tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  return tokens;
}

/// The 256 bytes, so that 'a' is token 97, and then `more`.
Strings bytes_and(const Strings& more) {
  Strings tokens = bytes();
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

Strings words_of(const std::string& text) {
  Strings words;
  for (const std::string_view word : byte_pair_words(text)) words.emplace_back(word);
  return words;
}

TEST(BytePair, CutsWordsAsGpt2Does) {
  EXPECT_EQ(words_of(""), Strings());
  EXPECT_EQ(words_of("I've 2 cats!"), (Strings{"I", "'ve", " 2", " cats", "!"}));
  EXPECT_EQ(words_of("abc12_x"), (Strings{"abc", "12", "_", "x"}));
  EXPECT_EQ(words_of("a  b   c"), (Strings{"a", " ", " b", "  ", " c"}));
  EXPECT_EQ(words_of("a\nb\n\n c\t"), (Strings{"a", "\n", "b", "\n\n", " c", "\t"}));
  EXPECT_EQ(words_of("  "), (Strings{"  "}));
  EXPECT_EQ(words_of(" 's 'S 're"), (Strings{" '", "s", " '", "S", " '", "re"}));
  EXPECT_EQ(words_of("''s'll'd"), (Strings{"''", "s", "'ll", "'d"}));
  EXPECT_EQ(words_of("caf\u00e9 \u6771\u4eac \u00bd \u0663"),
            (Strings{"caf\u00e9", " \u6771\u4eac", " \u00bd", " \u0663"}));
  EXPECT_EQ(words_of("x\u00a0\u3000y"), (Strings{"x", "\u00a0", "\u3000", "y"}));
  EXPECT_EQ(words_of("e\u0301"), (Strings{"e", "\u0301"})) << "a mark is no letter";
  EXPECT_EQ(words_of("a\xff\x80 b"), (Strings{"a", "\xff\x80", " b"}));
}

// merges: ab, abc, bc in this order. "abcbc": a b c b c → ab c bc → abc bc. (GPT-2 replaces all
// pairs of the earliest merge first, here ab, then abc, then bc.)
TEST(BytePair, MergesTheEarliestPairFirst) {
  const BytePairTokenizer tokenizer(bytes_and({"ab", "abc", "bc"}),
                                    {{'a', 'b'}, {256, 'c'}, {'b', 'c'}});
  EXPECT_EQ(tokenizer.size(), 259);
  EXPECT_EQ(tokenizer.encode("abcbc"), (Indices{257, 258}));
  EXPECT_EQ(tokenizer.encode("bcab"), (Indices{258, 256}));
  EXPECT_EQ(tokenizer.encode("ab ab"), (Indices{256, ' ', 256}));
  EXPECT_EQ(tokenizer.at("abc"), 257);
  EXPECT_TRUE(tokenizer.special().empty());
  expect_error([&] { tokenizer.at("abcd"); }, "'abcd' is not one of the 259 tokens");
  // Pairs overlap: from the left, and not the rest of one that was merged.
  const BytePairTokenizer twins(bytes_and({"aa", "aaaa"}), {{'a', 'a'}, {256, 256}});
  EXPECT_EQ(twins.encode("aaa"), (Indices{256, 'a'}));
  EXPECT_EQ(twins.encode("aaaaaaa"), (Indices{257, 256, 'a'}));
}

// abc is made twice: of ab and c, and later of a and bc. In "abcabc" with the merge (abc, a)
// between the two, all pairs (a, bc) are replaced before (abc, a) is looked at; to replace one at a
// time would give abca, bc.
TEST(BytePair, ReplacesAllPairsOfAMergeAtOnce) {
  const BytePairTokenizer tokenizer(bytes_and({"bc", "ab", "abc", "abca"}),
                                    {{'b', 'c'}, {'a', 'b'}, {257, 'c'}, {258, 'a'}, {'a', 256}});
  EXPECT_EQ(tokenizer.encode("abcabc"), (Indices{258, 258}));
}

TEST(BytePair, SpecialTokensAreMadeWhenAskedForOnly) {
  const BytePairTokenizer tokenizer(bytes_and({"<s>", "<s>!", "ab"}), {{'a', 'b'}});
  EXPECT_EQ(tokenizer.special(), (Indices{256, 257}));
  EXPECT_EQ(tokenizer.encode("<s>ab"), (Indices{'<', 's', '>', 258}));
  const auto as_tokens = [&](const char* text) {
    return tokenizer.encode(text, SpecialTokens::as_tokens);
  };
  EXPECT_EQ(as_tokens("<s>ab<s><s>!"), (Indices{256, 258, 256, 257}));
  EXPECT_EQ(as_tokens("a<s>b"), (Indices{'a', 256, 'b'}));
  EXPECT_EQ(as_tokens("ab"), (Indices{258}));
  EXPECT_EQ(tokenizer.decode({256, 'x', 257}), "<s>x<s>!");
}

// Of special tokens that begin alike, end alike and stand in one another, the longest that fits.
TEST(BytePair, TheLongestSpecialTokenIsTaken) {
  Generator rng(1);
  const auto word = [&](std::int64_t least) {
    std::string text;
    for (std::int64_t n = least + rng.below(5); n > 0; --n) text += "<>"[rng.below(2)];
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> special;
    for (int i = 0; i < 6; ++i) {
      const std::string candidate = word(2);
      if (std::find(special.begin(), special.end(), candidate) == special.end())
        special.push_back(candidate);
    }
    const BytePairTokenizer tokenizer(bytes_and(special), {});
    const std::string text = word(20);
    Indices expected;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t longest = 0;
      std::int64_t token = static_cast<unsigned char>(text[at]);
      for (std::size_t i = 0; i < special.size(); ++i)
        if (special[i].size() > longest && text.compare(at, special[i].size(), special[i]) == 0) {
          longest = special[i].size();
          token = 256 + static_cast<std::int64_t>(i);
        }
      expected.push_back(token);
      at += std::max<std::size_t>(longest, 1);
    }
    EXPECT_EQ(tokenizer.encode(text, SpecialTokens::as_tokens), expected) << text;
  }
}

TEST(BytePair, AnyBytesComeBack) {
  const std::string text = "It is what it is, isn't it? \xd0\xb4\xd0\xb0.\n\n\tIt is.";
  const BytePairTokenizer tokenizer = BytePairTokenizer::train({text, text}, {.size = 300});
  Generator rng(1);
  for (int i = 0; i < 300; ++i) {
    const std::string bytes = i == 0 ? text : test::mutate(text + text, rng);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes)), bytes);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes, SpecialTokens::as_tokens)), bytes);
  }
  EXPECT_LT(2 * tokenizer.encode(text).size(), text.size());
  expect_error([&] { tokenizer.decode({tokenizer.size()}); }, "is outside [0, ");
  expect_error([&] { tokenizer.decode({-1}); }, "token -1 is outside");
}

// Words with counts: "aab" 3, " aab" 1 (blank, a, a, b), "ab" 2; blanks stand before words. Pairs:
//   (a, a) 4, (a, b) 6, (_, a) 1 → a b, 6 times.
//   aab → a ab: (a, ab) 4, (_, a) 1 → a ab, 4 times: aab.
//   (_, aab) once, below min_count.
TEST(BytePair, LearnsTheMostFrequentPairs) {
  const Strings texts = {"aab aab", "aab", "aab", "ab", "ab"};
  const BytePairTokenizer tokenizer = BytePairTokenizer::train(texts);
  EXPECT_EQ(tokenizer.size(), 259);
  EXPECT_EQ(tokenizer.tokens()[256], "ab");
  EXPECT_EQ(tokenizer.tokens()[257], "aab");
  EXPECT_EQ(tokenizer.special(), (Indices{258}));
  EXPECT_EQ(tokenizer.at("<|endoftext|>"), 258);
  EXPECT_EQ(tokenizer.tokens()[0], "!") << "GPT-2's order of bytes";
  EXPECT_EQ(tokenizer.tokens()[188], std::string(1, '\0'));
  EXPECT_EQ(BytePairTokenizer::train(texts, {.size = 257, .special = {}}).size(), 257);
  const auto once = BytePairTokenizer::train(texts, {.min_count = 1, .special = {}});
  EXPECT_EQ(once.encode(" aab"), (Indices{once.at(" aab")}));
}

// Twice each: (x, y), (y, x), (a, b). Ties go to the lower left token, then to the lower right one,
// and "!" is token 0, "a" 64, "x" 87.
TEST(BytePair, TiesGoToTheLowerTokens) {
  const Strings texts = {"xy", "xy", "yx", "yx", "ab", "ab", "aa", "aa"};
  const auto tokens = BytePairTokenizer::train(texts, {.special = {}}).tokens();
  EXPECT_EQ(Strings(tokens.begin() + 256, tokens.end()), (Strings{"aa", "ab", "xy", "yx"}));
}

// Training is the plain loop: count all pairs of all words, merge the first of the most frequent.
TEST(BytePair, LearnsWhatAPlainLoopLearns) {
  Generator rng(3);
  Strings texts;
  for (int i = 0; i < 40; ++i) {
    std::string text;
    for (int k = 0; k < 30; ++k) text += "aaabbc "[rng.below(7)];
    texts.push_back(text);
  }
  const BytePairTokenizer tokenizer = BytePairTokenizer::train(texts, {.size = 320, .special = {}});
  std::vector<Indices> words;
  for (const std::string& text : texts)
    for (const std::string_view word : byte_pair_words(text)) {
      words.emplace_back();
      for (const char c : word) words.back().push_back(tokenizer.at(std::string(1, c)));
    }
  EXPECT_GT(tokenizer.merges().size(), 50u);
  for (std::size_t m = 0; m < tokenizer.merges().size(); ++m) {
    std::map<BytePairTokenizer::Merge, std::int64_t> counts;
    for (const Indices& word : words)
      for (std::size_t k = 1; k < word.size(); ++k) ++counts[{word[k - 1], word[k]}];
    const auto best = std::max_element(counts.begin(), counts.end(), [](auto& a, auto& b) {
      return a.second < b.second;  // the first among equals, in the order of pairs
    });
    ASSERT_EQ(tokenizer.merges()[m], best->first) << "merge " << m;
    const std::string whole = tokenizer.decode({best->first.first, best->first.second});
    for (Indices& word : words)
      for (std::size_t k = 1; k < word.size(); ++k)
        if (word[k - 1] == best->first.first && word[k] == best->first.second) {
          word[k - 1] = tokenizer.at(whole);
          word.erase(word.begin() + static_cast<std::ptrdiff_t>(k));
        }
  }
}

TEST(BytePair, FilesRoundTrip) {
  const TemporaryFolder folder;
  const std::string encoder = folder / "encoder.json", merges = folder / "vocab.bpe";
  const auto saved = BytePairTokenizer::train(
      {"to be or not to be \"\\\" \u00e9t\u00e9 \u00e9t\u00e9"}, {.special = {"<a b>", "\u2603"}});
  saved.save(encoder, merges);
  EXPECT_EQ(read_file(merges).substr(0, 14), "#version: 0.2\n");
  EXPECT_EQ(read_file(encoder).substr(0, 15), "{\"!\": 0, \"\\\"\": ");
  const auto loaded = BytePairTokenizer::load(encoder, merges);
  EXPECT_EQ(loaded.tokens(), saved.tokens());
  EXPECT_EQ(loaded.merges(), saved.merges());
  EXPECT_EQ(loaded.special(), saved.special());
  // A blank is written Ġ, and so would this special token be.
  const BytePairTokenizer twice(bytes_and({"\u0120"}), {});
  const std::string before = read_file(encoder);
  expect_error([&] { twice.save(encoder, merges); }, "tokens 32 and 256 would both be written");
  EXPECT_EQ(read_file(encoder), before);
}

TEST(BytePair, RefusesWhatIsNoTokenizer) {
  using Merges = std::vector<BytePairTokenizer::Merge>;
  const auto refuse = [](const Strings& tokens, const Merges& merges, const char* fragment) {
    expect_error([&] { BytePairTokenizer(tokens, merges); }, fragment);
  };
  refuse({"a"}, {}, "no token stands for the byte 0;");
  refuse(bytes_and({""}), {}, "token 256 is empty");
  refuse(bytes_and({"a"}), {}, "tokens 97 and 256 stand for the same bytes");
  refuse(bytes_and({"\xff\xff"}), {}, "the special token 256 is not UTF-8");
  refuse(bytes_and({"ab"}), {{'a', 'c'}}, "merge 0, of tokens 97 and 99, makes no token");
  refuse(bytes_and({"ab"}), {{'a', 'b'}, {'a', 'b'}},
         "merges 0 and 1 must differ, but are both of tokens 97 and");
  refuse(bytes_and({"ab"}), {{'a', -1}}, "merge 0 is of token -1, which");
  refuse(bytes_and({"ab"}), {{INT64_MAX, 'b'}}, "merge 0 is of token 9223372036854775807");
  refuse(bytes_and({"ab", "abc"}), {{256, 'c'}, {'a', 'b'}}, "merge 0 is of token 256, which");
  const auto train = [](const BytePairOptions& options) {
    BytePairTokenizer::train({"a"}, options);
  };
  expect_error([&] { train({.size = 256}); }, "a size of 256 leaves no room for the 256 bytes");
  expect_error([&] { train({.min_count = 0}); }, "min_count must be at least 1, got 0");
  expect_error([&] { train({.special = {"a"}}); }, "stand for the same bytes");
  expect_error([&] { train({.special = {""}}); }, "token 256 is empty");
}

TEST(BytePair, StateRoundTrips) {
  const auto tokenizer =
      BytePairTokenizer::train({"low lower lowest"}, {.size = 262, .special = {"<a", "<b"}});
  BytePairTokenizer other(bytes(), {});
  other.load_state_dict(tokenizer.state_dict());
  EXPECT_EQ(other.tokens(), tokenizer.tokens());
  EXPECT_EQ(other.merges(), tokenizer.merges());
  EXPECT_EQ(other.special(), tokenizer.special());
  EXPECT_EQ(other.encode("lowest"), tokenizer.encode("lowest"));
  const auto refuse = [&](const char* name, const Tensor& x, const char* fragment) {
    StateDict bad = BytePairTokenizer(bytes_and({"ab"}), {{'a', 'b'}}).state_dict();
    bad[name] = x;
    expect_error([&] { other.load_state_dict(bad); }, fragment);
    EXPECT_EQ(other.tokens(), tokenizer.tokens()) << "changed by what does not fit";
  };
  refuse("bytes", zeros({258}, f64), "\"bytes\" is f64 of shape [258], expected i64 of rank 1");
  refuse("bytes", full({258}, 256, i64), "256 is not a byte");
  refuse("bytes", zeros({259}, i64), "1 of the 259 bytes belong to no token");
  refuse("lengths", full({257}, -1, i64), "token 0 has -1 bytes, but only 258 are left");
  refuse("lengths", full({257}, 2, i64), "token 129 has 2 bytes, but only 0 are left");
  refuse("lengths", ones({257}, i64), "1 of the 258 bytes belong to no token");
  refuse("merges", zeros({1, 3}, i64), "\"merges\" has shape [1, 3], expected [n, 2]");
  refuse("merges", tensor({97, 999}, {1, 2}, i64), "merge 0 is of token 999");
  refuse("more", ones({1}), "the state has entries that a tokenizer does not know: \"more\"");
}

/// encoder.json of the bytes and `more`.
std::string encoder_with(const std::string& more) {
  std::string json = "{";
  for (int byte = 0; byte < 256; ++byte) {
    const std::string letter = to_byte_letters(std::string(1, static_cast<char>(byte)));
    json += "\"" + std::string(letter == "\"" || letter == "\\" ? "\\" : "") + letter +
            "\": " + std::to_string(byte) + ", ";
  }
  return json + more + "}";
}

TEST(BytePair, NamesTheFileAndWhatIsWrongInIt) {
  const std::string good = encoder_with(R"("ab": 256)"), version = "#version: 0.2\n";
  const auto refuse = [](const std::string& encoder, const std::string& merges,
                         const std::string& fragment) {
    expect_error([&] { BytePairTokenizer::parse(encoder, "E", merges, "M"); }, fragment);
  };
  EXPECT_EQ(BytePairTokenizer::parse(good, "E", version + "a b\r\n", "M").encode("ab"),
            (Indices{256}));
  refuse("{", version, "E: is not JSON");
  refuse("", version, "E: is not JSON");
  refuse("[1]", version, "E: needs {\"token\": number, …}");
  refuse("{\"a\": {\"b\": 1}}", version, "something else at token 'a'");
  refuse("{\"a\": -1}", version, "numbers from 0 to 2^31 − 1");
  refuse("{\"a\": 2147483648}", version, "numbers from 0 to 2^31 − 1");
  refuse("{\"a\": 0.5}", version, "something else at token 'a'");
  refuse("{\"a\": 0, \"a\": 1}", version, "E: the token 'a' occurs twice, as 0 and 1");
  refuse("{\"a\": 0, \"b\": 0}", version, "both have number 0");
  refuse("{\"a\": 1}", version, "E: the token 'a' has number 1, but there are 1 tokens");
  refuse("{\"a\": 0}", version, "E, M: no token stands for the byte 0");
  refuse(encoder_with(R"("": 256)"), version, "token 256 is empty");
  refuse(good, "", "M:1: needs '#version: 0.2', got ''");
  refuse(good, "a b\n", "M:1: needs '#version: 0.2', got 'a b'");
  refuse(good, version + "ab\n", "M:2: needs 'left right', got 'ab'");
  refuse(good, version + "a b\n\n", "M:3: needs 'left right', got ''");
  refuse(good, version + "a b c\n", "M:2: needs 'left right', got 'a b c'");
  refuse(good, version + "a c\n", "M:2: 'ac' is not a token of E");
  refuse(good, version + "a b\na b\n", "merges 0 and 1 must differ, but are both of tokens");
  refuse(encoder_with("\"a\u4e00\": 256, \"\u4e00\": 257"), version + "a \u4e00\n",
         "E: the token 'a\u4e00' has a character that stands for no byte");
  const TemporaryFolder folder;
  const std::string missing = folder / "missing";
  expect_error([&] { BytePairTokenizer::load(missing, missing); }, missing + ": cannot open");
}

TEST(BytePair, MutatedFilesAreReadOrRefused) {
  const std::string encoder = encoder_with(R"("ab": 256, "abc": 257)");
  const auto read = [&](const std::string& path) {
    const auto tokenizer = BytePairTokenizer::parse(encoder, "E", read_file(path), "M");
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("abcab")), "abcab");
  };
  const int refused = test::refused_mutations("#version: 0.2\na b\nab c\n", 1000, 5, read);
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 1000);
}

// 200,000 letters without a blank are one word, on which a search for the earliest pair after every
// merge would take 10^10 steps.
TEST(BytePair, OneLongWordIsNoTrouble) {
  const BytePairTokenizer tokenizer(bytes_and({"aa", "aaaa", "ab"}),
                                    {{'a', 'a'}, {256, 256}, {'a', 'b'}});
  EXPECT_EQ(tokenizer.encode(std::string(200'000, 'a')), Indices(50'000, 257));
}

class Gpt2OfRealData : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no real data at " << folder_;
  }
  const BytePairTokenizer& tokenizer() const {
    static const BytePairTokenizer loaded =
        BytePairTokenizer::load(folder_ / "encoder.json", folder_ / "vocab.bpe");
    return loaded;
  }
  const std::filesystem::path folder_ = test::shared_data() / "gpt2_bpe";
};

// Results of a few lines of Python, with the published pattern (package regex) and a plain loop
// over the same two files.
TEST_F(Gpt2OfRealData, EncodesAsThePublishedTokenizer) {
  const auto expect = [&](const char* text, const Indices& tokens) {
    EXPECT_EQ(tokenizer().encode(text), tokens) << text;
    EXPECT_EQ(tokenizer().decode(tokens), text);
  };
  EXPECT_EQ(tokenizer().size(), 50257);
  EXPECT_EQ(tokenizer().special(), (Indices{50256}));
  expect("Hello world", {15496, 995});
  expect(" the", {262});
  expect("I've 2 cats, they'll  sleep\n\n  tonight. ",
         {40, 1053, 362, 11875, 11, 484, 1183, 220, 3993, 628, 220, 9975, 13, 220});
  expect("na\u00efve caf\u00e9 \u2014 \u4e1c\u4eac \u00bd \u2116\u0663\u00a0x",
         {2616, 38776, 40304, 851, 220, 10310, 250, 12859, 105, 25208, 2343, 226, 244, 149, 96,
          1849, 87});
  expect("supercalifragilisticexpialidocious",
         {16668, 9948, 361, 22562, 346, 396, 501, 42372, 498, 312, 32346});
  expect("  \t\n x  ", {220, 220, 197, 198, 2124, 220, 220});
  expect("'S 's don''t 'llama", {6, 50, 705, 82, 836, 7061, 83, 705, 297, 1689});
  expect("\U0001f642 ok", {8582, 25081, 12876});
  expect("a\u0303 e\u0301", {64, 136, 225, 304, 136, 223});
  expect("aaaaaaaaaaaaa", {24794, 24794, 24794, 64});
  expect("    return x**2  # \u3000done",
         {220, 220, 220, 1441, 2124, 1174, 17, 220, 1303, 220, 5099, 222, 28060});
  EXPECT_EQ(tokenizer().encode("a<|endoftext|>", SpecialTokens::as_tokens), (Indices{64, 50256}));
}

/// FNV-1a of the tokens as 32-bit little-endian numbers.
std::uint64_t hash(const Indices& tokens) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const std::int64_t token : tokens)
    for (int k = 0; k < 4; ++k)
      h = (h ^ (static_cast<std::uint64_t>(token) >> 8 * k & 255)) * 0x100000001b3;
  return h;
}

// Counts and hashes from the same lines of Python. (338,025 is also what nanoGPT prints.)
TEST_F(Gpt2OfRealData, EncodesWholeFiles) {
  const auto expect = [&](const char* name, std::size_t count, std::uint64_t of_tokens) {
    const std::string path = test::shared_data() / name;
    if (!std::filesystem::exists(path) || (path.ends_with("gz") && !detail::has_gzip())) return;
    const std::string text = read_maybe_gzip(path);
    const Indices tokens = tokenizer().encode(text);
    EXPECT_EQ(tokens.size(), count) << name;
    EXPECT_EQ(hash(tokens), of_tokens) << name;
    EXPECT_TRUE(tokenizer().decode(tokens) == text) << name;
  };
  expect("tinyshakespeare/input.txt", 338025, 0xe22fcd868ca90167);
  expect("wikitext2/valid.txt", 258659, 0xc72cc3b3b31baa00);
  expect("multi30k/train.de.gz", 815006, 0xd87033f6c635209b);
}

TEST_F(Gpt2OfRealData, SavesTheFilesByteForByte) {
  const TemporaryFolder out;
  const std::string encoder = out / "encoder.json", merges = out / "vocab.bpe";
  tokenizer().save(encoder, merges);
  EXPECT_TRUE(read_file(encoder) == read_file(folder_ / "encoder.json"));
  EXPECT_TRUE(read_file(merges) == read_file(folder_ / "vocab.bpe"));
}

}  // namespace
}  // namespace ladon::byte_pair_test
