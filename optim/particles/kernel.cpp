#include "ladon/optim/particles/kernel.h"

#include <cmath>

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
  return {k, rows::mix_differences(weight, theta), h2};
}

}  // namespace

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
            return KernelValues{k, kernels::binary(kernels::Binary::mul, x, double(x.size(0))), 0};
          }};
}

}  // namespace ladon
