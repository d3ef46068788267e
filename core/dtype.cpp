#include "ladon/core/dtype.h"

#include <ostream>

namespace ladon {

std::string_view to_string(DType t) {
  switch (t) {
    case DType::boolean:
      return "bool";
    case DType::i64:
      return "i64";
    case DType::f32:
      return "f32";
    case DType::f64:
      break;
  }
  return "f64";
}

std::ostream& operator<<(std::ostream& out, DType t) { return out << to_string(t); }

}  // namespace ladon
