#include "page.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ladon::bench::every {
namespace {

std::string text(const char* format, double x) {
  char line[32];
  std::snprintf(line, sizeof line, format, x);
  return line;
}

std::string time_text(double seconds) {
  if (seconds == 0) return "-";
  return seconds < 1e-3 ? text("%.3g us", seconds * 1e6) : text("%.3g ms", seconds * 1e3);
}

/// A ratio, or with % the share of the machine where there is no peer.
std::string figure(const Measured& m) {
  if (m.theirs > 0) return text(m.ratio() < 9.95 ? "%.2f" : "%.0f", m.ratio());
  return m.share > 0 ? text("%.0f%%", 100 * m.share) : "-";
}

/// Place of a row among the twelve of its entry.
std::size_t column(const Row& row) {
  return std::size_t(int(row.size) * 4 + row.gradient * 2 + (row.dtype == f64));
}

struct Line {
  const Entry* entry = nullptr;
  std::string cells[12];
  double worst = std::numeric_limits<double>::infinity();  ///< Ratio.
  double least_share = std::numeric_limits<double>::infinity();
};

std::vector<Line> lines_of(const std::vector<Measured>& rows) {
  std::vector<Line> lines;
  for (const Measured& m : rows) {
    if (lines.empty() || lines.back().entry != m.row.entry)
      lines.emplace_back().entry = m.row.entry;
    Line& line = lines.back();
    line.cells[column(m.row)] = figure(m);
    if (m.theirs > 0) line.worst = std::min(line.worst, m.ratio());
    if (m.theirs == 0 && m.share > 0) line.least_share = std::min(line.least_share, m.share);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.worst != b.worst ? a.worst < b.worst : a.least_share < b.least_share;
  });
  return lines;
}

void print_lines(const std::vector<Measured>& rows) {
  std::printf("\n%-44s %-23s %-23s %-23s\n%-44s", "their time over ours", "small", "medium",
              "large", "");
  for (int i = 0; i < 3; ++i) std::printf(" %-11s %-11s", "forward", "gradient");
  std::printf("\n%-44s", "");
  for (int i = 0; i < 6; ++i) std::printf(" %5s %5s", "f32", "f64");
  std::printf("\n");
  for (const Line& line : lines_of(rows)) {
    std::printf("%-44s", line.entry->name.c_str());
    for (const std::string& cell : line.cells) std::printf(" %5s", cell.c_str());
    std::printf("\n");
  }
}

void print_families(const std::vector<Measured>& rows) {
  struct Family {
    int rows = 0, peers = 0, below = 0;
    double logs = 0;
    void add(const Measured& m) {
      ++rows;
      if (m.theirs == 0) return;
      ++peers;
      below += m.ratio() < least_ratio;
      logs += std::log(m.ratio());
    }
  };
  std::vector<std::pair<std::string, Family>> families;
  Family all;
  for (const Measured& m : rows) {
    if (families.empty() || families.back().first != m.row.entry->family)
      families.push_back({m.row.entry->family, {}});
    families.back().second.add(m);
    all.add(m);
  }
  families.push_back({"all", all});
  std::printf("\n%-24s %6s %10s %10s %15s\n", "family", "rows", "with peer", "below 0.8",
              "geometric mean");
  for (const auto& [name, f] : families) {
    const std::string mean = f.peers > 0 ? text("%.2f", std::exp(f.logs / f.peers)) : "-";
    std::printf("%-24s %6d %10d %10d %15s\n", name.c_str(), f.rows, f.peers, f.below, mean.c_str());
  }
}

void print_below(std::vector<Measured> rows, const Reasons& reasons) {
  std::erase_if(rows, [](const Measured& m) { return m.theirs == 0 || m.ratio() >= least_ratio; });
  std::sort(rows.begin(), rows.end(),
            [](const Measured& a, const Measured& b) { return a.ratio() < b.ratio(); });
  std::printf("\n%-56s %9s %9s %5s %5s  %s\n", "rows below 0.8", "ours", "theirs", "ratio", "share",
              "reason");
  int missing = 0;
  for (const Measured& m : rows) {
    const std::string reason = reasons.of(m.row.name());
    missing += reason.empty();
    std::printf("%-56s %9s %9s %5.2f %5s  %s\n", m.row.name().c_str(), time_text(m.ours).c_str(),
                time_text(m.theirs).c_str(), m.ratio(),
                m.share > 0 ? text("%.0f%%", 100 * m.share).c_str() : "-",
                reason.empty() ? "MISSING" : reason.c_str());
  }
  std::printf("%d rows below 0.8, %d of them without a reason\n", int(rows.size()), missing);
}

}  // namespace

Reasons::Reasons(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) throw std::runtime_error(file + ": no \": \" in " + line);
    lines_.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
}

std::string Reasons::of(const std::string& row) const {
  for (const auto& [pattern, reason] : lines_)
    if (fnmatch(pattern.c_str(), row.c_str(), 0) == 0) return reason;
  return {};
}

void print_page(const std::vector<Measured>& rows, const Reasons& reasons) {
  print_families(rows);
  print_lines(rows);
  print_below(rows, reasons);
}

std::vector<Measured> from_json(const nlohmann::json& report) {
  std::map<std::string, nlohmann::json> lines;
  for (const nlohmann::json& line : report.at("rows")) lines[line.at("row")] = line;
  const auto number = [](const nlohmann::json& x) { return x.is_null() ? 0 : x.get<double>(); };
  std::vector<Measured> rows;
  for (const Row& row : every_row())
    if (const auto found = lines.find(row.name()); found != lines.end()) {
      const nlohmann::json& line = found->second;
      rows.push_back({row, line.at("ours"), number(line.at("theirs")),
                      int(number(line.at("peer_threads"))), number(line.at("share"))});
    }
  return rows;
}

nlohmann::json to_json(const Measured& m, const Reasons& reasons) {
  nlohmann::json line = {{"row", m.row.name()}, {"family", m.row.entry->family}, {"ours", m.ours}};
  for (const char* name : {"theirs", "ratio", "share", "peer_threads", "reason"})
    line[name] = nullptr;
  if (m.theirs > 0) {
    line["theirs"] = m.theirs;
    line["ratio"] = m.ratio();
    line["peer_threads"] = m.peer_threads;
  }
  if (m.share > 0) line["share"] = m.share;
  if (const std::string reason = reasons.of(m.row.name()); !reason.empty()) line["reason"] = reason;
  return line;
}

}  // namespace ladon::bench::every
