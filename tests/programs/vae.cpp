// A variational autoencoder of digits (Kingma and Welling 2014).

#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

struct Vae : Module {
  Sequential encoder, decoder;

  explicit Vae(Generator& rng)
      : encoder(Linear({.in = 784, .out = 200}, rng), Activation(Nonlinearity::relu),
                Linear({.in = 200, .out = 20}, rng)),
        decoder(Linear({.in = 10, .out = 200}, rng), Activation(Nonlinearity::relu),
                Linear({.in = 200, .out = 784}, rng)) {}
  /// −ELBO of images x [batch, 784], mean over the batch, in nats.
  Tensor loss(const Tensor& x, Generator& rng) const {
    const std::vector<Tensor> parts = split(encoder(x), {10, 10}, 1);
    const Normal posterior(parts[0], exp(parts[1]));
    const Tensor logits = decoder(posterior.rsample({}, rng));
    const Tensor pixels =
        binary_cross_entropy_with_logits(logits, x, {.reduction = Reduction::sum});
    return (pixels + sum(kl(posterior, Normal(0, 1)))) / double(x.size(0));
  }
  void visit(Visitor& v) override {
    v("encoder", encoder);
    v("decoder", decoder);
  }
  std::string describe() const override { return "Vae"; }
};

int main(int, char** argv) {
  const ImageDataset digits = read_mnist(data_file(argv, "mnist_t10k/t10k-images-idx3-ubyte.gz"),
                                         data_file(argv, "mnist_t10k/t10k-labels-idx1-ubyte.gz"));
  const Tensor x = flatten(digits.images, 1);
  const Tensor unseen = at(x, {Slice{.start = 8000}});
  Generator rng(1);
  Vae model(rng);
  Adam adam(model.parameters(), {.lr = 2e-3});
  auto train = tensor_loader({at(x, {Slice{.stop = 8000}})}, {.batch_size = 64}, rng);
  while (train.position().epoch < 6) {
    const auto batch = train.next();
    adam.zero_grad();
    backward(model.loss(batch[0], rng));
    adam.step();
  }
  const double loss = model.loss(unseen, rng).item();
  std::cout << "unseen digits: -ELBO " << loss << " nats (before: 145.3)\n";
  expect(loss < 140, "it learned too little");

  // Digits that nobody wrote.
  const Tensor drawn = sigmoid(model.decoder(normal({4, 10}, rng)));
  for (std::int64_t row = 4; row < 24; row += 2) {
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t column = 4; column < 24; ++column)
        std::cout << " .:+#"[static_cast<int>(at(drawn, {i, 28 * row + column}).item() * 4.99)];
    std::cout << '\n';
  }
}
