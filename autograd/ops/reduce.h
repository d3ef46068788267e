#pragma once
// Reductions. Without `axes` they reduce all axes; `keep_dims` keeps reduced axes with size 1.
//   sum(x);   sum(x, -1);   mean(x, {0, 2}, keep_dims)

#include <initializer_list>
#include <utility>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

enum class Dims { drop, keep };
inline constexpr Dims keep_dims = Dims::keep;

/// The axes that an operation works on: one, several, or (default) all. Negative axes count from
/// the end.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis}, all_(false) {}  // NOLINT: implicit, so that calls read sum(x, 1)
  Axes(std::initializer_list<int> axes) : axes_(axes), all_(false) {}
  Axes(std::vector<int> axes) : axes_(std::move(axes)), all_(false) {}  // NOLINT
  /// Ascending axes in [0, rank). Throws Error when one is out of range or listed twice.
  std::vector<int> normalized(std::string_view operation, int rank) const;

 private:
  std::vector<int> axes_;
  bool all_ = true;
};

/// Sum of the elements; the sum of integers or booleans is i64.
Tensor sum(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);
/// Mean of the elements; floating dtypes only. The mean over an empty axis is NaN.
Tensor mean(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);
/// Product of the elements. Right even if partial products overflow or underflow; the gradient is
/// exact even if elements are zero, or if the product itself overflows or underflows.
Tensor prod(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);
/// Variance Σ(x − mean)²/(n − correction) of n elements; correction 1 gives the unbiased estimate,
/// 0 the population variance.
Tensor var(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop, double correction = 1);
/// Standard deviation sqrt(var), correct even where var overflows or underflows. Where it is 0, its
/// gradient and second derivatives are 0.
Tensor stddev(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop,
              double correction = 1);
/// Largest (smallest) element; if several are equal, they share the gradient evenly. NaN
/// propagates, and gets the gradient. A reduction of no elements gives −∞ (+∞), and throws Error
/// for integers.
Tensor amax(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);
Tensor amin(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);
/// ln Σ e^x, without overflow. The result is −∞, with gradient 0, if x is empty or all −∞. A single
/// element of +∞ gets the whole gradient; if several are +∞, the gradient is NaN.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);
/// Euclidean norm sqrt(Σ x²), correct even where the squares overflow or underflow. Its gradient
/// and second derivatives at x = 0, where it has a kink, are defined as 0, as in PyTorch. For the
/// square of a norm write sum(square(x)), whose second derivatives are right there.
Tensor norm(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);

/// The largest (smallest) element along an axis, and the index (i64) of its first occurrence, which
/// alone gets the gradient. Throws Error if the axis is empty.
struct ValuesAndIndices {
  Tensor values, indices;
};
ValuesAndIndices max(const Tensor& x, int axis, Dims dims = Dims::drop);
ValuesAndIndices min(const Tensor& x, int axis, Dims dims = Dims::drop);
Tensor argmax(const Tensor& x, int axis = -1, Dims dims = Dims::drop);
Tensor argmin(const Tensor& x, int axis = -1, Dims dims = Dims::drop);
/// The k largest (or smallest) elements along an axis, sorted, with their indices.
struct TopkOptions {
  int axis = -1;
  bool largest = true;
};
ValuesAndIndices topk(const Tensor& x, std::int64_t k, TopkOptions options = {});
/// Sorted values and their indices; stable.
struct SortOptions {
  int axis = -1;
  bool descending = false;
};
ValuesAndIndices sort(const Tensor& x, SortOptions options = {});

/// Whether any (all) of the elements of a bool tensor are true. A reduction of no elements gives
/// false (true).
Tensor any(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);
Tensor all(const Tensor& x, const Axes& axes = {}, Dims dims = Dims::drop);

/// Running sum along an axis.
Tensor cumsum(const Tensor& x, int axis);
/// Running product along an axis. The gradient is exact where elements are zero. If a partial
/// product overflows or underflows, the later ones are computed from ∞ or 0; prod has no such
/// limit.
Tensor cumprod(const Tensor& x, int axis);
/// h_t = a_t·h_{t−1} + b_t along an axis, starting from h = 0; a, b and h have the same shape.
/// a_t = 0 resets the state to b_t, even if h_{t−1} is infinite or NaN. If a state overflows or
/// underflows, the later ones are computed from ∞ or 0.
Tensor linear_recurrence(const Tensor& a, const Tensor& b, int axis);

/// x summed to `shape`, over the axes along which `shape` broadcasts to x's shape: the adjoint of
/// expand().
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace ladon
