#include "ladon/core/extra/io/npz.h"

#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/extra/io/gzip.h"
#include "ladon/core/extra/io/npy_format.h"
#include "ladon/core/extra/io/zip.h"
#include "ladon/core/io/utf8.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {
namespace {

constexpr std::string_view ending = ".npy";
constexpr std::size_t longest_name = 60'000;  // a zip file stores the length in 16 bits

/// Bytes of the elements of a row-major tensor.
std::string_view bytes_of(const Tensor& rows) {
  return {reinterpret_cast<const char*>(rows.strided_bytes()),
          static_cast<std::size_t>(rows.count()) * item_size(rows.dtype())};
}

}  // namespace

std::map<std::string, Tensor> load_npz(const std::string& path) {
  InputFile file(path);
  const std::vector<ZipMember> members = read_zip("load_npz", file);
  for (const ZipMember& member : members) {
    LADON_CHECK(member.name.ends_with(ending), "load_npz", path, ": member '", member.name,
                "' is not an array: its name does not end in ", ending);
    LADON_CHECK(member.method == 0 || detail::has_gzip(), "load_npz", path, ": member '",
                member.name,
                "' is deflated, and this build of Ladon has no zlib; save it with numpy.savez, not "
                "savez_compressed");
  }
  std::map<std::string, Tensor> tensors;
  for (const ZipMember& member : members) {
    read_member("load_npz", file, member, [&](InputFile& content) {
      tensors.emplace(member.name.substr(0, member.name.size() - ending.size()),
                      read_npy(content, path + ": member '" + member.name + "'"));
    });
  }
  return tensors;
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  for (const auto& [name, x] : tensors)
    LADON_CHECK(!name.empty() && name.size() <= longest_name && is_utf8(name) &&
                    name.find('\0') == name.npos,
                "save_npz", path, ": a name must be UTF-8 of 1 to ", longest_name,
                " bytes without a NUL, got ", name.size(), " bytes: '", shortened(name), "'");
  write_atomically(path, [&](OutputFile& file) {
    ZipWriter zip(file);
    for (const auto& [name, x] : tensors) {
      const std::string header = npy_header("save_npz", path + ": '" + name + "'", x);
      const Tensor rows = kernels::contiguous(x);
      zip.add(name + std::string(ending), {header, bytes_of(rows)});
    }
    zip.finish();
  });
}

}  // namespace ladon
