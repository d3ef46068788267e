#include "ladon/core/extra/text/bleu.h"

#include <cmath>

#include "ladon/core/extra/io/gzip.h"
#include "ladon/core/extra/text/text.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::bleu_test {
namespace {

using metrics::bleu;
using metrics::tokenize_13a;
using test::expect_error;
using Strings = std::vector<std::string>;
using Lists = std::vector<Strings>;

// Results of the script's substitutions, run as regular expressions in Python.
TEST(Tokenize13a, SplitsAsTheScriptDoes) {
  EXPECT_EQ(tokenize_13a("Hello, world! It's 3.5, no 1,000."),
            (Strings{"Hello", ",", "world", "!", "It's", "3.5", ",", "no", "1,000", "."}));
  EXPECT_EQ(tokenize_13a("a-b 12-13 x- 5-"), (Strings{"a-b", "12", "-", "13", "x-", "5", "-"}));
  EXPECT_EQ(tokenize_13a("... ,a. .5 5. a.5"),
            (Strings{".", ".", ".", ",", "a", ".", ".", "5", "5", ".", "a", ".", "5"}));
  EXPECT_EQ(tokenize_13a("&quot;x&amp;y&quot; (z) [w] {v}~`^_|/\\"),
            (Strings{"\"", "x", "&", "y", "\"", "(", "z", ")", "[", "w", "]",
                     "{",  "v", "}", "~", "`",  "^", "_", "|", "/", "\\"}));
  EXPECT_EQ(tokenize_13a("1.,2 3,.4"), (Strings{"1", ".", ",", "2", "3", ",", ".", "4"}));
  EXPECT_EQ(tokenize_13a("\u00e9. .\u00e9,\u00e9 A\u00a0B"),
            (Strings{"\u00e9", ".", ".", "\u00e9", ",", "\u00e9", "A", "B"}));
  EXPECT_EQ(tokenize_13a("'s don't $5 50%"), (Strings{"'s", "don't", "$", "5", "50", "%"}));
  EXPECT_EQ(tokenize_13a("trans-\nlated\nline"), (Strings{"translated", "line"}));
  EXPECT_EQ(tokenize_13a(" \n"), Strings());
}

const Strings guide = {
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party"};

// Papineni et al., sections 2.1 and 2.1.1: candidate 1 has 17/18 unigrams and 10/17 bigrams,
// candidate 2 8/14 and 1/13; "the" seven times has 2/7, as no reference has it more than twice.
// (The references without their stops; "Party" counts as "party" there, so all is in lower case.)
TEST(Bleu, ModifiedPrecisionsAreThoseOfThePaper) {
  Lists references(1);
  for (std::string text : guide) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    references[0].push_back(text);
  }
  const Strings first = {
      "it is a guide to action which ensures that the military always obeys the commands of the "
      "party"};
  const auto one = bleu(first, references);
  EXPECT_DOUBLE_EQ(one.precisions[0], 17.0 / 18);
  EXPECT_DOUBLE_EQ(one.precisions[1], 10.0 / 17);
  const Strings second = {
      "it is to insure the troops forever hearing the activity guidebook that party direct"};
  const auto two = bleu(second, references);
  EXPECT_DOUBLE_EQ(two.precisions[0], 8.0 / 14);
  EXPECT_DOUBLE_EQ(two.precisions[1], 1.0 / 13);
  EXPECT_EQ(two.score, 0) << "no trigram is right";
  const auto seven = bleu(Strings{"the the the the the the the"},
                          Lists{{"the cat is on the mat", "there is a cat on the mat"}});
  EXPECT_DOUBLE_EQ(seven.precisions[0], 2.0 / 7);
}

// Hypothesis a b c d e, reference a b c d e f g: all 5, 4, 3, 2 n-grams stand in it, and the
// penalty is exp(1 − 7/5).
TEST(Bleu, ShortHypothesesPayTheBrevityPenalty) {
  const Strings hypothesis = {"a b c d e"}, reference = {"a b c d e f g"};
  const auto result = bleu(hypothesis, reference);
  EXPECT_DOUBLE_EQ(result.brevity_penalty, std::exp(1 - 7.0 / 5));
  EXPECT_DOUBLE_EQ(result.score, 100 * std::exp(1 - 7.0 / 5));
  EXPECT_EQ(bleu(reference, hypothesis).brevity_penalty, 1) << "long ones pay by precision";
  // Lengths 4 and 6 are as near to 5: the shorter counts. 7 is farther.
  EXPECT_EQ(bleu(hypothesis, Lists{{"a b c d e f", "a b c d", "a b c d e f g"}}).reference_length,
            4);
}

// Counts are added up over the corpus, not scores over sentences:
//   "a b c d" against "a b c d": 4/4, 3/3, 2/2, 1/1; "a b x y z" : "a b c d e": 2/5, 1/4, 0/3,
//   0/2. Together 6/9, 4/7, 2/5, 1/3, lengths 9 and 9: 100·(6/9·4/7·2/5·1/3)^(1/4).
TEST(Bleu, IsOfTheCorpus) {
  const Strings hypotheses = {"a b c d", "a b x y z"}, references = {"a b c d", "a b c d e"};
  const auto result = bleu(hypotheses, references);
  EXPECT_DOUBLE_EQ(result.score, 100 * std::pow(6.0 / 9 * 4 / 7 * 2 / 5 * 1 / 3, 0.25));
  EXPECT_EQ(result.hypothesis_length, 9);
  EXPECT_EQ(result.reference_length, 9);
}

TEST(Bleu, OfTheSameTextIs100AndOfNothing0) {
  const Strings texts = {"One, two; three - four.", "\u00dcber den Wolken!"}, none = {"", ""};
  EXPECT_DOUBLE_EQ(bleu(texts, texts).score, 100);
  EXPECT_EQ(bleu(none, texts).score, 0);
  EXPECT_EQ(bleu(none, texts).brevity_penalty, 0);
  EXPECT_EQ(bleu(texts, none).score, 0);
  EXPECT_EQ(bleu(none, none).score, 0);
  EXPECT_LT(bleu(Strings{"A B C D E"}, Strings{"a b c d e"}).score, 1) << "case counts";
}

TEST(Bleu, RefusesListsThatDoNotFit) {
  expect_error([] { bleu(Strings(), Strings()); }, "0 hypotheses and 0 lists of references");
  expect_error([] { bleu(Strings{"a"}, Strings{"a", "b"}); }, "1 hypotheses and 2 lists");
  expect_error([] { bleu(Strings{"a"}, Lists{{}}); }, "hypothesis 0 has no reference");
}

TEST(ParallelText, LinesStayTogether) {
  const test::TemporaryFolder folder;
  const std::string left = test::write(folder, "a b\r\n\nc\n d \n", "left");
  const std::string right = test::write(folder, "x\ny\nz\n \n", "right");
  const ParallelText pairs = read_parallel(left, right);
  EXPECT_EQ(pairs.sources, (Strings{"a b", "c"}));
  EXPECT_EQ(pairs.targets, (Strings{"x", "z"}));
  EXPECT_EQ(pairs.blank, 2);
  const std::string more = test::write(folder, "1\n2\n3\n4\n5", "more");
  expect_error([&] { read_parallel(left, more); },
               left + " has 4 lines, but must have as many as " + more + ", which has 5");
  const std::string empty = test::write(folder, " \n", "empty");
  expect_error([&] { read_parallel(left, empty); }, empty + ": the file holds no text");
  EXPECT_EQ(read_text(left), "a b\r\n\nc\n d \n");
  EXPECT_EQ(read_text(test::write(folder, "\xe9", "latin1")), "\u00e9");
  expect_error([&] { read_text(folder / "none"); }, "none: cannot open");
}

TEST(ParallelText, ReadsTranslationsOfRealData) {
  const auto folder = test::shared_data() / "multi30k";
  if (!detail::has_gzip() || !std::filesystem::exists(folder))
    GTEST_SKIP() << "no zlib, or no real data at " << folder;
  const ParallelText train = read_parallel(folder / "train.en.gz", folder / "train.de.gz");
  EXPECT_EQ(train.sources.size(), 29'000u);
  EXPECT_EQ(train.sources[0], "Two young, White males are outside near many bushes.");
  EXPECT_EQ(train.targets[0], "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche.");
  const ParallelText test =
      read_parallel(folder / "test_2016_flickr.en.gz", folder / "test_2016_flickr.de.gz");
  EXPECT_EQ(test.sources.size(), 1000u);
  EXPECT_NEAR(bleu(test.targets, test.targets).score, 100, 1e-9);
}

}  // namespace
}  // namespace ladon::bleu_test
