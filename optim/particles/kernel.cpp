#include "ladon/optim/particles/kernel.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/particles.h"
#include "ladon/core/machine/warning.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

/// Returns f(); prepends `where` to the message of any Error that f throws.
template <class F>
auto located(const std::string& where, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    detail::fail("kernel", where, ": ", error.what());
  }
}

void check_finite_rows(const std::string& where, const char* what, const Tensor& x) {
  const std::vector<double> norms = rows::norms(x);
  for (std::size_t i = 0; i < norms.size(); ++i)
    LADON_CHECK(std::isfinite(norms[i]), "kernel", where,
                " must return finite values, but returns row ", i, " of ", what, " with norm ",
                norms[i]);
}

/// Contiguous result of ask(). Throws an Error naming `where` if ask() throws an Error, or if the
/// result does not have shape `shape` and dtype `dtype` or f64.
template <class F>
Tensor checked(const std::string& where, const char* what, const Shape& shape, DType dtype,
               const F& ask) {
  const Tensor x = located(where, ask);
  const std::string expected = detail::join(dtype == f64 ? "f64 " : "f32 or f64 ", shape);
  LADON_CHECK(x.defined(), "kernel", where, " returns no ", what, "; it must be ", expected);
  LADON_CHECK((x.dtype() == dtype || x.dtype() == f64) && x.shape() == shape, "kernel", where,
              " returns ", what, " as ", x.dtype(), " ", x.shape(), "; it must be ", expected);
  if (detail::modes.looking) check_finite_rows(where, what, x);
  return contiguous(x.detach());
}

void check_scale(const std::string& where, const Tensor& theta, const Tensor& repulsion) {
  const bool equal = number_of("kernel", amax(rows::squared_distances(theta))) == 0;
  LADON_CHECK(equal || number_of("kernel", amax(abs(repulsion))) > 0, "kernel", where,
              " has bandwidth h² = 0 for ", theta.size(0),
              " particles that are not all equal, so there would be no repulsion; choose "
              "Bandwidth::median, which does not count the diagonal's zeros, or, where most "
              "particles are equal, Bandwidth::fixed");
}

/// Values κ(t) and derivatives κ′(t) of a radial profile κ at t, f64 [M, M].
struct ValueAndSlope {
  Tensor value, slope;
};
using Profile = std::function<ValueAndSlope(const Tensor& t)>;
ValueAndSlope of_profile(const std::function<Tensor(const Tensor&)>& profile, Tensor t) {
  EnableGrad recording;
  t.set_requires_grad();
  const Tensor value = profile(t);
  LADON_CHECK(value.defined() && value.dtype() == f64 && value.shape() == t.shape(), "radial",
              "for f64 ", t.shape(),
              " the profile must return the same shape and dtype, computed elementwise");
  LADON_CHECK(value.requires_grad(), "radial",
              "the profile records no gradient; compute its result from its argument by Ladon's "
              "differentiable operations");
  return {value.detach(), grad(value, t, {.cotangents = {ones_like(t)}})};
}

/// Whether the forces of weights w between particles at squared distances d2 may be computed in one
/// pass over memory (kernels::forces), in the particles' dtype.
bool forms_at_once(const Tensor& w, const Tensor& d2, DType dtype) {
  // Bound on the factor by which errors grow: a factor of 16 costs four bits.
  constexpr double digits_kept = 16;
  if (!kernels::all_apart(d2)) return false;
  return rows::representable(w, dtype) && kernels::cancellation(w, d2) < digits_kept;
}

SteinKernel radial_of(std::string name, BandwidthOptions options, const Profile& profile) {
  const Bandwidth rule = options.bandwidth;
  const std::optional<double> h2_given = options.h2;
  LADON_CHECK(!h2_given || rule == Bandwidth::fixed, "radial", "`", name,
              "` has h² = ", h2_given.value_or(1), " and the bandwidth rule `", to_string(rule),
              "`, which computes h² itself; add .bandwidth = Bandwidth::fixed, or leave h2 empty");
  const auto at = [=](const Tensor& theta) {
    const Tensor d2 = rows::squared_distances(theta);
    const double h2 = bandwidth(rule, d2, h2_given.value_or(1)), inverse = 1 / h2;
    if (!std::isfinite(inverse))  // h² is 0 or one of the smallest subnormals
      return of_matrix(
          cast(equal(d2, 0), f64), [=] { return zeros(theta.shape(), theta.dtype()); }, 0);
    const Tensor t = d2 * inverse;
    const auto [k, slope] = profile(t);
    // ∇_{θ_j} κ(d²/h²) = −(2/h²) κ′ (θ_i − θ_j) is 0 between equal particles. Their weight is set
    // to 0, because κ′(0) may be infinite or computed as NaN, which would make the sum NaN.
    const Tensor weight = masked_fill(slope * (-2 * inverse), equal(t, 0), 0);
    KernelAt made = of_matrix(
        k, [=] { return rows::mix_differences(weight, theta); }, h2);
    if (forms_at_once(weight, d2, theta.dtype())) made.k = k, made.w = weight;
    return made;
  };
  return {std::move(name), at};
}

}  // namespace

