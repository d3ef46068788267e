#include "ladon/autograd/ops/matmul.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/products/matmul.h"
#include "ladon/core/view.h"

namespace ladon {
namespace {

/// Merges all axes but the last:  [.., n] → [rows, n].
Tensor rows_of(const Tensor& x) {
  return reshape(x, {x.shape().sub(0, x.rank() - 1).count(), x.size(-1)});
}

DType common_dtype(const char* operation, const Tensor& a, const Tensor& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  LADON_CHECK(is_floating(dtype), operation, "needs floating-point operands, got ", a.dtype(),
              " and ", b.dtype(), "; convert them with cast(x, f32)");
  return dtype;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  check_defined("matmul", {a, b});
  LADON_CHECK(a.rank() > 0 && b.rank() > 0, "matmul", "operands of shapes ", a.shape(), " and ",
              b.shape(), "; both must have at least one axis: multiply by a number with *");
  if (a.rank() == 1) return squeeze(matmul(unsqueeze(a, 0), b), b.rank() == 1 ? -1 : -2);
  if (b.rank() == 1) return squeeze(matmul(a, unsqueeze(b, 1)), -1);
  const DType dtype = common_dtype("matmul", a, b);
  if (a.dtype() != b.dtype()) return matmul(cast(a, dtype), cast(b, dtype));
  return record("matmul", kernels::matmul(a, b), {a, b},
                with_forward(
                    [b = saved(b)](const Tensor& g) {
                      return matmul(g, transpose(b));  // [.., m, n] · [.., n, k]
                    },
                    [b = saved(b)](const Tensor& t) { return matmul(t, b); }),
                with_forward(
                    [a = saved(a), shared = b.rank() == 2](const Tensor& g) {
                      if (shared)
                        return matmul(transpose(rows_of(a)), rows_of(g));  // [k, ..·m] · [..·m, n]
                      return matmul(transpose(a), g);  // [.., k, m] · [.., m, n]
                    },
                    [a = saved(a)](const Tensor& t) { return matmul(a, t); }));
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_defined("linear", {x, weight});
  LADON_CHECK(weight.rank() == 2, "linear", "the weight must have shape [out, in], got ",
              weight.shape());
  const std::int64_t out = weight.shape()[0], in = weight.shape()[1];
  LADON_CHECK(x.rank() >= 1 && x.size(-1) == in, "linear", "the input has shape ", x.shape(),
              ", the weight ", weight.shape(), "; the input's last axis must have size ", in);
  if (bias.defined())
    LADON_CHECK(bias.shape() == Shape{out}, "linear", "the bias has shape ", bias.shape(),
                ", not [", out, "]");
  DType dtype = common_dtype("linear", x, weight);
  if (bias.defined()) dtype = promote(dtype, bias.dtype());
  if (x.dtype() != dtype || weight.dtype() != dtype || (bias.defined() && bias.dtype() != dtype))
    return linear(cast(x, dtype), cast(weight, dtype),
                  bias.defined() ? cast(bias, dtype) : Tensor());

  if (x.rank() == 1) return squeeze(linear(unsqueeze(x, 0), weight, bias), 0);
  const Tensor columns = view::transpose(weight, 0, 1);
  const Tensor y = bias.defined() ? kernels::affine(x, columns, kernels::contiguous(bias))
                                  : kernels::matmul(x, columns);
  return record("linear", y, {x, weight, bias},
                with_forward(
                    [weight = saved(weight)](const Tensor& g) {
                      return matmul(g, weight);  // [.., out] · [out, in]
                    },
                    [weight = saved(weight)](const Tensor& t) { return linear(t, weight); }),
                with_forward(
                    [x = saved(x)](const Tensor& g) {
                      return matmul(transpose(rows_of(g)), rows_of(x));  // [out, rows] · [rows, in]
                    },
                    [x = saved(x)](const Tensor& t) { return linear(x, t); }),
                [](const Tensor& g) { return g; });  // the backward pass sums it to [out]
}

Tensor dot(const Tensor& a, const Tensor& b) {
  check_defined("dot", {a, b});
  LADON_CHECK(a.shape() == b.shape(), "dot", "both tensors must have the same shape, but are ",
              a.shape(), " and ", b.shape());
  return sum(a * b);
}

}  // namespace ladon
