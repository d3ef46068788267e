#pragma once
// Formatter of --help, in lines that fit a terminal.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace ladon::example {

/// Characters a line: those of the terminal, from 60 to 120; 90 where there is none.
std::size_t help_columns();

/// Options in two columns: name and kind of value; what it is for, its range and its default.
class Help : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_option(const CLI::Option* option, bool positional) const override;
};

}  // namespace ladon::example
