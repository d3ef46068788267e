// The course's slides and their formulas.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "ladon/core/error.h"
#include "ladon/examples/lessons/slides/deck.h"
#include "ladon/examples/lessons/slides/mathml.h"
#include "ladon/tests/readme/markdown.h"

namespace ladon::test {
namespace {

using lessons::Lesson;
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
  EXPECT_GT(count, 0);
}

std::size_t times(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(words, at)) != text.npos; at += words.size()) ++count;
  return count;
}

const Lesson short_lesson = {
    "07_short",
    "# Lesson 7: short\n\n*You will be able to* see.\nNeeds: eyes.\n\n"
    "## Predict\n\nA number.\n\n## Proof\n\nTake `a.b`. It is $c. d$ and\n[so](x.md)\n\n"
    "$$e$$\n\nShort it is. Hence\n\n$$f$$\n\n"
    "```console\n$ examples/run 07_short\n\na < b\n\npicture: 07_short.svg\n```\n\n"
    "## Change it\n\n"
    "- One?\n\n<details><summary>Answer</summary>\nFirst.\n</details>\n\n"
    "- Two?\n\n<details><summary>Answer</summary>\nSecond.\n<!-- rows: `a` -->\n</details>\n\n"
    "**The belief that ends here:** *long.* It is short.\n",
    "<?xml?><svg>#</svg>"};

TEST(Slides, ShowSentencesFormulasPictureTablesAndEveryQuestionBeforeItsAnswer) {
  const std::vector<std::string> slides = lessons::slides_of(short_lesson);
  ASSERT_EQ(slides.size(), 9u);
  EXPECT_EQ(slides[0],
            "<h1>Lesson 7: short</h1>\n<p>You will be able to see.\nNeeds: eyes.</p>\n"
            "<p><b>Predict.</b></p><p>\nA number.\n</p>\n");
  const std::string e = lessons::mathml("e", true), f = lessons::mathml("f", true);
  EXPECT_EQ(slides[1], "<h1>Lesson 7: short</h1>\n<p>It is " + lessons::mathml("c. d", false) +
                           " and\nso</p>\n<p>" + e + "</p>\n<p>Short it is. Hence</p>\n<p>" + f +
                           "</p>\n");
  EXPECT_NE(slides[2].find("utf-8,<svg>%23</svg>"), std::string::npos) << slides[2];
  EXPECT_EQ(slides[3],
            "<h1>The prediction, and what the program prints</h1>\n"
            "<pre style=\"font-size: 20pt\">a &lt; b</pre>\n");
  EXPECT_EQ(slides[4], "<h1>Change it</h1>\n<p>One?\n\n</p>\n");
  EXPECT_EQ(slides[5], "<h1>Change it</h1>\n<p class=\"asked\">One?\n\n</p>\n<p>First.\n</p>\n");
  EXPECT_EQ(slides[7], "<h1>Change it</h1>\n<p class=\"asked\">Two?\n\n</p>\n<p>Second.\n</p>\n");
  EXPECT_EQ(slides[8], "<h1>The belief that ends here</h1>\n<p><em>long.</em> It is short.</p>\n");
}

TEST(Slides, BreakLongFormulasAtTheirEqualities) {
  const std::string left(30, 'a'), right(40, 'b');
  Lesson lesson = short_lesson;
  lesson.page += "\n$$" + left + " = {c = d} = " + right + "$$\n";
  const std::string all = lessons::deck({lesson});
  EXPECT_NE(all.find(lessons::mathml(left + " = {c = d}", true)), std::string::npos);
  EXPECT_NE(all.find(lessons::mathml(" = " + right, true)), std::string::npos);
}

TEST(Slides, BeginWithTheLessonsAndAreNumbered) {
  Lesson next = short_lesson;
  next.name = "08_next";
  const std::string all = lessons::deck({short_lesson, next});
  EXPECT_EQ(times(all, "<section"), 19u);
  EXPECT_LT(all.find("<section id=\"contents\">"),
            all.find("<a href=\"#07_short\">Lesson 7: short</a> &nbsp;2<"));
  EXPECT_NE(all.find("<a href=\"#08_next\">Lesson 7: short</a> &nbsp;11<"), std::string::npos);
  EXPECT_EQ(times(all, "<section id=\"08_next\">"), 1u);
  EXPECT_NE(all.find("<a class=\"number\" href=\"#contents\">19</a>"), std::string::npos);
}

TEST(Slides, HaveEveryQuestionOfTheCourse) {
  int lessons = 0;
  for (const Page& page : all_pages()) {
    if (!std::regex_search(page.name, std::regex("^examples/lessons/[0-9]+_"))) continue;
    ++lessons;
    const std::string slides = lessons::deck({{"", page.text, "<svg/>"}});
    EXPECT_EQ(times(slides, "<h1>Change it</h1>"), 2 * times(page.text, "<details>")) << page.name;
    EXPECT_EQ(times(slides, "<pre "), 1u) << page.name;
    EXPECT_GE(2 * times(slides, "<math display="), times(page.prose, "$$")) << page.name;
  }
  EXPECT_GT(lessons, 0);
}

}  // namespace
}  // namespace ladon::test
