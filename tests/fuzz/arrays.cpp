// Fuzz targets that read tensors from files, and the formula of einsum.

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/images.h"
#include "ladon/core/extra/io/idx.h"
#include "ladon/core/extra/io/npy.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/core/io/tensors/safetensors_index.h"
#include "ladon/layers/linear.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/schedule.h"
#include "ladon/tests/fuzz/target.h"

namespace ladon::fuzz {

bool read_npy(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  return accepted([&] { load_npy(path); });
}

bool read_npz(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  return accepted([&] { load_npz(path); });
}

bool read_shard_index(std::string_view bytes) {
  return accepted([&] {
    for (const auto& [name, file] : parse_shard_index("bytes", bytes))
      require(file.find_first_of(std::string_view("/\\\0", 3)) == file.npos && !file.empty() &&
                  file != ".." && file != ".",
              "a file in another folder");
  });
}

bool read_safetensors(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  std::map<std::string, std::string> metadata;
  if (!accepted([&] { load_safetensors(path, &metadata); })) return false;
  require(accepted([&] { load_safetensors(path); }), "without metadata it is refused");
  return true;
}

// Loads of a model, an optimizer and a schedule from a file of tensors.
bool read_state(std::string_view bytes) {
  static Generator rng(1);
  static Linear model({.in = 3, .out = 2}, rng);
  static Adam adam(model.parameters());
  static Plateau plateau;
  const std::string& path = file_of(bytes);
  StateDict state;
  if (!accepted([&] { state = load_safetensors(path); })) return false;
  return any_accepted([&] { model.load(path); }, [&] { adam.load_state_dict(state); },
                      [&] { plateau.load_state_dict(state); });
}

// IDX files, and MNIST's two, of which the other one is in order.
bool read_idx(std::string_view bytes) {
  static const std::string images("\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\3\0\1\2\3\4\5", 22);
  static const std::string labels("\0\0\x08\1\0\0\0\2\7\1", 10);
  return any_accepted([&] { parse_idx(bytes, "bytes", i64); },
                      [&] { parse_idx(bytes, "bytes", f32); },
                      [&] { parse_idx(bytes, "bytes", f64); },
                      [&] { parse_mnist(bytes, "bytes", labels, "labels"); },
                      [&] { parse_mnist(images, "images", bytes, "bytes"); });
}

bool read_cifar(std::string_view bytes) {
  return any_accepted([&] { parse_cifar10(bytes, "bytes"); },
                      [&] { parse_cifar100(bytes, "bytes"); });
}

// An equation of einsum, for two operands.
bool read_einsum(std::string_view bytes) {
  static const Tensor a = ones({2, 3, 4}), b = ones({4, 3});
  return accepted([&] { einsum(bytes, {a, b}); });
}

}  // namespace ladon::fuzz
