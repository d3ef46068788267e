#include "ladon/core/io/tensors/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "ladon/core/error.h"
#include "ladon/core/io/crc.h"
#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

using nlohmann::json;

constexpr int deepest = 4;           // the format needs 3 levels
constexpr std::size_t longest = 80;  // number of bytes of a name or value that a message shows
constexpr std::size_t most_sizes = Shape::max_rank;

// The beginning of a JSON value as text, for an error message; built from the parser's events.
class Excerpt {
 public:
  void clear() { text_.clear(); }
  void key(std::string_view name) {
    string(name);
    if (!full()) text_ += ':';
  }
  void open(char bracket) { item(std::string(1, bracket)); }
  void close(char bracket) {
    if (!full()) text_ += bracket;
  }
  void string(std::string_view value) {
    constexpr auto replace = json::error_handler_t::replace;  // replaces a character that was cut
    if (!full()) item(json(value.substr(0, longest)).dump(-1, ' ', false, replace));
  }
  void scalar(const json& value) {
    if (!full()) item(value.dump());
  }
  std::string text() const { return shortened(text_); }

 private:
  bool full() const { return text_.size() > longest; }
  void item(const std::string& text) {
    if (full()) return;
    if (!text_.empty() && std::string_view("{[:").find(text_.back()) == std::string_view::npos)
      text_ += ',';
    text_ += text;
  }

  std::string text_;
};

