#include "10_collapse/exercises/exercises.h"

using namespace ladon;

Tensor spos_step(const Tensor& theta, const Tensor& gradients, const Tensor& noise,
                 const SposSettings& settings) {
  const auto& [h2, alpha, b, step] = settings;
  const Tensor differences = unsqueeze(theta, 1) - unsqueeze(theta, 0);  // θ_i − θ_j  [M, M, D]
  const Tensor k = exp(sum(square(differences), 2, keep_dims) / (-2 * h2));  // [M, M, 1]
  const Tensor driving = sum(k * unsqueeze(-gradients, 0), 1);               // Σ_j k_ij s_j
  const Tensor repulsion = sum(k * differences, 1) / h2;
  const Tensor phi = (driving + alpha * repulsion) / static_cast<double>(theta.size(0));
  return theta + step * (phi - b * gradients) + std::sqrt(2 * b * step) * noise;
}
