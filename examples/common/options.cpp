#include "ladon/examples/common/options.h"

#include <cmath>

namespace ladon::example {
namespace {

CLI::Validator finite(const std::string& range, const std::function<bool(double)>& inside) {
  const auto wrong = [=](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size();
    return read && std::isfinite(value) && inside(value)
               ? ""
               : join("needs a number ", range, ", got '", text, "'");
  };
  return {wrong, range, "number"};
}

}  // namespace

CLI::Validator number(double low, double high) {
  const std::string range = std::isfinite(high)  ? join("from ", low, " to ", high)
                            : std::isfinite(low) ? join("at least ", low)
                                                 : "that is finite";
  return finite(range, [=](double x) { return x >= low && x <= high; });
}

CLI::Validator number_above(double low) {
  return finite(join("above ", low), [=](double x) { return x > low; });
}

CLI::Validator name_of(const std::string& what) {
  return {[=](const std::string& text) { return text.empty() ? "needs the name of " + what : ""; },
          "", "name_of"};
}

}  // namespace ladon::example
