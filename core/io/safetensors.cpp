#include "ladon/core/io/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/io/elements.h"

namespace ladon {
namespace {

using nlohmann::json;

constexpr std::uint64_t largest_header = 100'000'000;  // the reference implementation's limit
constexpr int deepest_header = 4;                      // the format needs 3 levels
constexpr const char* metadata_key = "__metadata__";

struct Entry {
  std::string name;
  FileType type;
  Shape shape;
  std::uint64_t begin, end;
};

// A value as an error message shows it.
std::string shown(const json& value) {
  const std::string text = value.dump();
  return text.size() <= 80 ? text : text.substr(0, 80) + "…";
}

// JSON of bounded depth whose objects hold no key twice.
json parse_json(const std::string& path, const std::string& text) {
  std::vector<std::set<std::string>> keys;
  const json::parser_callback_t inspect = [&](int depth, json::parse_event_t event, json& value) {
    LADON_CHECK(depth <= deepest_header, "load_safetensors", path,
                ": the header nests deeper than ", deepest_header, " levels");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      LADON_CHECK(keys.back().insert(key).second, "load_safetensors", path,
                  ": the header has the key '", key, "' twice");
    }
    return true;
  };
  try {
    return json::parse(text, inspect);
  } catch (const json::exception& error) {
    detail::fail("load_safetensors", path, ": the header is not JSON: ", error.what());
  }
}

FileType parse_dtype(const std::string& where, const json& value) {
  static const std::map<std::string, FileType> types = {
      {"BOOL", FileType::b1},  {"I8", FileType::i1},  {"I16", FileType::i2}, {"I32", FileType::i4},
      {"I64", FileType::i8},   {"U8", FileType::u1},  {"U16", FileType::u2}, {"U32", FileType::u4},
      {"U64", FileType::u8},   {"F16", FileType::f2}, {"F32", FileType::f4}, {"F64", FileType::f8},
      {"BF16", FileType::bf16}};
  const auto found = value.is_string() ? types.find(value.get<std::string>()) : types.end();
  LADON_CHECK(found != types.end(), "load_safetensors", where, ": dtype ", shown(value),
              " is not one of BOOL I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64");
  return found->second;
}

// An array of integers in [0, 2^63).
std::vector<std::int64_t> parse_integers(const std::string& where, const char* key,
                                         const json& value) {
  const auto whole = [](const json& item) {
    return item.is_number_unsigned() && item.get<std::uint64_t>() >> 63 == 0;
  };
  LADON_CHECK(value.is_array() && std::all_of(value.begin(), value.end(), whole),
              "load_safetensors", where, ": ", key,
              " must be an array of integers from 0 to 2^63 − 1, got ", shown(value));
  return value.get<std::vector<std::int64_t>>();
}

Entry parse_entry(const std::string& path, const std::string& name, const json& value) {
  const std::string where = detail::join(path, ": tensor '", name, "'");
  LADON_CHECK(value.is_object(), "load_safetensors", where, " must be an object, got ",
              shown(value));
  for (const char* key : {"dtype", "shape", "data_offsets"})
    LADON_CHECK(value.contains(key), "load_safetensors", where, " has no '", key,
                "': ", shown(value));
  Entry entry{name, parse_dtype(where, value["dtype"]), {}, 0, 0};
  const auto sizes = parse_integers(where, "shape", value["shape"]);
  LADON_CHECK(sizes.size() <= Shape::max_rank, "load_safetensors", where, " has ", sizes.size(),
              " axes, a tensor at most ", Shape::max_rank);
  entry.shape = Shape(sizes);
  const auto offsets = parse_integers(where, "data_offsets", value["data_offsets"]);
  LADON_CHECK(offsets.size() == 2 && offsets[0] <= offsets[1], "load_safetensors", where,
              ": data_offsets must be [begin, end] with begin ≤ end, got ",
              shown(value["data_offsets"]));
  entry.begin = static_cast<std::uint64_t>(offsets[0]);
  entry.end = static_cast<std::uint64_t>(offsets[1]);
  const std::uint64_t bytes = checked_bytes("load_safetensors", where, entry.type, entry.shape);
  LADON_CHECK(bytes == entry.end - entry.begin, "load_safetensors", where, ": shape ", entry.shape,
              " of ", shown(value["dtype"]), " needs ", bytes, " bytes, but data_offsets ",
              shown(value["data_offsets"]), " span ", entry.end - entry.begin);
  return entry;
}

std::map<std::string, std::string> parse_metadata(const std::string& path, const json& value) {
  const auto text = [](const json& item) { return item.is_string(); };
  LADON_CHECK(value.is_object() && std::all_of(value.begin(), value.end(), text),
              "load_safetensors", path, ": ", metadata_key, " must be an object of strings, got ",
              shown(value));
  return value.get<std::map<std::string, std::string>>();
}

json read_header(InputFile& file) {
  const std::string& path = file.path();
  LADON_CHECK(file.size() >= 8, "load_safetensors", path, ": is ", file.size(),
              " bytes long, but the length of the header alone takes 8");
  std::uint64_t length = 0;
  file.read(&length, sizeof(length));
  LADON_CHECK(length <= file.remaining(), "load_safetensors", path, ": the header claims ", length,
              " bytes, but only ", file.remaining(), " are left; the file is truncated or damaged");
  LADON_CHECK(length <= largest_header, "load_safetensors", path, ": the header claims ", length,
              " bytes, more than the limit of ", largest_header);
  std::string text(length, '\0');
  file.read(text.data(), text.size());
  LADON_CHECK(text.starts_with('{'), "load_safetensors", path,
              ": the header must start with '{', but starts with '", text.substr(0, 8), "'");
  return parse_json(path, text);
}

// The tensors in the order of their bytes, which they must cover without overlap or hole.
std::vector<Entry> ordered_entries(const InputFile& file, const json& header) {
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name != metadata_key) entries.push_back(parse_entry(file.path(), name, value));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t next = 0;
  for (const Entry& entry : entries) {
    LADON_CHECK(entry.begin == next, "load_safetensors", file.path(), ": tensor '", entry.name,
                "' begins at byte ", entry.begin,
                " of the elements, but the tensors before it end at ", next,
                entry.begin < next ? "; they overlap" : "; the bytes between belong to none");
    next = entry.end;
  }
  LADON_CHECK(next == file.remaining(), "load_safetensors", file.path(), ": the tensors need ",
              next, " bytes, but ", file.remaining(), " follow the header");
  return entries;
}

