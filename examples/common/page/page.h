#pragma once
// Interactive pages: each is one HTML file that contains the data of a run, and needs no network.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::example {

/// Contents of a page, apart from the script and style that all pages share.
struct Page {
  std::string title;  ///< The main statement that the page shows.
  std::string about;  ///< What the reader can set and what the page shows, in plain text.
  /// JavaScript that calls page({…}) of page.js once. The .js files of a study's folder, page.js
  /// last, are compiled into its program as page_script.
  std::string script;
  /// Data that the script reads as its variable `data`. Its "checks", [{"function", "arguments",
  /// "value"}, …], give values that the library computed for functions of the script; a test
  /// requires that the functions agree with these values within 1e-6.
  nlohmann::ordered_json data;
};

/// The values, rounded to five significant digits to make the file smaller. For values that are
/// only drawn.
nlohmann::ordered_json rounded(const std::vector<double>& values);

/// A matrix as a list of its rows.
nlohmann::ordered_json json_rows(const Tensor& matrix);
/// An entry of a page's "checks": the value of a function of the script at these arguments.
nlohmann::ordered_json checked(const std::string& function, const nlohmann::ordered_json& arguments,
                               const nlohmann::ordered_json& value);

/// The page as HTML.
std::string html(const Page& page);

/// The script of a study's page, defined in programs whose folder has a page.js.
extern const char* const page_script;

}  // namespace ladon::example
