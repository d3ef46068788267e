#include "ladon/layers/init.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/names.h"
#include "ladon/core/unread.h"
#include "ladon/layers/module.h"

namespace ladon {
namespace {

constexpr std::array<std::string_view, 10> init_names = {
    "zeros",          "ones",          "normal",          "truncated_normal",
    "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal",
    "lecun_normal",   "orthogonal"};

// Standard deviation of N(0, 1) truncated to [−2, 2]: sqrt(1 − 2·2·φ(2)/(2Φ(2) − 1)), where φ and Φ
// are the density and the distribution function of N(0, 1).
constexpr double truncated_stddev = 0.87962566103423978;

struct Fans {
  double in, out;
};

Fans fans(Init init, const Shape& shape) {
  LADON_CHECK(shape.rank() >= 2, to_string(init),
              "needs at least two axes [out, in, …], got shape ", shape);
  const auto rest = static_cast<double>(shape.sub(2, shape.rank()).count());
  return {static_cast<double>(shape[1]) * rest, static_cast<double>(shape[0]) * rest};
}

// Q = A·L⁻ᵀ with AᵀA = L·Lᵀ has orthonormal columns, and is uniformly distributed for Gaussian A.
// A has the shape [long, short]: the longer side of the matrix comes first.
Tensor orthogonal(const Shape& shape, Generator& rng) {
  const std::int64_t rows = shape[0], columns = shape.sub(1, shape.rank()).count();
  const std::int64_t longer = std::max(rows, columns), shorter = std::min(rows, columns);
  const Tensor a = normal({longer, shorter}, rng, 0, 1, f64);
  const Tensor l = lapack::cholesky(matmul(transpose(a), a));
  const Tensor qt = lapack::solve_triangular(l, contiguous(transpose(a)));  // L⁻¹·Aᵀ = Qᵀ
  return reshape(rows < columns ? qt : transpose(qt), shape);
}

Tensor draw(Init init, const Shape& shape, Generator& rng, double gain, DType dtype) {
  const auto centered = [&](double bound) { return uniform(shape, rng, -bound, bound, dtype); };
  const auto gaussian = [&](double stddev) { return normal(shape, rng, 0, stddev, dtype); };
  switch (init) {
    case Init::zeros:
      return zeros(shape, dtype);
    case Init::ones:
      return ones(shape, dtype);
    case Init::normal:
      return gaussian(gain);
    case Init::truncated_normal:
      return truncated_normal(shape, rng, 0, gain, 2, dtype);
    case Init::orthogonal:
      LADON_CHECK(shape.rank() >= 2, "orthogonal", "needs at least two axes, got shape ", shape);
      return cast(orthogonal(shape, rng) * gain, dtype);
    default:
      break;
  }
  const Fans fan = fans(init, shape);
  switch (init) {
    case Init::xavier_uniform:
      return centered(gain * std::sqrt(6 / (fan.in + fan.out)));
    case Init::xavier_normal:
      return gaussian(gain * std::sqrt(2 / (fan.in + fan.out)));
    case Init::kaiming_uniform:
      return centered(gain * std::sqrt(3 / fan.in));
    case Init::kaiming_normal:
      return gaussian(gain / std::sqrt(fan.in));
    default:
      break;
  }
  const double stddev = gain / std::sqrt(fan.in) / truncated_stddev;
  return truncated_normal(shape, rng, 0, stddev, 2, dtype);
}

}  // namespace

std::string_view to_string(Init init) { return init_names[static_cast<std::size_t>(init)]; }

Init init_from_name(std::string_view name) {
  return static_cast<Init>(index_of_name("init", name, init_names));
}

Tensor initialize(Init init, const Shape& shape, InitOptions options, Generator& rng) {
  detail::checked_count("initialize", shape);
  if (init == Init::zeros || init == Init::ones)
    detail::check_unread("initialize", "gain", options.gain, 1,
                         "the initializers zeros and ones have no scale; choose another");
  NoGrad no_grad;
  return parameter(draw(init, shape, rng, options.gain, options.dtype));
}

double init_stddev(Init init, const Shape& shape, double gain) {
  switch (init) {
    case Init::zeros:
    case Init::ones:
      return 0;
    case Init::normal:
      return gain;
    case Init::truncated_normal:
      return gain * truncated_stddev;
    case Init::orthogonal: {  // the rows (or columns) of [rows, columns] have length 1
      const std::int64_t rest = shape.sub(1, shape.rank()).count();
      return gain / std::sqrt(static_cast<double>(std::max(shape[0], rest)));
    }
    default:
      break;
  }
  const Fans fan = fans(init, shape);
  if (init == Init::xavier_uniform || init == Init::xavier_normal)
    return gain * std::sqrt(2 / (fan.in + fan.out));
  return gain / std::sqrt(fan.in);  // kaiming, lecun
}

}  // namespace ladon
