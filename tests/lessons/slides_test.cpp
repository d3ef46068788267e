// Formulas of the course's slides.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "ladon/core/error.h"
#include "ladon/examples/lessons/slides/mathml.h"
#include "ladon/tests/readme/markdown.h"

namespace ladon::test {
namespace {

using lessons::mathml;

/// Content of the outermost row.
std::string inside(const std::string& tex) {
  const std::string all = mathml(tex, false), begin = "<math><mrow>", end = "</mrow></math>";
  return all.substr(begin.size(), all.size() - begin.size() - end.size());
}

TEST(Slides, FormulasAreMathml) {
  EXPECT_EQ(inside("x"), "<mi>x</mi>");
  EXPECT_EQ(inside("3.5"), "<mn>3.5</mn>");
  EXPECT_EQ(inside("a<b"), "<mi>a</mi><mo>&lt;</mo><mi>b</mi>");
  EXPECT_EQ(inside("x_i^2"),
            "<msubsup><mrow><mi>x</mi></mrow><mi>i</mi><mrow><mn>2</mn></mrow></msubsup>");
  EXPECT_EQ(inside("\\frac{1}{\\sqrt d}"),
            "<mfrac><mrow><mn>1</mn></mrow><mrow><msqrt><mi>d</mi></msqrt></mrow></mfrac>");
  EXPECT_EQ(inside("\\tfrac12"), "<mfrac><mn>1</mn><mn>2</mn></mfrac>");
  EXPECT_EQ(inside("\\sum_{j}"), "<munder><mrow><mo>∑</mo></mrow><mrow><mi>j</mi></mrow></munder>");
  EXPECT_EQ(inside("\\left( a \\right)"),
            "<mrow><mo stretchy=\"true\">(</mo><mi>a</mi><mo stretchy=\"true\">)</mo></mrow>");
  EXPECT_EQ(
      inside("\\begin{pmatrix} a & b \\cr c & d \\end{pmatrix}"),
      "<mrow><mo>(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd>"
      "<mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable><mo>)</mo></mrow>");
}

TEST(Slides, RefuseWhatTheyDoNotKnow) {
  for (const char* tex :
       {"\\unknown", "{a", "a}", "\\frac{1}", "x_", "\\left( a", "\\begin{picture} \\end{picture}",
        "\\", "a\\,b", "\\text", "\\begin{matrix} a"})
    EXPECT_THROW(mathml(tex, true), Error) << tex;
}

TEST(Slides, KnowEveryFormulaOfTheCourse) {
  const std::regex formula(R"(\$\$?([^$]+)\$)");
  int count = 0;
  for (const Page& page : all_pages()) {
    if (!page.name.starts_with("examples/lessons/")) continue;
    const std::string prose = std::regex_replace(page.prose, std::regex("`[^`]*`"), "");
    for (std::sregex_iterator at(prose.begin(), prose.end(), formula), end; at != end;
         ++at, ++count)
      EXPECT_NO_THROW(mathml((*at)[1], true)) << page.name << ": " << (*at)[1];
  }
  EXPECT_GE(count, 10);
}

}  // namespace
}  // namespace ladon::test
