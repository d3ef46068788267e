#include "ladon/core/extra/io/parts.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <span>
#include <sstream>

#include "ladon/core/error.h"
#include "ladon/core/extra/ranks/ranks.h"

namespace ladon::detail {
namespace {

namespace fs = std::filesystem;

// The bytes with which every part begins.
struct Header {
  std::uint64_t magic = 0x3154524150444C47;  // "GLDPART1" in little-endian order
  std::uint64_t identity, part, payload;
  bool operator==(const Header&) const = default;
};

// Throws Error if the file at the path exists and its first bytes are not those of a part. A
// shorter file may be a part that a crash cut off, so only the bytes that it has are compared.
void check_ours(const std::string& operation, const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  InputFile file(path);
  const std::uint64_t ours = Header().magic;
  std::uint64_t first = 0;
  const std::size_t bytes = std::min<std::uint64_t>(file.size(), sizeof first);
  file.read(&first, bytes);
  LADON_CHECK(
      std::memcmp(&first, &ours, bytes) == 0, operation, path,
      ": cannot be overwritten, because it does not begin like the file of a stored part of a "
      "computation; move it away, or choose another folder");
}

fs::path manifest_path(const fs::path& folder) { return folder / "manifest.txt"; }

std::string text_of(const std::string& title, const Manifest& manifest) {
  std::string all = title + "\n";
  for (const auto& [name, value] : manifest.entries) all += name + ": " + value + "\n";
  return all;
}

Manifest manifest_in(const std::string& text) {
  Manifest found;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);  // the title
  while (std::getline(lines, line)) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    found.entries.emplace_back(line.substr(0, colon),
                               line.substr(std::min(colon + 2, line.size())));
  }
  return found;
}

}  // namespace

void Checksum::add(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  for (; bytes > 0;) {
    std::uint64_t word = 0;
    const std::size_t part = std::min(bytes, sizeof word);
    std::memcpy(&word, from, part);
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u;  // bijective, because the factor is odd
    state_ ^= state_ >> 32;
    from += part;
    bytes -= part;
  }
}

std::string Checksum::text() const {
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << state_;
  return out.str();
}

std::string Manifest::value(const std::string& name) const {
  for (const auto& [key, found] : entries)
    if (key == name) return found;
  return "";
}

std::int64_t Manifest::number(const std::string& name) const {
  const std::string digits = value(name);
  const bool fits = !digits.empty() && digits.size() <= 9 &&
                    digits.find_first_not_of("0123456789") == std::string::npos;
  return fits ? std::stoll(digits) : 0;
}

Manifest PartFolder::manifest(const std::string& operation, const std::string& title,
                              const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(manifest_path(folder), error)) return {};
  const std::string text = read_file(manifest_path(folder).string(), 1 << 16);
  LADON_CHECK(text.substr(0, text.find('\n')) == title, operation, manifest_path(folder).string(),
              ": is not the manifest of a checkpoint; its first line is not \"", title,
              "\", as it must be");
  return manifest_in(text);
}

PartFolder::PartFolder(std::string operation, std::string title, fs::path folder)
    : operation_(std::move(operation)), title_(std::move(title)), folder_(std::move(folder)) {
  stored_ = manifest_in(ranks::from_first([&] {
    lock_.emplace(operation_, folder_.string());
    return text_of(title_, manifest(operation_, title_, folder_));
  }));
}

std::uint64_t Manifest::identity(const std::string& title) const {
  Checksum sum;
  sum.add(text_of(title, *this));
  return sum.value();
}

void Manifest::check_same_in_all_ranks(const std::string& operation) const {
  const std::string text = text_of(operation, *this);
  const auto all = ranks::all_gather(std::as_bytes(std::span(text)));
  const auto manifest_of = [&](std::size_t r) {
    return manifest_in({reinterpret_cast<const char*>(all[r].data()), all[r].size()});
  };
  for (std::size_t r = 1; r < all.size(); ++r)
    for (const auto& [name, value] : entries) {
      const std::string first = manifest_of(0).value(name), other = manifest_of(r).value(name);
      LADON_CHECK(first == other, operation, "the ranks compute different things: \"", name,
                  "\" is ", first, " in rank 0, and ", other, " in rank ", r,
                  "; all ranks must pass the same arguments, on machines of the same kind");
    }
}

void PartFolder::begin(const Manifest& wanted) {
  wanted.check_same_in_all_ranks(operation_);
  if (!stored_.entries.empty())
    for (const auto& [name, value] : wanted.entries)
      LADON_CHECK(stored_.value(name) == value, operation_, "the checkpoint ", folder_.string(),
                  " is of another computation: its \"", name, "\" is ", stored_.value(name),
                  ", now it is ", value,
                  "; use another folder, or remove this folder to begin anew");
  identity_ = wanted.identity(title_);
  ranks::from_first([&] {
    remove_other_parts();
    if (stored_.entries.empty())
      write_atomically(manifest_path(folder_).string(), text_of(title_, wanted));
    return std::string();
  });
}

void PartFolder::remove_other_parts() const {
  std::error_code error;
  std::vector<fs::path> others;
  fs::directory_iterator entry(folder_, error), end;
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
  for (const auto& path : others) fs::remove(path, error);
}

std::string PartFolder::path_of(std::int64_t part) const {
  std::ostringstream name;
  name << "part_" << std::setw(6) << std::setfill('0') << part << ".bin";
  return (folder_ / name.str()).string();
}

void PartFolder::check_room(const std::string& operation, const fs::path& folder,
                            std::uint64_t bytes, const std::string& hint) {
  std::error_code error;
  std::uint64_t held = 0;
  fs::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".bin" && entry->is_regular_file(error))
      held += entry->file_size(error);
  fs::path there = fs::absolute(folder);
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  const fs::space_info disk = fs::space(there, error);
  if (error) return;  // free space is unknown; if there is too little, a write will fail and say so
  const std::uint64_t missing = bytes - std::min(bytes, held);
  LADON_CHECK(missing <= disk.available, operation, "the parts still to be written take ",
              static_cast<double>(missing) / 1e9, " GB, but the disk of ", folder.string(),
              " has room for ", static_cast<double>(disk.available) / 1e9, " GB", hint);
}

bool PartFolder::read(std::int64_t part, std::uint64_t payload,
                      const std::function<void(PartReader&)>& take) const {
  std::error_code error;
  if (!fs::exists(path_of(part), error)) return false;
  const Header wanted{
      .identity = identity_, .part = static_cast<std::uint64_t>(part), .payload = payload};
  Header header{};
  std::uint64_t checksum = 0;
  InputFile file(path_of(part));
  if (file.size() != sizeof header + payload + sizeof checksum) return false;
  PartReader reader(file);
  reader.read(&header, sizeof header);
  if (header != wanted) return false;
  take(reader);
  file.read(&checksum, sizeof checksum);
  return checksum == reader.sum_.value();
}

void PartFolder::write(std::int64_t part, std::uint64_t payload,
                       const std::function<void(PartWriter&)>& give) const {
  const Header header{
      .identity = identity_, .part = static_cast<std::uint64_t>(part), .payload = payload};
  check_ours(operation_, path_of(part));
  write_atomically(path_of(part), [&](OutputFile& file) {
    PartWriter writer(file);
    writer.write(&header, sizeof header);
    give(writer);
    const std::uint64_t checksum = writer.sum_.value();
    file.write(&checksum, sizeof checksum);
  });
}

}  // namespace ladon::detail
