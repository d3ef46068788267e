#include "ladon/core/extra/io/zip.h"

#include <algorithm>
#include <optional>

#include "ladon/core/error.h"
#include "ladon/core/extra/io/gzip.h"
#include "ladon/core/io/crc.h"
#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

constexpr std::string_view member_mark = "PK\3\4", entry_mark = "PK\1\2", end_mark = "PK\5\6",
                           end64_mark = "PK\6\6", locator_mark = "PK\6\7";
constexpr std::size_t member_size = 30, entry_size = 46, end_size = 22, end64_size = 56,
                      locator_size = 20;
constexpr std::uint64_t full16 = 0xffff, full32 = 0xffffffff;  // these mean "see the 64-bit field"
constexpr std::uint64_t sizes_follow = 1 << 3, utf8_name = 1 << 11;
// Flags of members whose content cannot be read: encrypted, patched, or with a masked header.
constexpr std::uint64_t hidden = 1 | 1 << 5 | 1 << 6 | 1 << 13;
constexpr std::uint64_t largest_directory = 100'000'000;

// --- reading ---

// Reads little-endian numbers from the front of a piece of the file.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size(); }
  std::string_view take(std::size_t n) {
    const std::string_view piece = bytes_.substr(0, n);
    bytes_.remove_prefix(piece.size());
    return piece;
  }
  std::uint64_t number(std::size_t n) {
    std::uint64_t value = 0;
    const std::string_view piece = take(n);
    for (std::size_t i = piece.size(); i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(piece[i]);
    return value;
  }

 private:
  std::string_view bytes_;
};

// Entry of a member in the directory. Most of its fields are repeated in front of the member's
// bytes.
struct Entry {
  std::uint64_t flags, method, crc, packed, size, offset = 0;
  std::string_view name;
};

struct Directory {
  std::uint64_t members, begin, end;
};

class ZipReader {
 public:
  ZipReader(std::string_view operation, InputFile& file) : operation_(operation), file_(file) {}

