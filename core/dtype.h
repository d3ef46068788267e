#pragma once
// Element types of a tensor: four to compute with, and two half-precision types to store.

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

#include "ladon/core/error.h"

namespace ladon {

/// The element types of a tensor, in the order on which promote() relies: it gives the dtype in
/// which an operation on two dtypes computes. f16 and bf16 take half the memory of f32 and are for
/// storage only: their tensors can be made, viewed, copied, cast, saved and printed. Operations
/// that accept integer tensors also accept f16 and bf16, and compute in f32; operations that need a
/// floating-point tensor throw Error (convert with cast(x, f32), which is exact). f16 and bf16
/// tensors have no gradients.
enum class DType : std::uint8_t { boolean, i64, f16, bf16, f32, f64 };

inline constexpr DType boolean = DType::boolean;
inline constexpr DType i64 = DType::i64;
inline constexpr DType f16 = DType::f16;  ///< IEEE 754 half: 11 significant bits, 2⁻²⁴ to 65504.
inline constexpr DType bf16 = DType::bf16;  ///< Upper half of an f32: 8 significant bits.
inline constexpr DType f32 = DType::f32;
inline constexpr DType f64 = DType::f64;

/// Whether t is for storage only, that is, f16 or bf16.
constexpr bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }

/// Bytes of one element: 1, 2, 4 or 8.
constexpr std::size_t item_size(DType t) {
  return t == DType::boolean ? 1 : is_half(t) ? 2 : t == DType::f32 ? 4 : 8;
}

/// The name of t: "bool", "i64", "f16", "bf16", "f32" or "f64".
std::string_view to_string(DType t);
std::ostream& operator<<(std::ostream& out, DType t);

/// Whether floating-point operations, and gradients, are computed in t: f32 or f64.
constexpr bool is_floating(DType t) { return t == DType::f32 || t == DType::f64; }
/// Whether the elements are integers: bool or i64.
constexpr bool is_whole(DType t) { return t == DType::boolean || t == DType::i64; }

/// Whether dtype t can hold `value`. Floating-point dtypes hold every number (rounded), i64 the
/// integers in [−2⁶³, 2⁶³), bool 0 and 1. Converting any other value to t would change it silently.
bool holds(DType t, double value);

/// The dtype in which an operation on dtypes a and b computes: the larger one in the order
/// bool < i64 < f32 < f64. f16 or bf16 with bool, with i64 or with each other gives f32.
constexpr DType promote(DType a, DType b) {
  const DType larger = a < b ? b : a;
  return a != b && is_half(larger) ? DType::f32 : larger;
}

/// Bits of a stored half-precision number; cast() converts them.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// C++ types of the elements that operations compute with.
template <class T>
concept ComputedElement = std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> ||
    std::is_same_v<T, float> || std::is_same_v<T, double>;

/// C++ types of all elements that a tensor can store.
template <class T>
concept StoredElement =
    ComputedElement<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The DType of a C++ type.
template <StoredElement T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, Float16>) return DType::f16;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::bf16;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  return DType::f64;
}

/// Calls `f.template operator()<T>()` with the C++ type T of `t`, for computing. Throws Error for
/// f16 and bf16.
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
      return f.template operator()<double>();
    case DType::f16:
    case DType::bf16:
      break;
  }
  detail::fail("dtype", t, " elements are for storage, not to compute with; convert them with ",
               "cast(x, f32)");
}

/// Calls f as visit_dtype() does, and also for f16 and bf16, with T = Float16 or BFloat16: f may
/// only move elements, not compute with them.
template <class F>
decltype(auto) visit_stored(DType t, F&& f) {
  if (t == DType::f16) return f.template operator()<Float16>();
  if (t == DType::bf16) return f.template operator()<BFloat16>();
  return visit_dtype(t, f);
}

/// Calls f as visit_dtype() does for f32 and f64. Throws Error naming `operation` for other dtypes.
template <class F>
decltype(auto) visit_floating(std::string_view operation, DType t, F&& f) {
  LADON_CHECK(is_floating(t), operation, "needs a floating-point tensor, got ", t,
              "; convert it with cast(x, f32)");
  if (t == DType::f32) return f.template operator()<float>();
  return f.template operator()<double>();
}

}  // namespace ladon
