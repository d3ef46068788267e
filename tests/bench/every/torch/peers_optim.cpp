#include "peers.h"

namespace ladon::bench::every {
namespace {

/// A parameter with its gradient; steps change it in place.
at::Tensor trained(const P& x) {
  at::Tensor p = x[0].detach();
  p.mutable_grad() = x[1];
  return p;
}

std::function<PeerFunction(const P&)> adam(bool decoupled) {
  return [decoupled](const P& x) -> PeerFunction {
    const at::Tensor p = trained(x);
    const PeerAdamOptions options{.weight_decay = decoupled ? 1e-2 : 0, .decoupled = decoupled};
    const auto step = std::make_shared<PeerAdam>(P{p}, options);
    return [=](const P&) {
      step->step();
      return p;
    };
  };
}

std::function<PeerFunction(const P&)> sgd(double momentum) {
  return [momentum](const P& x) -> PeerFunction {
    const at::Tensor p = trained(x);
    const P buffers = momentum > 0 ? P{at::zeros_like(p)} : P{};
    return [=, fresh = true](const P&) mutable {
      const at::NoGradGuard off;
      at::_fused_sgd_({p}, {p.grad()}, buffers, 0, momentum, 1e-3, 0, false, false, fresh);
      fresh = false;
      return p;
    };
  };
}

}  // namespace

void add_optimizers(PeerTable& t) {
  t.add_made("Sgd", sgd(0));
  t.add_made("Sgd, momentum", sgd(0.9));
  t.add_made("Adam", adam(false));
  t.add_made("AdamW", adam(true));
  t.add_made("Rmsprop", [](const P& x) -> PeerFunction {
    const at::Tensor p = trained(x);
    const auto step =
        std::make_shared<torch::optim::RMSprop>(P{p}, torch::optim::RMSpropOptions(1e-3));
    return [=](const P&) {
      step->step();
      return p;
    };
  });
  t.add_made("Adagrad", [](const P& x) -> PeerFunction {
    const at::Tensor p = trained(x);
    const P sums{at::zeros_like(p)}, steps{at::zeros({}, at::kFloat)};
    return [=](const P&) {
      const at::NoGradGuard off;
      steps[0].add_(1);
      at::_fused_adagrad_({p}, {p.grad()}, sums, steps, 1e-3, 0, 0, 1e-10, false);
      return p;
    };
  });
  t.add("Svgd", [](const P& x) { return peer_svgd_force(x[0], x[1]); });
}

}  // namespace ladon::bench::every
