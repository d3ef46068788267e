#include "ladon/autograd/extra/diagnosis/dot.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/support.h"

namespace ladon::test::dot_test {
namespace {

Tensor leaf(const Shape& shape, DType dtype = f32) {
  Tensor x = ones(shape, dtype);
  return x.set_requires_grad();
}

TEST(Dot, DrawsEveryOperationOnceWithItsInputs) {
  const Tensor w = leaf({2, 3}), x = ones({4, 2});
  const Tensor y = matmul(x, w), z = sum(y * y);
  EXPECT_EQ(to_dot(z, {{"layer.\"w\"", w}, {"x", x}, {"y", y}}),
            "digraph {\n"
            "  n0 [shape=ellipse, label=\"layer.\\\"w\\\"\\nleaf\\n[2, 3] f32\"];\n"
            "  n1 [shape=box, label=\"y\\nmatmul\\n[4, 3] f32\"];\n"
            "  n0 -> n1;\n"
            "  n2 [shape=box, label=\"mul\\n[4, 3] f32\"];\n"
            "  n1 -> n2;\n"
            "  n1 -> n2;\n"
            "  n3 [shape=box, label=\"sum\\n[] f32\"];\n"
            "  n2 -> n3;\n"
            "}\n");
}

TEST(Dot, OfTheSameComputationIsTheSame) {
  const auto once = [] {
    const Tensor a = leaf({2}, f64), b = leaf({}, f64);
    return to_dot(exp(a) * b + a);
  };
  const std::string first = once();
  EXPECT_EQ(first, once());
  EXPECT_NE(first.find("exp"), first.npos);
}

TEST(Dot, OfALeafIsItself) {
  EXPECT_EQ(to_dot(leaf({3})), "digraph {\n  n0 [shape=ellipse, label=\"leaf\\n[3] f32\"];\n}\n");
}

TEST(Dot, TakesLongChains) {
  Tensor y = leaf({1});
  for (int i = 0; i < 100'000; ++i) y = y + 1.0;
  const std::string dot = to_dot(y);
  EXPECT_NE(dot.find("n99999 -> n100000;"), dot.npos);
}

TEST(Dot, OfAFreedGraphIsTheSame) {
  const Tensor y = sum(exp(leaf({2})));
  const std::string before = to_dot(y);
  backward(y);
  EXPECT_EQ(to_dot(y), before);
}

TEST(Dot, NeedsAHistory) {
  expect_error([] { to_dot(ones({2})); }, "the tensor records no history");
  expect_error([] { to_dot(Tensor()); }, "the tensor records no history");
}

}  // namespace
}  // namespace ladon::test::dot_test
