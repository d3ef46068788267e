#include "ladon/optim/particles/kernel.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

/// A kernel of the distance alone, as `value(d²/h²)`, with R_i = Σ_j slope(k_ij)·(θ_i − θ_j)/h².
template <class Value, class Slope>
KernelValues radial(const Tensor& theta, const BandwidthOptions& options, Value value,
                    Slope slope) {
  const Tensor d2 = rows::squared_distances(theta);
  const double h2 = bandwidth(options.bandwidth, d2, options.h2);
  const double inverse = 1 / h2;
  const bool scale = std::isfinite(inverse);  // not so for 0 and the smallest subnormals
  Tensor k = empty_like(d2), weight = empty_like(d2);
  const double* d = d2.data<double>();
  double* kij = k.mutable_data<double>();
  double* wij = weight.mutable_data<double>();
  for (std::int64_t i = 0; i < d2.count(); ++i) {
    kij[i] = scale ? value(d[i] * inverse) : d[i] == 0;
    wij[i] = scale ? slope(kij[i]) * inverse : 0;
  }
  return {k, rows::mix_differences(weight, theta), scale ? h2 : 0};
}

/// What a kernel gave, contiguous. Throws Error unless it is f64 of that shape, and finite.
Tensor checked(const std::string& where, const char* what, const Tensor& x, const Shape& shape) {
  LADON_CHECK(x.defined(), "kernel", where, " gives no ", what, "; it must be f64 ", shape);
  LADON_CHECK(x.dtype() == f64 && x.shape() == shape, "kernel", where, " gives ", what, " as ",
              x.dtype(), " ", x.shape(), "; it must be f64 ", shape);
  const std::vector<double> norms = rows::norms(x);
  for (std::size_t i = 0; i < norms.size(); ++i)
    LADON_CHECK(std::isfinite(norms[i]), "kernel", where, " gives row ", i, " of ", what,
                " with norm ", norms[i]);
  return kernels::contiguous(x.detach());
}

bool is_zero(const Tensor& x) {
  const std::vector<double> norms = rows::norms(x);
  return std::all_of(norms.begin(), norms.end(), [](double norm) { return norm == 0; });
}

bool all_equal(const Tensor& theta) {
  const Tensor d2 = rows::squared_distances(theta);
  const double* d = d2.data<double>();
  return std::all_of(d, d + d2.count(), [](double x) { return x == 0; });
}

}  // namespace

KernelValues checked_values(const SteinKernel& kernel, const std::string& block,
                            const Tensor& theta, double alpha) {
  const std::string where = detail::join("`", kernel.name, "` on block \"", block, "\"");
  LADON_CHECK(kernel.evaluate, "kernel", where, " has no function `evaluate`");
  const std::int64_t m = theta.size(0), d = theta.size(1);
  KernelValues values = kernel.evaluate(theta);
  values.k = checked(where, "k", values.k, {m, m});
  values.repulsion = checked(where, "repulsion", values.repulsion, {m, d});
  LADON_CHECK(
      values.h2 != 0 || alpha == 0 || !is_zero(values.repulsion) || all_equal(theta), "kernel",
      where, " has bandwidth h² = 0 for ", m,
      " particles that are not all equal, so that none would repel another; choose "
      "Bandwidth::median, which does not count the diagonal's zeros, or, where most particles "
      "are equal, Bandwidth::fixed");
  return values;
}

SteinKernel rbf(BandwidthOptions options) {
  return {"rbf", [options](const Tensor& theta) {
            return radial(
                theta, options, [](double t) { return std::exp(-t / 2); },
                [](double k) { return k; });
          }};
}

SteinKernel imq(BandwidthOptions options) {
  return {"imq", [options](const Tensor& theta) {
            return radial(
                theta, options, [](double t) { return 1 / std::sqrt(1 + t); },
                [](double k) { return k * k * k; });
          }};
}

SteinKernel linear_kernel() {
  return {"linear", [](const Tensor& theta) {
            Tensor k = rows::inner_products(theta);
            double* kij = k.mutable_data<double>();
            for (std::int64_t i = 0; i < k.count(); ++i) {
              LADON_CHECK(std::isfinite(kij[i]), "linear_kernel", "the inner product of particles ",
                          i / k.size(0), " and ", i % k.size(0), " is ", kij[i]);
              kij[i] += 1;
            }
            const Tensor x = kernels::cast(theta, f64);
            return KernelValues{k, kernels::binary(kernels::Binary::mul, x, double(x.size(0)))};
          }};
}

}  // namespace ladon
