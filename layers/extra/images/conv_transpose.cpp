#include "ladon/layers/extra/images/conv_transpose.h"

#include "ladon/autograd/extra/windows/convolution.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/extra/images/kernel_windows.h"
#include "ladon/layers/extra/images/window.h"
#include "ladon/layers/infinite/kernel/graph.h"
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
              " groups do not divide ", o.in, " channels and ", o.out, " outputs evenly");
  std::int64_t taps = 1;
  for (const std::int64_t size : o.window) {
    LADON_CHECK(size > 0, name, "window sizes must be positive, got ", o.window);
    taps = detail::checked_product(name, taps, size);
  }
  // Drawn as a matrix [out, taps·in/groups], which has the right fan_in and fan_out; then each
  // group is transposed.
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
  detail::warn_of_precision(name_, x, weight);
  LADON_CHECK(x.rank() == axes + 2 && x.size(-1) == options.in, name_, "expects [N, ",
              axes == 1 ? "T, " : "H, W, ", options.in, "], got shape ", x.shape(),
              detail::channels_hint(x, axes, options.in));
  const ConvTransposeOptions& o = options;
  const Tensor y = transposed_convolution(
      x, weight, bias, {o.stride, o.before, o.after, o.dilation, o.output_padding, o.groups});
  if (ParameterUses::active()) report(x.detach(), y);
  return y;
}