const char* dtype_name(DType t) {
  return t == boolean ? "BOOL" : t == i64 ? "I64" : t == f32 ? "F32" : "F64";
}

// The order in the file: by dtype as the reference implementation ranks them, then by name.
using Named = std::pair<const std::string, Tensor>;
std::vector<const Named*> ordered_tensors(const std::string& path,
                                          const std::map<std::string, Tensor>& tensors) {
  std::vector<const Named*> order;
  for (const auto& item : tensors) {
    LADON_CHECK(item.second.defined(), "save_safetensors", path, ": tensor '", item.first,
                "' is undefined");
    LADON_CHECK(item.first != metadata_key, "save_safetensors", path, ": a tensor cannot be named ",
                metadata_key);
    order.push_back(&item);
  }
  const auto rank = [](const Named* item) {
    const DType t = item->second.dtype();
    return t == i64 ? 0 : t == f64 ? 1 : t == f32 ? 2 : 3;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const Named* a, const Named* b) { return rank(a) < rank(b); });
  return order;
}

}  // namespace

std::map<std::string, Tensor> load_safetensors(const std::string& path,
                                               std::map<std::string, std::string>* metadata) {
  InputFile file(path);
  const json header = read_header(file);
  std::map<std::string, std::string> notes;
  if (header.contains(metadata_key)) notes = parse_metadata(path, header[metadata_key]);
  const std::vector<Entry> entries = ordered_entries(file, header);
  std::map<std::string, Tensor> tensors;
  for (const Entry& entry : entries)
    tensors.emplace(entry.name, read_elements(file, entry.type, entry.shape));
  if (metadata) *metadata = std::move(notes);
  return tensors;
}

void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::vector<const Named*> order = ordered_tensors(path, tensors);
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[metadata_key] = metadata;
  std::uint64_t next = 0;
  for (const Named* item : order) {
    const Tensor& x = item->second;
    const auto bytes = static_cast<std::uint64_t>(x.count()) * item_size(x.dtype());
    header[item->first] = {{"dtype", dtype_name(x.dtype())},
                           {"shape", std::vector<std::int64_t>(x.shape().begin(), x.shape().end())},
                           {"data_offsets", {next, next + bytes}}};
    next += bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception& error) {
    detail::fail("save_safetensors", path, ": a name or metadata is not UTF-8: ", error.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  write_atomically(path, [&](OutputFile& file) {
    file.write(&length, sizeof(length));
    file.write(text);
    for (const Named* item : order) write_elements(file, item->second);
  });
}

}  // namespace ladon
