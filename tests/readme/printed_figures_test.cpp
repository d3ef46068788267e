// Tests of figures.h: outputs on pages are compared digit by digit, or, if roundings differ, to
// within the standard errors shown.

#include <cctype>

#include "ladon/tests/readme/figures.h"
#include "ladon/tests/readme/markdown.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

const std::string shown =
    "How far?\n"
    "heads            error ↓  largest_z  seconds\n"
    "16       0.0038 ± 0.0004       1.25     3.25\n"
    "\n"
    "3 inputs took 12 s; the slope is -2.5e-3\n";

std::string with(const std::string& from, const std::string& to) {
  std::string text = shown;
  return text.replace(text.find(from), from.size(), to);
}

TEST(PrintedFigures, OfAPageDifferByAnyDigit) {
  const auto page = std::filesystem::path(LADON_SOURCE_DIR) / "examples/nngp_compare/README.md";
  int edits = 0;
  for (const Block& block : read_page(page).blocks)
    for (const Command& command : commands(block))
      for (std::size_t i = 0; i < command.output.size(); ++i) {
        if (!std::isdigit(static_cast<unsigned char>(command.output[i])) || i % 20 != 0) continue;
        std::string edited = command.output;
        edited[i] = edited[i] == '5' ? '6' : '5';
        EXPECT_FALSE(same_figures(command.output, edited)) << "at byte " << i << " of the output";
        ++edits;
      }
  EXPECT_GT(edits, 20);
}

TEST(PrintedFigures, LeaveOutTimesAndTheWidthsOfColumns) {
  EXPECT_TRUE(same_figures(shown, with("3.25\n", "19.75\n")));
  EXPECT_TRUE(same_figures(shown, with("12 s", "7.5 s")));
  EXPECT_TRUE(same_figures(shown, with("16       ", "16    ")));
  EXPECT_FALSE(same_figures(shown, with("slope", "sloop")));
  EXPECT_FALSE(same_figures(shown, with("1.25", "1.26"))) << "the column before the times";
  EXPECT_EQ(without_times("about 0.2 s: 10 tiles of 128 × 128 inputs\n"),
            without_times("about 0.01 s: 1 tile of 512 × 512 inputs\n"));
  const std::string two =
      "kernel  ece  seconds ↓  peak_mb ↓\nnone  0.08 0.7  –\ndense 0.07  1.5  33.1\n";
  EXPECT_EQ(without_times(two), "kernel ece seconds ↓ peak_mb ↓\nnone 0.08 # #\ndense 0.07 # #\n");
}

TEST(PrintedFigures, OfOtherRoundingsAreWithinTheirErrors) {
  EXPECT_EQ(beyond_rounding(shown, shown), "");
  EXPECT_EQ(beyond_rounding(shown, with("0.0038", "0.0054")), "") << "2.8 errors of 0.00057";
  EXPECT_EQ(beyond_rounding(shown, with("± 0.0004", "± 0.0016")), "") << "an error";
  EXPECT_EQ(beyond_rounding(shown, with("1.25", "1.38")), "") << "a tenth";
  EXPECT_EQ(beyond_rounding(shown, with("-2.5e-3", "-2.4e-3")), "");
  EXPECT_EQ(beyond_rounding(shown, with("3.25\n", "19.75\n")), "") << "a time";
}

TEST(PrintedFigures, BeyondRoundingAreNamed) {
  const auto expect = [](const std::string& printed, const std::string& why) {
    EXPECT_NE(beyond_rounding(shown, printed).find(why), std::string::npos)
        << beyond_rounding(shown, printed);
  };
  expect(with("0.0038", "0.0056"), "0.0038 and 0.0056");
  expect(with("± 0.0004", "± 0.0017"), "0.0004 and 0.0017");
  expect(with("1.25", "1.40"), "1.25 and 1.4 ");
  expect(with("16 ", "18 "), "16 and 18");
  expect(with("-2.5e-3", "-2.5e-2"), "-0.0025 and -0.025");
  expect(with("-2.5e-3", "2.5e-3"), "-0.0025 and 0.0025");
  expect(with("slope", "sloop"), "other words");
  expect(with("± 0.0004", "        "), "other words");
  expect(shown + "one line more\n", "other words");
  expect("How far?\n", "other words");
}

}  // namespace
}  // namespace ladon::test
