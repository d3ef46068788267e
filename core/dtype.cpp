#include "ladon/core/dtype.h"

#include <cmath>
#include <ostream>

namespace ladon {

std::string_view to_string(DType t) {
  switch (t) {
    case DType::boolean:
      return "bool";
    case DType::i64:
      return "i64";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::f32:
      return "f32";
    case DType::f64:
      break;
  }
  return "f64";
}

bool holds(DType t, double value) {
  if (!is_whole(t)) return true;
  if (t == DType::boolean) return value == 0 || value == 1;
  return value == std::floor(value) && value >= -0x1p63 && value < 0x1p63;
}

std::ostream& operator<<(std::ostream& out, DType t) { return out << to_string(t); }

}  // namespace ladon
