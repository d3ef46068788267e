#include "ladon/tests/readme/figures.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <vector>

namespace ladon::test {
namespace {

/// A word or number of a line.
struct Part {
  std::string text;  ///< "#" of a number
  double number = 0;
  double unit = 0;   ///< Of its last digit.
  double error = 0;  ///< Printed after it; 0: none is.
  bool is_error = false;
};

/// A unit of the last digit: 0.01 of "0.82", 1e-7 of "3.2e-6", 1 of "14".
double last_unit(const std::string& number) {
  const std::size_t e = number.find('e'), point = number.find('.');
  const int exponent = e == std::string::npos ? 0 : std::stoi(number.substr(e + 1));
  const std::size_t end = std::min(e, number.size());
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(end - point - 1);
  return std::pow(10.0, exponent - decimals);
}

std::vector<Part> parts(const std::string& line) {
  static const std::regex number("[-+]?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?");
  std::vector<Part> all;
  std::size_t end = 0;
  for (std::sregex_iterator at(line.begin(), line.end(), number), none; at != none; ++at) {
    const auto begin = static_cast<std::size_t>(at->position());
    const Part between{.text = line.substr(end, begin - end)};
    Part here{.text = "#", .number = std::stod(at->str()), .unit = last_unit(at->str())};
    here.is_error = between.text == " ± " && !all.empty();
    if (here.is_error) all.back().error = here.number;
    all.push_back(between);
    all.push_back(here);
    end = begin + at->str().size();
  }
  all.push_back({.text = line.substr(end)});
  return all;
}

/// By how much two runs may differ. A chain of samples or a training may go another way after one
/// rounding: then they are two draws, whose difference has the error sqrt(e² + f²), and is beyond
/// three of it once in 400. Errors, which few runs tell, may differ by a factor of four, or one be
/// 0. What has no error is within a unit; but after a training some of it is off by 5% (the
/// calibration error of gp_reviews), and a tenth is allowed.
double tolerance(const Part& a, const Part& b) {
  constexpr double decimal = 1.001;  // a unit, in binary
  const double unit = decimal * std::max(a.unit, b.unit);
  const double larger = std::max(std::abs(a.number), std::abs(b.number));
  const double smaller = std::min(std::abs(a.number), std::abs(b.number));
  if (a.is_error) return std::max(unit, smaller > 0 ? 0.75 * larger : larger);
  if (a.error > 0 || b.error > 0) return std::max(unit, 3 * std::hypot(a.error, b.error));
  return std::max(unit, 0.1 * larger);
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

std::string difference(const std::string& shown, const std::string& printed) {
  const std::vector<Part> a = parts(shown), b = parts(printed);
  const auto same_words = [](const Part& x, const Part& y) { return x.text == y.text; };
  if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same_words)) return "other words";
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double most = tolerance(a[i], b[i]);
    if (std::abs(a[i].number - b[i].number) <= most) continue;
    std::ostringstream what;
    what << a[i].number << " and " << b[i].number << " are more than " << most << " apart";
    return what.str();
  }
  return {};
}

}  // namespace

std::string without_times(const std::string& text) {
  static const std::regex name("(epoch_seconds|seconds|peak_mb)( ↓)?"),
      column(" +[0-9.–]+( ± [0-9.–]+)?((?: #)*)$"), unit("[0-9.e+-]+ (s|MB|GB|kB|tokens/s)\\b"),
      tiles("[0-9]+ tiles? of [0-9]+ × [0-9]+");  // cut by measured times
  std::string all;
  std::ptrdiff_t columns = 0;  // of times in the table; they are its last
  for (std::string line : lines(text)) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (line.empty()) columns = 0;
    for (std::ptrdiff_t i = 0; i < columns; ++i) line = std::regex_replace(line, column, " #$2");
    if (line.find("  ") != std::string::npos && std::regex_search(line, name))
      columns = std::distance(std::sregex_iterator(line.begin(), line.end(), name), {});
    line = std::regex_replace(line, unit, "# $1");
    line = std::regex_replace(line, tiles, "# tiles of # × #");
    all += std::regex_replace(line, std::regex(" +"), " ") + '\n';
  }
  return all;
}

bool same_figures(const std::string& shown, const std::string& printed) {
  return without_times(shown) == without_times(printed);
}

std::string beyond_rounding(const std::string& shown, const std::string& printed) {
  const auto a = lines(without_times(shown)), b = lines(without_times(printed));
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string x = i < a.size() ? a[i] : "", y = i < b.size() ? b[i] : "";
    const std::string why = difference(x, y);
    if (!why.empty()) return why + ":\n  " + x + "\n  " + y;
  }
  return {};
}

}  // namespace ladon::test
