#include <iostream>

#include "ladon/ladon.h"

using namespace ladon;

int main() {
  Generator rng(1);
  const Tensor x = normal({256, 8}, rng), y = sin(sum(x, 1, keep_dims));
  Sequential model(Linear({.in = 8, .out = 64}, rng), Activation(Nonlinearity::gelu),
                   Linear({.in = 64, .out = 1}, rng));
  Adam adam(model.parameters(), {.lr = 1e-2});
  for (int step = 0; step <= 400; ++step) {
    adam.zero_grad();
    const Tensor loss = mse_loss(model(x), y);
    backward(loss);
    adam.step();
    if (step % 100 == 0) std::cout << "step " << step << ": loss " << loss.item() << '\n';
  }

  std::cout << "the model's loss: " << mse_loss(model(x), y).item() << '\n';
  model.save("model.safetensors");
  Sequential again(Linear({.in = 8, .out = 64}, rng), Activation(Nonlinearity::gelu),
                   Linear({.in = 64, .out = 1}, rng));
  again.load("model.safetensors");
  std::cout << "the loaded model's loss: " << mse_loss(again(x), y).item() << '\n';
}
