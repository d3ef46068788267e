// Printing of tensors: nested brackets, then shape and dtype.
//   [[1, 2, 3],
//    [4, 5, 6]] [2, 3] f32

#include "ladon/core/io/print.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <mutex>
#include <ostream>
#include <string>

#include "ladon/core/error.h"
#include "ladon/core/tensor.h"
#include "ladon/core/view.h"

namespace ladon {
namespace {

/// Axes longer than this are abbreviated in tensors of more than PrintOptions::whole elements.
constexpr std::int64_t longest_axis = 8;

std::mutex mutex;
PrintOptions options;

std::string format(double value, int digits) {
  if (value != value) return "nan";  // without the sign that printf may add
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string element(const Tensor& x, const PrintOptions& o) {
  if (x.dtype() == DType::boolean) return x.item<bool>() ? "true" : "false";
  if (x.dtype() == DType::i64) return std::to_string(*x.data<std::int64_t>());
  return format(x.item(), o.digits);
}

void print(std::ostream& out, const Tensor& x, const PrintOptions& o, int indent) {
  if (x.rank() == 0) {
    out << element(x, o);
    return;
  }
  const std::string gap = x.rank() == 1
                              ? ", "
                              : "," + std::string(static_cast<std::size_t>(x.rank() - 1), '\n') +
                                    std::string(static_cast<std::size_t>(indent + 1), ' ');
  const std::int64_t n = x.shape()[0];
  out << '[';
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0) out << gap;
    if (n > longest_axis && i == o.ends) {
      out << "…";
      i = n - o.ends - 1;
      continue;
    }
    print(out, view::select(x, 0, i), o, indent + 1);
  }
  out << ']';
}

}  // namespace

void set_print_options(const PrintOptions& o) {
  LADON_CHECK(o.whole >= 0, "set_print_options", "`whole` is ", o.whole,
              "; it must not be negative");
  LADON_CHECK(o.ends >= 1 && 2 * o.ends <= longest_axis, "set_print_options", "`ends` is ", o.ends,
              "; it must be 1 to ", longest_axis / 2);
  LADON_CHECK(o.digits >= 1 && o.digits <= 17, "set_print_options", "`digits` is ", o.digits,
              "; it must be 1 to 17");
  const std::lock_guard lock(mutex);
  options = o;
}

PrintOptions print_options() {
  const std::lock_guard lock(mutex);
  return options;
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "undefined";
  PrintOptions o = print_options();
  // Number of elements, where a size of 0 counts as 1, since an empty tensor may have many brackets
  // to print. Counting stops at `whole` + 1.
  std::int64_t brackets = 1;
  for (int axis = 0; axis < x.rank() && brackets <= o.whole; ++axis)
    brackets =
        x.size(axis) > o.whole ? o.whole + 1 : brackets * std::max<std::int64_t>(1, x.size(axis));
  if (brackets <= o.whole) o.ends = std::numeric_limits<std::int64_t>::max();  // print in full
  print(out, x, o, 0);
  return out << ' ' << x.shape() << ' ' << x.dtype();
}

std::string to_string(const Tensor& x) { return detail::join(x); }

std::string detail::shape_in_words(const Tensor& x) {
  return x.defined() ? join(x.shape()) : "an undefined tensor";
}

std::string detail::kind_in_words(const Tensor& x) {
  return x.defined() ? join(x.dtype(), " ", x.shape()) : "an undefined tensor";
}

}  // namespace ladon
