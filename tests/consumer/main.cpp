#include <iostream>

#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/particles/svgd.h"

using namespace ladon;

int main() {
  Generator rng(1);
  MultiHeadAttention attention({.dim = 32, .heads = 4}, rng);
  Svgd repulsion(particles(attention), {.alpha = 0.1});  // each head is a particle
  Adam adam(attention.parameters(), {.lr = 1e-2});
  const Tensor x = normal({16, 10, 32}, rng), target = flip(x, {1});
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
