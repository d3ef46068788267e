// ONNX operators: matrix products.

#include "case.h"
#include "ladon/autograd/ops.h"

namespace ladon::golden {
namespace {

/// Integers multiply in f64, exactly while sums stay below 2^53.
Tensor product(const Tensor& a, const Tensor& b) {
  return cast(matmul(as_floating(a), as_floating(b)), promote(a.dtype(), b.dtype()));
}

Tensors gemm(const Case& c) {
  const Tensor a = c.flag("transA", false) ? transpose(c.in(0)) : c.in(0);
  const Tensor b = c.flag("transB", false) ? transpose(c.in(1)) : c.in(1);
  Tensor y = as_floating(product(a, b)) * c.number("alpha", 1);
  if (c.has(2)) y = y + as_floating(c.in(2)) * c.number("beta", 1);
  return {cast(y, a.dtype())};
}

/// Zero points: of A a number or one per row, of B a number or one per column.
Tensors matmul_integer(const Case& c) {
  Tensor a = c.in(0), b = c.in(1);
  if (c.has(2)) a = a - (c.in(2).rank() == 1 ? unsqueeze(c.in(2), 1) : c.in(2));
  if (c.has(3)) b = b - c.in(3);
  return {product(a, b)};
}

Tensors einsum_case(const Case& c) {
  Tensors operands;
  for (std::size_t i = 0; i < c.inputs(); ++i) operands.push_back(c.in(i));
  return {cast(einsum(c.text("equation", ""), operands), c.in(0).dtype())};
}

}  // namespace

void add_products(Table& t) {
  t["MatMul"] = [](const Case& c) -> Tensors { return {product(c.in(0), c.in(1))}; };
  t["Gemm"] = gemm;
  t["MatMulInteger"] = matmul_integer;
  t["Einsum"] = einsum_case;
}

}  // namespace ladon::golden
