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

/// Runs a study's program with --page when it is first called for the study; later calls return the
/// same page, which exists until the test program ends. For "live", which has no program, returns
/// the page that the preset wasm builds, which may not exist. Throws std::runtime_error if no
/// settings of the study are known, or if its program fails.
const StudyRun& run_of(const std::string& study);

}  // namespace ladon::test