  std::vector<ZipMember> read() {
    const Directory directory = find_directory();
    const std::string text = bytes(directory.begin, directory.end - directory.begin);
    std::vector<Entry> entries = parse(text, directory.members);
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.offset < b.offset; });
    std::vector<ZipMember> members;
    for (std::size_t i = 0; i < entries.size(); ++i)
      members.push_back(
          find(entries[i], i + 1 < entries.size() ? entries[i + 1].offset : directory.begin));
    return members;
  }

 private:
  template <class... Parts>
  void check(bool ok, const Parts&... parts) const {
    LADON_CHECK(ok, operation_, file_.path(), ": ", parts...);
  }

  std::string bytes(std::uint64_t begin, std::uint64_t count) {
    std::string piece(count, '\0');
    file_.select(begin, begin + count);
    file_.read(piece.data(), piece.size());
    return piece;
  }

  // Searches backwards for the end record, which a comment of up to 64 kB may follow.
  Directory find_directory() {
    const std::uint64_t size = file_.size(),
                        most = std::min<std::uint64_t>(size, end_size + full16);
    const std::string tail = bytes(size - most, most);
    std::size_t at = tail.rfind(end_mark);
    const auto ends_the_file = [&] {
      return tail.size() - at >= end_size &&
             Fields(std::string_view(tail).substr(at + end_size - 2)).number(2) ==
                 tail.size() - at - end_size;
    };
    while (at != std::string::npos && !ends_the_file())
      at = at > 0 ? tail.rfind(end_mark, at - 1) : std::string::npos;
    check(at != std::string::npos,
          "has no end record of a zip archive; the file has another format, or is truncated");
    const std::uint64_t end_at = size - most + at;
    Fields f(std::string_view(tail).substr(at + end_mark.size()));
    const std::uint64_t disks = f.number(2) | f.number(2);
    std::uint64_t here = f.number(2), length, before = end_at;
    Directory d{};
    d.members = f.number(2);
    length = f.number(4);
    d.begin = f.number(4);
    check(disks == 0 && here == d.members,
          "is one of several parts of an archive; only archives in a single file can be read");
    if (const auto wide = find_directory64(end_at)) {
      const auto agree = [&](std::uint64_t narrow, std::uint64_t full, std::uint64_t value) {
        check(narrow == full || narrow == value,
              "the two end records of the archive disagree: ", narrow, " and ", value);
      };
      agree(d.members, full16, wide->members);
      agree(d.begin, full32, wide->begin);
      agree(length, full32, wide->end - wide->begin);
      before = wide_at_;
      d = *wide;
    } else {
      d.end = d.begin + length;
    }
    check(d.end == before, "the directory ends at byte ", d.end, ", but the end record begins at ",
          before);
    const std::uint64_t room = d.end - d.begin;
    check(room <= largest_directory, "the directory claims ", room,
          " bytes, more than the limit of ", largest_directory);
    check(d.members <= room / entry_size, "the directory claims ", d.members, " members in ", room,
          " bytes, which are too few");
    return d;
  }

  std::optional<Directory> find_directory64(std::uint64_t end_at) {
    if (end_at < locator_size + end64_size) return {};
    const std::string locator = bytes(end_at - locator_size, locator_size);
    if (!locator.starts_with(locator_mark)) return {};
    Fields where(std::string_view(locator).substr(locator_mark.size()));
    const std::uint64_t disk = where.number(4), last = end_at - locator_size - end64_size;
    wide_at_ = where.number(8);
    check(disk == 0 && wide_at_ <= last, "the 64-bit end record is said to begin at byte ",
          wide_at_, ", after the last possible position, ", last);
    const std::string text = bytes(wide_at_, end64_size);
    check(text.starts_with(end64_mark), "has no 64-bit end record at byte ", wide_at_);
    Fields f(std::string_view(text).substr(end64_mark.size()));
    const std::uint64_t length = f.number(8);
    check(length == last + end64_size - wide_at_ - 12, "the 64-bit end record claims ", length,
          " bytes, which does not agree with its position");
    f.number(4);  // versions
    const std::uint64_t disks = f.number(4) | f.number(4), here = f.number(8);
    Directory d{};
    d.members = f.number(8);
    check(disks == 0 && here == d.members,
          "is one of several parts of an archive; only archives in a single file can be read");
    const std::uint64_t room = f.number(8);
    d.begin = f.number(8);
    check(d.begin <= wide_at_ && room <= wide_at_ - d.begin, "the directory is said to take ", room,
          " bytes from byte ", d.begin, ", but the end record begins at ", wide_at_);
    d.end = d.begin + room;
    return d;
  }

  std::vector<Entry> parse(std::string_view text, std::uint64_t members) {
    std::vector<Entry> entries;
    Fields f(text);
    for (std::uint64_t i = 0; i < members; ++i) {
      check(f.left() >= entry_size && f.take(4) == entry_mark, "entry ", i,
            " of the directory is malformed");
      f.number(4);  // versions
      Entry e = sizes(f);
      const std::uint64_t name = f.number(2), extra = f.number(2), comment = f.number(2),
                          disk = f.number(2);
      f.number(6);  // attributes
      e.offset = f.number(4);
      check(name + extra + comment <= f.left(), "the directory's entry ", i, " is truncated");
      e.name = f.take(name);
      check(!e.name.empty() && e.name.find('\0') == e.name.npos && is_utf8(e.name),
            "the name of member ", i, " is empty, holds a NUL or is not UTF-8");
      widen(e, f.take(extra), true);
      f.take(comment);
      check(disk == 0, "member '", e.name, "' is in another part of the archive");
      check((e.flags & hidden) == 0, "member '", e.name, "' is encrypted or patched");
      check(e.method == 0 || e.method == 8, "member '", e.name, "' is compressed by method ",
            e.method, ", neither stored (0) nor deflated (8)");
      check(e.method != 0 || e.packed == e.size, "member '", e.name, "' is stored, but takes ",
            e.packed, " bytes for ", e.size);
      entries.push_back(e);
    }
    check(f.left() == 0, "the directory has ", f.left(), " bytes after its last entry");
    check_names(entries);
    return entries;
  }

  void check_names(const std::vector<Entry>& entries) const {
    std::vector<std::string_view> names;
    for (const Entry& e : entries) names.push_back(e.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    check(twice == names.end(), "has two members named '", twice == names.end() ? "" : *twice, "'");
  }

  // Reads the fields from flags to sizes, which are the same in an entry of the directory and in
  // front of the member's bytes.
  static Entry sizes(Fields& f) {
    Entry e{};
    e.flags = f.number(2);
    e.method = f.number(2);
    f.number(4);  // time and date
    e.crc = f.number(4);
    e.packed = f.number(4);
    e.size = f.number(4);
    return e;
  }

  // Replaces fields with the value full32 by their 64-bit values, which are in the extra field of
  // id 1.
  void widen(Entry& e, std::string_view extra, bool in_directory) const {
    std::string_view wide;
    for (Fields f(extra); f.left() >= 4;) {
      const std::uint64_t id = f.number(2), length = f.number(2);
      check(length <= f.left(), "member '", e.name, "': an extra field is truncated");
      const std::string_view value = f.take(length);
      if (id == 1 && wide.empty()) wide = value;
    }
    Fields f(wide);
    for (std::uint64_t* value : {&e.size, &e.packed, in_directory ? &e.offset : nullptr}) {
      if (!value || *value != full32) continue;
      check(f.left() >= 8, "member '", e.name, "' has no 64-bit size or position");
      *value = f.number(8);
    }
  }

  // Finds the member's bytes, which must end before `limit`.
  ZipMember find(const Entry& e, std::uint64_t limit) {
    const auto fits = [&](std::uint64_t from, std::uint64_t count) {
      check(from <= limit && count <= limit - from, "member '", e.name, "' takes ", count,
            " bytes from byte ", from, ", but the next part of the file begins at ", limit);
    };
    fits(e.offset, member_size);
    const std::string head = bytes(e.offset, member_size);
    check(head.starts_with(member_mark), "member '", e.name, "' does not begin at byte ", e.offset);
    Fields f(std::string_view(head).substr(member_mark.size()));
    f.number(2);  // version
    Entry own = sizes(f);
    const std::uint64_t name = f.number(2), extra = f.number(2);
    fits(e.offset + member_size, name + extra);
    const std::string text = bytes(e.offset + member_size, name + extra);
    own.name = std::string_view(text).substr(0, name);
    widen(own, std::string_view(text).substr(name), false);
    const bool later = (own.flags & sizes_follow) != 0;
    const auto agree = [&](std::uint64_t a, std::uint64_t b) {
      return a == b || (later && a == 0);
    };
    check(own.name == e.name && own.method == e.method && agree(own.crc, e.crc) &&
              agree(own.packed, e.packed) && agree(own.size, e.size),
          "member '", e.name,
          "' is described differently in the directory and in front of its bytes");
    const std::uint64_t begin = e.offset + member_size + name + extra;
    fits(begin, e.packed);
    return {std::string(e.name),
            static_cast<int>(e.method),
            static_cast<std::uint32_t>(e.crc),
            begin,
            begin + e.packed,
            e.size};
  }

  std::string_view operation_;
  InputFile& file_;
  std::uint64_t wide_at_ = 0;
};

