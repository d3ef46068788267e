// ONNX operators: activations, and dropout in inference mode, where it does nothing.

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

/// clamp(alpha·x + beta, 0, 1).
Tensor hard_sigmoid(const Tensor& x, double alpha, double beta) {
  return clamp(x * alpha + beta, 0, 1);
}

Tensor shrink(const Tensor& x, double bias, double lambda) {
  const Tensor v = as_floating(x), nothing = zeros_like(v);
  const Tensor y = where(less(v, -lambda), v + bias, where(greater(v, lambda), v - bias, nothing));
  return cast(y, x.dtype());
}

/// x·sigmoid(alpha·x) of input 0.
Tensor swish(const Case& c) {
  const double alpha = c.number("alpha", 1);
  return alpha == 1 ? silu(c.in(0)) : c.in(0) * sigmoid(c.in(0) * alpha);
}

/// Before operator set 7 the slopes stand at the axis of channels.
Tensors prelu(const Case& c) {
  const Tensor &x = c.in(0), &slope = c.in(1);
  const bool channels = c.opset() < 7 && slope.rank() == 1 && x.rank() >= 2;
  return {where(less(x, 0), (channels ? per_channel(slope, x) : slope) * x, x)};
}

Tensors dropout_at_inference(const Case& c) {
  const bool training =
      c.opset() < 7 ? !c.flag("is_test", false) : c.has(2) && c.in(2).item<bool>();
  const double ratio = c.has(1) ? c.in(1).item() : c.number("ratio", 0.5);
  if (training && ratio != 0)
    throw Skip{"Dropout in training is random; its numbers are its author's"};
  const DType mask = c.opset() < 10 ? c.in(0).dtype() : boolean;
  return {c.in(0), ones(c.in(0).shape(), mask)};
}

}  // namespace

void add_activations(Table& t) {
  t["Relu"] = [](const Case& c) -> Tensors {
    const Tensor& x = c.in(0);
    return {is_floating(x.dtype()) ? relu(x) : maximum(x, scalar(0, x.dtype()))};
  };
  t["Sigmoid"] = [](const Case& c) -> Tensors { return {sigmoid(c.in(0))}; };
  t["Softplus"] = [](const Case& c) -> Tensors { return {softplus(c.in(0))}; };
  t["Softsign"] = [](const Case& c) -> Tensors { return {c.in(0) / (1 + abs(c.in(0)))}; };
  t["LeakyRelu"] = [](const Case& c) -> Tensors {
    return {leaky_relu(c.in(0), c.number("alpha", 0.01))};
  };
  t["PRelu"] = prelu;
  t["ThresholdedRelu"] = [](const Case& c) -> Tensors {
    const Tensor& x = c.in(0);
    return {where(greater(x, c.number("alpha", 1)), x, zeros_like(x))};
  };
  t["Elu"] = [](const Case& c) -> Tensors { return {elu(c.in(0), c.number("alpha", 1))}; };
  t["Celu"] = [](const Case& c) -> Tensors {  // α(e^(x/α) − 1) below zero
    const double alpha = c.number("alpha", 1);
    return {elu(c.in(0) / alpha) * alpha};
  };
  t["Selu"] = [](const Case& c) -> Tensors {
    if (!c.has("alpha") && !c.has("gamma")) return {selu(c.in(0))};
    return {elu(c.in(0), c.number("alpha", 1.67326319217681884765625)) *
            c.number("gamma", 1.05070102214813232421875)};
  };
  t["Gelu"] = [](const Case& c) -> Tensors {
    return {gelu(c.in(0), c.text("approximate", "none") == "tanh" ? Gelu::tanh : Gelu::exact)};
  };
  t["HardSigmoid"] = [](const Case& c) -> Tensors {
    return {hard_sigmoid(c.in(0), c.number("alpha", 0.2), c.number("beta", 0.5))};
  };
  t["HardSwish"] = [](const Case& c) -> Tensors {
    return {c.in(0) * hard_sigmoid(c.in(0), 1.0 / 6, 0.5)};
  };
  t["Swish"] = [](const Case& c) -> Tensors { return {swish(c)}; };
  t["SwiGLU"] = [](const Case& c) -> Tensors {  // two tensors of one shape: nothing is broadcast
    LADON_CHECK(c.in(0).shape() == c.in(1).shape(), c.op(), "shapes ", c.in(0).shape(), " and ",
                c.in(1).shape(), " differ");
    return {swish(c) * c.in(1)};
  };
  t["Mish"] = [](const Case& c) -> Tensors { return {c.in(0) * tanh(softplus(c.in(0)))}; };
  t["Shrink"] = [](const Case& c) -> Tensors {
    return {shrink(c.in(0), c.number("bias", 0), c.number("lambd", 0.5))};
  };
  t["Dropout"] = dropout_at_inference;
}

}  // namespace ladon::golden
