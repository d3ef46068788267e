// Every number in the prose of README.md, of folders' README.md (cards) and of the studies' pages
// was printed by a program: it is in an output block of its page, or of a page to which its
// paragraph links, possibly rounded or in percent, with its standard error. A comment after a
// sentence may name the rows of the output from which its numbers are; then they must be in these
// rows:
//   <!-- rows: `svgd - plain` -->
// A number that no program prints, such as a quantile or a ratio of two numbers, is listed with its
// reason:
//   <!-- derived: 2.8: the quantile of t with 4 degrees of freedom -->

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "ladon/tests/readme/markdown.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::smatch> found(const std::string& text, const std::regex& what) {
  return {std::sregex_iterator(text.begin(), text.end(), what), {}};
}
std::vector<std::smatch> found(std::string&&, const std::regex&) = delete;  // matches point into it

/// Paragraphs, items of lists and rows of tables.
std::vector<std::string> paragraphs(const std::string& prose) {
  std::vector<std::string> all{""};
  std::istringstream lines(prose);
  for (std::string line; std::getline(lines, line);) {
    const bool between = line.empty() || line.starts_with("#");
    if (between || line.starts_with("- ") || line.starts_with("|")) all.emplace_back();
    if (!between) all.back() += line + '\n';
  }
  std::erase(all, "");
  return all;
}

struct Figure {
  std::string value, error;  ///< As written: 95.6 and 0.3 of "95.6 ± 0.3%".
  bool percent = false;      ///< Also in percentage points.
  std::string words;         ///< Around it.
};

/// Figures with a point, and whole percentages.
std::vector<Figure> figures(const std::string& paragraph) {
  std::string text = paragraph;
  for (const char* silent : {"`[^`]*`", R"(\$\$[^$]*\$\$)", R"(\$[^$]*\$)", "<[^>]*>"})
    text = std::regex_replace(text, std::regex(silent), " ");
  text = std::regex_replace(text, std::regex(R"(\]\([^)]*\))"), "]");
  text = std::regex_replace(text, std::regex("\\s+"), " ");
  const std::string number = "([0-9]+(?:\\.[0-9]+)?)";
  const std::regex figure("(^|[^0-9A-Za-z.^])" + number + "(?: ?± ?" + number +
                          ")?(?!\\.?[0-9])(?! ?·)"),
      unit("^(?:(?: to |–)(?:−|\\+|-)?" + number + "(?: ?± ?" + number + ")?)? ?(?:%|points?\\b)");
  std::vector<Figure> all;
  for (const std::smatch& m : found(text, figure)) {
    const bool percent = std::regex_search(m[0].second, text.cend(), unit);
    const std::size_t at = static_cast<std::size_t>(m.position());
    if (percent || m.str().find('.') != std::string::npos)
      all.push_back({m[2], m[3], percent, text.substr(at < 40 ? 0 : at - 40, 80)});
  }
  return all;
}

/// Whether `written` is x, rounded to its digits.
bool is_rounded(const std::string& written, double x) {
  const std::size_t point = written.find('.');
  const double digits = point == written.npos ? 0 : double(written.size() - point - 1);
  return std::abs(x - std::stod(written)) <= 0.5 * std::pow(10, -digits) * 1.001;
}

/// A line of what was printed.
struct Line {
  std::string text;  ///< With one space between words.
  struct Number {
    double value;
    bool has_error;  ///< "±" follows.
  };
  std::vector<Number> numbers;

  explicit Line(const std::string& line) : text(std::regex_replace(line, std::regex(" +"), " ")) {
    static const std::regex number("([0-9]+(?:\\.[0-9]+)?(?:e[+-]?[0-9]+)?)( ±)?");
    for (const std::smatch& m : found(text, number))
      numbers.push_back({std::stod(m[1]), m[2].matched});
  }
  /// Whether it is a row of that name, which may go on with the first columns ("hmc 64 400"), or
  /// one of a group of that name ("N = 10, pruned").
  bool is_of(const std::string& row) const {
    static const std::regex rest("(,.*| \\(.*| (–|-?[0-9]).*)?");
    return text.starts_with(row) && std::regex_match(text.substr(row.size()), rest);
  }
  /// Whether it shows the figure, and behind it the error: its own, or an interval beside that.
  bool has(const Figure& figure, double scale) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!is_rounded(figure.value, scale * numbers[i].value)) continue;
      if (figure.error.empty()) return true;
      if (!numbers[i].has_error) continue;
      for (std::size_t j = i + 1; j < std::min(i + 3, numbers.size()); ++j)
        if (is_rounded(figure.error, scale * numbers[j].value)) return true;
    }
    return false;
  }
  bool has(const Figure& figure) const {
    return has(figure, figure.percent && text.find('%') == text.npos ? 100 : 1);
  }
};

std::vector<Line> printed(const Page& page) {
  std::vector<Line> lines;
  for (const Block& block : page.blocks) {
    if (block.language != "console") continue;
    std::istringstream text(block.text);
    for (std::string line; std::getline(text, line);) lines.emplace_back(line);
  }
  return lines;
}

/// What the comment of that kind lists: `one` of <!-- rows: `one`, `two` -->.
std::vector<std::string> listed(const std::string& paragraph, const std::string& kind,
                                const std::string& each) {
  std::vector<std::string> all;
  std::smatch comment;
  if (!std::regex_search(paragraph, comment, std::regex("<!-- " + kind + ": ([^>:]*)[^>]*-->")))
    return all;
  const std::string list = comment[1];
  for (const std::smatch& m : found(list, std::regex(each))) all.push_back(m[1]);
  return all;
}

