#include "ladon/core/io/tensors/safetensors.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/io/crc.h"
#include "ladon/core/io/elements.h"
#include "ladon/core/io/tensors/safetensors_header.h"
#include "ladon/core/io/tensors/safetensors_index.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/version.h"

namespace ladon {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint64_t largest_header = 100'000'000;  // the reference implementation's limit

// Recognizes other formats of arrays by their first bytes.
void check_foreign(const std::string& path, std::string_view first) {
  for (const auto& [magic, what] : {std::pair("\x93NUMPY", "a .npy file; read it with load_npy()"),
                                    std::pair("PK\3\4", "a .npz file; read it with load_npz()")})
    LADON_CHECK(!first.starts_with(magic), "load_safetensors", path, ": is ", what);
}

// Text of the header, not yet known to be JSON.
std::string read_header(InputFile& file) {
  const std::string& path = file.path();
  LADON_CHECK(file.size() >= 8, "load_safetensors", path, ": is ", file.size(),
              " bytes long, but the length of the header alone takes 8");
  std::uint64_t length = 0;
  file.read(&length, sizeof(length));
  if (length > std::min(file.remaining(), largest_header))
    check_foreign(path, {reinterpret_cast<const char*>(&length), sizeof length});
  LADON_CHECK(length <= file.remaining(), "load_safetensors", path, ": the header claims ", length,
              " bytes, but only ", file.remaining(),
              " are left; the file is truncated, damaged, or of another format");
  LADON_CHECK(length <= largest_header, "load_safetensors", path, ": the header claims ", length,
              " bytes, more than the limit of ", largest_header);
  std::string text(length, '\0');
  file.read(text.data(), text.size());
  const std::size_t start = std::min(text.find_first_not_of(" \t\n\r"), text.size());
  LADON_CHECK(text.compare(start, 1, "{") == 0, "load_safetensors", path,
              ": the header must start with '{', but starts with '", text.substr(start, 8), "'");
  // The JSON parser would stop at a NUL and ignore what follows.
  LADON_CHECK(text.find('\0', std::min(text.rfind('}'), text.size())) == std::string::npos,
              "load_safetensors", path,
              ": the header has a NUL byte after its closing '}'; the file is damaged");
  return text;
}

// Puts the tensors in the order of their bytes, which they must cover without overlap or gap.
void order_entries(const InputFile& file, std::vector<SafetensorsEntry>& entries) {
  const auto earlier = [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  };
  std::stable_sort(entries.begin(), entries.end(), earlier);  // empty tensors keep their order
  std::uint64_t next = 0;
  for (const SafetensorsEntry& entry : entries) {
    LADON_CHECK(entry.begin == next, "load_safetensors", file.path(), ": tensor '", entry.name,
                "' begins at byte ", entry.begin,
                " of the elements, but the tensors before it end at ", next,
                entry.begin < next ? "; they overlap" : "; the bytes between belong to no tensor");
    next = entry.end;
  }
  LADON_CHECK(next == file.remaining(), "load_safetensors", file.path(), ": the tensors need ",
              next, " bytes, but ", file.remaining(), " follow the header");
}

const char* dtype_name(DType t) {
  switch (t) {
    case DType::boolean:
      return "BOOL";
    case DType::i64:
      return "I64";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
    case DType::f32:
      return "F32";
    case DType::f64:
      break;
  }
  return "F64";
}

std::string hexadecimal(std::uint32_t x) {
  std::string digits(8, '0');
  for (int i = 7; i >= 0; --i, x >>= 4) digits[i] = "0123456789abcdef"[x & 15];
  return digits;
}

// The order in the file: by dtype as the reference implementation ranks them, then by name.
using Named = std::pair<const std::string, Tensor>;
std::vector<const Named*> ordered_tensors(const std::string& path,
                                          const std::map<std::string, Tensor>& tensors) {
  std::vector<const Named*> order;
  for (const auto& item : tensors) {
    LADON_CHECK(item.second.defined(), "save_safetensors", path, ": tensor '", item.first,
                "' is undefined; there is nothing to save");
    LADON_CHECK(item.first != safetensors_metadata, "save_safetensors", path,
                ": a tensor cannot be named ", safetensors_metadata,
                ", which the format reserves; rename it");
    order.push_back(&item);
  }
  const auto rank = [](const Named* item) {
    static constexpr DType widest_first[] = {i64, f64, f32, bf16, f16, boolean};
    return std::find(std::begin(widest_first), std::end(widest_first), item->second.dtype());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const Named* a, const Named* b) { return rank(a) < rank(b); });
  return order;
}

