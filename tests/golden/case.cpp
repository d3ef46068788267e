#include "case.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/io/npy.h"

namespace ladon::golden {
namespace {

namespace fs = std::filesystem;

/// The element type in an .npy header, without byte order; empty where there is none to be found.
std::string element_type(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(256, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const std::size_t key = head.find("'descr':");
  if (key == std::string::npos) return "";
  const std::size_t open = head.find('\'', key + 8);
  const std::size_t close = open == std::string::npos ? open : head.find('\'', open + 1);
  if (close == std::string::npos) return "";
  std::string type = head.substr(open + 1, close - open - 1);
  if (!type.empty() && std::string("<>|=").find(type[0]) != std::string::npos) type.erase(0, 1);
  return type;
}

Array load_array(const fs::path& path) {
  const std::string type = element_type(path);
  if (!type.empty() && std::string("cUSOVmM").find(type[0]) != std::string::npos)
    throw Skip{"element type '" + type + "' is not one Ladon holds"};
  try {
    const Tensor x = load_npy(path.string());
    return {is_half(x.dtype()) ? cast(x, f32) : x, type};
  } catch (const Error& error) {
    const bool too_large = std::string(error.what()).find("unsigned value") != std::string::npos;
    if (type == "u8" && too_large) throw Skip{"an unsigned value does not fit in 63 bits"};
    throw;
  }
}

// Attributes nest a level a rank of a tensor; nothing sensible goes deeper.
constexpr int deepest = 32;

nlohmann::json load_json(const fs::path& path) {
  std::error_code error;
  LADON_CHECK(fs::is_regular_file(path, error), "case", "case.json is missing, or is no file");
  std::ifstream file(path);
  LADON_CHECK(file.is_open(), "case", "case.json cannot be read");
  return nlohmann::json::parse(file, [](int depth, auto, const auto&) {
    LADON_CHECK(depth <= deepest, "case", "case.json nests deeper than ", deepest, " levels");
    return true;
  });
}

std::vector<std::string> names(const nlohmann::json& json, const char* field) {
  LADON_CHECK(json.contains(field) && json[field].is_array(), "case", "case.json has no list \"",
              field, "\"");
  return json[field].get<std::vector<std::string>>();
}

/// The integer that `json` holds; a JSON number may be a fraction, or larger than any integer.
std::int64_t whole(const nlohmann::json& json, const std::string& name) {
  const bool fits = json.is_number_integer() &&
                    (!json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX);
  LADON_CHECK(fits, "case", '"', name, "\" is no integer of 64 bits");
  return json.get<std::int64_t>();
}

std::size_t present(const std::vector<std::string>& names) {
  return names.size() - static_cast<std::size_t>(std::count(names.begin(), names.end(), ""));
}

/// Checks that the folder has exactly the files PREFIX_0.npy … PREFIX_(count − 1).npy.
void check_files(const fs::path& folder, const std::string& prefix, std::size_t count) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::error_code error;
    if (name.starts_with(prefix + "_") && name.ends_with(".npy") && entry.is_regular_file(error))
      found.insert(name);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = prefix + "_" + std::to_string(i) + ".npy";
    LADON_CHECK(found.contains(name), "case", name, " is missing; case.json names ", count, " ",
                prefix, "s");
  }
  LADON_CHECK(found.size() == count, "case", "there are ", found.size(), " ", prefix,
              " files, but case.json names ", count);
}

std::vector<Array> load_arrays(const fs::path& folder, const std::string& prefix,
                               const std::vector<std::string>& names) {
  std::vector<Array> arrays;
  std::size_t file = 0;
  for (const std::string& name : names)
    arrays.push_back(name.empty()
                         ? Array{}
                         : load_array(folder / (prefix + "_" + std::to_string(file++) + ".npy")));
  return arrays;
}

/// Appends a number, or the numbers of nested lists; false where there is anything else.
bool append_numbers(const nlohmann::json& json, std::vector<double>& out) {
  if (json.is_array())
    return std::all_of(json.begin(), json.end(),
                       [&](const auto& part) { return append_numbers(part, out); });
  if (json.is_boolean()) out.push_back(json.get<bool>() ? 1 : 0);
  if (json.is_number()) out.push_back(json.get<double>());
  return json.is_boolean() || json.is_number();
}

}  // namespace

