#pragma once
// Results as an aligned table and as JSON.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ladon::example {

/// A figure and its standard error: of a mean over repetitions (0 for one), or by a sample's size.
struct Estimate {
  double mean = 0, se = 0;
};
Estimate estimate(const std::vector<double>& repetitions);

/// One method and its figures, in the order of the table's columns.
struct Row {
  std::string method;
  std::vector<std::pair<std::string, Estimate>> figures;
};

/// Rows under a header, columns aligned: "0.912 ± 0.004", or "0.912" in a column without errors.
/// Every row has the same figures.
std::string table(const std::vector<Row>& rows);

/// Writes {"example", "settings", "seconds", "rows"}, beside and then renamed.
void write_json(const std::filesystem::path& path, const std::string& example,
                const nlohmann::json& settings, double seconds, const std::vector<Row>& rows);

}  // namespace ladon::example
