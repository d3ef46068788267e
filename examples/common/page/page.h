#pragma once
// Interactive pages: each is one HTML file with the run's data, and needs no network.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::example {

/// Contents of a page, apart from the script and style that all pages share.
struct Page {
  std::string title;  ///< The page's message.
  std::string about;  ///< What can be set, and what it shows: plain text.
  /// JavaScript that calls page({…}) of page.js once. A study's page.js, after the other .js files
  /// of its folder, is compiled into its program as page_script.
  std::string script;
  /// Data of the script, as `data`. Its "checks", [{"function", "arguments", "value"}, …], give
  /// values that the library computed for functions of the script; a test compares the two to 1e-6.
  nlohmann::ordered_json data;
};

/// The values rounded to five significant digits, for a smaller file, where they are only drawn.
nlohmann::ordered_json rounded(const std::vector<double>& values);

/// A matrix as a list of its rows.
nlohmann::ordered_json json_rows(const Tensor& matrix);
/// An entry of a page's "checks".
nlohmann::ordered_json checked(const std::string& function, const nlohmann::ordered_json& arguments,
                               const nlohmann::ordered_json& value);

/// The page as HTML.
std::string html(const Page& page);

/// The script of a study, in programs that have a page.js.
extern const char* const page_script;

}  // namespace ladon::example
