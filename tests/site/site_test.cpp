// The site (examples/run site): every page of the tree is on it, and every link leads to something
// on it. Without pandoc it cannot be built, and nothing is tested.

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "ladon/tests/support.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;

const fs::path source = LADON_SOURCE_DIR;

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
}

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Values of an attribute in HTML.
std::set<std::string> values(const std::string& html, const std::string& attribute) {
  std::set<std::string> found;
  const std::string begin = ' ' + attribute + "=\"";
  for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at)) {
    at += begin.size();
    found.insert(html.substr(at, html.find('"', at) - at));
  }
  return found;
}

class Site : public testing::Test {
 protected:
  void SetUp() override {
    if (!installed("pandoc")) GTEST_SKIP() << "pandoc, which makes the site, is not installed";
    const std::string script = "set -euo pipefail; root='" + source.string() +
                               "'; source \"$root/examples/common/site\"; turned() { :; }; site '" +
                               std::string(LADON_BUILD_DIR) + "' '" + site_.string() + "'";
    ASSERT_EQ(std::system(("bash -c '" + std::regex_replace(script, std::regex("'"), "'\\''") +
                           "' >" + (folder_ / "said").string() + " 2>&1")
                              .c_str()),
              0)
        << contents(folder_ / "said");
  }

  /// Pages but those of the reference, whose links are its tool's.
  std::map<fs::path, std::string> pages() const {
    std::map<fs::path, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(site_))
      if (entry.path().extension() == ".html" &&
          *fs::relative(entry.path(), site_).begin() != "reference")
        all[entry.path()] = contents(entry.path());
    return all;
  }

  TemporaryFolder folder_;
  const fs::path site_ = folder_ / "site";
};

TEST_F(Site, HasEveryPageAndNoBrokenLink) {
  const std::map<fs::path, std::string> all = pages();
  int markdown = 0, links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source / "examples"))
    markdown += entry.path().extension() == ".md";
  EXPECT_GT(std::ssize(all), markdown);
  const std::regex elsewhere("^[a-z]+:");
  for (const auto& [path, html] : all) {
    std::set<std::string> targets = values(html, "href");
    targets.merge(values(html, "src"));
    for (const std::string& target : targets) {
      if (std::regex_search(target, elsewhere)) continue;
      const std::size_t mark = target.find('#');
      const fs::path place =
          mark == 0 ? path : (path.parent_path() / target.substr(0, mark)).lexically_normal();
      if (place.string().find("/reference/") != std::string::npos && !installed("doxygen"))
        continue;
      ++links;
      EXPECT_TRUE(fs::is_regular_file(place)) << path << ": " << target;
      if (mark == std::string::npos || !all.contains(place)) continue;
      EXPECT_TRUE(values(all.at(place), "id").contains(target.substr(mark + 1)))
          << path << ": " << target;
    }
  }
  EXPECT_GT(links, 1000);
}

}  // namespace
}  // namespace ladon::test
