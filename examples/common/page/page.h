#pragma once
// Pages whose reader turns something: one HTML file each, without a network, with the run's data.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::example {

/// What a page holds beside the shared script and style of this folder.
struct Page {
  std::string title;  ///< Its message.
  std::string about;  ///< What is turned, and what is then seen: text.
  /// JavaScript that calls page({…}) of page.js once. A study's page.js, after the other .js files
  /// of its folder, is compiled into its program as page_script.
  std::string script;
  /// What the script reads as `data`. Its "checks", [{"function", "arguments", "value"}, …], hold
  /// functions of the script against values of the library; a test compares them to 1e-6.
  nlohmann::ordered_json data;
};

/// Five significant digits of each: of what is only drawn, for a smaller file.
nlohmann::ordered_json rounded(const std::vector<double>& values);

/// A matrix as a list of its rows.
nlohmann::ordered_json json_rows(const Tensor& matrix);
/// One of a page's "checks".
nlohmann::ordered_json checked(const std::string& function, const nlohmann::ordered_json& arguments,
                               const nlohmann::ordered_json& value);

/// The page as HTML.
std::string html(const Page& page);

/// The study's own scripts, of programs that have a page.js.
extern const char* const page_script;

}  // namespace ladon::example
