// Random numbers. The generators of the two libraries differ, so only the distributions must agree:
// mean and mean square of 4 million draws, whose standard errors are below a thousandth.

#include "ladon/core/random.h"

#include "both.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"

namespace ladon::bench {
namespace {

constexpr std::int64_t numbers = 4'000'000;

/// Both draw; `shift` keeps the mean away from 0, which nothing can be relative to.
template <class Ours, class Theirs>
Row drawn(const std::string& name, double shift, double bytes, Ours ours, Theirs theirs) {
  const auto make = [=] {
    const auto rng = std::make_shared<Generator>(1);
    torch::manual_seed(1);
    return Sides{[=] { ours(*rng); }, [=] { theirs(); },
                 [=] {
                   const Tensor a = ours(*rng) + shift;
                   const at::Tensor b = theirs() + shift;
                   return difference({mean(a), mean(square(a))}, {b.mean(), b.square().mean()});
                 }};
  };
  return {.name = name + " 4 M",
          .ceiling = Ceiling::memory,
          .needed = bytes * double(numbers),
          .tolerance = 5e-3,
          .make = make};
}

}  // namespace

std::vector<Row> random_rows() {
  const auto dropped = [](Generator& rng) {
    Tensor x = ones({numbers});
    x.set_requires_grad();
    return grad(dropout(x, 0.1, rng), x, {.cotangents = {ones({numbers})}});
  };
  const auto peer_dropped = [] {
    const at::Tensor x = at::ones({numbers}).requires_grad_(true);
    return torch::autograd::grad({at::dropout(x, 0.1, true)}, {x}, {at::ones({numbers})})[0];
  };
  return {drawn(
              "normal", 1, 4, [](Generator& rng) { return normal({numbers}, rng); },
              [] { return at::randn({numbers}); }),
          drawn(
              "uniform", 0, 4, [](Generator& rng) { return uniform({numbers}, rng); },
              [] { return at::rand({numbers}); }),
          drawn("dropout f+b, inputs made", 0, 24, dropped, peer_dropped)};
}

}  // namespace ladon::bench
