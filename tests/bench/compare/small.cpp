// Rows of operations on a few numbers, whose time is the fixed cost of a call, and of steps of
// optimizers.

#include "both.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/sgd.h"

namespace ladon::bench {
namespace {

constexpr int operations = 1000, steps = 100;

/// x + x + … + x, a thousand times, of 16 numbers, and the gradient.
Sides adds() {
  Generator rng(1);
  Tensor x = normal({16}, rng);
  const Tensor c = normal({16}, rng);
  const at::Tensor peer_x = to_peer(x).requires_grad_(true), peer_c = to_peer(c);
  x.set_requires_grad();
  return sides(
      [=] {
        Tensor y = x;
        for (int i = 0; i < operations; ++i) y = y + x;
        return grad({y}, std::vector<Tensor>{x}, {.cotangents = {c}});
      },
      [=] {
        at::Tensor y = peer_x;
        for (int i = 0; i < operations; ++i) y = y + peer_x;
        return torch::autograd::grad({y}, {peer_x}, {peer_c});
      });
}

/// 8 → 16 → 1 with tanh, a batch of 16, mean squared error.
template <class Ours, class Theirs, class PeerOptions>
Sides mlp(PeerOptions peer_options) {
  Generator rng(1);
  const auto model = std::make_shared<Sequential>(Linear({.in = 8, .out = 16}, rng),
                                                  Activation(Nonlinearity::tanh),
                                                  Linear({.in = 16, .out = 1}, rng));
  const Named p = to_peer(*model);
  const Tensor x = normal({16, 8}, rng), y = normal({16, 1}, rng);
  const auto optimizer = std::make_shared<Ours>(model->parameters());
  const auto peer_optimizer = std::make_shared<Theirs>(values(p), peer_options);
  const auto step = [=] {
    for (int i = 0; i < steps; ++i) {
      optimizer->zero_grad();
      backward(mse_loss((*model)(x), y));
      optimizer->step();
    }
  };
  const auto peer_step = [=, peer_x = to_peer(x), peer_y = to_peer(y), first = p.at("0.weight"),
                          first_bias = p.at("0.bias"), last = p.at("2.weight"),
                          last_bias = p.at("2.bias")] {
    for (int i = 0; i < steps; ++i) {
      peer_optimizer->zero_grad();
      const at::Tensor hidden = at::tanh(at::linear(peer_x, first, first_bias));
      at::mse_loss(at::linear(hidden, last, last_bias), peer_y).backward();
      peer_optimizer->step();
    }
  };
  return {step, peer_step, [=] {
            step();
            peer_step();
            return difference(*model, p);
          }};
}

/// The step alone, of one matrix of 25 M numbers.
Sides adam() {
  Generator rng(1);
  Tensor x = normal({5000, 5000}, rng);
  const Tensor g = normal({5000, 5000}, rng);
  const at::Tensor peer_x = to_peer(x).requires_grad_(true);
  peer_x.mutable_grad() = to_peer(g);
  x.set_requires_grad();
  x.set_grad(g);
  const auto optimizer = std::make_shared<Adam>(std::vector<Tensor>{x});
  const auto peer_optimizer =
      std::make_shared<PeerAdam>(std::vector<at::Tensor>{peer_x}, PeerAdamOptions{});
  return sides(
      [=] {
        optimizer->step();
        return x;
      },
      [=] {
        peer_optimizer->step();
        return peer_x;
      });
}

}  // namespace

std::vector<Row> small_rows() {
  const double numbers = 25e6;
  return {{.name = "add of 16, f+b (an operation of 1000)",
           .unit = Unit::microseconds,
           .amount = operations,
           .goal = {0.4, 0},
           .make = adds},
          {.name = "MLP step 8-16-1, SGD",
           .unit = Unit::microseconds,
           .amount = steps,
           .goal = {12, 0},
           .make = [] { return mlp<Sgd, torch::optim::SGD>(torch::optim::SGDOptions(1e-2)); }},
          {.name = "MLP step 8-16-1, Adam",
           .unit = Unit::microseconds,
           .amount = steps,
           .goal = {15, 0},
           .make = [] { return mlp<Adam, PeerAdam>(PeerAdamOptions{}); }},
          {.name = "Adam 25 M",
           .goal = {12, 6.5},
           .ceiling = Ceiling::memory,
           .needed = 7 * 4 * numbers,  // reads x, g, m, v; writes x, m, v
           .make = adam}};
}

}  // namespace ladon::bench
