// LeNet-5 and a Vision Transformer with a class token on the digits of MNIST's test set.

#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

/// A learned class token before the others; the class is read from its output (Dosovitskiy et al.
/// 2021).
struct ClassToken : Layer {
  Tensor token;

  ClassToken(std::int64_t dim, Generator& rng)
      : token(parameter(normal({1, 1, dim}, rng, 0, 0.02))) {}
  Tensor forward(const Tensor& x) const override {
    return concat({expand(token, {x.size(0), 1, x.size(2)}), x}, 1);
  }
  void visit(Visitor& v) override { v("token", token); }
  std::string describe() const override { return "ClassToken"; }
};

/// Accuracy of the model on digits that were not trained on, after three epochs.
double learned(Sequential& model, const ImageDataset& digits, Generator& rng) {
  const ImageDataset seen = take(digits, 0, 8000), unseen = take(digits, 8000, 2000);
  auto train = tensor_loader({seen.images, seen.labels}, {.batch_size = 64}, rng);
  AdamW adam(decay_except(model), {.lr = 5e-3});
  adam.set_schedule(schedule::one_cycle({.steps = 3 * train.size()}));
  while (train.position().epoch < 3) {
    const std::vector<Tensor> batch = train.next();
    adam.zero_grad();
    backward(cross_entropy(model(batch[0]), batch[1]));
    adam.step();
  }
  model.eval();
  const NoGrad no_grad;
  return metrics::accuracy(softmax(model(unseen.images)), unseen.labels);
}

int main(int, char** argv) {
  const ImageDataset digits = read_mnist(data_file(argv, "mnist_t10k/t10k-images-idx3-ubyte.gz"),
                                         data_file(argv, "mnist_t10k/t10k-labels-idx1-ubyte.gz"));
  Generator rng(1);
  const Activation relu(Nonlinearity::relu);
  const MaxPool halve({.window = {2, 2}});
  Sequential lenet(
      Conv2d({.in = 1, .out = 6, .window = {5, 5}}, rng), BatchNorm({.dim = 6}), relu, halve,
      Conv2d({.in = 6, .out = 16, .window = {5, 5}, .padding = Padding::valid}, rng),
      BatchNorm({.dim = 16}), relu, halve, Flatten(), Linear({.in = 400, .out = 120}, rng), relu,
      Linear({.in = 120, .out = 84}, rng), relu, Linear({.in = 84, .out = 10}, rng));
  Sequential vit(Conv2d({.in = 1, .out = 64, .window = {7, 7}, .stride = {7, 7}}, rng),  // patches
                 FlattenPositions(), ClassToken(64, rng),
                 LearnedPositions({.max_length = 17, .dim = 64}, rng),
                 TransformerEncoder({{.dim = 64, .heads = 4, .hidden = 128, .dropout = 0}, 2}, rng),
                 FirstToken(), Linear({.in = 64, .out = 10}, rng));
  const double conv = learned(lenet, digits, rng), attention = learned(vit, digits, rng);
  std::cout << "LeNet: " << conv << " (before: 0.9815), Vision Transformer: " << attention
            << " (before: 0.8935)\n";
  expect(conv > 0.975, "LeNet learned too little");
  expect(attention > 0.9, "the Vision Transformer learned too little");
}
