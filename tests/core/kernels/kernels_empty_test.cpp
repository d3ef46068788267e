// Tensors without elements, however many rows they have: all kernels return at once. A kernel that
// looped over the rows would make these tests endless.

#include <gtest/gtest.h>

#include "ladon/core/kernels/attention/attention.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/index.h"
#include "ladon/core/kernels/norm.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/products/matmul.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/reductions/softmax.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/view.h"

namespace ladon::kernels::kernels_empty_test {
namespace {

constexpr std::int64_t many = std::int64_t{1} << 50;
const Shape long_rows{0, many, 1}, short_rows{many, 0};

TEST(KernelsEmpty, Softmax) {
  const Tensor x = empty(long_rows), y = empty(short_rows, f64);
  EXPECT_EQ(softmax(x, 0).shape(), long_rows);
  EXPECT_EQ(softmax(y, 1).shape(), short_rows);
  EXPECT_EQ(log_softmax(x, 0).shape(), long_rows);
  EXPECT_EQ(softmax_backward(x, x, 0).shape(), long_rows);
  EXPECT_EQ(log_softmax_backward(y, y, 1).shape(), short_rows);
  EXPECT_EQ(logsumexp(x, 1).shape(), (Shape{0, 1, 1}));
}

TEST(KernelsEmpty, LayerNorm) {
  const Tensor x = empty(short_rows), w = empty({0});
  const LayerNormResult r = layer_norm(x, w, w, 1e-5);
  EXPECT_EQ(r.y.shape(), short_rows);
  const LayerNormGradients d = layer_norm_backward(x, x, r.mean, r.rstd, w, true);
  EXPECT_EQ(d.x.shape(), short_rows);
  EXPECT_EQ(d.weight.shape(), (Shape{0}));
  EXPECT_EQ(layer_norm(empty({many, 0, 3}), Tensor(), Tensor(), 1e-5).mean.shape(),
            (Shape{many, 0, 1}));
}

TEST(KernelsEmpty, ReductionsAndScans) {
  const Tensor x = empty(long_rows);
  for (const Reduce op : {Reduce::sum, Reduce::prod, Reduce::max, Reduce::sum_squares})
    EXPECT_EQ(reduce(op, x, {1}, false).shape(), (Shape{0, 1}));
  EXPECT_EQ(argmax(x, 1, false).shape(), (Shape{0, 1}));
  for (const int axis : {0, 1, 2}) {
    EXPECT_EQ(cumsum(x, axis).shape(), long_rows);
    EXPECT_EQ(argsort(x, axis, false).shape(), long_rows);
  }
  EXPECT_EQ(argsort(empty({0, max_count}), 1, false).shape(), (Shape{0, max_count}));
}

TEST(KernelsEmpty, ElementsAndIndices) {
  const Tensor x = empty(long_rows);
  EXPECT_EQ(unary(Unary::exp, x).shape(), long_rows);
  EXPECT_EQ(binary(Binary::add, x, view::expand(empty({1}), long_rows)).shape(), long_rows);
  EXPECT_EQ(cast(view::transpose(x, 0, 1), f64).shape(), (Shape{many, 0, 1}));
  const Tensor two = empty({2}, i64);
  fill(two, 0);
  EXPECT_EQ(take_rows(empty({many, 3, 0}), 1, two).shape(), (Shape{many, 2, 0}));
  EXPECT_EQ(add_rows(empty({many, 2, 0}), 1, two, 3).shape(), (Shape{many, 3, 0}));
  EXPECT_EQ(gather(x, 0, empty(long_rows, i64)).shape(), long_rows);
  EXPECT_EQ(nonzero(x).shape(), (Shape{0, 3}));
}

TEST(KernelsEmpty, Products) {
  EXPECT_EQ(matmul(empty({many, 0, 3}), empty({3, 2})).shape(), (Shape{many, 0, 2}));
  EXPECT_EQ(matmul(empty({0, many, 3}), empty({0, 3, 2})).shape(), (Shape{0, many, 2}));
  EXPECT_EQ(affine(empty({many, 0}), empty({0, 0}), empty({0})).shape(), (Shape{many, 0}));
}

TEST(KernelsEmpty, Attention) {
  constexpr std::int64_t side = 1 << 20;
  const Tensor q = empty({side, side, 2, 0});
  for (const AttentionSettings& settings :
       {AttentionSettings{}, AttentionSettings{.causal = true}}) {
    const AttentionOutput y = attention(q, q, q, settings);
    EXPECT_EQ(y.output.shape(), q.shape());
    EXPECT_EQ(attention_backward(q, q, q, q, y, settings).k.shape(), q.shape());
  }
}

}  // namespace
}  // namespace ladon::kernels::kernels_empty_test
