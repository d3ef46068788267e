#pragma once
// Pages of studies and lessons, each made by a small run of its program.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ladon::test {

/// Studies and lessons that have a page: folders with a page.js, or with a page.cpp alone where
/// several studies share a script.
std::vector<std::string> studies_with_pages();

/// Page of a study, and the report of the run that made it.
struct StudyRun {
  std::filesystem::path page;
  nlohmann::json report;
};

/// Runs a study's program, the first time that it is asked for, into a folder that lasts as long as
/// the test; of "live", which is no program, the page of the preset wasm, which may not be there.
/// Throws std::runtime_error where no settings are known, or the program fails.
const StudyRun& run_of(const std::string& study);

}  // namespace ladon::test
