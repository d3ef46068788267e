#include "ladon/core/io/tensors/safetensors_index.h"

#include <nlohmann/json.hpp>

#include "ladon/core/error.h"
#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

using nlohmann::json;

constexpr int deepest = 16;
constexpr std::string_view map_key = "weight_map";

// Builds the map from the parser's events. `depth_` counts the open brackets: 1 in the index, 2 in
// the map.
class IndexReader : public nlohmann::json_sax<json> {
 public:
  explicit IndexReader(const std::string& path) : path_(path) {}

  ShardMap shards;
  bool found = false;

  bool start_object(std::size_t) override {
    check(depth_ != 1 || !in_map_ || !found, "has '", map_key, "' twice");
    if (depth_ == 1 && in_map_) found = true;
    return open(depth_ != 2 || !in_map_);
  }
  bool start_array(std::size_t) override { return open(depth_ > 0 && !(in_map_ && depth_ <= 2)); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (depth_ == 1) in_map_ = name == map_key;
    key_ = std::move(name);
    return true;
  }
  bool string(string_t& file) override {
    if (!in_map_ || depth_ != 2) return scalar();
    const bool plain = !file.empty() && file != "." && file != ".." &&
                       file.find_first_of(std::string_view("/\\\0", 3)) == file.npos;
    check(plain, "must name files of its own folder, but has the tensor '", shortened(key_),
          "' in '", shortened(file), "'");
    check(shards.emplace(key_, std::move(file)).second, "has the tensor '", shortened(key_),
          "' twice");
    return true;
  }
  bool number_unsigned(number_unsigned_t) override { return scalar(); }
  bool number_integer(number_integer_t) override { return scalar(); }
  bool number_float(number_float_t, const string_t&) override { return scalar(); }
  bool boolean(bool) override { return scalar(); }
  bool null() override { return scalar(); }
  bool binary(binary_t&) override { return scalar(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    detail::fail("load_safetensors", path_, ": the index is not JSON: ", shortened(e.what()));
  }

 private:
  template <class... Parts>
  void check(bool ok, const Parts&... parts) const {
    LADON_CHECK(ok, "load_safetensors", path_, ": the index ", parts...);
  }
  bool expect(bool ok) const {
    check(ok, "must be {\"", map_key, "\": {\"tensor\": \"file\", …}, …}");
    return true;
  }
  bool open(bool allowed) {
    check(depth_ < deepest, "nests deeper than ", deepest, " levels");
    ++depth_;
    return expect(allowed);
  }
  bool close() {
    --depth_;
    return true;
  }
  // Handles a value that is neither an object, nor an array, nor the name of a file.
  bool scalar() const { return expect(depth_ > 0 && !(in_map_ && depth_ <= 2)); }

  const std::string& path_;
  int depth_ = 0;
  bool in_map_ = false;
  std::string key_;
};

}  // namespace

ShardMap parse_shard_index(const std::string& path, std::string_view text) {
  IndexReader reader(path);
  json::sax_parse(text, &reader);
  LADON_CHECK(reader.found, "load_safetensors", path, ": the index has no '", map_key, "'");
  return std::move(reader.shards);
}

}  // namespace ladon
