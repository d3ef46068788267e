// Rows of linear operations that copy, move, mask or add up elements.

#include <utility>

#include "ladon/autograd/extra/windows/pooling.h"
#include "ladon/autograd/ops.h"
#include "ladon/autograd/ops/linalg/einsum.h"
#include "ladon/tests/autograd/extra/contract/contract.h"

namespace ladon::test {

namespace {

using Rows = std::vector<CopyRow>;

Tensor index(std::initializer_list<double> places, const Shape& shape) {
  return tensor(places, shape, i64);
}
/// Small integers, of x's dtype.
Tensor small(const Tensor& x, const Shape& shape) {
  return reshape(arange(0, shape.count(), 1, x.dtype()), shape);
}

Rows shapes() {
  return {
      {"reshape", "",
       [](auto& x) {
         return reshape(x, {4, 6});
       }},
      {"flatten", "", [](auto& x) { return flatten(x); }},
      {"permute", "",
       [](auto& x) {
         return permute(x, {2, 0, 1});
       }},
      {"transpose", "", [](auto& x) { return transpose(x); }},
      {"expand", "",
       [](auto& x) {
         return expand(x, {3, 2, 3, 4});
       }},
      {"unsqueeze", "", [](auto& x) { return unsqueeze(x, 1); }},
      {"squeeze", "", [](auto& x) { return squeeze(unsqueeze(x, 1), 1); }},
  };
}

Rows parts() {
  return {
      {"slice", "", [](auto& x) { return slice(x, 2, {.start = 3, .step = -2}); }},
      {"select", "", [](auto& x) { return select(x, 1, -1); }},
      {"at", "",
       [](auto& x) {
         return at(x, {1, Slice{.start = 1}});
       }},
      {"concat", "twice",
       [](auto& x) {
         return concat({x, x}, 1);
       }},
      {"stack", "twice",
       [](auto& x) {
         return stack({x, x}, 1);
       }},
      {"split", "",
       [](auto& x) {
         return split(x, {1, 2}, 1)[1];
       }},
  };
}

Rows places() {
  return {
      {"flip", "",
       [](auto& x) {
         return flip(x, {0, 2});
       }},
      {"roll", "", [](auto& x) { return roll(x, 2, 1); }},
      {"tile", "",
       [](auto& x) {
         return tile(x, {1, 2, 1});
       }},
      {"pad", "",
       [](auto& x) {
         return pad(x, {0, 1, 0}, {1, 0, 2}, 3);
       }},
      {"tril", "", [](auto& x) { return tril(x); }},
      {"triu", "", [](auto& x) { return triu(x, 1); }},
      {"diagonal", "", [](auto& x) { return diagonal(x); }},
      {"contiguous", "", [](auto& x) { return contiguous(transpose(x)); }},
      {"clone", "", [](auto& x) { return clone(x); }},
  };
}

Rows indices() {
  return {
      {"index_select", "a place twice",
       [](auto& x) {
         return index_select(x, 1, index({0, 2, 0}, {3}));
       }},
      {"gather", "a place twice",
       [](auto& x) {
         return gather(x, 0, expand(index({1, 0, 1}, {3, 1, 1}), {3, 3, 4}));
       }},
      {"scatter_add", "a place twice",
       [](auto& x) {
         return scatter_add(zeros_like(x), 0, zeros({2, 3, 4}, i64), x);
       }},
      {"scatter", "",
       [](auto& x) {
         return scatter(zeros_like(x), 0, expand(index({1, 0}, {2, 1, 1}), {2, 3, 4}), x);
       }},
      {"scatter_reduce", "sum",
       [](auto& x) {
         return scatter_reduce(zeros_like(x), 0, zeros({2, 3, 4}, i64), x, Scattered::sum);
       }},
      {"embedding", "a row twice",
       [](auto& x) {
         return embedding(reshape(x, {6, 4}), index({5, 0, 5}, {3}));
       }},
      {"masked_select", "",
       [](auto& x) {
         return masked_select(x, expand(tensor({1, 0, 1}, {3, 1}, boolean), {2, 3, 4}));
       }},
  };
}

Rows products() {
  return {
      {"sum_to", "",
       [](auto& x) {
         return sum_to(x, {3, 1});
       }},
      {"rotary_embedding", "quarter turns",
       [](auto& x) {
         return rotary_embedding(x, zeros({3, 2}, x.dtype()), ones({3, 2}, x.dtype()));
       }},
      {"matmul", "by small integers",
       [](auto& x) {
         return matmul(x, small(x, {4, 2}));
       }},
      {"linear", "by small integers",
       [](auto& x) {
         return linear(x, small(x, {2, 4}));
       }},
      {"dot", "by small integers", [](auto& x) { return dot(reshape(x, {24}), small(x, {24})); }},
      {"einsum", "by small integers",
       [](auto& x) {
         return einsum("abc,cd->adb", {x, small(x, {4, 2})});
       }},
  };
}

Rows windows() {
  return {
      {"convolution", "by small integers",
       [](auto& x) {
         return convolution(x, small(x, {2, 2, 4}));
       }},
      {"transposed_convolution", "by small integers",
       [](auto& x) {
         return transposed_convolution(x, small(x, {4, 2, 2}));
       }},
      {"unfold", "", [](auto& x) { return unfold(x, {2}); }},
      {"fold", "",
       [](auto& x) {
         return fold(reshape(x, {2, 3, 4}), {4}, {2});
       }},
      {"average_pool", "of two", [](auto& x) { return average_pool(x, {2}, {.stride = {1}}); }},
      {"adaptive_average_pool", "", [](auto& x) { return adaptive_average_pool(x, {3}); }},
  };
}

}  // namespace

const std::vector<CopyRow>& copy_rows() {
  static const Rows rows = [] {
    Rows all;
    for (const auto family : {shapes, parts, places, indices, products, windows})
      for (CopyRow& row : family()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

}  // namespace ladon::test
