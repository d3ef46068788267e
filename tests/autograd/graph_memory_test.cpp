// Long graphs, and the memory that graphs hold.

#include <thread>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/storage.h"
#include "ladon/tests/support.h"

namespace ladon::test::graph_memory_test {
namespace {

Tensor leaf(const Shape& shape) { return ones(shape, f64).set_requires_grad(); }

Tensor long_chain(const Tensor& x, int length) {
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = y + 1;
  return y;
}

TEST(LongChain, RunsBackwardAndIsFreed) {
  const Tensor x = leaf(Shape{1});
  backward(long_chain(x, 1'000'000));
  EXPECT_EQ(x.grad().item(), 1);
}

TEST(LongChain, IsFreedWithoutBackwardAndAfterARetainedOne) {
  const std::size_t before = Storage::bytes_in_use();
  {
    const Tensor x = leaf(Shape{1});
    { const Tensor dropped = long_chain(x, 1'000'000); }
    const Tensor y = exp(long_chain(x * 1e-9, 1'000'000) * 1e-9);
    backward(y, {.retain_graph = true});
    EXPECT_NEAR(x.grad().item(), 1e-18, 1e-20);
  }
  EXPECT_EQ(Storage::bytes_in_use(), before);
}

// The object destroyed last at a thread's end was made first: here before anything of the graph's
// own.
TEST(LongChain, IsFreedAtTheEndOfAThread) {
  const std::size_t before = Storage::bytes_in_use();
  std::thread([] {
    thread_local Tensor kept;
    kept = long_chain(leaf(Shape{1}), 1000);
  }).join();
  EXPECT_EQ(Storage::bytes_in_use(), before);
}

TEST(LongChain, IsFreedThroughSavedTensors) {
  const std::size_t before = Storage::bytes_in_use();
  {
    Tensor y = leaf(Shape{1});
    for (int i = 0; i < 200'000; ++i) y = y * y;  // each node keeps its input, and so the chain
  }
  EXPECT_EQ(Storage::bytes_in_use(), before);
}

TEST(Memory, DoesNotGrowInTraining) {
  Generator rng(3);
  Tensor w = normal({8, 8}, rng), b = zeros({8});
  const Tensor x = normal({16, 8}, rng);
  w.set_requires_grad();
  b.set_requires_grad();
  const auto step = [&] {
    const Tensor h = tanh(matmul(x, w) + b);
    backward(mean(square(softmax(h, -1) - 0.5)));
    const NoGrad no_grad;
    for (Tensor* p : {&w, &b}) {
      add_(*p, p->grad(), -0.1);
      p->set_grad({});
    }
  };
  for (int i = 0; i < 10; ++i) step();
  const std::size_t settled = Storage::bytes_in_use();
  for (int i = 0; i < 1000; ++i) step();
  EXPECT_EQ(Storage::bytes_in_use(), settled);
}

TEST(Memory, IsFreedAsTheSweepGoes) {
  const Tensor x = leaf(Shape{1 << 16});
  const Tensor y = sin(sin(sin(sin(x))));  // each keeps its input
  const std::size_t held = Storage::bytes_in_use();
  backward(sum(y));
  EXPECT_LT(Storage::bytes_in_use(), held);  // what was kept is gone, though y still stands
}

TEST(Rules, KeepOnlyWhatTheyNeed) {
  const Tensor x = leaf(Shape{1 << 16});
  const std::size_t before = Storage::bytes_in_use();
  const Tensor constant = ones({1 << 16}, f64);
  const Tensor y = (x * 1) * constant;  // the product's left operand is read by no rule
  EXPECT_LT(Storage::bytes_in_use() - before, 2 * (sizeof(double) << 16) + 4096);
}

}  // namespace
}  // namespace ladon::test::graph_memory_test
