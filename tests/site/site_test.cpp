// The web site that `examples/run site` builds: it contains every page of the sources, and every
// link leads to something on the site. It needs pandoc; without it nothing is tested.

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "ladon/core/io/file.h"
#include "ladon/tests/support.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;

const fs::path source = LADON_SOURCE_DIR;

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
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
  }

  /// Builds the site; the pages of a lesson and of a study are made by stand-ins, which take no
  /// time. Returns the exit status.
  int build() const {
    const fs::path programs = folder_ / "build/examples";
    fs::create_directories(programs);
    if (!fs::exists(programs / "slides"))
      fs::create_symlink(LADON_BUILD_DIR "/examples/slides", programs / "slides");
    for (const char* name : {"11_noise", "gaussian_outputs"}) {
      std::ofstream(programs / name)
          << "#!/bin/sh\necho '<!DOCTYPE html><title>Message of " << name << "</title>' >\"$4\"\n";
      fs::permissions(programs / name, fs::perms::owner_all);
    }
    std::ofstream(folder_ / "build.sh")
        << "set -euo pipefail\nroot='" << source.string()
        << "'\nsource \"$root/examples/common/site\"\nturned() { echo examples/lessons/11_noise "
           "examples/gaussian_outputs; }\nsite '"
        << (folder_ / "build").string() << "' '" << site_.string() << "'\n";
    return std::system(
        ("bash " + (folder_ / "build.sh").string() + " >" + (folder_ / "said").string() + " 2>&1")
            .c_str());
  }
  std::string said() const { return read_file((folder_ / "said").string()); }

  /// Pages but those of the reference, whose links are its tool's.
  std::map<fs::path, std::string> pages() const {
    std::map<fs::path, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(site_))
      if (entry.path().extension() == ".html" &&
          *fs::relative(entry.path(), site_).begin() != "reference")
        all[entry.path()] = read_file(entry.path().string());
    return all;
  }

  /// Each section that the search knows is there.
  void expect_sections(const std::map<fs::path, std::string>& all) const {
    std::set<std::string> places;
    std::istringstream script(read_file((site_ / "search.js").string()));
    for (std::string line; std::getline(script, line) && line != "];";) {
      if (line.starts_with("const")) continue;
      const auto section = nlohmann::json::parse(line.substr(0, line.size() - 1));
      const auto place = section.at(0).get<std::string>();
      const std::size_t mark = place.find('#');
      const fs::path page = site_ / place.substr(0, mark);
      ASSERT_TRUE(all.contains(page)) << place;
      EXPECT_TRUE(values(all.at(page), "id").contains(place.substr(mark + 1))) << place;
      EXPECT_FALSE(section.at(2).get<std::string>().empty()) << place;
      places.insert(place);
    }
    EXPECT_FALSE(places.empty());
    EXPECT_TRUE(places.contains("examples/GLOSSARY.html#nngp-neural-network-gaussian-process"));
  }

  /// Place that the search finds first.
  std::string first_found(const std::string& words) const {
    const fs::path shown = folder_ / "shown.html";
    const std::string browser = "chromium --headless --no-sandbox --disable-gpu --user-data-dir=" +
                                (folder_ / "profile").string() + " --dump-dom";
    EXPECT_EQ(std::system((browser + " 'file://" + site_.string() + "/search.html#" + words +
                           "' >" + shown.string() + " 2>/dev/null")
                              .c_str()),
              0);
    const std::string html = read_file(shown.string()), begin = "<li><a href=\"";
    const std::size_t at = html.find(begin) + begin.size();
    return html.substr(at, html.find('"', at) - at);
  }

  TemporaryFolder folder_;
  const fs::path site_ = folder_ / "site";
};

TEST_F(Site, HasEveryPageNoBrokenLinkAndASearch) {
  ASSERT_EQ(build(), 0) << said();
  const std::map<fs::path, std::string> all = pages();
  for (const char* floor : {"core", "autograd", "layers", "optim", "tests", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(source / floor)) {
      if (entry.path().extension() != ".md") continue;
      fs::path page = site_ / fs::relative(entry.path(), source);
      page.replace_filename(page.stem() == "README" ? "index.html"
                                                    : page.stem().string() + ".html");
      EXPECT_TRUE(all.contains(page)) << page;
    }
  EXPECT_TRUE(all.contains(site_ / "github/CONTRIBUTING.html"));
  // Pages and slides set formulas in one font for mathematics.
  const std::string font = read_file(source / "examples/common/page/math.css");
  ASSERT_NE(font.find("\"STIX Two Math\""), std::string::npos);
  for (const char* page : {"examples/lessons/03_one_head/index.html", "slides.html"})
    EXPECT_NE(all.at(site_ / page).find(font), std::string::npos) << page;
  for (const char* folder : {"examples/gaussian_outputs", "examples/lessons/11_noise"})
    EXPECT_TRUE(values(all.at(site_ / folder / "index.html"), "href").contains("page.html"));
  const std::string& list = all.at(site_ / "turned.html");
  EXPECT_LT(list.find("Message of 11_noise"), list.find("Message of gaussian_outputs"));
  EXPECT_NE(list.find("Message of gaussian_outputs"), std::string::npos);
  int links = 0;
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
  EXPECT_GT(links, 0);
  expect_sections(all);
  if (installed("chromium")) {
    EXPECT_EQ(first_found("without%20ONETBB"),
              "tests/bench/index.html#without-openblas-and-onetbb");
  }
}

// It is built in place of an older site, and of nothing else.
TEST_F(Site, ReplacesNoFolderOfSomebodys) {
  fs::create_directory(site_);
  std::ofstream(site_ / "thesis.txt") << "years";
  EXPECT_NE(build(), 0);
  EXPECT_NE(said().find("is not a site"), std::string::npos) << said();
  EXPECT_EQ(read_file((site_ / "thesis.txt").string()), "years");
}

}  // namespace
}  // namespace ladon::test
