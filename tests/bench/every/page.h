#pragma once
// The page: families, operations with the worst first, and rows that need a reason.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure.h"

namespace ladon::bench::every {

/// A row whose ratio is below needs a reason.
inline constexpr double least_ratio = 0.8;

/// Reasons of rows: lines `row: reason`, where the row is a pattern of the shell (fnmatch) for
/// whole names. Lines that begin with # and empty ones are passed over.
class Reasons {
 public:
  /// Throws std::runtime_error where the file cannot be read or a line has no ": ".
  explicit Reasons(const std::string& file);
  /// Empty: none.
  std::string of(const std::string& row) const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

void print_page(const std::vector<Measured>& rows, const Reasons& reasons);
/// Rows of a report; those that the table has no longer are left out. Throws nlohmann's exceptions
/// for what is no report.
std::vector<Measured> from_json(const nlohmann::json& report);
/// {"row", "family", "ours", "theirs", "ratio", "share", "peer_threads", "reason"}; what a row has
/// not is null.
nlohmann::json to_json(const Measured& m, const Reasons& reasons);

}  // namespace ladon::bench::every
