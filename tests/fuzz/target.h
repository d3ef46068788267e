#pragma once
// Fuzz targets: every function of the library that reads bytes from outside, as a function of these
// bytes.
//
// A reader may return or throw ladon::Error. Anything else is a bug: another exception, a
// sanitizer's report, more heap memory than 64 bytes per byte of the unpacked file plus 1 MB, or a
// reader that does not end (libFuzzer's -timeout, ctest's TIMEOUT). The same targets are built
// twice: with clang's libFuzzer (preset `fuzz`), and into a test that every build runs
// (replay_test.cpp).

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ladon::fuzz {

struct Target {
  std::string_view name;  ///< Names its corpus folder, and its program `fuzz_<name>`.
  /// Returns true if the bytes were read, false if the reader threw Error.
  bool (*read)(std::string_view bytes);
};

/// All targets.
const std::vector<Target>& targets();
/// The target with this name; throws if there is none.
const Target& target(std::string_view name);

/// Calls target.read on a copy of `bytes` that ends at the end of its allocation. Throws
/// std::logic_error if the call holds more memory than the comment at the top of this file allows.
bool attempt(const Target& target, std::string_view bytes);

// --- for targets ---

/// True if `read` returns, false if it throws Error.
bool accepted(const std::function<void()>& read);
/// Calls every one of `reads`; true if one of them returns.
template <class... Reads>
bool any_accepted(const Reads&... reads) {
  bool any = false;
  ((any = accepted(reads) || any), ...);
  return any;
}
/// Throws std::logic_error unless `ok`: a reader returned what it must not.
void require(bool ok, const char* what);
/// Path of a file in memory with these bytes; it is valid until the next call.
const std::string& file_of(std::string_view bytes);

// One function per entry of targets(); comments at their definitions say which readers they call.
bool read_npy(std::string_view bytes);
bool read_npz(std::string_view bytes);
bool read_safetensors(std::string_view bytes);
bool read_shard_index(std::string_view bytes);
bool read_state(std::string_view bytes);
bool read_idx(std::string_view bytes);
bool read_cifar(std::string_view bytes);
bool read_glove(std::string_view bytes);
bool read_text(std::string_view bytes);
bool read_vocabulary(std::string_view bytes);
bool read_byte_pair(std::string_view bytes);
bool read_tokenizer_json(std::string_view bytes);
bool read_model_config(std::string_view bytes);
bool read_utf8(std::string_view bytes);
bool read_einsum(std::string_view bytes);
bool read_gram(std::string_view bytes);
bool read_golden(std::string_view bytes);
bool read_gzip(std::string_view bytes);

}  // namespace ladon::fuzz
