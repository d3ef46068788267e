// A step of SVGD over heads, of 32,768 numbers for each of q, k and v; the peer is the same formula
// in the fewest of LibTorch's operations, in f32.

#include <vector>

#include "both.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/optim/particles/svgd.h"

namespace ladon::bench {
namespace {

constexpr std::int64_t dim = 32768;

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
    for (const at::Tensor& part : peer_parts)
      forces.push_back(peer_svgd_force(part, peer_gradient));
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