// y is linear in the weight. With the gradient δ of y, positions i of x, input channel c and output
// channel o:
//   ∂/∂w[c, tap, o] = Σ_i x_ic·patches(δ)[i, tap, o] for c and o of one group,  ∂/∂b = Σ_i δ_i.
void ConvTranspose::report(const Tensor& x, const Tensor& y) const {
  const ConvTransposeOptions& o = options;
  ParameterUses::report(y, [x, o](const Tensor& delta) {
    const std::int64_t n = delta.size(0), taps = o.window.count(), groups = o.groups;
    Tensor seen = unfold(delta, o.window, {o.stride, o.before, o.after, o.dilation});
    // Windows that exist only because of output padding have no position in x.
    for (int a = 1; a + 1 < x.rank(); ++a) seen = slice(seen, a, {.stop = x.size(a)});
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

namespace {

/// The value of an option for one axis; `usual` if the option is empty.
std::int64_t number(const Shape& given, int axis, std::int64_t usual) {
  return given.rank() == 0 ? usual : given[axis];
}

/// Number of output positions that n input positions give along an axis.
std::int64_t spread_count(const char* name, const ConvTransposeOptions& o, int axis,
                          std::int64_t n) {
  const std::int64_t before = number(o.before, axis, 0), after = number(o.after, axis, before);
  const std::int64_t count = (n - 1) * number(o.stride, axis, 1) - before - after +
                             number(o.dilation, axis, 1) * (o.window[axis] - 1) +
                             number(o.output_padding, axis, 0) + 1;
  LADON_CHECK(count >= 0, name, n, " positions would become ", count,
              ", which is (n − 1)·stride + dilation·(window − 1) + 1 + output_padding − before − "
              "after, with before = ",
              before, " and after = ", after, "; take smaller before and after");
  return count;
}

/// Input position that each output position sees through each tap of an axis (`inputs` if there is
/// none): input i gives output a = i·stride − before + tap·dilation.
std::vector<Tensor> seen_by_taps(const ConvTransposeOptions& o, int axis, std::int64_t inputs,
                                 std::int64_t outputs) {
  const std::int64_t stride = number(o.stride, axis, 1), before = number(o.before, axis, 0),
                     apart = number(o.dilation, axis, 1);
  std::vector<Tensor> taps;
  for (std::int64_t tap = 0; tap < o.window[axis]; ++tap) {
    std::vector<std::int64_t> seen;
    for (std::int64_t a = 0; a < outputs; ++a) {
      const std::int64_t steps = a + before - tap * apart;
      const bool some = steps >= 0 && steps % stride == 0 && steps / stride < inputs;
      seen.push_back(some ? steps / stride : inputs);
    }
    taps.push_back(from_vector(seen, {outputs}));
  }
  return taps;
}

/// Sum over taps of k at the input positions that the taps see along `axes`: one axis, or one axis
/// for each of the two inputs of a kernel. A tap that sees no position adds 0.
Tensor sum_over_taps(const Tensor& k, const std::vector<int>& axes,
                     const std::vector<Tensor>& taps) {
  Tensor around = k;
  for (const int axis : axes) {
    Shape row = around.shape();
    row[detail::normalize_axis("ConvTranspose", axis, row.rank())] = 1;
    around = concat({around, zeros(row, k.dtype())}, axis);
  }
  Tensor total;
  for (const Tensor& seen : taps) {
    Tensor term = around;
    for (const int axis : axes) term = index_select(term, axis, seen);
    total = total.defined() ? total + term : term;
  }
  return total;
}

}  // namespace

infinite::KernelNode ConvTranspose::limit(const infinite::KernelNode& k) const {
  const ConvTransposeOptions& o = options;
  const int axes = o.window.rank();
  LADON_CHECK(o.groups == 1, name_, "no limit of infinite width is known for ", o.groups,
              " groups; estimate its kernel from finite networks with "
              "infinite::monte_carlo_kernel");
  LADON_CHECK(
      o.init != Init::ones, name_,
      "weights that are all one have no Gaussian limit of infinite width; draw them at random "
      "(init)");
  LADON_CHECK(k.positions.rank() == axes, name_, "has windows over ", axes,
              " axes, but the inputs have positions ", k.positions);
  LADON_CHECK(
      !k.masked, name_,
      "its limit of infinite width takes no mask of padding, but the inputs have one; remove the "
      "mask");
  k.law.need_channels(name_, o.in);
  Shape counts;
  std::vector<std::vector<Tensor>> taps;
  for (int a = 0; a < axes; ++a) {
    const std::int64_t n = k.positions[a];
    counts.append(n < 0 ? -1 : spread_count(name_, o, a, n));
    if (n >= 0) taps.push_back(seen_by_taps(o, a, n, counts[a]));
  }
  const double in = static_cast<double>(o.in), biases = bias.defined() ? 1 : 0;
  const double stddev = init_stddev(o.init, {o.out, o.window.count() * o.in}, o.gain);
  const double variance = in * stddev * stddev;
  const auto formula = [=] {
    const std::string sum = "(sum over taps of $k at what a and b see through them)";
    return infinite::Formula{infinite::times(variance, sum),
                             infinite::times(variance, "(the same sum of $t)") + " + " +
                                 infinite::times(in, sum) + infinite::plus(biases)};
  };
  const infinite::Step step{.makes = infinite::Law::random_linear(),
                            .formula = formula,
                            .needs = infinite::Needs::wanted,
                            .positions = counts};
  return infinite::map_pairs(k, step, [=, before = k.positions](const infinite::Pairs& pairs) {
    const bool own = pairs.entries == infinite::Entries::diagonal;
    const auto summed = [&](const Tensor& block) {  // [.., T, T], or its diagonal [.., T]
      Shape split = block.shape().sub(0, block.rank() - (own ? 1 : 2));
      for (int side = 0; side < (own ? 1 : 2); ++side)
        for (const std::int64_t size : before) split.append(size);
      Tensor sums = reshape(block, split);
      for (int a = 0; a < axes; ++a)
        sums = sum_over_taps(
            sums, own ? std::vector<int>{a - axes} : std::vector<int>{a - 2 * axes, a - axes},
            taps[a]);
      return own ? flatten(sums, -axes, -1) : infinite::join_positions(sums, counts);
    };
    infinite::PairKernels y = pairs.each(summed);
    if (y.ntk.defined()) y.ntk = variance * y.ntk + in * y.nngp + biases;
    y.nngp = variance * y.nngp;
    return y;
  });
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
