#pragma once
// The four element types of a tensor.

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

#include "ladon/core/error.h"

namespace ladon {

/// Ordered by promotion: an operation on two dtypes computes in the larger one.
enum class DType : std::uint8_t { boolean, i64, f32, f64 };

inline constexpr DType boolean = DType::boolean;
inline constexpr DType i64 = DType::i64;
inline constexpr DType f32 = DType::f32;
inline constexpr DType f64 = DType::f64;

/// Bytes of one element: 1, 8, 4 or 8.
constexpr std::size_t item_size(DType t) {
  return t == DType::boolean ? 1 : t == DType::f32 ? 4 : 8;
}

/// "bool", "i64", "f32" or "f64".
std::string_view to_string(DType t);
std::ostream& operator<<(std::ostream& out, DType t);

constexpr bool is_floating(DType t) { return t == DType::f32 || t == DType::f64; }

/// Whether `value` is an element of dtype t: any number of a floating one; of i64 the integers in
/// [−2⁶³, 2⁶³); of bool 0 and 1. What is not would lose its fraction in silence.
bool holds(DType t, double value);

/// The dtype that holds both: bool < i64 < f32 < f64.
constexpr DType promote(DType a, DType b) { return a < b ? b : a; }

/// The C++ types of elements.
template <class T>
concept Element = std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> ||
    std::is_same_v<T, float> || std::is_same_v<T, double>;

/// The DType of a C++ type.
template <Element T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  return DType::f64;
}

/// Calls `f.template operator()<T>()` with the C++ type of `t`.
template <class F>
decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::boolean:
      return f.template operator()<bool>();
    case DType::i64:
      return f.template operator()<std::int64_t>();
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      break;
  }
  return f.template operator()<double>();
}

/// As visit_dtype, for floating dtypes only; throws Error naming `operation` otherwise.
template <class F>
decltype(auto) visit_floating(std::string_view operation, DType t, F&& f) {
  LADON_CHECK(is_floating(t), operation, "needs a floating-point tensor, got ", t,
              "; convert it with cast(x, f32)");
  if (t == DType::f32) return f.template operator()<float>();
  return f.template operator()<double>();
}

}  // namespace ladon
