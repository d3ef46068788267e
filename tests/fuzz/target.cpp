#include "ladon/tests/fuzz/target.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "ladon/core/error.h"
#include "ladon/tests/core/heap.h"

namespace ladon::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"npy", read_npy},
      {"npz", read_npz},
      {"safetensors", read_safetensors},
      {"shard_index", read_shard_index},
      {"state", read_state},
      {"idx", read_idx},
      {"cifar", read_cifar},
      {"glove", read_glove},
      {"text", read_text},
      {"vocabulary", read_vocabulary},
      {"byte_pair", read_byte_pair},
      {"tokenizer_json", read_tokenizer_json},
      {"model_config", read_model_config},
      {"utf8", read_utf8},
      {"einsum", read_einsum},
      {"gram", read_gram},
      {"golden", read_golden},
#ifdef LADON_ZLIB
      {"gzip", read_gzip},
      {"deflate", read_npz},
#endif
  };
  return all;
}

const Target& target(std::string_view name) {
  const auto found = std::find_if(targets().begin(), targets().end(),
                                  [&](const Target& t) { return t.name == name; });
  if (found == targets().end()) throw std::invalid_argument("no such target");
  return *found;
}

bool attempt(const Target& target, std::string_view bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const std::string_view given(copy.data(), copy.size());
  static std::set<std::string_view> begun;
  if (begun.insert(target.name).second) target.read(given);  // makes what lasts until the end
  bool read = false;
  const std::size_t peak = test::heap_peak([&] { read = target.read(given); });
  // A compressed file counts as what may be in it.
  const bool compressed = bytes.starts_with("\x1f\x8b") || target.name == "deflate";
  const std::size_t largest = (compressed ? 1032 : 1) * bytes.size();
  if (peak > 64 * largest + (std::size_t{1} << 20))
    throw std::logic_error(
        detail::join(target.name, " took ", peak, " bytes of memory for ", bytes.size(), " bytes"));
  return read;
}

bool accepted(const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void require(bool ok, const char* what) {
  if (!ok) throw std::logic_error(what);
}

const std::string& file_of(std::string_view bytes) {
  static const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const bool written = pwrite(descriptor, bytes.data(), bytes.size(), 0) == std::ssize(bytes) &&
                       ftruncate(descriptor, std::ssize(bytes)) == 0;
  if (!written) throw std::runtime_error("cannot write a file in memory");
  return path;
}

}  // namespace ladon::fuzz
