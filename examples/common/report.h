#pragma once
// Results as an aligned table with an explanation of each column, and as JSON.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/examples/common/statistics.h"

namespace ladon::example {

enum class Better { neither, higher, lower };

/// Description of a column.
struct Column {
  std::string name;
  std::string meaning;  ///< Explanation for a first-time reader: the quantity, its unit, the number
                        ///< of values it is taken over, and its value for random guesses.
  Better better = Better::neither;
  bool whole = false;  ///< Whole numbers, shown without digits after the point.
  bool tiny = false;   ///< Shown in scientific notation, as 1.2e-09.
};

/// One method and its numbers, one per column.
struct Row {
  std::string method;
  std::vector<Measured> figures;
  bool diverged = false;  ///< Whether its training diverged, so that figures are not finite.
};

class Table {
 public:
  /// Throws Error for a column without a meaning.
  Table(std::string of, std::vector<Column> columns);

  /// Throws Error unless the row has one figure per column.
  void add(Row row);

  const std::string& of() const { return of_; }  ///< What a row is: "method".
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Row>& rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }
  /// The table with only `count` columns, from column `first` on: wide tables are printed in parts.
  Table part(std::size_t first, std::size_t count) const;

  /// The table as text, with a header and aligned columns: "0.912 ± 0.004", or "0.912" in a column
  /// without standard errors; "–" for an unknown value, "diverged" in a row that diverged. An arrow
  /// in the header shows whether higher or lower is better.
  std::string text() const;
  /// The meanings of the columns, one line per column.
  std::string explained() const;

 private:
  std::string of_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Prints a table under the question that it answers, with its columns explained; prints nothing if
/// the table has no rows, as after an interrupt.
void print(const std::string& question, const Table& table);

/// Columns for classifiers: accuracy, negative log-likelihood (nll) and expected calibration error
/// (ece) over this many answers; `error` describes what the standard errors refer to.
std::vector<Column> classification_columns(std::int64_t answers, std::int64_t classes,
                                           const std::string& error);

/// {"mean", "se"}; null for values that are not finite.
nlohmann::ordered_json as_json(const Measured& figure);
/// {"difference", "pairs", "interval", "corrected_interval", "detectable", "decision"}
nlohmann::ordered_json as_json(const Difference& difference);

/// A table and its name in the JSON report.
struct NamedTable {
  std::string name;
  Table table;
};

/// Results of a run.
struct Report {
  std::vector<NamedTable> tables;
  bool interrupted = false;
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< More top-level entries.
};

/// {"interrupted", "tables", "rows", …}: "tables" has the name of each table and the meanings of
/// its columns; "rows" has the rows of all tables, each with the name of its "table". If there is
/// only one table, its columns are repeated as "columns". A row that diverged has "diverged": true.
nlohmann::ordered_json as_json(const Report& report);

}  // namespace ladon::example
