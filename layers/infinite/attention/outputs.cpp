#include "ladon/layers/infinite/attention/outputs.h"

#include "ladon/autograd/forms.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/attention/limit_blocks.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {
namespace {

/// Kernels of the outputs, computed by differentiable operations.
PairKernels composed(const AttentionLimit& layer, const AttentionMoments& m) {
  const Tensor ov = square(layer.value_output);
  const Tensor s = ov * m.value;
  PairKernels y{s + layer.bias_variance, {}};
  if (!m.tangent.defined()) return y;
  y.ntk = ov * m.tangent + layer.value_output_trained * s + layer.bias_trained;
  return y;
}

/// Kernels of the outputs, computed in one loop. They overwrite the moments if nothing else refers
/// to these.
PairKernels in_one_loop(const AttentionLimit& layer, const AttentionMoments& m) {
  const double ov = number_of("MultiHeadAttention", layer.value_output);
  const kernels::OutputFactors by{
      .value_output2 = ov * ov,
      .bias_variance = number_of("MultiHeadAttention", layer.bias_variance),
      .value_output_trained = layer.value_output_trained,
      .bias_trained = number_of("MultiHeadAttention", layer.bias_trained)};
  const auto own = [](const Tensor& x) {
    return x.contiguous() && x.storage().exclusive() ? x : clone(x);
  };
  PairKernels y{own(m.value), m.tangent.defined() ? own(m.tangent) : m.tangent};
  double* nngp = y.nngp.mutable_data<double>();
  double* ntk = y.ntk.defined() ? y.ntk.mutable_data<double>() : nullptr;
  parallel::for_range(y.nngp.count(), 1 << 16, [=](std::int64_t begin, std::int64_t end) {
    kernels::attention_outputs(end - begin, by, nngp + begin, ntk ? ntk + begin : ntk);
  });
  return y;
}

}  // namespace

PairKernels attention_outputs(const AttentionLimit& layer, const AttentionMoments& m) {
  return fast_or_composed(
      "attention_outputs",
      {layer.value_output, layer.bias_variance, layer.bias_trained, m.value, m.tangent},
      [&] { return in_one_loop(layer, m); }, [&] { return composed(layer, m); });
}

}  // namespace ladon::infinite
