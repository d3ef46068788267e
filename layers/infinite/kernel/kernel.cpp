#include "ladon/layers/infinite/kernel/kernel.h"

#include <cmath>
#include <utility>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

/// [N, ..] → [N, 1, ..] or [1, N, ..]: one side of the pairs between two blocks.
Tensor side(const Tensor& x, int axis) { return x.defined() ? unsqueeze(x, axis) : x; }

Root side(const Root& root, int axis) {
  return {side(root.common, axis), side(root.own, axis), root.names};
}

Pairs cross_pairs(const Kernel& k) {
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
          .left_root = side(k.root1, 1),
          .right_root = side(k.root2, 0)};
}

/// One side of a kernel: of inputs alone.
struct Side {
  Tensor Kernel::*cov, Kernel::*mask, Kernel::*mean;
  Root Kernel::*root;
  std::shared_ptr<SelfSteps> Call::*selves;
};
constexpr Side first{&Kernel::cov1, &Kernel::mask1, &Kernel::mean1, &Kernel::root1, &Call::selves1};
constexpr Side second{&Kernel::cov2, &Kernel::mask2, &Kernel::mean2, &Kernel::root2,
                      &Call::selves2};

Pairs self_pairs(const Kernel& k, const Side& of) {
  const Tensor &cov = k.*of.cov, &mask = k.*of.mask, &mean = k.*of.mean;
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
          .left_root = k.*of.root,
          .right_root = k.*of.root};
}

/// Whether a number of x is not finite; the sum is, then.
bool has_infinite(const Tensor& x) {
  return x.defined() && !std::isfinite(sum(x.detach()).item()) && !all(isfinite(x)).item<bool>();
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
                "the channels of an input have mean² up to ", amax(m2).item(),
                " and a variance that rounding loses beside it; subtract a constant from the data");
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
  if (entries == Entries::diagonal) return block * cast(logical_and(left_mask, right_mask), f64);
  return block * cast(unsqueeze(left_mask, -1), f64) * cast(unsqueeze(right_mask, -2), f64);
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

void Kernel::need_positions(std::string_view layer) const {
  LADON_CHECK(has_positions(), layer,
              "the inputs of its limit are vectors and have no positions; it expects "
              "[N, T, d] or [N, H, W, d]");
}

void Kernel::check(std::string_view layer) const {
  const auto shape = [this](Shape s) {
    const int axes = !has_positions() ? 0 : entries == Entries::full ? 2 : 1;
    for (int i = 0; i < axes; ++i) s.append(position_count());
    return s;
  };
  const auto check_one = [&](const char* name, const Tensor& x, const Shape& inputs) {
    if (!x.defined()) return;
    LADON_CHECK(x.shape() == shape(inputs), layer, "makes a ", name, " of shape ", x.shape(),
                " where ", shape(inputs), " is expected");
    if (!has_infinite(x)) return;
    const Tensor flat = flatten(x.detach());
    std::int64_t at = 0;
    while (std::isfinite(flat.data<double>()[at])) ++at;
    const std::int64_t pair = at / shape({}).count();
    detail::fail(layer, "makes a ", name, " of ", flat.data<double>()[at],
                 inputs.rank() == 1 ? detail::join(" for input ", pair)
                                    : detail::join(" between inputs ", pair / inputs[1], " and ",
                                                   pair % inputs[1]),
                 "; the kernels before it are too large, or one of its parameters is no number");
  };
  const auto n1 = cov1.defined() ? cov1.size(0) : 0, n2 = cov2.defined() ? cov2.size(0) : 0;
  check_one("NNGP kernel", nngp, {n1, n2});
  check_one("tangent kernel", ntk, {n1, n2});
  check_one("kernel of single inputs", cov1, {n1});
  check_one("kernel of single inputs", cov2, {n2});
}

Kernel Kernel::alone() const {
  Kernel y = *this;
  y.nngp = y.ntk = y.cov2 = y.mask2 = y.names2 = y.mean2 = y.same = Tensor();
  y.root2 = {};
  return y;
}

Kernel Kernel::diagonal() const {
  if (!has_positions() || entries == Entries::diagonal) return *this;
  const auto own = [](const Tensor& x) { return x.defined() ? ladon::diagonal(x) : x; };
  Kernel y = *this;
  for (Tensor Kernel::*part : {&Kernel::nngp, &Kernel::ntk, &Kernel::cov1, &Kernel::cov2})
    y.*part = own(y.*part);
  y.entries = Entries::diagonal;
  return y;
}

