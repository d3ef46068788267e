// The index of headers (examples/INDEX.md): every installed header is listed once, and the names in
// a row are declared in its headers and used in its example.

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ladon/core/io/file.h"
#include "ladon/tests/readme/markdown.h"
#include "ladon/tests/sources.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;
const fs::path source = LADON_SOURCE_DIR;

const std::map<std::string, std::string>& texts() {
  static const std::map<std::string, std::string> all = sources();
  return all;
}

/// The headers that the installation's roots reach (core/cmake/packages.cmake).
std::vector<std::string> installed_headers() {
  const std::string script = read_file((source / "core/cmake/packages.cmake").string());
  std::vector<std::string> reached;
  for (const std::string& roots : matches(script, "set\\(ROOTS ([^)]*)\\)")) {
    std::istringstream words(roots);
    for (std::string word; words >> word;) reached.push_back(word);
  }
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const std::string& next : matches(texts().at(reached[i]), "#include \"ladon/([^\"]*)\""))
      if (std::find(reached.begin(), reached.end(), next) == reached.end()) reached.push_back(next);
  return reached;
}

/// The words of a text, as identifiers are.
std::set<std::string> words(const std::string& text) {
  std::set<std::string> all;
  std::string word;
  for (const char c : text + ' ')
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
    } else {
      all.insert(word);
      word.clear();
    }
  return all;
}

/// A name of namespace ladon, or a::name.
struct Name {
  std::string space, name;
  explicit Name(const std::string& text)
      : space("ladon"), name(text.substr(text.rfind(':') + 1)) {  // (npos + 1 is 0)
    if (name != text) space = text.substr(0, text.find(':'));
  }
  /// Whether a header has the word, and opens the namespace.
  bool is_in(const std::string& header) const {
    const std::string& text = texts().at(header);
    return words(text).contains(name) && (text.find("namespace " + space + " {") != text.npos ||
                                          text.find("::" + space + " {") != text.npos);
  }
};

const std::string header_link = "\\]\\(\\.\\./([^)]*\\.h)\\)";

TEST(Index, HasEveryInstalledHeaderOnce) {
  const Page index = read_page(source / "examples/INDEX.md");
  std::map<std::string, int> count;
  for (const std::string& header : matches(index.text, header_link)) ++count[header];
  const std::vector<std::string> headers = installed_headers();
  EXPECT_FALSE(headers.empty());
  for (const std::string& header : headers) {
    EXPECT_EQ(count[header], 1) << header;
    count.erase(header);
  }
  for (const auto& [header, times] : count) ADD_FAILURE() << header << " is not installed";
}

TEST(Index, RowsNameWhatTheirHeadersDeclareAndTheirExamplesUse) {
  const Page index = read_page(source / "examples/INDEX.md");
  const std::regex row("\\| [^|]+ \\| ([^|]+) \\| ([^|]*)\\| \\[[^|]*\\]\\(([^)]+)\\) \\|");
  std::istringstream lines(index.text);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| I want")) continue;
    ++rows;
    std::smatch cells;
    ASSERT_TRUE(std::regex_match(line, cells, row)) << line;
    const std::vector<std::string> headers = matches(cells[1], header_link),
                                   names = matches(cells[2], "`([^`]+)`");
    const std::string example = read_file((source / "examples" / cells.str(3)).string());
    const std::set<std::string> in_example = words(example);
    std::set<std::string> declaring;
    bool used = names.empty() && example.find("ladon/" + headers[0]) != example.npos;
    for (const std::string& text : names) {
      const Name name(text);
      bool declared = false;
      for (const std::string& header : headers)
        if (name.is_in(header)) {
          declared = true;
          declaring.insert(header);
        }
      EXPECT_TRUE(declared) << text << ": " << line;
      used = used || in_example.contains(name.name);
    }
    for (const std::string& header : headers)
      EXPECT_TRUE(names.empty() || declaring.contains(header))
          << header << " has nothing of: " << line;
    EXPECT_TRUE(used) << "the example uses nothing of: " << line;
  }
  EXPECT_GT(rows, 0);
}

// The table for those who come from PyTorch: each function and type that is called in it.
TEST(Index, NamesBesidePyTorchsAreDeclared) {
  const std::string card = read_page(source / "layers/README.md").text;
  std::set<std::string> declared;
  for (const auto& [path, text] : texts())
    if (path.ends_with(".h")) declared.merge(words(text));
  const std::size_t begin = card.find("\n| PyTorch | Ladon |");
  ASSERT_NE(begin, card.npos);
  std::istringstream lines(card.substr(begin, card.find("\n\n", begin) - begin));
  int names = 0;
  for (std::string line; std::getline(lines, line);)
    for (const std::string& cell : matches(line, "^\\| [^|]+ \\| ([^|]+) \\|"))
      for (const std::string& code : matches(cell, "`([^`]+)`"))
        for (const std::string& name : matches(code, "\\b([A-Za-z_][A-Za-z_0-9]*)(?=\\(|$)")) {
          ++names;
          EXPECT_TRUE(declared.contains(name)) << name << ": " << line;
        }
  EXPECT_GT(names, 0);
}

}  // namespace
}  // namespace ladon::test
