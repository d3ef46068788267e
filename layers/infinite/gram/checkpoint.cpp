#include "ladon/layers/infinite/gram/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <sstream>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/core/parallel.h"

namespace ladon::infinite {
namespace {

/// A checksum: one multiplication and one shift a word, by which any change of a word changes all
/// later states.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    for (; bytes > 0;) {
      std::uint64_t word = 0;
      const std::size_t part = std::min(bytes, sizeof word);
      std::memcpy(&word, from, part);
      state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u;  // odd: a bijection
      state_ ^= state_ >> 32;
      from += part;
      bytes -= part;
    }
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  void add(const Tensor& x) {
    if (!x.defined()) return;
    add(detail::join(x.dtype(), x.shape()));
    const Tensor all = contiguous(x);
    add(all.strided_bytes(), static_cast<std::size_t>(all.count()) * item_size(x.dtype()));
  }
  std::uint64_t value() const { return state_; }
  std::string text() const {
    std::ostringstream out;
    out << std::hex << std::setw(16) << std::setfill('0') << state_;
    return out.str();
  }

 private:
  std::uint64_t state_ = 0x6C61646F6E;
};

std::string hash_of(const Inputs& in) {
  Hash hash;
  hash.add(in.x);
  hash.add(in.mask);
  return hash.text();
}

/// What the model says of itself. Options that it does not mention show in its kernels.
std::string hash_of(const Layer& model) {
  // Listing its members does not change a model, though visit() would allow it.
  Layer& listed = const_cast<Layer&>(model);
  Hash hash;
  hash.add(listed.summary());
  for (const auto& [name, value] : listed.hyperparameters()) {
    hash.add(name);
    hash.add(value);
  }
  return hash.text();
}

/// The kernels of the first two inputs.
std::string hash_of_kernels(const GramPlan& plan, Get get) {
  const GramTile first{0, 0, std::min<std::int64_t>(2, plan.a.count()),
                       std::min<std::int64_t>(2, plan.b.count())};
  const Kernel k = gram_tile(of_first(plan, first.rows, first.columns), first, get, 0);
  Hash hash;
  for (const Tensor* x : {&k.nngp, &k.ntk}) hash.add(*x);
  return hash.text();
}

// --- the manifest: "name: value" lines after a title ---

constexpr const char* title = "Ladon Gram matrix 1";

struct Manifest {
  std::vector<std::pair<std::string, std::string>> entries;

  std::string text() const {
    std::string all = std::string(title) + "\n";
    for (const auto& [name, value] : entries) all += name + ": " + value + "\n";
    return all;
  }
  std::string value(const std::string& name) const {
    for (const auto& [key, found] : entries)
      if (key == name) return found;
    return "";
  }
  /// A count of 1 to 10⁹; 0 if it is none.
  std::int64_t number(const std::string& name) const {
    const std::string digits = value(name);
    const bool fits = !digits.empty() && digits.size() <= 9 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
    return fits ? std::stoll(digits) : 0;
  }
};

std::filesystem::path manifest_path(const std::filesystem::path& folder) {
  return folder / "manifest.txt";
}

/// No entries if there is no manifest.
Manifest stored_manifest(const std::filesystem::path& folder) {
  Manifest found;
  std::error_code error;
  if (!std::filesystem::exists(manifest_path(folder), error)) return found;
  std::istringstream lines(read_file(manifest_path(folder).string(), 1 << 16));
  std::string line;
  LADON_CHECK(std::getline(lines, line) && line == title, "gram", manifest_path(folder).string(),
              ": is not the manifest of a checkpoint; its first line is not \"", title, "\"");
  while (std::getline(lines, line)) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    found.entries.emplace_back(line.substr(0, colon),
                               line.substr(std::min(colon + 2, line.size())));
  }
  return found;
}

// Every part begins with these.
struct Header {
  std::uint64_t magic = 0x3154524150444C47;  // "GLDPART1", read backwards
  std::uint64_t identity, part, payload;
  bool operator==(const Header&) const = default;
};

/// A tile of one matrix, row by row.
struct TileRows {
  TileRows(const Tensor& matrix, const GramTile& tile) {
    block = matrix.shape().sub(2, matrix.rank()).count();
    stride = matrix.size(1) * block;
    first = tile.row * stride + tile.column * block;
    length = tile.columns * block;
    count = tile.rows;
  }
  std::int64_t block, stride, first, length, count;
};

}  // namespace

