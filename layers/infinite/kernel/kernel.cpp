#include "ladon/layers/infinite/kernel/kernel.h"

#include <cmath>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

/// Inserts the axis of the other block: [N, ..] → [N, 1, ..] for axis 1, [1, N, ..] for axis 0.
Tensor side(const Tensor& x, int axis) { return x.defined() ? unsqueeze(x, axis) : x; }

Root side(const Root& root, int axis) {
  return {side(root.common, axis), side(root.own, axis), root.names, root.mask};
}

/// Whether a value of x is not finite. The sum is checked first: if it is finite, so are all
/// values.
bool has_infinite(const Tensor& x) {
  return x.defined() && !std::isfinite(number_of("limit", sum(x.detach()))) &&
         !all(isfinite(x)).item<bool>();
}

}  // namespace

Tensor Pairs::left_variance() const {
  return has_positions && entries == Entries::full ? unsqueeze(ladon::diagonal(left), -1) : left;
}
Tensor Pairs::right_variance() const {
  return has_positions && entries == Entries::full ? unsqueeze(ladon::diagonal(right), -2) : right;
}

Pairs Pairs::centered(const char* operation, double eps) const {
  if (!left_mean.defined()) return *this;
  const bool tables = has_positions && entries == Entries::full;
  const auto check_digits = [&](const Tensor& power, const Tensor& mean, const Tensor& mask) {
    const Tensor of_each = tables ? ladon::diagonal(power.detach()) : power.detach();
    const Tensor m2 = square(mean.detach()), spread = of_each - m2 + eps;
    const Tensor lost = less(spread, 1e-12 * m2);
    LADON_CHECK(!any(mask.defined() ? logical_and(lost, mask) : lost).item<bool>(), operation,
                "the channels of an input need a variance above 1e-12·mean², but at mean² = ",
                number_of("limit", amax(m2)),
                " the variance is lost in rounding; subtract a constant from the data");
  };
  check_digits(left, left_mean, left_mask);
  check_digits(right, right_mean, right_mask);
  const auto product = [&](const Tensor& a, const Tensor& b) {
    return tables ? unsqueeze(a, -1) * unsqueeze(b, -2) : a * b;
  };
  Pairs y = *this;
  y.nngp = nngp - product(left_mean, right_mean);
  y.left = left - product(left_mean, left_mean);
  y.right = right - product(right_mean, right_mean);
  y.left_mean = y.right_mean = Tensor();
  return y;
}

Tensor Pairs::visible(const Tensor& block) const {
  if (!left_mask.defined()) return block;
  const Tensor both = entries == Entries::diagonal
                          ? logical_and(left_mask, right_mask)
                          : logical_and(unsqueeze(left_mask, -1), unsqueeze(right_mask, -2));
  return where(both, block, scalar(0, f64));
}

Tensor Pairs::of_positions(const Tensor& table) const {
  return entries == Entries::full ? table : ladon::diagonal(table);
}

Tensor Pairs::own(const Tensor& block) const {
  return entries == Entries::full ? ladon::diagonal(block) : block;
}

PairKernels Pairs::each(const std::function<Tensor(const Tensor&)>& map) const {
  return {map(nngp), ntk.defined() ? map(ntk) : Tensor()};
}

void Kernel::check(std::string_view operation, std::int64_t n1, std::int64_t n2) const {
  const auto shape = [this](Shape s) {
    const int axes = !has_positions() ? 0 : entries == Entries::full ? 2 : 1;
    for (int i = 0; i < axes; ++i) s.append(position_count());
    return s;
  };
  const auto check_one = [&](const char* name, const Tensor& x, const Shape& inputs) {
    if (!x.defined()) return;
    LADON_CHECK(x.dtype() == f64 && x.shape() == shape(inputs), operation, "the ", name, " is ",
                x.dtype(), " ", x.shape(), ", but for these inputs it must be f64 ", shape(inputs),
                "; correct the map in the layer's limit, or the kernel that the limit is given");
    if (!has_infinite(x)) return;
    const Tensor flat = flatten(x.detach());
    std::int64_t at = 0;
    while (std::isfinite(flat.data<double>()[at])) ++at;
    const std::int64_t pair = at / shape({}).count();
    detail::fail(
        operation, "the ", name, " is ", flat.data<double>()[at],
        inputs.rank() == 1
            ? detail::join(" for input ", pair)
            : detail::join(" between inputs ", pair / inputs[1], " and ", pair % inputs[1]),
        "; kernels must be finite: those of the inputs are too large, or a parameter of the "
        "layer is not finite");
  };
  check_one("NNGP kernel", nngp, {n1, n2});
  check_one("tangent kernel", ntk, {n1, n2});
  check_one("kernel of single inputs", cov1, {n1});
  check_one("kernel of single inputs", cov2, {n2});
}

Kernel Kernel::diagonal() const {
  if (!has_positions() || entries == Entries::diagonal) return *this;
  const auto own = [](const Tensor& x) { return x.defined() ? ladon::diagonal(x) : x; };
  Kernel y = *this;
  for (Tensor Kernel::*part : {&Kernel::nngp, &Kernel::ntk, &Kernel::cov1, &Kernel::cov2,
                               &Kernel::nngp_se, &Kernel::ntk_se})
    y.*part = own(y.*part);
  y.entries = Entries::diagonal;
  return y;
}

Pairs cross_pairs(const Kernel& k, const std::array<Root, 2>& roots) {
  return {.nngp = k.nngp,
          .ntk = k.ntk,
          .left = side(k.cov1, 1),
          .right = side(k.cov2, 0),
          .left_mask = side(k.mask1, 1),
          .right_mask = side(k.mask2, 0),
          .same = k.same,
          .left_mean = side(k.mean1, 1),
          .right_mean = side(k.mean2, 0),
          .has_positions = k.has_positions(),
          .entries = k.entries,
          .left_root = side(roots[0], 1),
          .right_root = side(roots[1], 0)};
}

Pairs self_pairs(const Kernel& k, int block, const Root& root) {
  const Tensor& cov = block == 0 ? k.cov1 : k.cov2;
  const Tensor& mask = block == 0 ? k.mask1 : k.mask2;
  const Tensor& mean = block == 0 ? k.mean1 : k.mean2;
  return {.nngp = cov,
          .ntk = {},
          .left = cov,
          .right = cov,
          .left_mask = mask,
          .right_mask = mask,
          .same = ones({cov.size(0)}, boolean),
          .left_mean = mean,
          .right_mean = mean,
          .has_positions = k.has_positions(),
          .entries = k.entries,
          .left_root = root,
          .right_root = root};
}

}  // namespace ladon::infinite
