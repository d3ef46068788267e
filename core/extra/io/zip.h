#pragma once
// Zip archives (PKWARE's APPNOTE.TXT 6.3, with its 64-bit sizes), as far as .npz needs them: one
// disk, nothing encrypted. Internal to npz.cpp. A file consists of these records, of which the
// table gives the first four bytes and the content:
//
//   member …            PK\3\4, its name and its bytes
//   directory           PK\1\2 for each member: name, checksum, sizes, where it begins
//   [64-bit end]        PK\6\6: number of members, directory's position; PK\6\7: position of PK\6\6
//   end                 PK\5\6: the same in 32 bits

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/core/io/file.h"

namespace ladon {

struct ZipMember {
  std::string name;
  int method;  ///< 0 if stored without compression, 8 if deflated.
  std::uint32_t crc;
  std::uint64_t begin, end;  ///< Range of the member's bytes in the file.
  std::uint64_t size;        ///< Number of bytes when decompressed.
};

/// The members, in the order of their bytes in the file. Memory is proportional to the size of the
/// directory, which is checked against the file first.
///
/// Throws Error, naming the path and the values found and expected, unless the file is a single
/// consistent archive: the directory ends where its end records begin, values that are stored twice
/// agree, every member begins where the directory says, with the same name and sizes, no two
/// members overlap, and names are distinct and UTF-8. Throws Error also for members that are
/// encrypted, or compressed by another method than deflate, and for archives in several parts.
std::vector<ZipMember> read_zip(std::string_view operation, InputFile& file);

/// Calls `read` with the member's content: its bytes in the file or, for a deflated member, the
/// decompressed bytes. Throws Error if the checksum differs, and for a deflated member that is
/// damaged, claims more bytes than deflate can pack, or has more than 2^30 bytes, and for any
/// deflated member if has_gzip() is false.
void read_member(std::string_view operation, InputFile& file, const ZipMember& member,
                 const std::function<void(InputFile& content)>& read);

/// Writes an archive of members without compression, with all sizes in 64 bits. All times are
/// 1 January 1980, so that the same members give the same bytes.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& file) : file_(file) {}
  /// Adds a member that holds the pieces, one after the other; the name is UTF-8 of less than 64
  /// kB.
  void add(const std::string& name, std::initializer_list<std::string_view> pieces);
  /// Writes the directory and the end of the archive.
  void finish();

 private:
  void write(std::string_view bytes);

  OutputFile& file_;
  std::uint64_t position_ = 0, members_ = 0;
  std::string directory_;
};

}  // namespace ladon
