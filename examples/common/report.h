#pragma once
// Results as an aligned table that explains itself, and as JSON.

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
  std::string
      meaning;  ///< For one who sees it for the first time: unit, chance level, of how many.
  Better better = Better::neither;
  bool whole = false;  ///< Whole numbers, shown without digits after the point.
  bool tiny = false;   ///< Shown as 1.2e-09.
};

/// One method and its figures, a column each.
struct Row {
  std::string method;
  std::vector<Measured> figures;
  bool diverged = false;  ///< Its training ran away: figures that are not finite say so.
};

class Table {
 public:
  /// Throws Error for a column without a meaning.
  Table(std::string of, std::vector<Column> columns);

  /// Throws Error unless the row has a figure a column.
  void add(Row row);

  const std::string& of() const { return of_; }  ///< Name of the rows: "method".
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Row>& rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }
  /// Some of the columns: a wide table is read in parts.
  Table part(std::size_t first, std::size_t count) const;

  /// Rows under a header, columns aligned: "0.912 ± 0.004", or "0.912" in a column without errors;
  /// "–" for what is not known, "diverged" in a row that did. An arrow shows which way is better.
  std::string text() const;
  /// A line for each column: what it means.
  std::string explained() const;

 private:
  std::string of_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Prints a table under the question that it answers, with its columns explained; nothing for a
/// table without rows, as an interrupt leaves it.
void print(const std::string& question, const Table& table);

/// Figures of every classifier: accuracy, nll and ece, of so many answers; `error` says
/// what their standard errors are of.
std::vector<Column> classification_columns(std::int64_t answers, std::int64_t classes,
                                           const std::string& error);

/// {"mean", "se"}; null for what is not finite.
nlohmann::ordered_json as_json(const Measured& figure);
/// {"difference", "pairs", "interval", "corrected_interval", "detectable", "decision"}
nlohmann::ordered_json as_json(const Difference& difference);

/// A table, and its name in the JSON report.
struct NamedTable {
  std::string name;
  Table table;
};

/// Findings of a run.
struct Report {
  std::vector<NamedTable> tables;
  bool interrupted = false;
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< Set beside the rows.
};

/// {"interrupted", "tables", "rows", …}: "tables" holds the name of each table and what its columns
/// mean; "rows" those of all tables, each with its "table". One table's columns are told once more
/// as "columns". A row that diverged has "diverged": true.
nlohmann::ordered_json as_json(const Report& report);

}  // namespace ladon::example
