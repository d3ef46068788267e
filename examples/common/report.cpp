#include "ladon/examples/common/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ladon/core/io/file.h"

namespace ladon::example {
namespace {

/// Digits after the point for a column: four significant ones of its largest number.
int digits_for(const std::vector<Row>& rows, std::size_t column) {
  double largest = 0;
  for (const Row& row : rows) {
    const Estimate& e = row.figures[column].second;
    if (!std::isnan(e.mean)) largest = std::max({largest, std::abs(e.mean), e.se});
  }
  return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : largest > 1 ? 3 : 4;
}

bool has_errors(const std::vector<Row>& rows, std::size_t column) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return row.figures[column].second.se > 0; });
}

std::string cell(const Estimate& e, int digits, bool with_error) {
  if (std::isnan(e.mean)) return "–";
  char text[64];
  if (with_error)
    std::snprintf(text, sizeof text, "%.*f ± %.*f", digits, e.mean, digits, e.se);
  else
    std::snprintf(text, sizeof text, "%.*f", digits, e.mean);
  return text;
}

/// Characters a terminal shows for UTF-8 text.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Estimate estimate(const std::vector<double>& repetitions) {
  const auto n = static_cast<double>(repetitions.size());
  double mean = 0, squares = 0;
  for (const double x : repetitions) mean += x / n;
  for (const double x : repetitions) squares += (x - mean) * (x - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1) / n) : 0};
}

std::string table(const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> cells{{"method"}};
  for (const auto& [name, value] : rows[0].figures) cells[0].push_back(name);
  for (const Row& row : rows) {
    cells.push_back({row.method});
    for (std::size_t c = 0; c < row.figures.size(); ++c)
      cells.back().push_back(
          cell(row.figures[c].second, digits_for(rows, c), has_errors(rows, c)));
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

void write_json(const std::filesystem::path& path, const std::string& example,
                const nlohmann::json& settings, double seconds, const std::vector<Row>& rows) {
  nlohmann::ordered_json report{{"example", example}, {"settings", settings}, {"seconds", seconds}};
  report["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json entry{{"method", row.method}};
    for (const auto& [name, value] : row.figures)
      entry[name] = {{"mean", value.mean}, {"se", value.se}};
    report["rows"].push_back(entry);
  }
  write_atomically(path, report.dump(2) + "\n");
}

}  // namespace ladon::example
