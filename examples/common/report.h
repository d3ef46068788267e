#pragma once
// Results as an aligned table and as JSON.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/examples/common/cli.h"

namespace ladon::example {

/// The mean of what is repeated, and its standard error, which is not known from one repetition.
Measured estimate(const std::vector<double>& repetitions);

/// One method and its figures, in the order of the table's columns.
struct Row {
  std::string method;
  std::vector<std::pair<std::string, Measured>> figures;
  bool diverged = false;  ///< Its training ran away: figures that are not finite say so.
};

/// Rows under a header, columns aligned: "0.912 ± 0.004", or "0.912" in a column without errors;
/// "–" for what is not known, "diverged" in a row that did. Every row has the same figures.
std::string table(const std::vector<Row>& rows);

/// {"mean", "se"}; null for what is not finite.
nlohmann::ordered_json as_json(const Measured& figure);

/// What a run found.
struct Report {
  std::string example;
  nlohmann::json settings;
  double seconds = 0;
  std::vector<Row> rows;
  bool interrupted = false;
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< Set beside the rows.
};

/// Writes {"example", "version", "settings", "threads", "seconds", "interrupted", "rows", …} to
/// --json, beside and then renamed; nothing without it. A row that diverged has "diverged": true.
void write_json(const CommonOptions& options, const Report& report);

}  // namespace ladon::example