// --- checksums ---

std::uint32_t checksum_of(const std::string& name, const Tensor& x) {
  const Tensor rows = kernels::contiguous(x);
  const std::string what = detail::join(name, " ", dtype_name(x.dtype()), " ", x.shape());
  const std::string_view elements(reinterpret_cast<const char*>(rows.strided_bytes()),
                                  static_cast<std::size_t>(rows.count()) * item_size(rows.dtype()));
  return crc32(elements, crc32(what));
}

// Texts of the checksums of the tensors named(i) for all i < n.
template <class F>
std::vector<std::string> checksums_of(std::size_t n, const F& named) {
  std::vector<std::string> all(n);
  parallel::for_range(static_cast<std::int64_t>(n), 1, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      const auto& [name, x] = named(static_cast<std::size_t>(i));
      all[i] = hexadecimal(checksum_of(name, x));
    }
  });
  return all;
}

// Compares the checksums. Files of other programs have neither checksums nor "ladon.version".
void check_sums(const std::string& path, const SafetensorsHeader& header,
                const std::map<std::string, Tensor>& tensors) {
  LADON_CHECK(!header.checksums.empty() || !header.ours, "load_safetensors", path, ": metadata '",
              safetensors_version, "' says that ladon wrote the file, but '", safetensors_checksums,
              "' is missing; the file is damaged, or another program removed it and must remove "
              "the version too");
  if (header.checksums.empty()) return;
  const std::vector<SafetensorsEntry>& entries = header.entries;
  LADON_CHECK(header.checksums.size() == 9 * entries.size() + 8, "load_safetensors", path, ": '",
              safetensors_checksums, "' must be ", entries.size() + 1,
              " numbers of 8 hexadecimal digits, got ", header.checksums.size(), " bytes");
  for (std::size_t i = 8; i < header.checksums.size(); i += 9)
    LADON_CHECK(header.checksums[i] == ' ', "load_safetensors", path, ": byte ", i, " of '",
                safetensors_checksums,
                "' must be a space between two checksums; the file is damaged");
  const auto check = [&](std::size_t i, const std::string& sum, const std::string& what) {
    LADON_CHECK(std::string_view(header.checksums).substr(9 * i, 8) == sum, "load_safetensors",
                path, ": ", what,
                " has another checksum than the file states; the file is damaged, or a program "
                "changed it and must remove the entry '",
                safetensors_checksums, "' of its metadata too");
  };
  check(0, hexadecimal(header.notes), safetensors_metadata);
  const std::vector<std::string> sums =
      checksums_of(entries.size(),
                   [&](std::size_t i) -> const Named& { return *tensors.find(entries[i].name); });
  for (std::size_t i = 0; i < entries.size(); ++i)
    check(i + 1, sums[i], "tensor '" + entries[i].name + "'");
}

// Metadata with checksums and with this library's version, which replaces the version of an earlier
// writer.
std::map<std::string, std::string> complete(const std::string& path,
                                            const std::vector<const Named*>& order,
                                            std::map<std::string, std::string> metadata) {
  LADON_CHECK(!metadata.contains(safetensors_checksums), "save_safetensors", path,
              ": the metadata key '", safetensors_checksums, "' is reserved for the checksums");
  metadata[safetensors_version] = version();
  std::uint32_t notes = 0;
  for (const auto& [key, value] : metadata) notes += checksum_of_note(key, value);
  std::string& sums = metadata[safetensors_checksums] = hexadecimal(notes);
  for (const std::string& sum :
       checksums_of(order.size(), [&](std::size_t i) -> const Named& { return *order[i]; }))
    sums += " " + sum;
  return metadata;
}

