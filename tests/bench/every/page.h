#pragma once
// Prints the result page: operations by family, the slowest relative to the peer first, and the
// rows that need a reason.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure.h"

namespace ladon::bench::every {

/// A row whose ratio (time of the peer / time of Ladon) is smaller needs a reason.
inline constexpr double least_ratio = 0.8;

/// Reasons why rows are slow, from a file of lines `row: reason`, where `row` is a shell pattern
/// (fnmatch) for whole names of rows. Empty lines and lines that begin with # are ignored.
class Reasons {
 public:
  /// Throws std::runtime_error if the file cannot be read or a line has no ": ".
  explicit Reasons(const std::string& file);
  /// The reason for a row; empty if there is none.
  std::string of(const std::string& row) const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

void print_page(const std::vector<Measured>& rows, const Reasons& reasons);
/// Rows of a JSON report, without those whose entry no longer exists. Throws nlohmann's exceptions
/// if the JSON is not a report.
std::vector<Measured> from_json(const nlohmann::json& report);
/// {"row", "family", "ours", "theirs", "ratio", "share", "peer_threads", "reason"}; null for values
/// that the row does not have.
nlohmann::json to_json(const Measured& m, const Reasons& reasons);

}  // namespace ladon::bench::every
