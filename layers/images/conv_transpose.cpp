#include "ladon/layers/images/conv_transpose.h"

#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/windows/convolution.h"
#include "ladon/core/error.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {

ConvTranspose::ConvTranspose(const char* name, int axes, const ConvTransposeOptions& o,
                             Generator& rng)
    : options(o), name_(name) {
  LADON_CHECK(o.window.rank() == axes, name, "needs ", axes, " window size", axes == 1 ? "" : "s",
              ", got ", o.window);
  LADON_CHECK(o.in > 0 && o.out > 0, name, "sizes must be positive, got in = ", o.in,
              ", out = ", o.out);
  LADON_CHECK(o.groups > 0 && o.in % o.groups == 0 && o.out % o.groups == 0, name, o.groups,
              " groups do not share ", o.in, " channels and ", o.out, " outputs evenly");
  std::int64_t taps = 1;
  for (const std::int64_t size : o.window) {
    LADON_CHECK(size > 0, name, "window sizes must be positive, got ", o.window);
    taps = detail::checked_product(name, taps, size);
  }
  // Drawn as [out, taps·in/groups], for the fans; then each group's is turned around.
  const std::int64_t in = o.in / o.groups, out = o.out / o.groups;
  const Tensor drawn =
      initialize(o.init, {o.out, detail::checked_product(name, taps, in)}, {.gain = o.gain}, rng)
          .detach();
  Shape shape = o.window;
  shape.insert(0, o.in);
  shape.append(out);
  const Tensor turned = permute(reshape(drawn, {o.groups, out, taps, in}), {0, 3, 2, 1});
  weight = parameter(clone(reshape(turned, shape)));
  if (o.bias) bias = parameter(zeros({o.out}));
}

Tensor ConvTranspose::forward(const Tensor& x) const {
  const int axes = options.window.rank();
  LADON_CHECK(x.rank() == axes + 2 && x.size(-1) == options.in, name_, "expects [N, ",
              axes == 1 ? "T, " : "H, W, ", options.in, "], got shape ", x.shape());
  const ConvTransposeOptions& o = options;
  const Tensor y = transposed_convolution(
      x, weight, bias, {o.stride, o.before, o.after, o.dilation, o.output_padding, o.groups});
  if (ParameterUses::active()) report(x.detach(), y);
  return y;
}

// y is linear in the weight, and what a gradient δ of y sees of it is the convolution's patches:
//   ∂/∂w[c, tap, o] = Σ_i x_ic·patches(δ)[i, tap, o] for c and o of one group,  ∂/∂b = Σ_i δ_i.
void ConvTranspose::report(const Tensor& x, const Tensor& y) const {
  const ConvTransposeOptions& o = options;
  ParameterUses::report(y, [x, o](const Tensor& delta) {
    const std::int64_t n = delta.size(0), taps = o.window.count(), groups = o.groups;
    Tensor seen = unfold(delta, o.window, {o.stride, o.before, o.after, o.dilation});
    for (int a = 1; a + 1 < x.rank(); ++a)  // windows on output padding alone have no position in x
      seen = slice(seen, a, {.stop = x.size(a)});
    const Tensor patches = reshape(seen, {n, -1, taps, groups, o.out / groups});
    const Tensor left = transpose(flatten(x, 1, -2));  // [N, in, positions]
    std::vector<Tensor> parts;
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t in = o.in / groups;
      const Tensor x_g = slice(left, 1, {.start = g * in, .stop = (g + 1) * in});
      const Tensor p_g = flatten(select(patches, 3, g), 2, 3);  // [N, positions, taps·out/groups]
      parts.push_back(flatten(matmul(x_g, p_g), 1, -1));
    }
    return concat(parts, 1);
  });
  if (!bias.defined()) return;
  ParameterUses::report(y, [](const Tensor& delta) { return sum(flatten(delta, 1, -2), 1); });
}

void ConvTranspose::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

std::string ConvTranspose::describe() const {
  const ConvTransposeOptions& o = options;
  std::string text = detail::join(name_, "(", o.in, " → ", o.out, ", window ", o.window);
  if (o.stride.rank() > 0) text += detail::join(", stride ", o.stride);
  if (o.groups > 1) text += detail::join(", groups ", o.groups);
  return text + (bias.defined() ? ")" : ", no bias)");
}

}  // namespace ladon
