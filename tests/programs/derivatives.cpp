// Two user-defined operations, and all kinds of derivatives of them.

#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

/// x·σ(x), with one gradient rule per input.
Tensor swish(const Tensor& x) {
  const auto value = [&] {
    const NoGrad unrecorded;
    return x * sigmoid(x);
  };
  return record("swish", value(), {x}, [x = saved(x)](const Tensor& g, const Tensor& y) {
    return g * (y + sigmoid(x) * (1 - y));
  });
}

/// x³, with one function that returns the gradients by all inputs; the gradient is right if
/// `factor` is 3.
CustomFunction cube(double factor) {
  return {
      .name = "cube",
      .forward = [](const std::vector<Tensor>& in) { return in[0] * in[0] * in[0]; },
      .gradient = [=](const Tensor& g, const std::vector<Tensor>& in,
                      const Tensor&) { return std::vector<Tensor>{g * factor * square(in[0])}; }};
}

/// Whether f throws an Error whose message contains these words.
template <class F>
bool refused(const std::string& words, const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.what()).find(words) != std::string::npos;
  }
  return false;
}

int main() {
  Generator rng(1);
  const Tensor x = normal({5}, rng, 0, 1, f64).set_requires_grad();
  const auto f = [](const std::vector<Tensor>& in) { return swish(in[0]) * cube(3)(in); };
  expect(gradcheck(f, {x}) && gradgradcheck(f, {x}), "a rule is wrong");
  expect(refused("input 0", [&] { gradcheck(cube(2), {x}); }), "a wrong rule passes");

  // H·v by hvp, and by the Jacobian of the gradient.
  const auto scalar_f = [&](const Tensor& in) { return sum(f({in})) * sum(in); };
  const auto gradient = [&](const std::vector<Tensor>& in) {
    return grad(scalar_f(in[0]), in[0], {.create_graph = true});
  };
  const Tensor v = normal({5}, rng, 0, 1, f64), hessian = jacobian(gradient, {x})[0];
  expect(all_close(hvp(scalar_f, x, v), matmul(hessian, v), 1e-10, 1e-10), "hvp is not H·v");

  // A hook sees a gradient, until it is taken back.
  int seen = 0;
  const Tensor y = swish(x);
  HookHandle hook = register_hook(y, [&](const Tensor& g) { return ++seen, 2 * g; });
  const Tensor doubled = grad(sum(y), x, {.retain_graph = true});
  hook.remove();
  expect(all_close(doubled, 2 * grad(sum(y), x), 1e-15, 1e-15) && seen == 1,
         "a hook is not called, or not taken back");

  // A layer that is computed twice, to keep little, has the same gradients, also where dropout
  // draws.
  const TransformerEncoderLayer layer({.dim = 8, .heads = 2, .dropout = 0.5}, rng);
  const TransformerEncoderLayer twin = layer;  // draws the same numbers
  const Tensor tokens = normal({2, 3, 8}, rng).set_requires_grad();
  const auto again = [&](const std::vector<Tensor>& in) { return twin(in[0]); };
  const Tensor plain = grad(sum(square(layer(tokens))), tokens);
  const Tensor checkpointed = grad(sum(square(checkpoint(again, {tokens}))), tokens);
  expect(all_equal(plain, checkpointed), "a checkpoint changes gradients");

  // Origin of a NaN.
  const DetectAnomaly detect;
  const Tensor zero = zeros({2}).set_requires_grad();
  expect(refused("`sqrt`", [&] { backward(sum(sqrt(zero) * 0)); }), "a NaN without a name");
  std::cout << "all derivatives agree\n";
}
