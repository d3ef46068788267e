#pragma once
// C++20 standard library functions that are missing in the libc++ of Emscripten 3.1.

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace ladon::detail {

/// Returns the bits of x as a value of type To, as std::bit_cast does.
template <class To, class From>
constexpr To bit_cast(const From& x) {
  return __builtin_bit_cast(To, x);
}

/// Allocates n uninitialized elements, as `std::make_unique_for_overwrite<T[]>(n)` does.
template <class T>
std::unique_ptr<T[]> array_for_overwrite(std::size_t n) {
  return std::unique_ptr<T[]>(new T[n]);
}

/// Parses a double as std::from_chars does. Returns the end of the number, or `at` if no number
/// that fits a double begins there.
inline const char* parse(const char* at, const char* end, double& value) {
#ifdef __cpp_lib_to_chars
  const auto [next, error] = std::from_chars(at, end, value);
  return error == std::errc() ? next : at;
#else
  // strtod would also accept leading spaces, hexadecimal digits and a plus sign.
  const std::string_view all(at, static_cast<std::size_t>(end - at));
  const std::string text(all.substr(0, all.find_first_not_of("0123456789+-.eEinftyaINFTYA")));
  char* next = nullptr;
  errno = 0;
  value = std::strtod(text.c_str(), &next);
  return text.starts_with('+') || errno == ERANGE ? at : at + (next - text.c_str());
#endif
}

/// Atomic operations on x, like those of `std::atomic_ref<T>`, with relaxed memory order.
template <class T>
T atomic_fetch_add(T& x, T more) {
  return __atomic_fetch_add(&x, more, __ATOMIC_RELAXED);
}
template <class T>
T atomic_load(const T& x) {
  return __atomic_load_n(&x, __ATOMIC_RELAXED);
}
template <class T>
void atomic_store(T& x, T value) {
  __atomic_store_n(&x, value, __ATOMIC_RELAXED);
}

}  // namespace ladon::detail
