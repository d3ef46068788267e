// Uses an installed Ladon as any user would.

#include <iostream>

#include "ladon/layers/layers.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/sgd.h"

int main() {
  ladon::Generator rng(1);
  ladon::MultiHeadAttention attention({.dim = 8, .heads = 4}, rng);
  ladon::Svgd repulsion(ladon::particles(attention), {.alpha = 0.1});
  ladon::Sgd sgd(attention.parameters(), {.lr = 0.1});
  const ladon::Tensor x = ladon::normal({2, 5, 8}, rng);
  backward(mse_loss(attention(x), x));
  repulsion.apply();
  sgd.step();
  std::cout << attention(x).shape() << '\n';
}
