// Tokenizers in one file, tokenizer.json.

#include <algorithm>
#include <map>

#include "ladon/core/extra/text/byte_alphabet.h"
#include "ladon/core/extra/text/byte_pair.h"
#include "ladon/core/io/file.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::byte_pair_json_test {
namespace {

using test::expect_error;
using Indices = std::vector<std::int64_t>;

const std::string words = R"({"type": "ByteLevel", "add_prefix_space": false})";

/// The bytes and `more`, with the merge a b → 256.
std::string tokenizer_json(const std::string& more = R"("ab": 256)",
                           const std::string& merges = R"(["a b"])",
                           const std::string& model = R"("type": "BPE")",
                           const std::string& rest = R"("pre_tokenizer": )" + words) {
  std::string vocabulary;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string letter = to_byte_letters(std::string(1, static_cast<char>(byte)));
    vocabulary += "\"" + std::string(letter == "\"" || letter == "\\" ? "\\" : "") + letter +
                  "\": " + std::to_string(byte) + ", ";
  }
  return "{\"model\": {" + model + ", \"vocab\": {" + vocabulary + more +
         "}, \"merges\": " + merges + "}, " + rest + "}";
}

BytePairTokenizer read(const std::string& json) { return BytePairTokenizer::parse(json, "T"); }

TEST(BytePairJson, IsReadInBothWaysOfWritingMerges) {
  for (const char* merges : {R"(["a b"])", R"([["a", "b"]])"}) {
    const BytePairTokenizer tokenizer = read(tokenizer_json(R"("ab": 256)", merges));
    EXPECT_EQ(tokenizer.encode("ab ba"), (Indices{256, ' ', 'b', 'a'}));
  }
  const BytePairTokenizer added =
      read(tokenizer_json(R"("ab": 256)", R"(["a b"])", R"("type": "BPE", "dropout": null)",
                          R"("normalizer": null, "added_tokens": [{"id": 257, "content": "<s>"},
                        {"id": 256, "content": "ab"}], "pre_tokenizer": )" +
                              words));
  EXPECT_EQ(added.special(), (Indices{257}));
  EXPECT_EQ(added.encode("<s>ab", SpecialTokens::as_tokens), (Indices{257, 256}));
}

TEST(BytePairJson, RoundTrip) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "tokenizer.json";
  const auto saved = BytePairTokenizer::train(
      {"to be or not to be \"\\\" \u00e9t\u00e9 \u00e9t\u00e9"}, {.special = {"<a b>", "\u2603"}});
  saved.save(path);
  const auto loaded = BytePairTokenizer::load(path);
  EXPECT_EQ(loaded.tokens(), saved.tokens());
  EXPECT_EQ(loaded.merges(), saved.merges());
  EXPECT_EQ(loaded.special(), saved.special());
}

TEST(BytePairJson, HoldsGpt2OfRealData) {
  const std::filesystem::path data = test::shared_data() / "gpt2_bpe";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no real data at " << data;
  const test::TemporaryFolder folder;
  const auto gpt2 = BytePairTokenizer::load(data / "encoder.json", data / "vocab.bpe");
  gpt2.save(folder / "tokenizer.json");
  EXPECT_EQ(BytePairTokenizer::load(folder / "tokenizer.json").tokens(), gpt2.tokens());
}

TEST(BytePairJson, RefusesWhatWouldCutATextInAnotherWay) {
  const auto refuse_model = [](const std::string& model, const char* fragment) {
    expect_error([&] { read(tokenizer_json(R"("ab": 256)", R"(["a b"])", model)); }, fragment);
  };
  refuse_model(R"("type": "Unigram")", R"(T: the model's type is "Unigram"; only byte-level BPE)");
  refuse_model(R"("type": 7)", "the model's type is 7");
  refuse_model(R"("type": "BPE", "byte_fallback": true)", "byte_fallback is true");
  refuse_model(R"("type": "BPE", "ignore_merges": true)", "ignore_merges is true");
  refuse_model(R"("type": "BPE", "dropout": 0.1)", "dropout is 0.1");
  refuse_model(R"("type": "BPE", "end_of_word_suffix": "</w>")", "end_of_word_suffix is \"</w>\"");
  const auto refuse_rest = [](const std::string& rest, const char* fragment) {
    expect_error(
        [&] { read(tokenizer_json(R"("ab": 256)", R"(["a b"])", R"("type": "BPE")", rest)); },
        fragment);
  };
  refuse_rest(R"("x": 1)", "the pre_tokenizer's type is null");
  refuse_rest(R"("pre_tokenizer": {"type": "Sequence"})",
              "the pre_tokenizer's type is \"Sequence\"");
  refuse_rest(R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true})",
              "add_prefix_space is true");
  refuse_rest(R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
              "use_regex": false})",
              "use_regex is false");
  refuse_rest(R"("normalizer": {"type": "NFC"}, "pre_tokenizer": )" + words, "the normalizer is");
  refuse_rest(R"("added_tokens": [{"id": 300, "content": "<s>"}], "pre_tokenizer": )" + words,
              "'<s>' has number 300, but there are 258 tokens");
  refuse_rest(R"("added_tokens": [{"id": 5, "content": "a"}], "pre_tokenizer": )" + words,
              "the token 'a' occurs twice, as 97 and 5");
  refuse_rest(R"("added_tokens": [7], "pre_tokenizer": )" + words, "needs tokens with numbers");
  refuse_rest(R"("added_tokens": 7, "pre_tokenizer": )" + words, "added_tokens, a list or nothing");
}

