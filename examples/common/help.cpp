#include "ladon/examples/common/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

constexpr std::size_t first_column = 26;

/// The option as it is typed: "--threads N", "--mnist TEXT TEXT", "--methods TEXT,…".
std::string typed(const CLI::Option* option) {
  std::string name = option->get_name(false, true);
  name = name.substr(0, name.find('{'));             // without the value in "--a,--no-a{false}"
  const std::string type = option->get_type_name();  // "INT:at least 1", "TEXT:{a,b}"
  if (type.empty() || option->get_type_size() == 0) return name;
  const bool digits = type.starts_with("INT") || type.starts_with("UINT");
  const std::string value = digits ? "N" : type.starts_with("FLOAT") ? "X" : "TEXT";
  if (option->get_delimiter() != '\0') return name + " " + value + ",…";
  for (int i = 0; i < std::max(1, option->get_expected_min()); ++i) name += " " + value;
  return name + (option->get_expected_max() > option->get_expected_min() ? " …" : "");
}

std::string names(const std::set<CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* option : options) text += (text.empty() ? "" : ", ") + option->get_name();
  return text;
}

/// Range and default of a value: "at least 1; default 8".
std::string bounds(const CLI::Option* option) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  };
  const std::string type = option->get_type_name();
  std::string value = option->get_default_str();
  std::erase_if(value, [](char c) { return c == '[' || c == ']'; });  // brackets around a list
  const std::size_t colon = type.find(':');
  if (colon != std::string::npos) add(type.substr(colon + 1));
  if (!option->get_needs().empty()) add("needs " + names(option->get_needs()));
  if (!option->get_excludes().empty()) add("not with " + names(option->get_excludes()));
  if (value == "\n") value = "a line's end";
  if (!value.empty()) add("default " + value);
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::size_t help_columns() {
  constexpr std::size_t usual = 90, least = 60, most = 120;
  winsize terminal{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) != 0 || terminal.ws_col == 0) return usual;
  return std::clamp<std::size_t>(terminal.ws_col, least, most);
}

std::string Help::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), help_columns()) + "\n\n";
}

std::string Help::make_footer(const CLI::App* app) const { return app->get_footer() + "\n"; }

std::string Help::make_option(const CLI::Option* option, bool) const {
  std::string line = "  " + typed(option);
  line += width(line) < first_column ? std::string(first_column - width(line), ' ')
                                     : "\n" + std::string(first_column, ' ');
  return line + wrapped(option->get_description() + bounds(option), help_columns(), first_column) +
         "\n";
}

}  // namespace ladon::example