GramCheckpoint::GramCheckpoint(const Limit& limit, const GramPlan& plan, const GramOptions& options)
    : plan_(plan), folder_(options.checkpoint), lock_("gram", folder_.string()) {
  Manifest wanted{{{"inputs", hash_of(plan.a)},
                   {"other inputs", plan.symmetric ? "the same" : hash_of(plan.b)},
                   {"model", hash_of(limit.model())},
                   {"kernels of the first inputs", hash_of_kernels(plan, options.get)},
                   {"wanted", options.get == Get::ntk ? "ntk" : "nngp"},
                   {"replicates", detail::join(plan.replicates)},
                   {"tile", detail::join(plan.estimate.tile)}}};
  const Manifest stored = stored_manifest(folder_);
  if (!stored.entries.empty()) {
    for (const auto& [name, value] : wanted.entries)
      LADON_CHECK(stored.value(name) == value, "gram", "the checkpoint ", folder_.string(),
                  " is of another computation: its \"", name, "\" is ", stored.value(name),
                  ", now it is ", value, "; take another folder, or remove this one to begin anew");
    part_tiles_ = stored.number("tiles a part");
    LADON_CHECK(part_tiles_ > 0, "gram", manifest_path(folder_).string(),
                ": \"tiles a part\" is no number but ", stored.value("tiles a part"));
  } else {
    const double seconds =
        std::max(plan.estimate.seconds, 1e-6) / static_cast<double>(plan.estimate.tiles);
    const double tiles = options.checkpoint_seconds / seconds;
    part_tiles_ = static_cast<std::int64_t>(
        std::clamp(tiles, options.checkpoint_seconds > 0 ? num_threads() : 1.0, 1e8));
  }
  wanted.entries.emplace_back("tiles a part", detail::join(part_tiles_));
  Hash hash;
  hash.add(wanted.text());
  identity_ = hash.value();
  remove_other_parts();
  if (stored.entries.empty()) write_atomically(manifest_path(folder_).string(), wanted.text());
}

void GramCheckpoint::remove_other_parts() const {
  std::error_code error;
  std::vector<std::filesystem::path> others;
  std::filesystem::directory_iterator entry(folder_, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with("part_") || !name.ends_with(".bin") || !entry->is_regular_file())
      continue;
    InputFile file(entry->path().string());
    Header header{};
    if (file.size() < sizeof header) continue;
    file.read(&header, sizeof header);
    if (header.magic == Header().magic && header.identity != identity_)
      others.push_back(entry->path());
  }
  for (const auto& path : others) std::filesystem::remove(path, error);
}

std::int64_t GramCheckpoint::stored_tile(const std::filesystem::path& folder) {
  return stored_manifest(folder).number("tile");
}

std::string GramCheckpoint::path_of(std::int64_t part) const {
  std::ostringstream name;
  name << "part_" << std::setw(6) << std::setfill('0') << part << ".bin";
  return (folder_ / name.str()).string();
}

std::int64_t GramCheckpoint::first_of(std::int64_t part) const {
  return std::min(plan_.tiles.count(), part * part_tiles_);
}

template <class G, class F>
void GramCheckpoint::for_each(std::int64_t part, G& result, const F& f) const {
  for (std::int64_t i = first_of(part); i < first_of(part + 1); ++i)
    for (const auto which : gram_matrices)
      if ((result.*which).defined()) f(result.*which, TileRows(result.*which, plan_.tiles[i]));
}

std::uint64_t GramCheckpoint::payload_of(std::int64_t part, const Gram& result) const {
  std::uint64_t bytes = 0;
  for_each(part, result, [&](const Tensor&, const TileRows& rows) {
    bytes += sizeof(double) * static_cast<std::uint64_t>(rows.count * rows.length);
  });
  return bytes;
}

bool GramCheckpoint::read(std::int64_t part, Gram& result) const {
  std::error_code error;
  if (!std::filesystem::exists(path_of(part), error)) return false;
  const Header wanted{.identity = identity_,
                      .part = static_cast<std::uint64_t>(part),
                      .payload = payload_of(part, result)};
  InputFile file(path_of(part));
  Header header{};
  std::uint64_t checksum = 0;
  if (file.size() != sizeof header + wanted.payload + sizeof checksum) return false;
  file.read(&header, sizeof header);
  if (header != wanted) return false;
  Hash hash;
  hash.add(&header, sizeof header);
  for_each(part, result, [&](Tensor& matrix, const TileRows& rows) {
    const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(rows.length);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      double* row = matrix.mutable_data<double>() + rows.first + i * rows.stride;
      file.read(row, bytes);
      hash.add(row, bytes);
    }
  });
  file.read(&checksum, sizeof checksum);
  return checksum == hash.value();
}

void GramCheckpoint::write(std::int64_t part, const Gram& result) const {
  const Header header{.identity = identity_,
                      .part = static_cast<std::uint64_t>(part),
                      .payload = payload_of(part, result)};
  write_atomically(path_of(part), [&](OutputFile& file) {
    Hash hash;
    hash.add(&header, sizeof header);
    file.write(&header, sizeof header);
    for_each(part, result, [&](const Tensor& matrix, const TileRows& rows) {
      const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(rows.length);
      for (std::int64_t i = 0; i < rows.count; ++i) {
        const double* row = matrix.data<double>() + rows.first + i * rows.stride;
        hash.add(row, bytes);
        file.write(row, bytes);
      }
    });
    const std::uint64_t checksum = hash.value();
    file.write(&checksum, sizeof checksum);
  });
}

}  // namespace ladon::infinite
