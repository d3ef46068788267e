#include "ladon/examples/exact_posterior/task.h"

#include <cmath>
#include <numbers>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/pooling.h"

namespace ladon::example {
namespace {

constexpr std::int64_t count = 2, channels = 3, test_count = 41;
constexpr double query_key = 4, value_output = 1;

}  // namespace

Tensor training_places() { return tensor({-2.6, -2.2, -1.7, -1.3, 0.9, 1.2, 1.7, 2.3}, f64); }

Tensor test_places() { return cast(arange(0, test_count), f64) * (6.0 / (test_count - 1)) - 3.0; }

Tensor inputs() {
  const Tensor places = concat({training_places(), test_places()}, 0);
  Generator rng(2026);
  const Tensor w = normal({count, channels}, rng, 0, 1.2, f64);
  const Tensor b = uniform({count, channels}, rng, 0, 2 * std::numbers::pi, f64);
  const Tensor s = reshape(places, {places.count(), 1, 1});
  return std::numbers::sqrt2 * cos(s * w + b);
}

WideHeadsOptions network(const TaskSettings& settings, std::int64_t heads) {
  return {.dim = channels,
          .heads = heads,
          .query_key_std = settings.scaling == "sqrt" ? query_key : 0,
          .value_output_std = value_output};
}

Sequential limit_model(const TaskSettings& settings) {
  const WideHeadsOptions options = network(settings, 1);
  Generator rng(0);
  return Sequential(MultiHeadAttention({.dim = channels,
                                        .heads = 1,
                                        .bias = false,
                                        .prior = {.parameterization = Parameterization::ntk,
                                                  .query_key_std = options.query_key_std,
                                                  .value_output_std = options.value_output_std}},
                                       rng),
                    MeanPositions());
}

Tensor limit_kernel(const TaskSettings& settings) {
  const NoGrad off;
  return infinite::limit(limit_model(settings))(inputs(), infinite::Get::nngp).nngp;
}

Tensor targets(const TaskSettings& settings, const Tensor& kernel, std::int64_t draw) {
  const NoGrad off;
  Generator rng = Generator(settings.common.seed).split(static_cast<std::uint64_t>(draw));
  const std::int64_t n = training_places().count();
  const auto normals = [&](std::int64_t size) { return normal({size, 1}, rng, 0, 1, f64); };
  Tensor k = kernel;
  if (settings.labels == "one") {
    const infinite::LatentKernel head =
        infinite::latent_kernel(infinite::finite_heads(limit_model(settings)), inputs());
    k = select(head.at(transpose(normals(head.dim)), kernel.size(0)), 0, 0);
  }
  const Tensor train = slice(slice(k, 0, {.stop = n}), 1, {.stop = n});
  const Tensor root = lapack::cholesky(train + 1e-9 * eye(n, f64));
  const Tensor errors = normals(n), function = normals(n);  // in this order with any compiler
  return flatten(matmul(root, function) + std::sqrt(noise) * errors);
}

}  // namespace ladon::example
