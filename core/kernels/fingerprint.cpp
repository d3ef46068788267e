#include "ladon/core/kernels/fingerprint.h"

#include <cstring>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/mapped.h"

namespace ladon::detail {
namespace {

/// Mixes a word into the state. The result is a bijective function of the state for a fixed word,
/// and of the word for a fixed state.
std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15u;
  return state ^ state >> 29;
}

}  // namespace

std::uint64_t fingerprint(std::uint64_t number, std::uint64_t before) {
  return mixed(mixed(before, number), 0x632be59bd9b4e019u);
}

std::uint64_t fingerprint(std::string_view bytes, std::uint64_t before) {
  std::uint64_t state = fingerprint(bytes.size(), before);
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    state = mixed(state, word);
  }
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  return fingerprint(rest, state);
}

std::uint64_t fingerprint(const Tensor& x, std::uint64_t before) {
  const Tensor row = kernels::contiguous(mapped::show(x.detach()));
  std::uint64_t state = fingerprint(static_cast<std::uint64_t>(row.dtype()), before);
  for (const std::int64_t size : row.shape())
    state = fingerprint(static_cast<std::uint64_t>(size), state);
  const std::size_t bytes = static_cast<std::size_t>(row.count()) * item_size(row.dtype());
  return fingerprint({reinterpret_cast<const char*>(row.strided_bytes()), bytes}, state);
}

}  // namespace ladon::detail
