// Safetensors files: the cases of the format's own tests, and a network for digits that is saved
// with PyTorch's names of parameters, in half precision.

#include <cmath>
#include <cstring>
#include <iostream>
#include <sstream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

/// The bytes of a file after its header, in whose metadata Ladon adds checksums.
std::string elements(const std::string& path) {
  const std::string bytes = read_file(path);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  return bytes.substr(sizeof header + header);
}

/// Whether the file can be read, and its tensors written again.
bool readable(const std::string& path) {
  try {
    std::map<std::string, std::string> metadata;
    const StateDict state = load_safetensors(path, &metadata);
    save_safetensors("again.safetensors", state, metadata);
    return true;
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
    return false;
  }
}

Sequential network(Generator& rng) {
  return Sequential(Flatten(), Linear({.in = 784, .out = 64}, rng), Activation(Nonlinearity::relu),
                    Linear({.in = 64, .out = 10}, rng));
}

int main(int, char** argv) {
  std::istringstream cases(read_text(data_file(argv, "safetensors_cases/EXPECTED.tsv")));
  for (std::string line; std::getline(cases, line);) {
    const std::string path =
        data_file(argv, "safetensors_cases/" + line.substr(0, line.find('\t')));
    const bool good = line.starts_with("ok");
    expect(readable(path) == good, line);
    if (line.find("exactly these bytes") != std::string::npos)
      expect(elements("again.safetensors") == elements(path), "written otherwise: " + line);
  }

  const ImageDataset digits = read_mnist(data_file(argv, "mnist_t10k/t10k-images-idx3-ubyte.gz"),
                                         data_file(argv, "mnist_t10k/t10k-labels-idx1-ubyte.gz"));
  const ImageDataset seen = take(digits, 0, 8000), unseen = take(digits, 8000, 2000);
  Generator rng(1);
  Sequential model = network(rng), loaded = network(rng);
  Adam adam(model.parameters(), {.lr = 2e-3});
  auto train = tensor_loader({seen.images, seen.labels}, {.batch_size = 64}, rng);
  while (train.position().epoch < 3) {
    const std::vector<Tensor> batch = train.next();
    adam.zero_grad();
    backward(cross_entropy(model(batch[0]), batch[1]));
    adam.step();
  }
  StateDict state = to_torch(model);  // 1.weight, 1.bias, 3.weight, 3.bias
  for (auto& [name, x] : state) x = cast(x, f16);
  save_safetensors("network.safetensors", state);
  from_torch(loaded, load_safetensors("network.safetensors"));

  const double before = cross_entropy(model(unseen.images), unseen.labels).item();
  const double after = cross_entropy(loaded(unseen.images), unseen.labels).item();
  const double accuracy = metrics::accuracy(softmax(loaded(unseen.images)), unseen.labels);
  std::cout << "unseen digits: " << accuracy << " (before: 0.9097), " << before
            << " nats, in half precision " << after << '\n';
  expect(accuracy > 0.91, "it learned too little");
  expect(std::abs(after - before) < 1e-3, "another network was loaded");
}