Case::Case(const fs::path& folder) : folder_(folder) {
  const nlohmann::json json = load_json(folder / "case.json");
  op_ = json.at("op").get<std::string>();
  LADON_CHECK(!op_.empty(), "case", "case.json names no operator");
  domain_ = json.value("domain", "");
  const nlohmann::json opset = json.value("opset", nlohmann::json::object());
  if (!opset.is_object())
    opset_ = whole(opset, "opset");
  else if (opset.contains(domain_))
    opset_ = whole(opset[domain_], "opset");
  input_names_ = names(json, "inputs");
  output_names_ = names(json, "outputs");
  attributes_ = json.value("attrs", nlohmann::json::object());
  LADON_CHECK(attributes_.is_object(), "case", "\"attrs\" of case.json is no object");
  LADON_CHECK(present(output_names_) > 0, "case", "case.json names no output");
  check_files(folder, "input", present(input_names_));
  check_files(folder, "output", present(output_names_));
}

void Case::load() {
  given_ = load_arrays(folder_, "input", input_names_);
  expected_ = load_arrays(folder_, "output", output_names_);
}

bool Case::wants(std::size_t output) const {
  return output < output_names_.size() && !output_names_[output].empty();
}
bool Case::has(std::size_t input) const {
  return input < given_.size() && given_[input].x.defined();
}
const Tensor& Case::in(std::size_t input) const {
  LADON_CHECK(has(input), "case", op_, " needs input ", input, ", which is absent");
  return given_[input].x;
}
Tensor Case::optional(std::size_t input) const { return has(input) ? given_[input].x : Tensor(); }
std::vector<std::int64_t> Case::integers_of(std::size_t input) const {
  return in(input).to_vector<std::int64_t>();
}

void Case::expect_shape(const Shape& shape) const {
  const Tensor& y = expected_.at(0).x;
  LADON_CHECK(y.defined() && y.shape() == shape, "case", op_, " gives shape ", shape, ", expected ",
              y.defined() ? y.shape() : Shape());
}

std::int64_t Case::integer(const std::string& attribute, std::int64_t otherwise) const {
  return has(attribute) ? whole(attributes_[attribute], attribute) : otherwise;
}
bool Case::flag(const std::string& attribute, bool otherwise) const {
  return integer(attribute, otherwise ? 1 : 0) != 0;
}
int Case::axis(const std::string& attribute, std::int64_t otherwise, int rank) const {
  return detail::normalize_axis(op_, to_axes({integer(attribute, otherwise)})[0], rank);
}
double Case::number(const std::string& attribute, double otherwise) const {
  return attributes_.value(attribute, otherwise);
}
std::string Case::text(const std::string& attribute, const std::string& otherwise) const {
  return attributes_.value(attribute, otherwise);
}
std::vector<std::int64_t> Case::integers(const std::string& attribute) const {
  std::vector<std::int64_t> out;
  if (!has(attribute)) return out;
  LADON_CHECK(attributes_[attribute].is_array(), "case", '"', attribute, "\" is no list");
  for (const auto& value : attributes_[attribute]) out.push_back(whole(value, attribute));
  return out;
}
std::vector<double> Case::numbers(const std::string& attribute) const {
  return attributes_.value(attribute, std::vector<double>{});
}
std::vector<double> Case::tensor_value(const std::string& attribute) const {
  std::vector<double> out;
  if (!attributes_.contains(attribute) || !append_numbers(attributes_[attribute], out)) return {};
  return out;
}
std::optional<std::vector<std::int64_t>> Case::integers(const std::string& attribute,
                                                        std::size_t input) const {
  if (has(input)) return integers_of(input);
  if (has(attribute)) return integers(attribute);
  return std::nullopt;
}

// --- agreement ---

namespace {

/// The value that an integer of the file's type has after wrapping around.
std::int64_t wrap(std::int64_t value, const std::string& type) {
  if (type == "i1") return static_cast<std::int8_t>(value);
  if (type == "i2") return static_cast<std::int16_t>(value);
  if (type == "i4") return static_cast<std::int32_t>(value);
  if (type == "u1") return static_cast<std::uint8_t>(value);
  if (type == "u2") return static_cast<std::uint16_t>(value);
  if (type == "u4") return static_cast<std::uint32_t>(value);
  return value;
}

struct Tolerance {
  double relative, of_largest, absolute;
};
Tolerance tolerance_of(const std::string& type) {
  if (type == "f2") return {4e-3, 1e-3, 1e-4};
  if (type == "f8") return {1e-9, 1e-10, 1e-11};
  return {1e-5, 1e-6, 1e-7};
}

std::string differs(std::size_t i, double computed, double expected) {
  std::ostringstream out;
  out.precision(std::numeric_limits<double>::max_digits10);
  out << "element " << i << " is " << computed << ", expected " << expected;
  return out.str();
}

}  // namespace