// --- writing ---

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 255);
  return text;
}

}  // namespace

std::vector<ZipMember> read_zip(std::string_view operation, InputFile& file) {
  return ZipReader(operation, file).read();
}

namespace {

/// Reads all selected bytes of `content`; throws Error unless they have the member's checksum.
void check_content(std::string_view operation, InputFile& content, const ZipMember& member) {
  std::string buffer(std::min<std::uint64_t>(content.remaining(), 1 << 16), '\0');
  std::uint32_t crc = 0;
  while (content.remaining() > 0) {
    const std::string_view piece = std::string_view(buffer).substr(
        0, std::min<std::uint64_t>(content.remaining(), buffer.size()));
    content.read(buffer.data(), piece.size());
    crc = crc32(piece, crc);
  }
  LADON_CHECK(crc == member.crc, operation, content.path(), ": member '", member.name,
              "' has the checksum ", crc, ", not ", member.crc, " as stated; the file is damaged");
}

}  // namespace

void read_member(std::string_view operation, InputFile& file, const ZipMember& member,
                 const std::function<void(InputFile& content)>& read) {
  file.select(member.begin, member.end);
  if (member.method == 0) {
    check_content(operation, file, member);
    file.select(member.begin, member.end);
    return read(file);
  }
  std::string packed(file.remaining(), '\0');
  file.read(packed.data(), packed.size());
  InputFile content(file.path(),
                    detail::inflate(operation, file.path() + ": member '" + member.name + "'",
                                    packed, member.size));
  check_content(operation, content, member);
  content.select(0, content.size());
  read(content);
}

void ZipWriter::write(std::string_view bytes) {
  file_.write(bytes);
  position_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::initializer_list<std::string_view> pieces) {
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  for (const std::string_view piece : pieces) {
    crc = crc32(piece, crc);
    size += piece.size();
  }
  const std::string both = number(size, 8) + number(size, 8);
  // Reading 64-bit sizes needs version 4.5 of the format. The date, 1 January 1980, is packed as
  // year − 1980, month and day.
  const std::string common = number(45, 2) + number(utf8_name, 2) + number(0, 2) + number(0, 2) +
                             number(1 << 5 | 1, 2) + number(crc, 4) + number(full32, 4) +
                             number(full32, 4) + number(name.size(), 2);
  directory_ += std::string(entry_mark) + number(45, 2) + common + number(28, 2) + number(0, 2) +
                number(0, 8) + number(full32, 4) + name + number(1, 2) + number(24, 2) + both +
                number(position_, 8);
  write(std::string(member_mark) + common + number(20, 2) + name + number(1, 2) + number(16, 2) +
        both);
  for (const std::string_view piece : pieces) write(piece);
  ++members_;
}

void ZipWriter::finish() {
  const std::uint64_t begin = position_, end = begin + directory_.size();
  write(directory_);
  write(std::string(end64_mark) + number(end64_size - 12, 8) + number(45, 2) + number(45, 2) +
        number(0, 8) + number(members_, 8) + number(members_, 8) + number(end - begin, 8) +
        number(begin, 8));
  write(std::string(locator_mark) + number(0, 4) + number(end, 8) + number(1, 4));
  const std::string few = number(std::min(members_, full16), 2);
  write(std::string(end_mark) + number(0, 4) + few + few +
        number(std::min(end - begin, full32), 4) + number(std::min(begin, full32), 4) +
        number(0, 2));
}

}  // namespace ladon
