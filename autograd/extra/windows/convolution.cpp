#include "ladon/autograd/extra/windows/convolution.h"

#include "ladon/autograd/extra/windows/windows.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/extra/kernels/windows/convolution.h"

namespace ladon {
namespace {

using kernels::Windows;

/// The sizes of all axes but the first and the last.
Shape inner_axes(const Tensor& x) { return x.shape().sub(1, x.rank() - 1); }

// --- derivatives of ⟨g, convolution(x, weight)⟩ with respect to g (forward), x (by_input) and
// weight (by_weight): each of the three is linear in two tensors, and its gradients with respect to
// them are computed by the other two functions ---

Tensor by_input(const Tensor& g, const Tensor& weight, const Windows& w, std::int64_t groups);
Tensor by_weight(const Tensor& x, const Tensor& g, const Windows& w, std::int64_t groups);

Tensor forward(const Tensor& x, const Tensor& weight, const Tensor& bias, const Windows& w,
               std::int64_t groups) {
  return record(
      "convolution", kernels::convolution(x, weight, bias, w, groups), {x, weight, bias},
      [weight = saved_for(x, weight), w, groups](const Tensor& g) {
        return by_input(g, weight, w, groups);
      },
      [x = saved_for(weight, x), w, groups](const Tensor& g) { return by_weight(x, g, w, groups); },
      [](const Tensor& g) { return g; });  // the backward pass sums it to [out]
}

Tensor by_input(const Tensor& g, const Tensor& weight, const Windows& w, std::int64_t groups) {
  return record(
      "transposed_convolution", kernels::convolution_by_input(g, weight, w, groups), {g, weight},
      [weight = saved_for(g, weight), w, groups](const Tensor& x) {
        return forward(x, weight, {}, w, groups);
      },
      [g = saved_for(weight, g), w, groups](const Tensor& x) {
        return by_weight(x, g, w, groups);
      });
}

Tensor by_weight(const Tensor& x, const Tensor& g, const Windows& w, std::int64_t groups) {
  return record(
      "convolution_by_weight", kernels::convolution_by_weight(x, g, w, groups), {x, g},
      [g = saved_for(x, g), w, groups](const Tensor& weight) {
        return by_input(g, weight, w, groups);
      },
      [x = saved_for(g, x), w, groups](const Tensor& weight) {
        return forward(x, weight, {}, w, groups);
      });
}

/// Checks shapes, groups and dtypes, for convolution() and transposed_convolution(). Returns the
/// floating dtype to which the operands are converted.
DType checked(const char* operation, const Tensor& x, const Tensor& weight, const Tensor& bias,
              std::int64_t groups) {
  check_defined(operation, {x, weight});
  LADON_CHECK(weight.rank() >= 3, operation,
              "the weight must have the shape [out, window.., channels], got shape ",
              weight.shape());
  LADON_CHECK(x.rank() == weight.rank(), operation, "the input has shape ", x.shape(),
              ", the weight ", weight.shape(),
              "; the input must be [N, positions.., channels] with ", weight.rank() - 2,
              " axes of positions");
  LADON_CHECK(inner_axes(weight).count() > 0 && weight.size(-1) > 0, operation,
              "the window and its channels must not be empty, got weight ", weight.shape());
  LADON_CHECK(groups > 0 && weight.size(0) % groups == 0, operation, "groups = ", groups,
              " must be positive and divide ", weight.size(0), ", the first axis of the weight ",
              weight.shape());
  DType dtype = promote(x.dtype(), weight.dtype());
  if (bias.defined()) dtype = promote(dtype, bias.dtype());
  LADON_CHECK(is_floating(dtype), operation, "needs floating-point operands, got ", x.dtype(),
              " and ", weight.dtype(), "; convert them with cast(x, f32)");
  return dtype;
}

void check_bias(const char* operation, const Tensor& bias, std::int64_t out) {
  LADON_CHECK(!bias.defined() || bias.shape() == Shape{out}, operation, "the bias has shape ",
              bias.shape(), ", not [", out, "]");
}

Tensor in_dtype(const Tensor& x, DType dtype) { return x.defined() ? cast(x, dtype) : x; }

}  // namespace

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvolutionOptions& o) {
  const DType dtype = checked("convolution", x, weight, bias, o.groups);
  check_bias("convolution", bias, weight.size(0));
  LADON_CHECK(x.size(-1) % o.groups == 0 && x.size(-1) / o.groups == weight.size(-1), "convolution",
              "the input has ", x.size(-1), " channels, but a weight of shape ", weight.shape(),
              " with groups = ", o.groups, " takes ", weight.size(-1), " · ", o.groups,
              " channels");
  const Windows w = detail::windows_on("convolution", inner_axes(x), inner_axes(weight),
                                       {o.stride, o.before, o.after, o.dilation});
  return forward(in_dtype(x, dtype), in_dtype(weight, dtype), in_dtype(bias, dtype), w, o.groups);
}

