#include "ladon/layers/embedding.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {

Embedding::Embedding(const EmbeddingOptions& o, Generator& rng)
    : padding_index(o.padding_index), init_std(o.stddev) {
  LADON_CHECK(o.count > 0 && o.dim > 0, "Embedding",
              "sizes must be positive, got count = ", o.count, ", dim = ", o.dim);
  detail::check_size("Embedding", "stddev", o.stddev);
  LADON_CHECK(padding_index < o.count, "Embedding", "padding_index ", padding_index,
              " is outside a table of ", o.count, " rows; it must be below ", o.count,
              ", or negative for none");
  const bool in_front = o.parameterization == Parameterization::ntk;
  if (in_front) weight_std = scalar(o.stddev, f64);
  NoGrad no_grad;
  weight = normal({o.count, o.dim}, rng, 0, in_front ? 1 : o.stddev);
  if (padding_index >= 0) fill_(select(weight, 0, padding_index), 0);
  weight = parameter(weight);
}

Tensor Embedding::forward(const Tensor& index) const {
  const Tensor rows = embedding(weight, index, {.padding_index = padding_index});
  if (ParameterUses::active()) {
    const Tensor trained =
        padding_index < 0
            ? index
            : where(equal(index, static_cast<double>(padding_index)), scalar(-1, i64), index);
    ParameterUses::report_product(unsqueeze(trained, -1), rows);
  }
  return weight_std.defined() ? scaled(rows, weight_std) : rows;
}

infinite::KernelNode Embedding::limit(const infinite::KernelNode& k) const {
  const bool standard = !weight_std.defined();
  const auto variance = [this, standard] {
    return square(standard ? scalar(init_std, f64) : weight_std);
  };
  const auto formula = [=] {
    return infinite::Formula{infinite::times(number_of("Embedding", variance().detach()), "$k"),
                             standard ? "$k" : "$K"};
  };
  const infinite::Step step{.makes = infinite::Law::random_linear(),
                            .formula = formula,
                            .needs = infinite::Needs::wanted};
  const bool padded = padding_index >= 0;
  return infinite::map_pairs(k, step, [=](const infinite::Pairs& pairs) {
    for (const Tensor& own : {pairs.left_variance(), pairs.right_variance()})
      LADON_CHECK(all(equal(own, 1)).item<bool>(), "Embedding",
                  "its infinite-width limit needs the kernel of indices, which is 1 for equal "
                  "indices and 0 for others; make it with input_kernel");
    const Tensor equals = padded ? pairs.visible(pairs.nngp) : pairs.nngp;
    infinite::PairKernels y{variance() * equals, {}};
    if (pairs.ntk.defined()) y.ntk = standard ? equals : y.nngp;
    return y;
  });
}

void Embedding::visit(Visitor& v) {
  v("weight", weight);
  v.hyperparameter("weight_std", weight_std);
}

std::string Embedding::describe() const {
  return detail::join("Embedding(", weight.size(0), " × ", weight.size(1), ")");
}

}  // namespace ladon
