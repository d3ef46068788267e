#pragma once
// Errors. A user's mistake throws `ladon::Error`, whose message reads
//   [operation] what is wrong, with the values involved; a hint
// A bug in Ladon itself throws `ladon::InternalError`. Ladon never aborts the program.

#include <initializer_list>
#include <iosfwd>
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

// Internals, in a nested namespace so that `using namespace ladon` does not import their names.
namespace detail {

// Printing of numbers and text, declared here because <ostream> itself is slow to compile in every
// source that includes this header.
void print(std::ostream& out, double value);  ///< Prints NaN without its sign.
void print(std::ostream& out, long long value);
void print(std::ostream& out, unsigned long long value);
void print(std::ostream& out, char value);
void print(std::ostream& out, std::string_view value);

/// One part of a message: a reference to a value (a number, text, or anything else that has an
/// operator<<) and the function that prints it.
class MessagePart {
 public:
  MessagePart(const char* text) : value_(text), print_(&print_literal) {}
  template <class Value>
  MessagePart(const Value& value) : value_(&value), print_(&print_value<Value>) {}

  friend std::ostream& operator<<(std::ostream& out, const MessagePart& part) {
    part.print_(out, part.value_);
    return out;
  }

 private:
  static void print_literal(std::ostream& out, const void* text) {
    print(out, std::string_view(static_cast<const char*>(text)));
  }
  template <class Value>
  static void print_value(std::ostream& out, const void* pointer) {
    const Value& value = *static_cast<const Value*>(pointer);
    if constexpr (std::is_same_v<Value, char> || std::is_convertible_v<Value, std::string_view>)
      print(out, value);
    else if constexpr (std::is_floating_point_v<Value>)
      print(out, static_cast<double>(value));
    else if constexpr (std::is_integral_v<Value> && std::is_signed_v<Value>)
      print(out, static_cast<long long>(value));
    else if constexpr (std::is_integral_v<Value>)
      print(out, static_cast<unsigned long long>(value));
    else
      out << value;
  }

  const void* value_;
  void (*print_)(std::ostream& out, const void* value);
};

/// Concatenates the parts. Throws if memory runs out. (A stream would truncate the text without
/// notice, and the text may be written to a file.)
std::string join(std::initializer_list<MessagePart> parts);

template <class... Parts>
std::string join(const Parts&... parts) {
  return join({MessagePart(parts)...});
}

[[noreturn]] void throw_error(std::string_view operation, const std::string& message);

/// Throws Error("[operation] parts…").
template <class... Parts>
[[noreturn]] void fail(std::string_view operation, const Parts&... parts) {
  throw_error(operation, join({MessagePart(parts)...}));
}

/// Throws InternalError unless `ok`. `invariant` says what should hold.
void require(bool ok, const char* invariant);

}  // namespace detail

/// LADON_CHECK(ok, operation, parts…) throws Error("[operation] parts…") unless `ok`. It is a
/// macro, so that the parts are evaluated only if the check fails: a message may use values that
/// exist only then, and costs nothing otherwise.
#define LADON_CHECK(ok, operation, ...)              \
  do {                                               \
    if (!(ok)) [[unlikely]]                          \
      ::ladon::detail::fail(operation, __VA_ARGS__); \
  } while (false)

}  // namespace ladon
