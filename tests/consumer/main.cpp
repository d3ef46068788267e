#include <iomanip>
#include <iostream>

#include "ladon/ladon.h"

using namespace ladon;

int main() {
  Generator rng(1);
  MultiHeadAttention attention({.dim = 32, .heads = 4}, rng);
  const Tensor x = normal({16, 10, 32}, rng), target = flip(x, {1});

  // Infinitely many heads: a Gaussian process. The kernel of softmax is a mean over random draws.
  const infinite::Kernel k = infinite::limit(attention)(x, infinite::Get::nngp);
  std::cout << std::fixed << std::setprecision(3)
            << "with infinitely many heads the first token's output has variance "
            << at(k.nngp, {0, 0, 0, 0}).item() << " ± " << at(k.nngp_se, {0, 0, 0, 0}).item()
            << '\n';

  // Many heads: particles, which a Stein force keeps apart while any optimizer trains them.
  Svgd repulsion(particles(attention), {.alpha = 0.1});
  Adam adam(attention.parameters(), {.lr = 1e-2});
  for (int step = 0; step <= 100; ++step) {
    adam.zero_grad();
    const Tensor loss = mse_loss(attention(x), target);
    backward(loss);
    repulsion.apply();  // rewrites the heads' gradients by the Stein force
    adam.step();
    if (step % 50 == 0)
      std::cout << "loss " << loss.item() << ", distance between heads "
                << repulsion.report()[0].distance.mean << '\n';
  }
}
