#include "ladon/core/error.h"

#include <sstream>

namespace ladon::detail {

void print(std::ostream& out, double value) {
  if (value != value)
    out << "nan";
  else
    out << value;
}

void print(std::ostream& out, long long value) { out << value; }
void print(std::ostream& out, unsigned long long value) { out << value; }
void print(std::ostream& out, char value) { out << value; }
void print(std::ostream& out, std::string_view value) { out << value; }

std::string join(std::initializer_list<MessagePart> parts) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);
  for (const MessagePart& part : parts) out << part;
  return out.str();
}

void throw_error(std::string_view operation, const std::string& message) {
  throw Error(join("[", operation, "] ", message));
}

void require(bool ok, const char* invariant) {
  if (!ok) [[unlikely]]
    throw InternalError(join("internal error in Ladon, please report it: ", invariant));
}

}  // namespace ladon::detail
