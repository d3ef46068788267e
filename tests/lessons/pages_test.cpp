// The course as a whole: each lesson has all its parts, its exercises have tests, and it uses only
// the library ladon, not ladon_extra.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "ladon/tests/readme/markdown.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;
const fs::path source = LADON_SOURCE_DIR;

std::string contents(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

/// The lessons' folders, in order.
std::vector<fs::path> lessons() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(source / "examples" / "lessons"))
    if (fs::exists(entry.path() / "main.cpp")) all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

/// First groups of all matches.
std::vector<std::string> found(const std::string& text, const std::string& what) {
  const std::regex pattern(what);
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    all.push_back((*at)[1]);
  return all;
}

/// Lessons from 20 on are an appendix, without exercises.
bool in_appendix(const fs::path& lesson) { return lesson.filename().string() >= "20"; }

std::vector<std::string> exercises_of(const fs::path& lesson) {
  return found(contents(lesson / "exercises" / "exercises.h"), "\nvoid check_([a-z_0-9]+)\\(");
}

TEST(Lessons, HaveTheirParts) {
  for (const fs::path& lesson : lessons()) {
    const std::string name = lesson.filename();
    const Page page = read_page(lesson / "README.md");
    for (const std::string& part :
         {std::string("# Lesson "), std::string("*You will be able to*"),
          std::string("\n## Predict\n"), std::string("\n## Change it\n"),
          std::string("<details><summary>Answer</summary>"),
          std::string("**The belief that ends here:**"), std::string("\n## How Ladon does it\n"),
          std::string("\n## Further reading\n"), std::string("](https://"), "](" + name + ".svg)",
          "\n$ examples/run " + name + "\n"})
      EXPECT_NE(page.text.find(part), std::string::npos) << name << " lacks " << part;
    EXPECT_FALSE(std::regex_search(page.text, std::regex("</summary>\n[^\n]")))
        << name << ": without a blank line an answer is no Markdown, and shows its marks";
    EXPECT_TRUE(
        std::ranges::any_of(page.blocks, [](const Block& b) { return b.language == "cpp"; }))
        << name << " shows no code";
  }
}

// Beneath "Change it", which is where a reader begins to turn things.
TEST(Lessons, NameTheirPages) {
  for (const fs::path& lesson : lessons()) {
    if (!fs::exists(lesson / "page.js")) continue;
    const std::string number = std::to_string(std::stoi(lesson.filename().string()));
    EXPECT_NE(contents(lesson / "README.md")
                  .find("\n## Change it\n\n`examples/run " + number + " --page FILE`"),
              std::string::npos)
        << lesson;
  }
}

TEST(Lessons, SendTheirReadersToTheFirstLibrary) {
  for (const fs::path& lesson : lessons()) {
    const std::string text = contents(lesson / "README.md");
    const std::vector<std::string> cited =
        found(text, "\\]\\(\\.\\./\\.\\./\\.\\./((?:core|autograd|layers|optim)/[^)#]*)\\)");
    EXPECT_GE(cited.size(), 2u) << lesson;
    for (const std::string& file : cited)
      EXPECT_EQ(file.find("/extra/"), file.npos)
          << lesson.filename() << " cites " << file << ", which is part of ladon_extra";
  }
}

TEST(Lessons, ExercisesHaveFilesSolutionsAndTests) {
  std::string tests;
  for (const auto& entry : fs::directory_iterator(source / "tests" / "lessons"))
    if (entry.path().string().ends_with("_test.cpp")) tests += contents(entry.path());
  for (const fs::path& lesson : lessons()) {
    const std::vector<std::string> exercises = exercises_of(lesson);
    EXPECT_EQ(exercises.size(), in_appendix(lesson) ? 0u : 3u) << lesson;
    const std::string page = contents(lesson / "README.md");
    EXPECT_EQ(page.find("\n## Exercises\n") == page.npos, in_appendix(lesson)) << lesson;
    for (const std::string& exercise : exercises) {
      const fs::path file = lesson / "exercises" / (exercise + ".cpp");
      EXPECT_NE(contents(file).find("lessons::to_do("), std::string::npos) << file;
      EXPECT_TRUE(fs::exists(lesson / "exercises" / "solutions" / (exercise + ".cpp"))) << file;
      EXPECT_NE(page.find("`" + exercise + "`"), std::string::npos)
          << lesson << " lacks " << exercise;
      const std::size_t begin = tests.find("(check_" + exercise + ");");
      ASSERT_NE(begin, std::string::npos) << "no test of " << exercise;
      const std::string test = tests.substr(begin, tests.find("\nTEST(", begin) - begin);
      EXPECT_NE(test.find(".is_open(hole::" + exercise), std::string::npos) << exercise;
      EXPECT_NE(test.find(".accepts(solution::" + exercise), std::string::npos) << exercise;
      EXPECT_GE(found(test, "(\\.refuses\\()").size(), 3u) << exercise;
    }
  }
}

TEST(Lessons, PlanOfEachDoubleHourFillsIt) {
  const std::string page = contents(source / "examples" / "lessons" / "README.md");
  const std::size_t plan = page.find("| derive at the board |");
  ASSERT_NE(plan, std::string::npos);
  const std::vector<std::string> rows = found(page.substr(plan), "\n\\| [1-8] (\\| [0-9].*)");
  EXPECT_EQ(rows.size(), 8u);
  for (const std::string& row : rows) {
    int minutes = 0;
    for (const std::string& part : found(row, "\\| ([0-9]+)")) minutes += std::stoi(part);
    EXPECT_EQ(minutes, 90) << row;
    for (const std::string& exercise : found(row, "`([a-z_]+)`"))
      EXPECT_TRUE(std::ranges::any_of(lessons(), [&](const fs::path& lesson) {
        return fs::exists(lesson / "exercises" / (exercise + ".cpp"));
      })) << exercise;
  }
}

// They are linked into one program, where two types of one name would be taken for one.
TEST(Lessons, TypesOfExercisesHaveNamesOfTheirOwn) {
  std::set<std::string> types;
  for (const fs::path& lesson : lessons())
    for (const std::string& type : found(contents(lesson / "exercises" / "exercises.h"),
                                         "\n(?:struct|class|enum class) ([A-Za-z]+)"))
      EXPECT_TRUE(types.insert(type).second) << lesson.filename() << ": " << type;
}

}  // namespace
}  // namespace ladon::test