// Text of the header. It is written piece by piece, because nlohmann's ordered objects search all
// names at every insertion, and because the destructor of its objects allocates memory and
// terminates the program if there is not enough.
std::string header_text(const std::string& path, const std::vector<const Named*>& order,
                        const std::map<std::string, std::string>& metadata) try {
  std::string notes;
  for (const auto& [name, value] : metadata)
    notes += (notes.empty() ? "" : ",") + json(name).dump() + ":" + json(value).dump();
  std::string text = json(safetensors_metadata).dump() + ":{" + notes + "}";
  const auto add = [&](const std::string& name, const std::string& value) {
    text += "," + json(name).dump() + ":" + value;
  };
  std::uint64_t next = 0;
  for (const Named* item : order) {
    const Tensor& x = item->second;
    const std::uint64_t begin = next;
    next += static_cast<std::uint64_t>(x.count()) * item_size(x.dtype());
    std::string shape;
    for (const std::int64_t size : x.shape())
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    add(item->first, detail::join("{\"dtype\":\"", dtype_name(x.dtype()), "\",\"shape\":[", shape,
                                  "],\"data_offsets\":[", begin, ",", next, "]}"));
  }
  return "{" + text + "}";
} catch (const json::exception& error) {
  detail::fail("save_safetensors", path, ": a name or metadata is not UTF-8: ", error.what());
}

std::map<std::string, Tensor> load_one(const std::string& path,
                                       std::map<std::string, std::string>* metadata) {
  InputFile file(path);
  std::map<std::string, std::string> notes;
  SafetensorsHeader header =
      parse_safetensors_header(path, read_header(file), metadata ? &notes : nullptr);
  order_entries(file, header.entries);
  std::map<std::string, Tensor> tensors;
  for (const SafetensorsEntry& entry : header.entries)
    tensors.emplace(entry.name, read_elements(file, entry.type, entry.shape));
  check_sums(path, header, tensors);
  if (metadata) *metadata = std::move(notes);
  return tensors;
}

// Moves the tensors `from` of one file of a checkpoint to `to`, which holds the tensors of the
// files before it.
void take_shard(const std::string& path, const std::string& index, const ShardMap& shard_of,
                const std::string& shard, std::map<std::string, Tensor>& from,
                std::map<std::string, Tensor>& to) {
  for (auto& [name, x] : from) {
    const auto listed = shard_of.find(name);
    LADON_CHECK(listed != shard_of.end() && listed->second == shard, "load_safetensors", path,
                ": tensor '", name, "' is not listed for this file in ", index);
    to.emplace(name, std::move(x));
  }
}

std::map<std::string, Tensor> load_shards(const std::string& index,
                                          std::map<std::string, std::string>* metadata) {
  const ShardMap shard_of = parse_shard_index(index, read_file(index, largest_header));
  std::set<std::string> shards;
  for (const auto& [name, shard] : shard_of) shards.insert(shard);
  std::map<std::string, Tensor> all;
  std::map<std::string, std::string> notes;
  for (const std::string& shard : shards) {
    const std::string path = fs::path(index).parent_path() / shard;
    std::map<std::string, std::string> own;
    std::map<std::string, Tensor> tensors = load_one(path, metadata ? &own : nullptr);
    take_shard(path, index, shard_of, shard, tensors, all);
    notes.merge(own);
  }
  for (const auto& [name, shard] : shard_of)
    LADON_CHECK(all.contains(name), "load_safetensors", index, ": tensor '", name,
                "' is said to be in ", shard, ", which does not have it");
  if (metadata) *metadata = std::move(notes);
  return all;
}

}  // namespace

std::map<std::string, Tensor> load_safetensors(const std::string& path,
                                               std::map<std::string, std::string>* metadata) {
  if (path.ends_with(".json")) return load_shards(path, metadata);
  std::error_code error;
  if (!fs::is_directory(path, error)) return load_one(path, metadata);
  const fs::path index = fs::path(path) / "model.safetensors.index.json";
  return fs::exists(index, error) ? load_shards(index, metadata)
                                  : load_one(fs::path(path) / "model.safetensors", metadata);
}

void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::vector<const Named*> order = ordered_tensors(path, tensors);
  std::string text = header_text(path, order, complete(path, order, metadata));
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  write_atomically(path, [&](OutputFile& file) {
    file.write(&length, sizeof(length));
    file.write(text);
    for (const Named* item : order) write_elements(file, item->second);
  });
}

}  // namespace ladon
