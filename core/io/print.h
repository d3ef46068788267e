#pragma once
// Options for the printing of tensors:  std::cout << x;

#include <cstdint>

namespace ladon {

struct PrintOptions {
  /// Tensors of at most this many elements are printed in full; in larger tensors, axes longer than
  /// 8 are abbreviated: [1, 2, 3, …, 98, 99, 100].
  std::int64_t whole = 1000;
  std::int64_t ends = 3;  ///< Elements at each end of an abbreviated axis, 1 … 4.
  int digits = 6;         ///< Significant digits of a number, 1 … 17.
};

/// Sets the options of all threads from now on. Throws Error for options out of range.
void set_print_options(const PrintOptions& options);
PrintOptions print_options();

}  // namespace ladon
