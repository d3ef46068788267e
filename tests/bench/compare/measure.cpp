#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "../machine.h"

namespace ladon::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> calls(const std::function<void()>& before, const std::function<void()>& work) {
  for (int i = 0; i < 2; ++i) {
    before();
    work();
  }
  std::vector<double> seconds;
  const auto begin = Clock::now();
  while (seconds.size() < 7 || seconds_since(begin) < 0.1) {
    before();
    const auto start = Clock::now();
    work();
    seconds.push_back(seconds_since(start));
  }
  return seconds;
}

Times summary(const std::vector<std::vector<double>>& rounds) {
  std::vector<double> all;
  double slowest = 0;
  for (const std::vector<double>& round : rounds) {
    all.insert(all.end(), round.begin(), round.end());
    slowest = std::max(slowest, median(round));
  }
  return {median(all), *std::min_element(all.begin(), all.end()), slowest};
}

/// Seconds of a call in the row's unit.
double figure(const Row& row, double seconds) {
  switch (row.unit) {
    case Unit::gflops:
      return row.amount / seconds * 1e-9;
    case Unit::milliseconds:
      return seconds / row.amount * 1e3;
    case Unit::microseconds:
      return seconds / row.amount * 1e6;
  }
  return 0;
}

const char* unit_name(Unit unit) {
  return unit == Unit::gflops ? "GF/s" : unit == Unit::milliseconds ? "ms" : "us";
}

double goal_of(const Row& row, int threads) {
  return threads <= int(row.goal.size()) ? row.goal[std::size_t(threads - 1)] : 0;
}

bool met(const Row& row, double goal, const Measured& m) {
  const double ours = figure(row, m.ours.median);
  return row.unit == Unit::gflops ? ours >= goal : ours <= goal;
}

const char* ceiling_name(Ceiling ceiling) {
  const char* const names[] = {"", "fma", "dgemm", "memory"};
  return names[int(ceiling)];
}

/// The share of what the machine reaches at most; 0: nothing to compare with.
double share(const Row& row, int threads, const Measured& m) {
  const double speed = row.needed / m.ours.median * 1e-9;
  switch (row.ceiling) {
    case Ceiling::fma:
      return speed / peak_gflops(threads);
    case Ceiling::dgemm:
      return speed / dgemm_gflops(threads);
    case Ceiling::memory:
      return speed / memory_gbytes(threads);
    case Ceiling::none:
      break;
  }
  return 0;
}

/// "12.3 (12.1…12.6)", or "-" without times.
std::string text(const Row& row, const Times& t) {
  if (t.median == 0) return "-";
  char line[64];
  std::snprintf(line, sizeof line, "%.4g (%.4g..%.4g)", figure(row, t.median),
                figure(row, t.fastest), figure(row, t.slowest_round));
  return line;
}

}  // namespace

Measured measure(const Sides& sides, int threads, int rounds) {
  std::vector<int> peer_threads;
  if (sides.theirs) peer_threads = threads > 1 ? std::vector{threads, 1} : std::vector{1};
  std::vector<std::vector<double>> ours;
  std::map<int, std::vector<std::vector<double>>> theirs;
  for (int round = 0; round < rounds; ++round) {
    give_ours(threads);
    ours.push_back(calls(sides.before_ours, sides.ours));
    for (const int n : peer_threads) {
      give_theirs(n);
      theirs[n].push_back(calls([] {}, sides.theirs));
    }
  }
  Measured m{summary(ours), {}, 0};
  for (const int n : peer_threads) {
    const Times times = summary(theirs[n]);
    if (m.peer_threads == 0 || times.median < m.theirs.median) m.theirs = times, m.peer_threads = n;
  }
  return m;
}

void print_header() {
  std::printf("%-44s %7s %5s  %-24s %-24s %6s %-11s %-14s\n", "row", "threads", "unit", "ours",
              "theirs", "ratio", "share of", "goal");
}

void print(const Row& row, int threads, const Measured& m) {
  char ratio[16] = "-", part[32] = "-", goal_text[32] = "-";
  if (m.theirs.median > 0)
    std::snprintf(ratio, sizeof ratio, "%.2f", m.theirs.median / m.ours.median);
  if (const double s = share(row, threads, m); s > 0)
    std::snprintf(part, sizeof part, "%.0f%% %s", 100 * s, ceiling_name(row.ceiling));
  if (const double goal = goal_of(row, threads); goal > 0)
    std::snprintf(goal_text, sizeof goal_text, "%g %s", goal, met(row, goal, m) ? "met" : "missed");
  const char* alone = m.peer_threads > 0 && m.peer_threads < threads ? "*" : "";
  std::printf("%-44s %7d %5s  %-24s %-24s %6s %-11s %-14s\n", row.name.c_str(), threads,
              unit_name(row.unit), text(row, m.ours).c_str(), (text(row, m.theirs) + alone).c_str(),
              ratio, part, goal_text);
  std::fflush(stdout);
}

nlohmann::json to_json(const Row& row, int threads, const Measured& m) {
  const auto range = [&](const Times& t) {
    return nlohmann::json{figure(row, t.fastest), figure(row, t.slowest_round)};
  };
  nlohmann::json line = {{"row", row.name},
                         {"threads", threads},
                         {"unit", unit_name(row.unit)},
                         {"ours", figure(row, m.ours.median)},
                         {"ours_range", range(m.ours)}};
  for (const char* name :
       {"theirs", "theirs_range", "theirs_threads", "ratio", "share", "goal", "met"})
    line[name] = nullptr;
  if (m.theirs.median > 0) {
    line["theirs"] = figure(row, m.theirs.median);
    line["theirs_range"] = range(m.theirs);
    line["theirs_threads"] = m.peer_threads;
    line["ratio"] = m.theirs.median / m.ours.median;
  }
  if (const double s = share(row, threads, m); s > 0) line["share"] = s;
  if (const double goal = goal_of(row, threads); goal > 0) {
    line["goal"] = goal;
    line["met"] = met(row, goal, m);
  }
  return line;
}

}  // namespace ladon::bench
