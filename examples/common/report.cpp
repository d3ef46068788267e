#include "ladon/examples/common/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// Number of digits after the decimal point in a column: so many that its largest number has four
/// significant digits, but at most 4. A column in scientific notation has 1, whole numbers 0.
int digits_for(const Column& of, const std::vector<Row>& rows, std::size_t column) {
  if (of.whole) return 0;
  if (of.tiny) return 1;
  double largest = 0;
  for (const Row& row : rows)
    for (const double x : {row.figures[column].value, row.figures[column].se})
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : largest > 1 ? 3 : 4;
}

bool has_errors(const std::vector<Row>& rows, std::size_t column) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    const Measured& e = row.figures[column];
    return std::isfinite(e.value) && !(e.se == 0);
  });
}

std::string cell(const Column& of, const Row& row, std::size_t column, int digits,
                 bool with_error) {
  const Measured& e = row.figures[column];
  if (!std::isfinite(e.value)) return row.diverged ? "diverged" : "–";
  const auto fixed = [&](double x) {
    char text[64];
    std::snprintf(text, sizeof text, of.tiny ? "%.*e" : "%.*f", digits, x);
    return std::string(text);
  };
  if (!with_error) return fixed(e.value);
  return fixed(e.value) + " ± " + (std::isfinite(e.se) ? fixed(e.se) : "–");
}

/// The column's name, with an arrow if one direction is better.
std::string header(const Column& column) {
  return column.name + (column.better == Better::higher  ? " ↑"
                        : column.better == Better::lower ? " ↓"
                                                         : "");
}

nlohmann::ordered_json as_json(const std::vector<Column>& columns) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const Column& column : columns)
    all[column.name] = {{"meaning", column.meaning},
                        {"better", column.better == Better::higher  ? "higher"
                                   : column.better == Better::lower ? "lower"
                                                                    : "neither"}};
  return all;
}

}  // namespace

Table::Table(std::string of, std::vector<Column> columns)
    : of_(std::move(of)), columns_(std::move(columns)) {
  for (const Column& column : columns_)
    LADON_CHECK(!column.meaning.empty(), "Table", "the column ", column.name,
                " has an empty meaning; say what it means");
}

void Table::add(Row row) {
  LADON_CHECK(row.figures.size() == columns_.size(), "Table", "the row ", row.method, " has ",
              row.figures.size(), " figures, but must have one for each of ", columns_.size(),
              " columns");
  rows_.push_back(std::move(row));
}

Table Table::part(std::size_t first, std::size_t count) const {
  const auto cut = [=](const auto& all) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector(from, from + static_cast<std::ptrdiff_t>(count));
  };
  Table some(of_, cut(columns_));
  for (const Row& row : rows_) some.add({row.method, cut(row.figures), row.diverged});
  return some;
}

std::string Table::text() const {
  if (rows_.empty()) return "";
  std::vector<std::vector<std::string>> cells{{of_}};
  for (const Column& column : columns_) cells[0].push_back(header(column));
  for (const Row& row : rows_) {
    cells.push_back({row.method});
    for (std::size_t c = 0; c < columns_.size(); ++c)
      cells.back().push_back(
          cell(columns_[c], row, c, digits_for(columns_[c], rows_, c), has_errors(rows_, c)));
  }
  std::vector<std::size_t> widths(cells[0].size(), 0);
  for (const auto& line : cells)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width(line[c]));
  std::string text;
  for (const auto& line : cells) {
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::string gap(widths[c] - width(line[c]), ' ');
      text += c == 0 ? line[c] + gap : "  " + gap + line[c];
    }
    text += '\n';
  }
  return text;
}

std::string Table::explained() const {
  constexpr std::size_t columns = 100;
  std::size_t names = 0;
  for (const Column& column : columns_) names = std::max(names, width(header(column)));
  std::string text;
  for (const Column& column : columns_) {
    const std::string name = header(column);
    text += name + std::string(names - width(name) + 2, ' ') +
            wrapped(column.meaning, columns, names + 2) + '\n';
  }
  return text;
}

void print(const std::string& question, const Table& table) {
  if (!table.empty())
    std::cout << '\n' << question << '\n' << table.text() << '\n' << table.explained();
}

std::vector<Column> classification_columns(std::int64_t answers, std::int64_t classes,
                                           const std::string& error) {
  const auto c = static_cast<double>(classes);
  return {{"accuracy",
           join("share of the ", answers, " test answers that are right; guessing gives ", 1 / c,
                error),
           Better::higher},
          {"nll",
           join("mean of -log p(right answer), in nats: sees how sure a model is, too; guessing "
                "gives ",
                std::log(c), error),
           Better::lower},
          {"ece",
           "expected calibration error: by how much confidence and share of right answers differ, "
           "mean over 15 bins of confidence; 0 where they agree",
           Better::lower}};
}

nlohmann::ordered_json as_json(const Measured& figure) {
  return {{"mean", figure.value}, {"se", figure.se}};
}

nlohmann::ordered_json as_json(const Difference& d) {
  return {{"difference", as_json(d.mean)},
          {"pairs", d.pairs},
          {"interval", d.interval},
          {"corrected_interval", d.corrected},
          {"detectable", d.detectable},
          {"decision", d.decision == Decision::unclear  ? "unclear"
                       : d.decision == Decision::higher ? "higher"
                                                        : "lower"}};
}

nlohmann::ordered_json as_json(const Report& report) {
  auto tables = nlohmann::ordered_json::array(), rows = nlohmann::ordered_json::array();
  for (const auto& [name, table] : report.tables) {
    tables.push_back({{"name", name}, {"columns", as_json(table.columns())}});
    for (const Row& row : table.rows()) {
      nlohmann::ordered_json entry{{"table", name}, {"method", row.method}};
      for (std::size_t c = 0; c < row.figures.size(); ++c)
        entry[table.columns()[c].name] = as_json(row.figures[c]);
      if (row.diverged) entry["diverged"] = true;
      rows.push_back(entry);
    }
  }
  nlohmann::ordered_json all{{"interrupted", report.interrupted}, {"tables", tables}};
  if (tables.size() == 1) all["columns"] = tables[0].at("columns");
  all["rows"] = rows;
  all.update(report.more);
  return all;
}

}  // namespace ladon::example
