// A step of SVGD over heads, of 32,768 numbers for each of q, k and v; the peer is the same formula
// in the fewest of LibTorch's operations, in f32.

#include <algorithm>
#include <cmath>
#include <vector>

#include "both.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/optim/particles/svgd.h"

namespace ladon::bench {
namespace {

constexpr std::int64_t dim = 32768;

/// Of the entries above the diagonal.
double median_of_pairs(const at::Tensor& d2) {
  std::vector<float> pairs;
  const auto entry = d2.accessor<float, 2>();
  for (std::int64_t i = 0; i < d2.size(0); ++i)
    for (std::int64_t j = i + 1; j < d2.size(1); ++j) pairs.push_back(entry[i][j]);
  const auto middle = pairs.begin() + std::ptrdiff_t(pairs.size() / 2);
  std::nth_element(pairs.begin(), middle, pairs.end());
  if (pairs.size() % 2 == 1) return *middle;
  return 0.5 * (double(*middle) + double(*std::max_element(pairs.begin(), middle)));
}

/// −φ = (K·g − R)/M with k_ij = exp(−d²_ij/(2h²)), R_i = Σ_j k_ij (θ_i − θ_j)/h² and
/// h² = ½·median(d², i ≠ j)/ln(M + 1), all as Svgd has them by default. Three products are all that
/// passes over the particles: θ·θᵀ, whose diagonal holds the norms; K·g; and (K − diag(Σ_j
/// k_ij))·θ, which is −h²R, added to it.
at::Tensor peer_force(const at::Tensor& theta, const at::Tensor& gradient) {
  const auto count = double(theta.size(0));
  const at::Tensor gram = at::mm(theta, theta.t()), norms = gram.diagonal();
  const at::Tensor d2 = (norms.unsqueeze(1) + norms.unsqueeze(0)).sub_(gram, 2).clamp_min_(0);
  const double h2 = 0.5 * median_of_pairs(d2) / std::log(count + 1);
  const at::Tensor k = d2.mul(-0.5 / h2).exp_().fill_diagonal_(1);
  at::Tensor force = at::mm(k, gradient);
  return force.addmm_(k - at::diag(k.sum(1)), theta, 1 / count, 1 / (count * h2));
}

Sides svgd(std::int64_t heads) {
  Generator rng(1);
  std::vector<Tensor> parts;
  std::vector<at::Tensor> peer_parts;
  std::vector<ParticleBlock> blocks;
  for (const char* name : {"query", "key", "value"}) {
    parts.push_back(parameter(normal({heads, dim}, rng)));
    peer_parts.push_back(to_peer(parts.back()));
    blocks.push_back(ParticleBlock::stacked(name, {parts.back()}));
  }
  const auto method = std::make_shared<Svgd>(Particles(std::move(blocks)));
  // of the size of the repulsion, so that the check sees both forces
  const Tensor gradient = normal({heads, dim}, rng, 0, 1e-4);
  // apply() puts the force where the gradient was
  const auto set_gradients = [=] {
    for (Tensor part : parts) part.set_grad(clone(gradient));
  };
  const auto ours = [=] { method->apply(); };
  const auto theirs = [=, peer_gradient = to_peer(gradient)] {
    std::vector<at::Tensor> forces;
    for (const at::Tensor& part : peer_parts) forces.push_back(peer_force(part, peer_gradient));
    return forces;
  };
  const auto apart = [=] {
    set_gradients();
    ours();
    return difference({parts[0].grad(), parts[1].grad(), parts[2].grad()}, theirs());
  };
  return {ours, theirs, apart, set_gradients};
}

Row row(std::int64_t heads, std::array<double, 2> goal) {
  return {.name = "SVGD M " + std::to_string(heads) + ", 3 x 32768",
          .goal = goal,
          .ceiling = Ceiling::fma,
          .needed = 3 * 6.5 * double(heads * heads * dim),
          .make = [=] { return svgd(heads); }};
}

}  // namespace

std::vector<Row> particle_rows() {
  return {row(8, {0.35, 0.3}), row(16, {1.2, 0.7}), row(64, {13, 7})};
}

}  // namespace ladon::bench
