#pragma once
// Errors. A user's mistake throws `ladon::Error`, whose message reads
//   [operation] what is wrong, both values; a hint
// A mistake of Ladon's own throws `ladon::InternalError`. Nothing aborts.

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace ladon {

/// A mistake of the caller: shapes that do not fit, a wrong dtype, a malformed file, ….
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken invariant inside Ladon: please report it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Internals, kept out of users' names.
namespace detail {

/// Prints `part` as `out << part` does, but a NaN without its sign.
template <class Part>
void print(std::ostream& out, const Part& part) {
  if constexpr (std::is_floating_point_v<Part>) {
    if (part != part) {
      out << "nan";
      return;
    }
  }
  out << part;
}

/// Prints its arguments, one after the other, into a string. Where there is no memory it throws, as
/// a stream would not: a text cut short may be one that is written to a file.
template <class... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);
  (print(out, parts), ...);
  return out.str();
}

[[noreturn]] void throw_error(std::string_view operation, const std::string& message);

/// Throws Error("[operation] parts…").
template <class... Parts>
[[noreturn]] void fail(std::string_view operation, const Parts&... parts) {
  throw_error(operation, join(parts...));
}

/// Throws InternalError unless `ok`: states what Ladon itself relies on.
void require(bool ok, const char* invariant);

}  // namespace detail

/// LADON_CHECK(ok, operation, parts…) throws Error("[operation] parts…") unless `ok`. A macro, so
/// that the parts are evaluated only where the test failed: a message may look at what exists only
/// then, and costs nothing otherwise.
#define LADON_CHECK(ok, operation, ...)              \
  do {                                               \
    if (!(ok)) [[unlikely]]                          \
      ::ladon::detail::fail(operation, __VA_ARGS__); \
  } while (false)

}  // namespace ladon
