// Times of computations by several ranks, to be compared with those of one process: mpirun -n 2
// ranks measure, and ranks measure.

#include <chrono>
#include <functional>
#include <iostream>
#include <limits>

#include "ladon/core/machine/parallel.h"
#include "ladon/layers/extra/images/conv.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/training/data_parallel.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/ranks/checks.h"

namespace ladon::test {
namespace {

/// The shortest of some runs, of the slowest rank.
void report(const char* what, const std::function<void()>& run) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 30; ++i) {
    ranks::barrier();
    const auto start = std::chrono::steady_clock::now();
    run();
    ranks::barrier();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    least = std::min(least, spent.count());
  }
  if (ranks::rank() == 0)
    std::cout << what << ": " << least << " s, " << ranks::count() << " ranks with "
              << num_threads() << " threads\n";
}

}  // namespace

void measure() {
  Generator rng(1);
  const Sequential net(Linear({.in = 100, .out = 2}, rng), Activation(Nonlinearity::relu),
                       Linear({.in = 2, .out = 2}, rng), Activation(Nonlinearity::relu),
                       Linear({.in = 2, .out = 1}, rng));
  for (const std::int64_t n : {3000, 6000}) {
    const Tensor x = normal({n, 100}, rng, 0, 1, f64);
    report(n == 3000 ? "Gram matrix of 3000" : "Gram matrix of 6000",
           [&] { infinite::gram(infinite::limit(net), x); });
  }
  const Tensor images = normal({200, 8, 8, 3}, rng, 0, 1, f64);
  const Sequential convolution(
      Conv2d({.in = 3, .out = 4, .window = {3, 3}, .padding = Padding::same}, rng),
      Activation(Nonlinearity::relu),
      Conv2d({.in = 4, .out = 4, .window = {3, 3}, .padding = Padding::same}, rng),
      Activation(Nonlinearity::relu), Flatten(), Linear({.in = 256, .out = 1}, rng));
  report("Gram matrix of 200 images",
         [&] { infinite::gram(infinite::limit(convolution), images); });

  const Tensor gradients = zeros({1 << 20});
  report("sum of 2^20 numbers", [&] { ranks::all_reduce(gradients); });
  report("barrier", [&] { ranks::barrier(); });

  constexpr std::int64_t items = 512;
  Sequential model(Linear({.in = 256, .out = 512}, rng), Activation(Nonlinearity::gelu),
                   Linear({.in = 512, .out = 512}, rng), Activation(Nonlinearity::gelu),
                   Linear({.in = 512, .out = 1}, rng));
  const Tensor x = normal({items, 256}, rng), y = normal({items, 1}, rng);
  const ranks::Share mine = ranks::share_of(items);
  const Slice part{mine.first, mine.last};
  const double weight = static_cast<double>(mine.last - mine.first) / items;
  report("gradients of a share of a batch of 512",
         [&] { backward(mse_loss(model(at(x, {part})), at(y, {part})) * weight); });
  report("sum of its gradients", [&] { sum_gradients(model.parameters()); });
  Adam adam(model.parameters());
  report("a step of training, batch 512", [&] {
    adam.zero_grad();
    backward(mse_loss(model(at(x, {part})), at(y, {part})) * weight);
    sum_gradients(model.parameters());
    adam.step();
  });
  OverlappedSum sum(model, 1 << 17);  // a bucket per layer
  report("the same, with sums beside the sweep", [&] {
    adam.zero_grad();
    backward(mse_loss(model(at(x, {part})), at(y, {part})) * weight);
    sum.finish();
    adam.step();
  });
}

}  // namespace ladon::test
