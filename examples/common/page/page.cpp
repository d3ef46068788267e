#include "ladon/examples/common/page/page.h"

#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

// page.html, the shared scripts and page.css of this folder, embedded by the build.
extern const char* const page_form;
extern const char* const shared_page_script;
extern const char* const shared_page_style;

namespace {

/// JSON inside a script element, with < escaped so that "</script" cannot end the element.
std::string embedded(const nlohmann::ordered_json& data) {
  std::string all;
  for (const char c : data.dump()) all += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return all;
}

}  // namespace

nlohmann::ordered_json rounded(const std::vector<double>& values) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const double value : values) {
    std::ostringstream text;
    text << std::setprecision(5) << value;
    all.push_back(std::isfinite(value) ? nlohmann::ordered_json(std::stod(text.str())) : nullptr);
  }
  return all;
}

nlohmann::ordered_json json_rows(const Tensor& matrix) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::int64_t i = 0; i < matrix.size(0); ++i)
    rows.push_back(contiguous(select(matrix, 0, i)).to_vector());
  return rows;
}

nlohmann::ordered_json checked(const std::string& function, const nlohmann::ordered_json& arguments,
                               const nlohmann::ordered_json& value) {
  return {{"function", function}, {"arguments", arguments}, {"value", value}};
}

std::string html(const Page& page) {
  const std::map<std::string, std::string> parts = {
      {"title", escaped(page.title)}, {"style", shared_page_style},
      {"about", escaped(page.about)}, {"data", embedded(page.data)},
      {"shared", shared_page_script}, {"script", page.script}};
  std::istringstream form(page_form);
  std::string all, part;
  for (bool named = false; std::getline(form, part, '$'); named = !named)
    all += named ? parts.at(part) : part;
  return all;
}

}  // namespace ladon::example
