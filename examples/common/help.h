#pragma once
// Formatter of --help, in lines that fit a terminal.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace ladon::example {

/// Columns of the help: those of the terminal, limited to 60 … 120; 90 without a terminal.
std::size_t help_columns();

/// Prints options in two columns: name and type of value; purpose, range and default.
class Help : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_option(const CLI::Option* option, bool positional) const override;
};

}  // namespace ladon::example
