// General sentences rest on rows: each result of README.md and of a study names one, by a figure of
// it or by its name. README.md names them in a comment behind the sentence, which is for people:
//   <!-- rows: `svgd - plain` -->

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "ladon/tests/readme/markdown.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;

/// Paragraphs and items of lists that begin with a sentence in bold.
std::vector<std::string> claims(const std::string& prose) {
  std::vector<std::string> all;
  std::string paragraph;
  const auto end = [&] {
    if (std::regex_search(paragraph, std::regex("^(- )?\\*\\*[^*`]+ [^*`]+ [^*`]+\\*\\*")))
      all.push_back(paragraph);
    paragraph.clear();
  };
  std::istringstream lines(prose);
  for (std::string line; std::getline(lines, line);) {
    const bool between = line.empty() || line.starts_with("#");
    if (between || line.starts_with("- ")) end();
    if (!between) paragraph += line + '\n';
  }
  end();
  return all;
}

/// First words of the rows that a page's blocks show.
std::string row_names(const Page& page) {
  std::string names = "\n";
  for (const Block& block : page.blocks) {
    if (block.language != "console") continue;
    std::istringstream lines(block.text);
    for (std::string line; std::getline(lines, line);)
      names += line.substr(0, line.find("  ")) + '\n';
  }
  return names;
}

/// Whether it gives a figure, or names a row (`svgd`) of the pages' blocks.
bool names_a_row(const std::string& claim, const std::string& rows) {
  const std::string text = std::regex_replace(claim, std::regex("\\]\\([^)]*\\)"), "]");
  if (std::regex_search(text, std::regex("\\.[0-9]"))) return true;
  const std::regex code("`([^`]+)`");
  return std::any_of(
      std::sregex_iterator(text.begin(), text.end(), code), std::sregex_iterator(),
      [&](const std::smatch& m) { return rows.find('\n' + m.str(1)) != std::string::npos; });
}

/// Rows that the comment of a claim names.
std::set<std::string> rows_in_comment(const std::string& claim) {
  std::smatch comment;
  if (!std::regex_search(claim, comment, std::regex("<!-- rows: ([^>]*) -->"))) return {};
  const std::string list = comment.str(1);
  const std::regex code("`([^`]+)`");
  std::set<std::string> rows;
  for (std::sregex_iterator at(list.begin(), list.end(), code), end; at != end; ++at)
    rows.insert((*at)[1]);
  return rows;
}

/// Pages that answer a question by runs: those that were registered before them, and those that
/// README.md's results rest on.
bool is_study(const Page& page) {
  static const std::vector<std::string> earlier = {
      "nngp_compare",    "gaussian_outputs",  "gp_classify",     "gp_reviews",
      "kernels_on_disk", "trained_attention", "particles",       "moving_particles",
      "many_dimensions", "posterior",         "exact_posterior", "repulsive_heads",
      "head_roles",      "heads_apart",       "word_for_word"};
  const fs::path folder = page.path.parent_path();
  return page.path.filename() == "README.md" && folder.parent_path().filename() == "examples" &&
         (fs::exists(folder / "preregistration.md") ||
          std::count(earlier.begin(), earlier.end(), folder.filename().string()) > 0);
}

TEST(Claims, OfStudiesNameARow) {
  int count = 0;
  for (const Page& page : all_pages()) {
    if (!is_study(page)) continue;
    for (const std::string& claim : claims(page.prose)) {
      ++count;
      EXPECT_TRUE(names_a_row(claim, row_names(page))) << page.name << ":\n" << claim;
    }
  }
  EXPECT_GE(count, 2);
}

TEST(Claims, OfTheReadmeNameARowOfTheirPage) {
  const Page readme = read_page(fs::path(LADON_SOURCE_DIR) / "README.md");
  const std::size_t begin = readme.prose.find("\n## Results\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string results =
      readme.prose.substr(begin, readme.prose.find("\n## ", begin + 1) - begin);
  const std::vector<std::string> all = claims(results);
  EXPECT_GE(all.size(), 4u);
  const std::regex link("\\]\\((examples/[a-z_]+/README\\.md)\\)");
  for (const std::string& claim : all) {
    std::string rows;
    for (std::sregex_iterator at(claim.begin(), claim.end(), link), end; at != end; ++at)
      rows += row_names(read_page(fs::path(LADON_SOURCE_DIR) / (*at)[1].str()));
    ASSERT_FALSE(rows.empty()) << "no page: " << claim;
    const std::set<std::string> named = rows_in_comment(claim);
    EXPECT_FALSE(named.empty()) << "no <!-- rows: `…` -->: " << claim;
    for (const std::string& row : named)
      EXPECT_NE(rows.find('\n' + row), std::string::npos) << row << ": " << claim;
  }
}

TEST(Claims, WithoutARowAreFound) {
  const std::string rows = "\n$ examples/run\nsvgd\nhmc, 4 heads\n";
  EXPECT_TRUE(names_a_row("- **Few methods know.** `svgd` does not", rows));
  EXPECT_TRUE(names_a_row("**Few methods know.** One keeps 0.18 of it", rows));
  EXPECT_FALSE(names_a_row("**Few methods know.** `sgld` does [so](a/1.2.md), and 4 others", rows));
  EXPECT_EQ(rows_in_comment("**Few** know [so](a.md) `d`\n<!-- rows: `svgd`, `hmc, 4 heads` -->"),
            (std::set<std::string>{"svgd", "hmc, 4 heads"}));
  EXPECT_TRUE(rows_in_comment("**Few methods know.** `svgd` does").empty());
  EXPECT_EQ(
      claims("**Few methods know.** Yes.\n\n**One** word\n- **They are two words.** No\n").size(),
      2u);
}

}  // namespace
}  // namespace ladon::test
