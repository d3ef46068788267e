// Rows of the attention operation: forward, with its gradients, and with masks.
//
// As in the goals, operations are counted for all pairs of queries and keys, and for backward twice
// as many as for forward. The operations that are really needed are half as many if causal, and
// with gradients 3.5 times those of forward: five products in addition to two.

#include "both.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"

namespace ladon::bench {
namespace {

struct Size {
  std::int64_t batch, time, dim, heads;
  std::string name() const {
    return "B" + std::to_string(batch) + " T" + std::to_string(time) + " D" + std::to_string(dim) +
           " H" + std::to_string(heads);
  }
  double forward() const { return 4.0 * double(batch * time) * double(time * dim); }
  Tensor draw(std::uint64_t seed) const {
    Generator rng(seed);
    return normal({batch, heads, time, dim / heads}, rng);
  }
};

Sides make(const Size& size, bool causal, bool gradients, const Tensor& mask = {}) {
  std::vector<Tensor> x = {size.draw(1), size.draw(2), size.draw(3)};
  const Tensor c = size.draw(4);
  std::vector<at::Tensor> peer_x;
  for (Tensor& each : x) {
    peer_x.push_back(to_peer(each).requires_grad_(gradients));
    each.set_requires_grad(gradients);
  }
  const auto attend = [=] {
    return scaled_dot_product_attention(x[0], x[1], x[2], {.mask = mask, .causal = causal});
  };
  const at::Tensor peer_c = to_peer(c), peer_mask = mask.defined() ? to_peer(mask) : at::Tensor();
  const auto peer_attend = [=] {
    return peer_attention(peer_x[0], peer_x[1], peer_x[2], causal, peer_mask);
  };
  if (!gradients) return sides(attend, in_inference_mode(peer_attend));
  return sides([=] { return grad({attend()}, x, {.cotangents = {c}}); },
               [=] { return torch::autograd::grad({peer_attend()}, peer_x, {peer_c}); });
}

/// Goals of full and causal attention.
void add(std::vector<Row>& rows, const Size& size, bool gradients, std::array<double, 2> full,
         std::array<double, 2> half) {
  for (const bool causal : {false, true})
    rows.push_back({.name = std::string("attention ") + (gradients ? "f+b " : "fwd ") +
                            size.name() + (causal ? " causal" : " full"),
                    .unit = Unit::gflops,
                    .amount = size.forward() * (gradients ? 3 : 1),
                    .goal = causal ? half : full,
                    .ceiling = Ceiling::fma,
                    .needed = size.forward() * (gradients ? 3.5 : 1) * (causal ? 0.5 : 1),
                    .make = [=] { return make(size, causal, gradients); }});
}

/// mask: drawn when the row runs.
Row masked(const std::string& name, const Size& size, Tensor (*mask)(const Size&)) {
  return {.name = "attention fwd " + size.name() + " " + name,
          .ceiling = Ceiling::fma,
          .needed = size.forward(),
          .make = [=] { return make(size, false, false, mask(size)); }};
}

/// The last quarter of every other text is padding.
Tensor padded(const Size& size) {
  std::vector<bool> tokens;
  for (std::int64_t i = 0; i < size.batch * size.time; ++i)
    tokens.push_back(i / size.time % 2 == 0 || i % size.time < size.time * 3 / 4);
  Tensor mask = empty({size.batch, 1, 1, size.time}, boolean);
  std::copy(tokens.begin(), tokens.end(), mask.mutable_data<bool>());
  return mask;
}

/// Nine of ten pairs may attend.
Tensor allowed_pairs(const Size& size) {
  Generator rng(5);
  return bernoulli({size.time, size.time}, rng, 0.9);
}

Tensor added(const Size& size) {
  Generator rng(6);
  return normal({size.time, size.time}, rng);
}

}  // namespace

std::vector<Row> attention_rows() {
  const Size words{8, 256, 512, 8}, pages{4, 1024, 512, 8}, short_texts{32, 64, 128, 4};
  std::vector<Row> rows;
  add(rows, words, false, {160, 320}, {200, 400});
  add(rows, pages, false, {180, 350}, {310, 600});
  add(rows, short_texts, false, {120, 200}, {130, 210});
  add(rows, words, true, {150, 270}, {200, 0});
  add(rows, pages, true, {160, 0}, {290, 500});
  add(rows, short_texts, true, {0, 210}, {});
  rows.push_back(masked("key mask", words, padded));
  rows.push_back(masked("boolean T x T", words, allowed_pairs));
  rows.push_back(masked("additive T x T", words, added));
  return rows;
}

}  // namespace ladon::bench
