#pragma once
// Errors. A user's mistake throws `ladon::Error`, whose message reads
//   [operation] what is wrong, both values; a hint
// A mistake of Ladon's own throws `ladon::InternalError`. Nothing aborts.

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// Joins its arguments as a stream would print them.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Throws Error("[operation] message").
[[noreturn]] void fail(std::string_view operation, const std::string& message);

/// Throws Error unless `ok`. The parts are joined only on failure.
template <class... Parts>
void check(bool ok, std::string_view operation, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail(operation, concat(parts...));
}

/// Throws InternalError unless `ok`: states what Ladon itself relies on.
void require(bool ok, const char* invariant);

}  // namespace ladon
