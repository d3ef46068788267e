#pragma once
// Zip archives (PKWARE's APPNOTE.TXT 6.3, with its 64-bit sizes), as far as .npz needs them: one
// disk, nothing encrypted. Internal to npz.cpp.
//
//   member …            PK\3\4, its name and its bytes
//   directory           PK\1\2 for each member: name, checksum, sizes, where it begins
//   [64-bit end]        PK\6\6: how many members, where the directory begins; PK\6\7: where that is
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
  int method;  ///< 0: stored as it is; 8: deflated.
  std::uint32_t crc;
  std::uint64_t begin, end;  ///< Its bytes in the file.
  std::uint64_t size;        ///< And how many they are decompressed.
};

/// The members, in the order of their bytes. Takes memory in proportion to the directory, which it
/// compares with the file first.
///
/// Throws Error, naming the path and both values, unless the file is one archive from first to
/// last: directory and ends meet, what stands in them twice agrees, every member begins where the
/// directory says, with the same name and sizes, no two share bytes, no two a name, and names are
/// UTF-8. Also for what is encrypted, in several parts, or compressed otherwise than by deflate.
std::vector<ZipMember> read_zip(std::string_view operation, InputFile& file);

/// Calls `read` with the member's content: what is selected in the file, or what a deflated member
/// decompresses to. Throws Error if the checksum is another one, and for a deflated member that is
/// damaged, claims more than deflate can pack, or is more than 2^30 bytes; or has_gzip() is false.
void read_member(std::string_view operation, InputFile& file, const ZipMember& member,
                 const std::function<void(InputFile& content)>& read);

/// Writes an archive of stored members, all sizes in 64 bits. Times are 1 January 1980: the same
/// members make the same bytes.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& file) : file_(file) {}
  /// A member that holds the pieces, one after the other; the name is UTF-8 below 64 kB.
  void add(const std::string& name, std::initializer_list<std::string_view> pieces);
  /// The directory; nothing comes after it.
  void finish();

 private:
  void write(std::string_view bytes);

  OutputFile& file_;
  std::uint64_t position_ = 0, members_ = 0;
  std::string directory_;
};

}  // namespace ladon
