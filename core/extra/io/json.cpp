#include "ladon/core/extra/io/json.h"

#include <utility>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/io/utf8.h"

namespace ladon {

using nlohmann::json;

namespace {

constexpr std::size_t deepest = 16;

// Builds the value from the parser's events. (nlohmann's own reader with a callback takes longer:
// it visits all finished siblings at the end of every object.)
class ValueReader : public nlohmann::json_sax<json> {
 public:
  ValueReader(const char* operation, const std::string& path)
      : operation_(operation), path_(path) {}

  json value;

  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    const auto [entry, fresh] = open_.back()->get_ref<json::object_t&>().emplace(name, nullptr);
    LADON_CHECK(fresh, operation_, path_, ": has the key '", shortened(name),
                "' twice in one object");
    member_ = &entry->second;
    return true;
  }
  bool string(string_t& text) override { return add(std::move(text)); }
  bool number_unsigned(number_unsigned_t number) override { return add(number); }
  bool number_integer(number_integer_t number) override { return add(number); }
  bool number_float(number_float_t number, const string_t&) override { return add(number); }
  bool boolean(bool truth) override { return add(truth); }
  bool null() override { return add(nullptr); }
  bool binary(binary_t&) override { return false; }  // JSON text has no binary values
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    detail::fail(operation_, path_, ": is not JSON: ", shortened(e.what(), 200));
  }

 private:
  // The place for the next value: the whole value, a member of the innermost open object, or a new
  // element of the innermost open array.
  json& place() {
    if (open_.empty()) return value;
    if (open_.back()->is_object()) return *member_;
    return open_.back()->get_ref<json::array_t&>().emplace_back();
  }
  bool add(json item) {
    place() = std::move(item);
    return true;
  }
  bool open(json item) {
    LADON_CHECK(open_.size() < deepest, operation_, path_, ": the JSON nests deeper than ", deepest,
                " levels");
    json& here = place();
    here = std::move(item);
    open_.push_back(&here);  // the address stays valid: siblings are added after it is closed
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const char* operation_;
  const std::string& path_;
  std::vector<json*> open_;
  json* member_ = nullptr;  // value of the last key that was read in the innermost open object
};

}  // namespace

nlohmann::json parse_json(const char* operation, const std::string& path, std::string_view text) {
  ValueReader reader(operation, path);
  json::sax_parse(text, &reader);
  return std::move(reader.value);
}

const nlohmann::json& json_at(const nlohmann::json& object, const char* key) {
  static const json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

}  // namespace ladon