Kernel map_pairs(const Kernel& k, const Law& makes,
                 const std::function<PairKernels(const Pairs&)>& layer) {
  Kernel result = map_pairs(k, makes, k.positions, layer);
  result.law = makes;
  if (makes.knows_means() && !makes.independent()) {
    result.mean1 = k.mean1;
    result.mean2 = k.mean2;
  }
  return result;
}

Kernel map_pairs(const Kernel& k, const Law& makes, const Shape& positions,
                 const std::function<PairKernels(const Pairs&)>& layer) {
  Kernel result = k;
  result.law = makes;
  result.root1 = result.root2 = {};
  if (k.nngp.defined()) {
    const PairKernels cross = layer(cross_pairs(k));
    result.nngp = cross.nngp;
    result.ntk = cross.ntk;
  }
  for (const Side& of : {first, second}) {
    if (!(k.*of.cov).defined()) continue;  // a pass over inputs has one block
    result.*of.cov =
        once_an_input(k.call, of.selves, [&] { return layer(self_pairs(k, of)).nngp; });
  }
  if (k.mean1.defined() && !makes.independent()) result.law.zero_given = Law::nothing;
  result.mean1 = result.mean2 = Tensor();
  result.positions = positions;
  if (!result.has_positions()) {
    result.mask1 = result.mask2 = Tensor();
    result.entries = Entries::full;
  }
  return result;
}

Kernel map_pairs(const Kernel& a, const Kernel& b, const Law& makes,
                 const std::function<PairKernels(const Pairs&, const Pairs&)>& layer) {
  const auto count = [](const Tensor& cov) { return cov.defined() ? cov.size(0) : 0; };
  LADON_CHECK(count(a.cov1) == count(b.cov1) && count(a.cov2) == count(b.cov2) &&
                  a.nngp.defined() == b.nngp.defined() && a.ntk.defined() == b.ntk.defined(),
              "map_pairs", "two kernels of ", count(a.cov1), " and ", count(a.cov2), ", and of ",
              count(b.cov1), " and ", count(b.cov2), " inputs; they must be of the same");
  Kernel result = a;
  result.law = makes;
  result.mean1 = result.mean2 = Tensor();
  result.root1 = result.root2 = {};
  if (a.nngp.defined()) {
    const PairKernels cross = layer(cross_pairs(a), cross_pairs(b));
    result.nngp = cross.nngp;
    result.ntk = cross.ntk;
  }
  for (const Side& of : {first, second})
    if ((a.*of.cov).defined())
      result.*of.cov = once_an_input(
          a.call, of.selves, [&] { return layer(self_pairs(a, of), self_pairs(b, of)).nngp; });
  return result;
}

std::vector<Law> laws_of(const std::vector<Kernel>& branches) {
  std::vector<Law> laws;
  for (const Kernel& k : branches) laws.push_back(k.law);
  return laws;
}

Kernel combine(const std::vector<Kernel>& branches, const Law& makes,
               const std::function<PairKernels(const std::vector<PairKernels>&)>& rule) {
  LADON_CHECK(!branches.empty(), "combine", "there are no branches");
  Kernel result = branches.front();
  result.law = makes;
  result.mean1 = result.mean2 = Tensor();
  result.root1 = result.root2 = {};
  std::vector<PairKernels> cross, self1, self2;
  for (const Kernel& k : branches) {
    LADON_CHECK(k.cov1.shape() == result.cov1.shape() && k.positions == result.positions, "combine",
                "branches end in kernels of shapes ", result.cov1.shape(), " and ", k.cov1.shape());
    cross.push_back({k.nngp, k.ntk});
    self1.push_back({k.cov1, {}});
    self2.push_back({k.cov2, {}});
  }
  // Where one branch found that pairs are not needed any more, no other needs them.
  for (const Kernel& k : branches)
    if (!k.nngp.defined()) result = result.alone();
  if (result.nngp.defined()) {
    const PairKernels both = rule(cross);
    result.nngp = both.nngp;
    result.ntk = both.ntk;
  }
  result.cov1 = rule(self1).nngp;
  if (result.cov2.defined()) result.cov2 = rule(self2).nngp;
  return result;
}

}  // namespace ladon::infinite