// Of an added token; `rest` may be another one.
std::string with_added(const std::string& flags, const std::string& rest = "") {
  return tokenizer_json(R"("ab": 256)", R"(["a b"])", R"("type": "BPE")",
                        R"("added_tokens": [{"id": 257, "content": "<s>")" + flags + "}" + rest +
                            R"(], "pre_tokenizer": )" + words);
}

TEST(BytePairJson, RefusesAddedTokensThatWouldCutATextInAnotherWay) {
  const char* rest = "; only byte-level BPE of GPT-2's words can be read";
  for (const char* key : {"lstrip", "rstrip", "single_word"}) {
    expect_error([&] { read(with_added(detail::join(", \"", key, "\": true"))); },
                 detail::join("T: ", key, " of the added token '<s>' is true", rest));
    EXPECT_NO_THROW(read(with_added(detail::join(", \"", key, "\": false"))));
  }
  expect_error([&] { read(with_added(R"(, "special": false)")); },
               detail::join("T: special of the added token '<s>' is false", rest));
  EXPECT_NO_THROW(read(with_added(R"(, "special": true)")));
  // Without a normalizer it says only that others are looked for first.
  const char* other = R"(, {"id": 258, "content": "<s>t", "normalized": false})";
  EXPECT_NO_THROW(read(with_added(R"(, "normalized": true)")));
  EXPECT_NO_THROW(read(with_added(R"(, "normalized": false)", other)));
  expect_error([&] { read(with_added(R"(, "normalized": true)", other)); },
               detail::join("T: normalized of the added token '<s>t' is false", rest));
}

TEST(BytePairJson, RefusesAKeyThatStandsTwice) {
  expect_error([] { read(tokenizer_json(R"("ab": 256, "ab": 256)")); },
               "T: has the key 'ab' twice in one object");
  expect_error([] { read(tokenizer_json(R"("ab": 256)", R"(["a b"], "merges": [])")); },
               "T: has the key 'merges' twice in one object");
  expect_error([] { read(R"({"a": [{"b": {"c": 1, "c": 1}}]})"); }, "T: has the key 'c' twice");
}

// Objects side by side: a parser that goes through all that are finished at the end of each would
// take minutes for these.
TEST(BytePairJson, TakesTimeInProportion) {
  std::string tokens;
  for (int i = 0; i < 1'000'000; ++i) tokens += i > 0 ? ",{}" : "{}";
  expect_error([&] { read("{\"model\": {\"type\": [" + tokens + "]}}"); },
               "the model's type is [{},");
}

TEST(BytePairJson, NamesWhatIsWrong) {
  const auto refuse = [](const std::string& more, const std::string& merges, const char* fragment) {
    expect_error([&] { read(tokenizer_json(more, merges)); }, fragment);
  };
  refuse(R"("ab": -1)", "[]", "needs tokens with numbers from 0 to 2^31 − 1, got \"ab\": -1");
  refuse(R"("ab": "256")", "[]", "got \"ab\": \"256\"");
  refuse(R"("ab": 256)", "7", "T: needs model.merges, a list");
  refuse(R"("ab": 256)", R"(["ab"])", "T: merge 0 must be");
  refuse(R"("ab": 256)", R"(["a b c"])", "T: merge 0 must be");
  refuse(R"("ab": 256)", R"([["a", 1]])", R"(got ["a",1])");
  refuse(R"("ab": 256)", R"(["a c"])", "T: merge 0: 'ac' is not a token of T");
  expect_error([] { read("[]"); }, "T: the model's type is null");
  expect_error([] { read("{"); }, "T: is not JSON");
  expect_error([] { read(std::string(100'000, '[')); }, "nests deeper than 16 levels");
}

TEST(BytePairJson, MutatedFilesAreReadOrRefused) {
  const std::string json = tokenizer_json(R"("ab": 256, "abc": 257)", R"(["a b", "ab c"])");
  const int refused = test::refused_mutations(json, 500, 5, [](const std::string& path) {
    const BytePairTokenizer tokenizer = BytePairTokenizer::load(path);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("abcab")), "abcab");
  });
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace ladon::byte_pair_json_test