std::string disagreement(const Tensor& computed, const Array& expected) {
  if (!computed.defined()) return "was not computed";
  if (computed.dtype() != expected.x.dtype())
    return detail::join("is ", computed.dtype(), ", expected ", expected.x.dtype());
  if (!(computed.shape() == expected.x.shape()))
    return detail::join("has shape ", computed.shape(), ", expected ", expected.x.shape());
  if (!is_floating(computed.dtype())) {
    const auto y = computed.to_vector<std::int64_t>(), e = expected.x.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < e.size(); ++i)
      if (wrap(y[i], expected.type) != e[i])
        return detail::join("element ", i, " is ", y[i], ", expected ", e[i]);
    return "";
  }
  const auto y = computed.to_vector<double>(), e = expected.x.to_vector<double>();
  double largest = 0;
  for (const double v : e)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  const Tolerance tolerance = tolerance_of(expected.type);
  const double infinite_from =  // what rounds to an infinity in float16
      expected.type == "f2" ? 65520 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double allowed =
        tolerance.relative * std::abs(e[i]) + tolerance.of_largest * largest + tolerance.absolute;
    const bool same = y[i] == e[i] || (std::isnan(y[i]) && std::isnan(e[i]));
    const bool beyond = std::isinf(e[i]) && std::copysign(1, e[i]) * y[i] >= infinite_from;
    const bool near = std::isfinite(e[i]) && std::abs(y[i] - e[i]) <= allowed;
    if (!same && !near && !beyond) return differs(i, y[i], e[i]);
  }
  return "";
}

Tensor agreeing(const Tensors& readings, const Array& expected) {
  for (const Tensor& y : readings)
    if (disagreement(y, expected).empty()) return y;
  return readings.front();
}

DType onnx_dtype(std::int64_t number) {
  switch (number) {
    case 1:   // float
    case 10:  // float16
      return f32;
    case 11:
      return f64;
    case 9:
      return boolean;
    case 2:   // uint8
    case 3:   // int8
    case 4:   // uint16
    case 5:   // int16
    case 6:   // int32
    case 7:   // int64
    case 12:  // uint32
    case 13:  // uint64
      return i64;
    default:
      throw Skip{"ONNX's element type " + std::to_string(number) + " is not one Ladon holds"};
  }
}

Tensor as_floating(const Tensor& x) { return is_floating(x.dtype()) ? x : cast(x, f64); }

Tensor per_channel(const Tensor& a, const Tensor& x) {
  LADON_CHECK(x.rank() >= 2, "case", "shape ", x.shape(), " has no axis of channels");
  Shape shape = Shape::filled(x.rank() - 1, 1);
  shape[0] = a.count();
  return reshape(a, shape);
}

Tensor channels_last(const Tensor& x) {
  LADON_CHECK(x.rank() >= 2, "case", "shape ", x.shape(), " has no axis of channels");
  std::vector<int> order{0};
  for (int axis = 2; axis < x.rank(); ++axis) order.push_back(axis);
  order.push_back(1);
  return permute(x, order);
}

Tensor channels_first(const Tensor& x) {
  std::vector<int> order{0, x.rank() - 1};
  for (int axis = 1; axis + 1 < x.rank(); ++axis) order.push_back(axis);
  return permute(x, order);
}

Tensor second_operand(const Case& c) {
  Tensor b = c.in(1);
  if (!c.has("axis") || !c.flag("broadcast", false)) return b;
  for (int rank = c.axis("axis", 0, c.in(0).rank()) + b.rank(); rank < c.in(0).rank(); ++rank)
    b = unsqueeze(b, -1);
  return b;
}

std::vector<int> to_axes(const std::vector<std::int64_t>& axes) {
  for (const std::int64_t axis : axes)
    LADON_CHECK(std::abs(axis + 0.5) < 100, "case", "axis ", axis, " is out of range");
  return {axes.begin(), axes.end()};
}

}  // namespace ladon::golden
