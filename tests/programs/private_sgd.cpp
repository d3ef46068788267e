// Learns digits with differential privacy (Abadi et al. 2016): the gradient of each example is
// clipped, and noise is added to their sum. Then computes other derivatives of a model: products
// with the Hessian in three ways, and the gradients of an ensemble in one pass.

#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

struct PrivateOptions {
  double norm = 1, noise = 0.8;  ///< noise: of the sum, in units of the norm.
};

/// Private gradients of all parameters: (Σ_i g_i·min(1, norm/|g_i|) + noise·norm·ξ)/N, with the
/// gradients g_i of N examples.
void private_gradients(const ParameterSet& set, const TensorFunction& loss,
                       const std::vector<Tensor>& batch, const PrivateOptions& o, Generator& rng) {
  const NoGrad off;  // no derivative of these gradients is wanted
  const std::vector<Tensor> each = per_example_gradients(loss, batch, set.tensors());
  Tensor squares = zeros({batch[0].size(0)});
  for (const Tensor& g : each) squares = squares + sum(square(flatten(g, 1, -1)), 1);
  const Tensor share = minimum(o.norm / sqrt(squares), 1);
  for (std::size_t i = 0; i < each.size(); ++i) {
    const Tensor clipped = einsum("n,n...->...", {share, each[i]});
    const Tensor noise = normal(clipped.shape(), rng, 0, o.noise * o.norm);
    Tensor(set[i].second).set_grad((clipped + noise) / double(batch[0].size(0)));
  }
}

int main(int, char** argv) {
  const ImageDataset digits = read_mnist(data_file(argv, "mnist_t10k/t10k-images-idx3-ubyte.gz"),
                                         data_file(argv, "mnist_t10k/t10k-labels-idx1-ubyte.gz"));
  const ImageDataset seen = take(digits, 0, 8000), unseen = take(digits, 8000, 2000);
  Generator rng(1);
  const auto network = [](Generator& r) {
    return Sequential(Flatten(), Linear({.in = 784, .out = 64}, r), Activation(Nonlinearity::tanh),
                      Linear({.in = 64, .out = 10}, r));
  };
  Sequential model = network(rng);
  const auto loss = [&](const std::vector<Tensor>& one) {
    return cross_entropy(model.forward(unsqueeze(one[0], 0)), unsqueeze(one[1], 0));
  };
  Sgd sgd(model.parameters(), {.lr = 1, .momentum = 0.5});
  auto train = tensor_loader({seen.images, seen.labels}, {.batch_size = 256}, rng);
  while (train.position().epoch < 8) {
    private_gradients(model, loss, train.next(), {}, rng);
    sgd.step();
  }
  const double accuracy = metrics::accuracy(softmax(model(unseen.images)), unseen.labels);
  std::cout << "with privacy: " << accuracy << " of unseen digits\n";

  // Of the last layer alone: H·v by reverse over reverse, by jvp of the gradient, and from all
  // columns at once.
  const ParameterSet head = model.choose("layers.3.bias");
  const auto at_head = [&](const Tensor& row) {
    return functional_call(model, head, head.pieces(row), [&] {
      return cross_entropy(model.forward(take(seen, 0, 50).images), take(seen, 0, 50).labels);
    });
  };
  const auto gradient = [&](const std::vector<Tensor>& in) {
    return grad(at_head(in[0]), in[0], {.create_graph = true});
  };
  const Tensor at = cast(head.to_row(), f32).set_requires_grad(), v = normal({10}, rng);
  const Tensor twice = hvp(at_head, at, v), forward = jvp(gradient, {at}, {v}).tangent;
  const Tensor columns =
      vmap([&](const std::vector<Tensor>& e) { return jvp(gradient, {at}, {e[0]}).tangent; },
           {eye(10, f32)});
  expect(all_close(twice, forward, 1e-4, 1e-6) && all_close(twice, matmul(columns, v), 1e-4, 1e-6),
         "the three products with the Hessian differ");

  std::vector<Sequential> members;
  for (std::uint64_t i = 0; i < 4; ++i) {
    Generator own(i);
    members.push_back(network(own));
  }
  const Tensor together = vmap(
      [&](const std::vector<Tensor>& w) {
        return functional_call(model, w, [&] { return model.forward(unseen.images); });
      },
      stack_parameters({members.begin(), members.end()}));
  for (std::int64_t i = 0; i < 4; ++i)
    expect(all_close(select(together, 0, i), members[std::size_t(i)](unseen.images), 1e-4, 1e-4),
           "an ensemble in one pass differs from its members");
  expect(accuracy > 0.8, "the private model learned too little");
}
