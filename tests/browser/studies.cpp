#include "ladon/tests/browser/studies.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "ladon/tests/examples/program.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::test {

namespace fs = std::filesystem;

namespace {

/// Options of a run of a second or two that has all that the page shows, by study.
const std::map<std::string, std::string> settings = {
    {"gaussian_outputs", "--heads 1,2,8 --width 16 --draws 200 --scaling sqrt"},
    {"moving_particles",
     "--targets gaussian,modes,ring,banana,funnel --seeds 1 --steps 20 --particles 12"},
    {"posterior",
     "--draws 1 --heads 1,4,16 --steps 4 --members 3 --particles 20 --methods "
     "hmc,svgd,ensemble,prior"},
    {"heads_apart", "--seeds 1 --epochs 2 --dim 8 --heads 4 --methods plain,svgd"},
    {"translate", "--pairs 60 --layers 1 --dim 16 --batch 8 --steps 6 --every 6 --beams 2"},
    {"char_gpt",
     "--layers 2 --heads 2 --dim 16 --context 16 --batch 2 --steps 4 --every 4 --sample 20"},
    {"llama",
     "--kv-heads 1,2 --heads 2 --layers 2 --dim 16 --tokens 260 --context 24 --batch 2 --steps 4 "
     "--length 8 --again 8"},
};

/// Options for a study's run; a lesson has none, and needs none.
std::string settings_of(const std::string& study) {
  if (fs::exists(LADON_SOURCE_DIR "/examples/lessons/" + study)) return "";
  const auto known = settings.find(study);
  if (known == settings.end())
    throw std::runtime_error("examples/" + study +
                             " has a page, and no settings in tests/browser/studies.cpp");
  return known->second;
}

StudyRun made(const std::string& study, const fs::path& folder) {
  fs::create_directory(folder);
  const std::string at = folder.string() + "/";
  const std::string command = std::string(LADON_EXAMPLES_DIR) + "/" + study + " " +
                              settings_of(study) + " --out " + at + "out --json " + at +
                              "report.json --page " + at + "page.html >" + at + "said 2>&1";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error(command + "\n" + contents(folder / "said"));
  return {folder / "page.html", nlohmann::json::parse(contents(folder / "report.json"))};
}

}  // namespace

std::vector<std::string> studies_with_pages() {
  std::vector<std::string> names;
  for (const char* folder : {"/examples", "/examples/lessons"})
    for (const auto& entry : fs::directory_iterator(LADON_SOURCE_DIR + std::string(folder)))
      if (fs::exists(entry.path() / "page.js") || fs::exists(entry.path() / "page.cpp"))
        names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

const StudyRun& run_of(const std::string& study) {
  static const StudyRun live{LADON_LIVE_PAGE, {}};
  if (study == "live") return live;
  static const TemporaryFolder folder;
  static std::map<std::string, StudyRun> runs;
  if (!runs.contains(study)) runs.emplace(study, made(study, folder / study));
  return runs.at(study);
}

}  // namespace ladon::test