Tensor transposed_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const TransposedConvolutionOptions& o) {
  const char* name = "transposed_convolution";
  const DType dtype = checked(name, x, weight, bias, o.groups);
  LADON_CHECK(x.size(-1) == weight.size(0), name, "the input has ", x.size(-1),
              " channels, but the weight has shape ", weight.shape(),
              "; its first axis must have as many");
  const std::int64_t out = detail::checked_product(name, weight.size(-1), o.groups);
  check_bias(name, bias, out);
  const int axes = x.rank() - 2;
  Windows w;
  w.counts = inner_axes(x);
  w.size = detail::one_an_axis(name, "window", inner_axes(weight), axes, 1, 1);
  w.stride = detail::one_an_axis(name, "stride", o.stride, axes, 1, 1);
  w.dilation = detail::one_an_axis(name, "dilation", o.dilation, axes, 1, 1);
  w.before = detail::one_an_axis(name, "before", o.before, axes, 0, 0);
  const Shape after =
      o.after.rank() == 0 ? w.before : detail::one_an_axis(name, "after", o.after, axes, 0, 0);
  const Shape more = detail::one_an_axis(name, "output_padding", o.output_padding, axes, 0, 0);
  for (int a = 0; a < axes; ++a) {
    LADON_CHECK(more[a] < std::max(w.stride[a], w.dilation[a]), name, "output_padding ", more,
                " must be smaller than the stride ", w.stride, " or the dilation ", w.dilation);
    const std::int64_t steps = detail::checked_product(name, w.counts[a] - 1, w.stride[a]);
    const std::int64_t n =
        detail::checked_sum(name, steps, (w.size[a] - 1) * w.dilation[a] + more[a] + 1) -
        w.before[a] - after[a];
    LADON_CHECK(n >= 0, name, "the output of ", w.counts[a], " positions, cropped by ", w.before[a],
                " and ", after[a], ", would have size ", n, "; take smaller `before` and `after`");
    w.positions.append(n);
  }
  const Tensor y = by_input(in_dtype(x, dtype), in_dtype(weight, dtype), w, o.groups);
  return bias.defined() ? y + in_dtype(bias, dtype) : y;
}

// --- patches ---

namespace {

Tensor folded(const Tensor& patches, const Windows& w);

Tensor unfolded(const Tensor& x, const Windows& w) {
  return record("unfold", kernels::unfold(x, w), {x},
                [w](const Tensor& g) { return folded(g, w); });
}

Tensor folded(const Tensor& patches, const Windows& w) {
  return record("fold", kernels::fold(patches, w), {patches},
                [w](const Tensor& g) { return unfolded(g, w); });
}

}  // namespace

Tensor unfold(const Tensor& x, const Shape& window, const WindowOptions& o) {
  check_floating("unfold", x);
  LADON_CHECK(x.rank() >= 3, "unfold", "expects [N, positions.., channels], got shape ", x.shape());
  return unfolded(x, detail::windows_on("unfold", inner_axes(x), window,
                                        {o.stride, o.before, o.after, o.dilation}));
}

Tensor fold(const Tensor& patches, const Shape& positions, const Shape& window,
            const WindowOptions& o) {
  check_floating("fold", patches);
  detail::checked_count("fold", positions);
  const Windows w =
      detail::windows_on("fold", positions, window, {o.stride, o.before, o.after, o.dilation});
  LADON_CHECK(patches.rank() >= 3 && inner_axes(patches) == w.counts, "fold",
              "patches must be [N, window counts.., taps * channels]: positions ", positions,
              " give window counts ", w.counts, ", but the patches have shape ", patches.shape());
  const std::int64_t taps = detail::checked_count("fold", window);
  LADON_CHECK(patches.size(-1) % taps == 0, "fold", "patches of ", patches.size(-1),
              " elements cannot hold whole channels of a window of ", taps,
              " taps; the last axis must have taps * channels elements");
  return folded(patches, w);
}

}  // namespace ladon