/// What is wrong with the figures of a paragraph, given what its page and those that it links show.
std::vector<std::string> wrong_figures(const std::string& paragraph, std::vector<Line> lines) {
  std::vector<std::string> wrong;
  const std::vector<std::string> rows = listed(paragraph, "rows", "`([^`]+)`"),
                                 derived = listed(paragraph, "derived", "([0-9.]+)");
  for (const std::string& row : rows)
    if (std::ranges::none_of(lines, [&](const Line& line) { return line.is_of(row); }))
      wrong.push_back("no block shows the row " + row);
  if (!rows.empty())
    std::erase_if(lines, [&](const Line& line) {
      return std::ranges::none_of(rows, [&](const std::string& row) { return line.is_of(row); });
    });
  std::set<std::string> unused(derived.begin(), derived.end());
  for (const Figure& figure : figures(paragraph)) {
    if (std::ranges::count(derived, figure.value) > 0) {
      unused.erase(figure.value);
      continue;
    }
    // A whole percentage is often a level (a 95% interval): it is a result where rows are named.
    if (rows.empty() && (figure.value + figure.error).find('.') == std::string::npos) continue;
    if (std::ranges::none_of(lines, [&](const Line& line) { return line.has(figure); }))
      wrong.push_back((rows.empty() ? "no block shows " : "its rows do not show ") + figure.value +
                      (figure.error.empty() ? "" : " ± " + figure.error) + ": " + figure.words);
  }
  for (const std::string& value : unused) wrong.push_back("derived, and not there: " + value);
  return wrong;
}

// Ten years from now somebody changes a default: the prose must not go on telling the old figure.
TEST(Figures, OfTheProseWerePrinted) {
  const std::vector<Page> pages = all_pages();
  std::map<std::string, std::vector<Line>> shown;
  for (const Page& page : pages) shown[page.path.lexically_normal().string()] = printed(page);
  int count = 0;
  for (const Page& page : pages) {
    if (page.path.filename() == "preregistration.md") continue;  // written before anything ran
    for (const std::string& paragraph : paragraphs(page.prose)) {
      std::vector<Line> lines = shown[page.path.lexically_normal().string()];
      for (const std::smatch& link : found(paragraph, std::regex("\\]\\(([^)#]+)")))
        for (const fs::path& path : {fs::path(link.str(1)), fs::path(link.str(1)) / "README.md"}) {
          const auto linked = shown.find((page.path.parent_path() / path).lexically_normal());
          if (linked != shown.end())
            lines.insert(lines.end(), linked->second.begin(), linked->second.end());
        }
      for (const std::string& wrong : wrong_figures(paragraph, lines))
        ADD_FAILURE() << page.name << ": " << wrong;
      count += static_cast<int>(figures(paragraph).size());
    }
  }
  EXPECT_GT(count, 0);
}

TEST(Figures, ChangedByADigitAreFound) {
  const std::vector<Line> lines{
      Line("method        accuracy"), Line("plain         0.8512 ± 0.0094  12"),
      Line("svgd          0.8790 ± 0.0031  8  1.7"), Line("svgd - plain  0.0278 ± 0.0094")};
  const auto wrong = [&](const std::string& paragraph) {
    return wrong_figures(paragraph, lines).size();
  };
  EXPECT_EQ(wrong("It has 0.879, or 88%, or 87.9 ± 0.3%."), 0u);
  EXPECT_EQ(wrong("It has 0.878."), 1u);
  EXPECT_EQ(wrong("It gains +2.8 ± 0.9 points, to 87.9%."), 0u);
  EXPECT_EQ(wrong("It gains +2.8 ± 0.8 points."), 1u);
  EXPECT_EQ(wrong("The error is that of another line: 0.8790 ± 0.0094"), 1u);
  EXPECT_EQ(wrong("The error is that of another column: 0.8790 ± 1.7"), 1u);
  EXPECT_EQ(wrong("It has 87.9, which is no percentage."), 1u);
  EXPECT_EQ(wrong("It ends in 0.85."), 0u);
  EXPECT_EQ(wrong("It ends in 0.84."), 1u);
  // Rows behind the sentence.
  EXPECT_EQ(wrong("It gains 3 points.\n<!-- rows: `svgd - plain` -->\n"), 0u);
  EXPECT_EQ(wrong("It gains 2 points.\n<!-- rows: `svgd - plain` -->\n"), 1u);
  EXPECT_EQ(wrong("It has 88%.\n<!-- rows: `plain` -->\n"), 1u);
  EXPECT_EQ(wrong("Nothing.\n<!-- rows: `hmc` -->\n"), 1u);
  // What is not printed, and what is no figure.
  EXPECT_EQ(wrong("It is ± 2.8 of them <!-- derived: 2.8: a quantile of t -->"), 0u);
  EXPECT_EQ(wrong("It is ± 2.9 of them <!-- derived: 2.8: a quantile of t -->"), 2u);
  EXPECT_EQ(wrong("`0.1`, $0.2$ and 0.4·k, in a 95% interval of version 0.1.2"), 0u);
}

TEST(Figures, AreThoseOfAParagraphAnItemOrARow) {
  const std::vector<std::string> all =
      paragraphs("# No 1\n\nOne\ntwo\n<!-- rows: `a` -->\n\n- three\n  four\n- five\n| six |\n");
  EXPECT_EQ(all, (std::vector<std::string>{"One\ntwo\n<!-- rows: `a` -->\n", "- three\n  four\n",
                                           "- five\n", "| six |\n"}));
}

}  // namespace
}  // namespace ladon::test
