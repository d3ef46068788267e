#include "ladon/examples/common/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "ladon/core/io/file.h"
#include "ladon/core/parallel.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// Digits after the point for a column: four significant ones of its largest number.
int digits_for(const std::vector<Row>& rows, std::size_t column) {
  double largest = 0;
  for (const Row& row : rows)
    for (const double x : {row.figures[column].second.value, row.figures[column].second.se})
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : largest > 1 ? 3 : 4;
}

bool has_errors(const std::vector<Row>& rows, std::size_t column) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    const Measured& e = row.figures[column].second;
    return std::isfinite(e.value) && !(e.se == 0);
  });
}

std::string cell(const Row& row, std::size_t column, int digits, bool with_error) {
  const Measured& e = row.figures[column].second;
  if (!std::isfinite(e.value)) return row.diverged ? "diverged" : "–";
  const auto fixed = [digits](double x) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, x);
    return std::string(text);
  };
  if (!with_error) return fixed(e.value);
  return fixed(e.value) + " ± " + (std::isfinite(e.se) ? fixed(e.se) : "–");
}

}  // namespace

Measured estimate(const std::vector<double>& repetitions) {
  const auto n = static_cast<double>(repetitions.size());
  double mean = 0, squares = 0;
  for (const double x : repetitions) mean += x / n;
  for (const double x : repetitions) squares += (x - mean) * (x - mean);
  return {mean,
          n > 1 ? std::sqrt(squares / (n - 1) / n) : std::numeric_limits<double>::quiet_NaN()};
}

std::string table(const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> cells{{"method"}};
  for (const auto& [name, value] : rows[0].figures) cells[0].push_back(name);
  for (const Row& row : rows) {
    cells.push_back({row.method});
    for (std::size_t c = 0; c < row.figures.size(); ++c)
      cells.back().push_back(cell(row, c, digits_for(rows, c), has_errors(rows, c)));
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

nlohmann::ordered_json as_json(const Measured& figure) {
  return {{"mean", figure.value}, {"se", figure.se}};
}

void write_json(const CommonOptions& options, const Report& report) {
  if (options.json.empty()) return;
  nlohmann::ordered_json all{{"example", report.example},
                             {"version", LADON_VERSION},
                             {"settings", report.settings},
                             {"threads", num_threads()},
                             {"seconds", report.seconds},
                             {"interrupted", report.interrupted},
                             {"rows", nlohmann::ordered_json::array()}};
  for (const Row& row : report.rows) {
    nlohmann::ordered_json entry{{"method", row.method}};
    for (const auto& [name, value] : row.figures) entry[name] = as_json(value);
    if (row.diverged) entry["diverged"] = true;
    all["rows"].push_back(entry);
  }
  all.update(report.more);
  write_atomically(options.json, all.dump(2) + "\n");
}

}  // namespace ladon::example
