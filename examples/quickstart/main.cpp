#include <iostream>
#include <vector>

#include "ladon/ladon.h"

using namespace ladon;

/// n sequences of 3 to 8 positions with two numbers each: x [n, 8, 2]; mask, bool [n, 8], true at
/// existing positions; classes, i64 [n]: whether the second number is positive at the position
/// where the first is largest. (To use numbers of a file: from_vector(values, {n, 8, 2}).)
std::vector<Tensor> sequences(std::int64_t n, Generator& rng) {
  const Tensor x = normal({n, 8, 2}, rng), lengths = randint({n, 1}, rng, 3, 9);
  const Tensor mask = less(arange(8), lengths);
  const Tensor place = argmax(where(mask, select(x, 2, 0), -100), 1, keep_dims);
  const Tensor second = select(gather(select(x, 2, 1), 1, place), 1, 0);
  return {x, mask, cast(greater(second, 0), i64)};
}

Sequential classifier(Generator& rng) {
  return Sequential(Linear({.in = 2, .out = 16}, rng),
                    TransformerEncoder({.layer = {.dim = 16, .heads = 4}, .layers = 2}, rng),
                    MeanPositions(), Linear({.in = 16, .out = 2}, rng));
}

int main() {
  Generator rng(1);
  const std::vector<Tensor> train = sequences(800, rng), test = sequences(200, rng);
  Sequential model = classifier(rng);
  AdamW adam(model.parameters(), {.lr = 3e-3});
  adam.set_schedule(schedule::cosine({.steps = 600}));  // scales .lr
  auto loader = tensor_loader(train, {.batch_size = 32}, rng);
  for (int step = 0; step < 600; ++step) {
    const std::vector<Tensor> batch = loader.next();
    adam.zero_grad();
    const Tensor loss = cross_entropy(model(batch[0], batch[1]), batch[2]);
    backward(loss);
    clip_grad_norm(model.parameters(), 1);
    adam.step();
    if (step % 200 == 0) std::cout << "step " << step << ": loss " << loss.item() << '\n';
  }
  model.save("model.safetensors");

  Sequential loaded = classifier(rng);
  loaded.load("model.safetensors");
  loaded.eval();  // no dropout
  const NoGrad no_grad;
  const Tensor probabilities = softmax(loaded(test[0], test[1]));
  std::cout << "accuracy " << metrics::accuracy(probabilities, test[2]) << " on other sequences\n";
  const auto& encoder = dynamic_cast<const TransformerEncoder&>(*loaded.layers[1]);
  const auto seen = encoder.forward_with_weights((*loaded.layers[0])(test[0]), padding(test[1]));
  std::cout << "attention weights of layer 0: " << seen.weights[0].shape() << '\n';
}
