#include "02_attention/exercises/exercises.h"

using namespace ladon;

Tensor several_heads(const Tensor& x, const Tensor& projection, const Tensor& output, int heads) {
  const std::int64_t batch = x.size(0), length = x.size(1), dim = x.size(2), width = dim / heads;
  const Tensor all = matmul(x, projection);  // [B,T,D] · [D,3D] → [B,T,3D]
  const auto split = [&](std::int64_t part) {
    const Tensor one = slice(all, 2, {.start = part * dim, .stop = (part + 1) * dim});
    return transpose(reshape(one, {batch, length, heads, width}), 1, 2);  // [B,H,T,d]
  };
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const Tensor maps = softmax(matmul(split(0), transpose(split(1))) * scale);  // [B,H,T,T]
  const Tensor contexts = matmul(maps, split(2));                              // [B,H,T,d]
  const Tensor joined = reshape(transpose(contexts, 1, 2), {batch, length, dim});
  return matmul(joined, output);  // [B,T,D] · [D,D] → [B,T,D]
}
