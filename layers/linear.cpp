#include "ladon/layers/linear.h"

#include "ladon/core/error.h"

namespace ladon {

Linear::Linear(const LinearOptions& options, Generator& rng) {
  check(options.in > 0 && options.out > 0, "Linear",
        "sizes must be positive, got in = ", options.in, ", out = ", options.out);
  weight = initialize(options.init, {options.out, options.in}, rng, {.gain = options.gain});
  if (options.bias) bias = parameter(zeros({options.out}));
}

Tensor Linear::forward(const Tensor& x) const { return linear(x, weight, bias); }

void Linear::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

std::string Linear::describe() const {
  return concat("Linear(", weight.size(1), " → ", weight.size(0),
                bias.defined() ? ")" : ", no bias)");
}

Embedding::Embedding(const EmbeddingLayerOptions& options, Generator& rng)
    : padding_index(options.padding_index) {
  check(options.count > 0 && options.dim > 0, "Embedding",
        "sizes must be positive, got count = ", options.count, ", dim = ", options.dim);
  check(padding_index < options.count, "Embedding", "padding_index ", padding_index,
        " is outside a table of ", options.count, " rows");
  NoGrad no_grad;
  weight = normal({options.count, options.dim}, rng, 0, options.stddev);
  if (padding_index >= 0) fill_(select(weight, 0, padding_index), 0);
  weight = parameter(weight);
}

Tensor Embedding::forward(const Tensor& index) const {
  return embedding(weight, index, {.padding_index = padding_index});
}

void Embedding::visit(Visitor& v) { v("weight", weight); }

std::string Embedding::describe() const {
  return concat("Embedding(", weight.size(0), " × ", weight.size(1), ")");
}

}  // namespace ladon
