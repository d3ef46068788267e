// Printing of tensors: nested brackets, then shape and dtype.
//   [[1, 2, 3],
//    [4, 5, 6]] [2, 3] f32

#include <cstdio>
#include <ostream>
#include <string>

#include "ladon/core/error.h"
#include "ladon/core/tensor.h"
#include "ladon/core/view.h"

namespace ladon {
namespace {

constexpr std::int64_t shown_whole = 8;  // an axis up to this long is printed whole
constexpr std::int64_t shown_ends = 3;   // of a longer one, this many at each end

std::string format(double value) {
  if (value != value) return "nan";  // without the sign that printf may add
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string element(const Tensor& x) {
  if (x.dtype() == DType::boolean) return x.item<bool>() ? "true" : "false";
  if (x.dtype() == DType::i64) return std::to_string(*x.data<std::int64_t>());
  return format(x.item());
}

void print(std::ostream& out, const Tensor& x, int indent) {
  if (x.rank() == 0) {
    out << element(x);
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
    if (n > shown_whole && i == shown_ends) {
      out << "…";
      i = n - shown_ends - 1;
      continue;
    }
    print(out, view::select(x, 0, i), indent + 1);
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "undefined";
  print(out, x, 0);
  return out << ' ' << x.shape() << ' ' << x.dtype();
}

std::string to_string(const Tensor& x) { return detail::join(x); }

}  // namespace ladon
