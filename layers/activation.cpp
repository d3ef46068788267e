#include "ladon/layers/activation.h"

#include <array>

#include "ladon/core/error.h"
#include "ladon/core/names.h"

namespace ladon {
namespace {

constexpr std::array<std::string_view, 11> nonlinearity_names = {
    "identity",  "relu", "leaky_relu", "elu",     "selu",    "gelu",
    "gelu_tanh", "silu", "tanh",       "sigmoid", "softplus"};

}  // namespace

std::string_view name(Nonlinearity f) { return nonlinearity_names[static_cast<std::size_t>(f)]; }

Nonlinearity nonlinearity_from_name(std::string_view name) {
  return static_cast<Nonlinearity>(index_of_name("nonlinearity", name, nonlinearity_names));
}

Tensor apply(Nonlinearity f, const Tensor& x) {
  switch (f) {
    case Nonlinearity::identity:
      return x;
    case Nonlinearity::relu:
      return relu(x);
    case Nonlinearity::leaky_relu:
      return leaky_relu(x);
    case Nonlinearity::elu:
      return elu(x);
    case Nonlinearity::selu:
      return selu(x);
    case Nonlinearity::gelu:
      return gelu(x);
    case Nonlinearity::gelu_tanh:
      return gelu(x, Gelu::tanh);
    case Nonlinearity::silu:
      return silu(x);
    case Nonlinearity::tanh:
      return tanh(x);
    case Nonlinearity::sigmoid:
      return sigmoid(x);
    case Nonlinearity::softplus:
      break;
  }
  return softplus(x);
}

std::string Activation::describe() const { return concat("Activation(", name(function), ")"); }

Dropout::Dropout(double probability, Generator& source)
    : p(probability), rng(source.split(source.reserve(1))) {
  check(p >= 0 && p <= 1, "Dropout", "p must lie in [0, 1], got ", p);
}

Tensor Dropout::forward(const Tensor& x) const { return training() ? dropout(x, p, rng) : x; }

std::string Dropout::describe() const { return concat("Dropout(", p, ")"); }

}  // namespace ladon
