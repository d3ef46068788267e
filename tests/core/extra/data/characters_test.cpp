#include "ladon/core/extra/text/characters.h"

#include <map>

#include "ladon/core/extra/text/unicode.h"
#include "ladon/core/io/file.h"
#include "ladon/core/io/utf8.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::characters_test {
namespace {

using test::expect_error;
using Indices = std::vector<std::int64_t>;

TEST(Characters, AreNumberedByCodePoint) {
  const CharacterVocabulary vocabulary("b\u00e9a\nb\u6771");
  EXPECT_EQ(vocabulary.codes(), (std::vector<std::int32_t>{'\n', 'a', 'b', 0xe9, 0x6771}));
  EXPECT_EQ(vocabulary.encode("ab\u6771\n"), (Indices{1, 2, 4, 0}));
  EXPECT_EQ(vocabulary.decode({4, 3, 1}), "\u6771\u00e9a");
  EXPECT_TRUE(vocabulary.encode("").empty());
  EXPECT_EQ(CharacterVocabulary("").size(), 0);
}

TEST(Characters, NameWhatIsNotThere) {
  const CharacterVocabulary vocabulary("abc");
  expect_error([&] { vocabulary.encode("ab\u00e9"); },
               "the character '\u00e9' at byte 2 is not among the 3 characters of the vocabulary");
  expect_error([&] { vocabulary.encode("a\xff"); }, "not UTF-8 at byte 1, which is 255");
  expect_error([] { CharacterVocabulary("\xc3"); }, "not UTF-8 at byte 0, which is 195");
  expect_error([&] { vocabulary.decode({3}); }, "index 3 is outside [0, 3)");
  expect_error([&] { vocabulary.decode({-1}); }, "index -1 is outside [0, 3)");
}

TEST(Characters, RoundTripAsAFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "characters";
  const CharacterVocabulary saved("to be\n\u2603");
  saved.save(path);
  EXPECT_EQ(CharacterVocabulary::load(path).codes(), saved.codes());
  expect_error([&] { CharacterVocabulary::load(folder / "none"); }, "none: cannot open");
}

TEST(Characters, OfPlaysOfRealData) {
  const std::string path = test::shared_data() / "tinyshakespeare/input.txt";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no real data at " << path;
  const std::string text = read_file(path);
  const CharacterVocabulary vocabulary(text);
  EXPECT_EQ(vocabulary.size(), 65);
  EXPECT_TRUE(vocabulary.decode(vocabulary.encode(text)) == text);
}

TEST(Utf8, CharactersAreReadAndWritten) {
  for (std::int32_t code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string text;
    append_utf8(text, code);
    const Character character = character_at(text, 0);
    ASSERT_EQ(character.code, code);
    ASSERT_EQ(character.length, std::ssize(text));
    for (std::size_t length = 1; length < text.size(); ++length)
      ASSERT_EQ(character_at(text.substr(0, length), 0).code, -1) << "cut: " << code;
  }
  EXPECT_EQ(character_at("\xed\xa0\x80", 0).code, -1) << "a surrogate";
  EXPECT_EQ(character_at("\xed\xbf\xbf", 0).code, -1) << "the last surrogate";
  EXPECT_EQ(character_at("\xc0\x80", 0).code, -1) << "overlong";
  EXPECT_EQ(character_at("\xf4\x90\x80\x80", 0).code, -1) << "above U+10FFFF";
}

// The totals of DerivedGeneralCategory.txt, Unicode 14.0: Lu 1831, Ll 2227, Lt 31, Lm 334, Lo
// 127333; Nd 660, Nl 236, No 895. White_Space has 25 (PropList.txt).
TEST(Utf8, ClassesAreThoseOfUnicode) {
  std::map<CharacterClass, int> count;
  for (std::int32_t code = 0; code <= 0x10ffff; ++code) ++count[class_of(code)];
  EXPECT_EQ(count[CharacterClass::letter], 1831 + 2227 + 31 + 334 + 127333);
  EXPECT_EQ(count[CharacterClass::number], 660 + 236 + 895);
  EXPECT_EQ(count[CharacterClass::space], 25);
  for (const std::int32_t code : {0x61, 0x5a, 0xaa, 0xe9, 0x3b1, 0x6771, 0x3134a})
    EXPECT_EQ(class_of(code), CharacterClass::letter) << code;
  for (const std::int32_t code : {0x30, 0x39, 0xb2, 0xbd, 0x663, 0x2160})
    EXPECT_EQ(class_of(code), CharacterClass::number) << code;
  for (const std::int32_t code : {0x20, 9, 0x85, 0xa0, 0x2003, 0x3000})
    EXPECT_EQ(class_of(code), CharacterClass::space) << code;
  for (const std::int32_t code : {-1, 0, 0x1c, 0x5f, 0x301, 0x2014, 0x200b, 0x10ffff})
    EXPECT_EQ(class_of(code), CharacterClass::other) << code;
}

}  // namespace
}  // namespace ladon::characters_test