KernelAt checked_at(const SteinKernel& kernel, const std::string& block, const Tensor& theta,
                    Alpha alpha) {
  const std::string where = detail::join("`", kernel.name, "` on block \"", block, "\"");
  LADON_CHECK(kernel.at, "kernel", where, " has no function `at`; set SteinKernel::at");
  const KernelAt raw = located(where, [&] { return kernel.at(theta); });
  LADON_CHECK(raw.share && raw.repel, "kernel", where, " has no function `",
              raw.share ? "repel" : "share", "`; KernelAt needs both `share` and `repel`");
  const std::int64_t m = theta.size(0), d = theta.size(1);
  const DType dtype = theta.dtype();
  KernelAt answers{.h2 = raw.h2};
  LADON_CHECK(raw.k.defined() == raw.w.defined(), "kernel", where, " sets only ",
              raw.k.defined() ? "k" : "w", " of the matrices k and w; set both or neither");
  if (raw.k.defined() && !detail::modes.looking) {
    answers.k = checked(where, "k", {m, m}, f64, [&] { return raw.k; });
    answers.w = checked(where, "w", {m, m}, f64, [&] { return raw.w; });
  }
  answers.share = [=](const Tensor& s) {
    return checked(where, "share", {m, d}, s.dtype(), [&] { return raw.share(s); });
  };
  answers.repel = [=] {
    const Tensor r = checked(where, "repulsion", {m, d}, dtype, raw.repel);
    if (raw.h2 == 0 && !alpha.off()) check_scale(where, theta, r);
    return r;
  };
  answers.density = [=] {
    LADON_CHECK(raw.density, "kernel", where,
                " has no density, because it is not a scalar kernel k_ij; use a scalar kernel such "
                "as rbf(), or Svgd, which needs no density");
    const Tensor density = checked(where, "density", {m, 1}, f64, raw.density);
    check_finite_rows(where, "density", density);
    return density;
  };
  return answers;
}

void warn_of_equal(const std::string& method, const std::string& block, const Tensor& theta,
                   const Tensor& gradient) {
  static std::mutex mutex;  // not held while particles are compared, so that other threads can step
  static std::set<std::pair<std::string, std::string>> told;
  const std::pair which(method, block);
  {
    const std::lock_guard lock(mutex);
    if (told.contains(which)) return;
  }
  const std::vector<double> squares = kernels::squared_norms(theta);
  std::vector<std::int64_t> order(squares.size());
  std::iota(order.begin(), order.end(), 0);
  const auto square = [&](std::size_t at) { return squares[order[at]]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return squares[a] < squares[b]; });
  const auto same = [](const Tensor& x, std::int64_t i, std::int64_t j) {
    return all_equal(select(x, 0, i), select(x, 0, j));
  };
  for (std::size_t a = 0; a < order.size(); ++a)
    for (std::size_t b = a + 1; b < order.size() && square(a) == square(b); ++b) {
      const std::int64_t i = std::min(order[a], order[b]), j = std::max(order[a], order[b]);
      if (!same(theta, i, j) || !same(gradient, i, j)) continue;
      const std::lock_guard lock(mutex);
      if (!told.insert(which).second) return;
      return detail::warn(
          method, detail::join("block \"", block, "\": particles ", i, " and ", j,
                               " are equal, and so are their gradients: they stay equal for ever, "
                               "and act as a single particle; initialize each with a different "
                               "seed"));
    }
}

KernelAt of_matrix(const Tensor& k, std::function<Tensor()> repel, double h2) {
  LADON_CHECK(repel, "of_matrix",
              "`repel` is an empty function; pass one that returns the repulsive sum");
  LADON_CHECK(k.defined(), "of_matrix", "k must be f64 [M, M], got an undefined tensor");
  LADON_CHECK(k.dtype() == f64 && k.rank() == 2 && k.size(0) == k.size(1), "of_matrix",
              "k must be f64 [M, M], got ", k.dtype(), " ", k.shape());
  return {.share = [=](const Tensor& s) { return rows::mix(k, s); },
          .repel = std::move(repel),
          .density =
              [=] {
                return rows::mix(k, ones({k.size(0), 1}, f64));
              },
          .h2 = h2};
}

SteinKernel radial(std::string name, BandwidthOptions options,
                   std::function<Tensor(const Tensor& t)> profile) {
  LADON_CHECK(profile, "radial", "the profile of `", name, "` is an empty function");
  return radial_of(std::move(name), options, [profile = std::move(profile)](const Tensor& t) {
    return of_profile(profile, t);
  });
}

SteinKernel rbf(BandwidthOptions options) {
  return radial_of("rbf", options, [](const Tensor& t) {
    const Tensor k = exp(-0.5 * t);
    return ValueAndSlope{k, -0.5 * k};
  });
}

SteinKernel imq(BandwidthOptions options) {
  return radial("imq", options, [](const Tensor& t) { return rsqrt(1 + t); });
}

SteinKernel matern(double nu, BandwidthOptions options) {
  LADON_CHECK(nu == 0.5 || nu == 1.5 || nu == 2.5, "matern", "the smoothness ν is ", nu,
              "; it must be 0.5, 1.5 or 2.5");
  return radial(detail::join("matern ", nu), options, [nu](const Tensor& t) {
    const Tensor r = sqrt(2 * nu * t);
    if (nu == 0.5) return exp(-r);
    return (nu == 1.5 ? 1 + r : 1 + r + square(r) / 3) * exp(-r);
  });
}

SteinKernel linear_kernel() {
  return {"linear", [](const Tensor& theta) {
            const Tensor inner = rows::inner_products(theta);
            rows::check_finite("linear_kernel", "inner product", inner);
            return of_matrix(inner + 1, [=] { return theta * double(theta.size(0)); });
          }};
}

}  // namespace ladon
