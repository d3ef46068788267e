#include "ladon/examples/common/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

Check finite(const std::string& range, const std::function<bool(double)>& inside) {
  const auto wrong = [=](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size();
    return read && std::isfinite(value) && inside(value)
               ? ""
               : join("needs a number ", range, ", got '", text, "'");
  };
  return {wrong, range};
}

}  // namespace

Check operator|(const Check& a, const Check& b) {
  const auto wrong = [=](const std::string& text) -> std::string {
    const std::string of_a = a.wrong(text), of_b = b.wrong(text);
    return of_a.empty() || of_b.empty() ? "" : join("(", of_a, ") OR (", of_b, ")");
  };
  return {wrong, a.description + " or " + b.description};
}

// CLI11's checks of ranges are not used: they print every digit of the largest double, and CLI11
// wraps negative numbers of unsigned options and clips numbers that are too large.
template <class T>
Check whole_number(T low, T high) {
  const std::string range = high == std::numeric_limits<T>::max()
                                ? join("at least ", low)
                                : join("from ", low, " to ", high);
  const auto wrong = [=](const std::string& text) -> std::string {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && value >= low && value <= high) return "";
    const bool too_large = error == std::errc::result_out_of_range && text[0] != '-';
    return join("needs a whole number ", too_large ? join("of at most ", high) : range, ", got '",
                text, "'");
  };
  return {wrong, range};
}
template Check whole_number(int, int);
template Check whole_number(std::int64_t, std::int64_t);
template Check whole_number(std::uint64_t, std::uint64_t);

Check number(double low, double high) {
  const std::string range = std::isfinite(high)  ? join("from ", low, " to ", high)
                            : std::isfinite(low) ? join("at least ", low)
                                                 : "that is finite";
  return finite(range, [=](double x) { return x >= low && x <= high; });
}

Check number_above(double low) {
  return finite(join("above ", low), [=](double x) { return x > low; });
}

Check name_of(const std::string& what) {
  return {[=](const std::string& text) { return text.empty() ? "needs the name of " + what : ""; },
          ""};
}

Check one_of(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "{" : ",") + name;
  all += "}";
  const auto wrong = [=](const std::string& text) {
    return std::ranges::count(names, text) > 0 ? "" : text + " not in " + all;
  };
  return {wrong, all};
}

Check existing_file() {
  const auto wrong = [](const std::string& path) -> std::string {
    std::error_code unreadable;
    const auto status = std::filesystem::status(path, unreadable);
    if (!std::filesystem::exists(status)) return "File does not exist: " + path;
    return std::filesystem::is_directory(status) ? "File is actually a directory: " + path : "";
  };
  return {wrong, "FILE"};
}

Check existing_folder() {
  const auto wrong = [](const std::string& path) -> std::string {
    std::error_code unreadable;
    const auto status = std::filesystem::status(path, unreadable);
    if (!std::filesystem::exists(status)) return "Directory does not exist: " + path;
    return std::filesystem::is_directory(status) ? "" : "Directory is actually a file: " + path;
  };
  return {wrong, "DIR"};
}

template <class T>
void refuse_repeated(const std::string& option, const std::vector<T>& values) {
  for (auto value = values.begin(); value != values.end(); ++value)
    if (std::find(values.begin(), value, *value) != value)
      throw UsageError(option, join(*value, " occurs twice in the list"));
}
template void refuse_repeated(const std::string&, const std::vector<std::string>&);
template void refuse_repeated(const std::string&, const std::vector<int>&);
template void refuse_repeated(const std::string&, const std::vector<std::int64_t>&);
template void refuse_repeated(const std::string&, const std::vector<double>&);

}  // namespace ladon::example