// The keys of one object, stored compactly, because a malicious header may have millions of short
// keys.
class Keys {
 public:
  void clear() {
    bytes_.clear();
    ends_.clear();
  }
  void add(std::string_view key) {
    bytes_ += key;
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  /// A repeated key, if there is one.
  std::optional<std::string> repeated() const {
    std::vector<std::string_view> keys;
    keys.reserve(ends_.size());
    std::size_t start = 0;
    for (const std::uint32_t end : ends_) {
      keys.push_back(std::string_view(bytes_).substr(start, end - start));
      start = end;
    }
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    return twice == keys.end() ? std::nullopt : std::optional<std::string>(*twice);
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

// The value of "dtype", "shape" or "data_offsets" as read, valid or not.
struct Field {
  bool given = false, list = false;
  bool whole = true;  // a list of nothing but integers in [0, 2^63)
  std::vector<std::int64_t> numbers;
  std::string word;
  Excerpt excerpt;

  void clear() {
    given = list = false;
    whole = true;
    numbers.clear();
    word.clear();
    excerpt.clear();
  }
};

FileType parse_dtype(const std::string& where, const Field& field) {
  static const std::map<std::string, FileType> types = {
      {"BOOL", FileType::b1}, {"I8", FileType::i1},  {"I16", FileType::i2}, {"I32", FileType::i4},
      {"I64", FileType::i8},  {"U8", FileType::u1},  {"U16", FileType::u2}, {"U32", FileType::u4},
      {"U64", FileType::u8},  {"F16", FileType::f2}, {"F32", FileType::f4}, {"F64", FileType::f8},
      {"BF16", FileType::bf2}};
  const auto found = types.find(field.word);
  LADON_CHECK(found != types.end(), "load_safetensors", where, ": dtype ", field.excerpt.text(),
              " is not one of BOOL I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64");
  return found->second;
}

void check_integers(const std::string& where, const char* key, const Field& field) {
  LADON_CHECK(field.list && field.whole, "load_safetensors", where, ": ", key,
              " must be an array of integers from 0 to 2^63 − 1, got ", field.excerpt.text());
}

// Builds the entries from the parser's events. `depth_` counts the open brackets: 1 in the header,
// 2 in a tensor's object or the metadata, 3 in a tensor's shape.
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  HeaderReader(const std::string& path, std::map<std::string, std::string>* metadata)
      : path_(path), metadata_(metadata) {}

  SafetensorsHeader header;

  bool start_object(std::size_t) override {
    open('{');
    keys_[depth_ - 1].clear();
    return true;
  }
  bool key(string_t& name) override {
    keys_[depth_ - 1].add(name);
    if (depth_ == 1) return begin_value(name);
    value_.key(name);
    if (depth_ == 2) begin_field(name);
    if (depth_ > 2 && field_) field_->excerpt.key(name);
    return true;
  }
  bool end_object() override {
    const std::optional<std::string> twice = keys_[depth_ - 1].repeated();
    LADON_CHECK(!twice, "load_safetensors", path_, ": the header has the key '", shortened(*twice),
                "' twice");
    close('}');
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 2 && field_) field_->list = true;
    open('[');
    return true;
  }
  bool end_array() override {
    close(']');
    return true;
  }
  bool string(string_t& text) override {
    value_.string(text);
    if (field_) field_->excerpt.string(text);
    if (depth_ == 2 && field_) field_->word = shortened(text, 8);
    if (depth_ == 2 && in_metadata_) add_note(text);
    return scalar(in_metadata_ && depth_ == 2);
  }
  bool number_unsigned(number_unsigned_t number) override {
    show(number);
    if (depth_ != 3 || !field_ || !field_->list || number >> 63 != 0) return scalar(false);
    const bool room = field_->numbers.size() < most_sizes;
    LADON_CHECK(room || field_ != &shape_, "load_safetensors", where(), " has at least ",
                most_sizes + 1, " axes; a tensor has at most ", most_sizes);
    if (room) field_->numbers.push_back(static_cast<std::int64_t>(number));
    return true;
  }
  bool number_integer(number_integer_t number) override { return other(number); }
  bool number_float(number_float_t number, const string_t&) override { return other(number); }
  bool boolean(bool value) override { return other(value); }
  bool null() override { return other(nullptr); }
  bool binary(binary_t&) override { return scalar(false); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    detail::fail("load_safetensors", path_, ": the header is not JSON: ", shortened(e.what(), 200));
  }

 private:
  std::string where() const { return path_ + ": tensor '" + shortened(name_) + "'"; }

  bool begin_value(const std::string& name) {
    name_ = name;
    in_metadata_ = name == safetensors_metadata;
    valid_ = true;
    value_.clear();
    for (Field* field : {&dtype_, &shape_, &offsets_}) field->clear();
    return true;
  }

  void begin_field(const std::string& name) {
    key_ = name;
    field_ = in_metadata_             ? nullptr
             : name == "dtype"        ? &dtype_
             : name == "shape"        ? &shape_
             : name == "data_offsets" ? &offsets_
                                      : nullptr;
    if (!field_) return;
    field_->clear();
    field_->given = true;
  }

  void open(char bracket) {
    LADON_CHECK(depth_ < deepest, "load_safetensors", path_, ": the header nests deeper than ",
                deepest, " levels");
    if (depth_ == 1) valid_ = bracket == '{';
    if (depth_ == 2 && in_metadata_) valid_ = false;
    if (depth_ > 2 && field_) field_->whole = false;
    if (depth_ > 0) value_.open(bracket);
    if (field_) field_->excerpt.open(bracket);
    ++depth_;
  }

  void close(char bracket) {
    --depth_;
    if (depth_ > 0) value_.close(bracket);
    if (field_) field_->excerpt.close(bracket);
    if (depth_ <= 2) end_value();
  }

  template <class T>
  void show(T value) {
    value_.scalar(value);
    if (field_) field_->excerpt.scalar(value);
  }
  template <class T>
  bool other(T value) {
    show(value);
    return scalar(false);
  }

  void add_note(string_t& text) {
    if (key_ == safetensors_checksums) {
      header.checksums = std::move(text);
      return;
    }
    header.notes += checksum_of_note(key_, text);
    if (key_ == safetensors_version) header.ours = true;
    if (metadata_) metadata_->emplace(key_, std::move(text));
  }

  // Handles a value that is neither an object nor an array; `text` says whether it is a string of
  // the metadata.
  bool scalar(bool text) {
    if (depth_ == 1 || (in_metadata_ && !text)) valid_ = false;
    if (depth_ > 2 && field_) field_->whole = false;
    if (depth_ <= 2) end_value();
    return true;
  }

  // Called at the end of a field, of a tensor, and of the header.
  void end_value() {
    field_ = nullptr;
    if (depth_ != 1) return;
    if (!in_metadata_) return add_entry();
    LADON_CHECK(valid_, "load_safetensors", path_, ": ", safetensors_metadata,
                " must be an object of strings, got ", value_.text());
  }

  void add_entry() {
    const std::string where = this->where();
    LADON_CHECK(valid_, "load_safetensors", where, " must be an object, got ", value_.text());
    for (const auto& [key, field] : {std::pair("dtype", &dtype_), std::pair("shape", &shape_),
                                     std::pair("data_offsets", &offsets_)})
      LADON_CHECK(field->given, "load_safetensors", where, " has no '", key, "': ", value_.text());
    const FileType type = parse_dtype(where, dtype_);
    check_integers(where, "shape", shape_);
    check_integers(where, "data_offsets", offsets_);
    const std::vector<std::int64_t>& offsets = offsets_.numbers;
    LADON_CHECK(offsets.size() == 2 && offsets[0] <= offsets[1], "load_safetensors", where,
                ": data_offsets must be [begin, end] with begin ≤ end, got ",
                offsets_.excerpt.text());
    const Shape shape(shape_.numbers);
    const std::uint64_t bytes = checked_bytes("load_safetensors", where, type, shape),
                        begin = static_cast<std::uint64_t>(offsets[0]),
                        end = static_cast<std::uint64_t>(offsets[1]);
    LADON_CHECK(bytes == end - begin, "load_safetensors", where, ": shape ", shape, " of ",
                dtype_.excerpt.text(), " needs ", bytes, " bytes, but data_offsets ",
                offsets_.excerpt.text(), " span ", end - begin);
    header.entries.push_back({name_, type, shape, begin, end});
  }

  const std::string& path_;
  std::map<std::string, std::string>* metadata_;
  int depth_ = 0;
  Keys keys_[deepest];  // of the open objects
  std::string name_, key_;
  bool in_metadata_ = false, valid_ = true;
  Excerpt value_;
  Field dtype_, shape_, offsets_;
  Field* field_ = nullptr;  // the field being read
};

}  // namespace

std::uint32_t checksum_of_note(std::string_view key, std::string_view value) {
  constexpr std::string_view end("\0", 1);
  return crc32(end, crc32(value, crc32(end, crc32(key))));
}

SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text,
                                           std::map<std::string, std::string>* metadata) {
  HeaderReader reader(path, metadata);
  json::sax_parse(text, &reader);
  return std::move(reader.header);
}

}  // namespace ladon
