#include "ladon/examples/common/page/page.h"

#include <cmath>
#include <iomanip>
#include <sstream>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

// Scripts and style of this folder, by the build.
extern const char* const shared_page_script;
extern const char* const shared_page_style;

namespace {

/// JSON within a script element, which "</script" would end.
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
  return join("<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n",
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
              "<title>", escaped(page.title), "</title>\n<style>\n", shared_page_style,
              "</style>\n<main>\n<h1>", escaped(page.title), "</h1>\n<p>", escaped(page.about),
              "</p>\n</main>\n<script type=\"application/json\" id=\"data\">", embedded(page.data),
              "</script>\n<script>\n", shared_page_script, "</script>\n<script>\n", page.script,
              "</script>\n</html>\n");
}

}  // namespace ladon::example
