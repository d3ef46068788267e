#include "ladon/autograd/graph.h"

#include <cmath>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/ops.h"
#include "ladon/autograd/record.h"
#include "ladon/core/machine/background.h"
#include "ladon/tests/support.h"

namespace ladon::test::graph_test {
namespace {

Tensor leaf(std::initializer_list<double> values, DType dtype = f64) {
  Tensor x = tensor(values, dtype);
  return x.set_requires_grad();
}

using Values = std::vector<double>;

// --- backward and grad ---

TEST(Backward, AddsToTheGradientsOfLeaves) {
  const Tensor x = leaf({1, 2, 3});
  EXPECT_FALSE(x.grad().defined());
  backward(sum(x * x));
  EXPECT_EQ(x.grad().to_vector(), (Values{2, 4, 6}));
  backward(sum(3.0 * x));
  EXPECT_EQ(x.grad().to_vector(), (Values{5, 7, 9}));
  EXPECT_FALSE(x.grad().requires_grad());
}

TEST(Backward, TakesACotangent) {
  const Tensor x = leaf({1, 2, 3});
  backward(square(x), tensor({1, 10, 100}, f64));
  EXPECT_EQ(x.grad().to_vector(), (Values{2, 40, 600}));
}

TEST(Backward, SumsOverAllPaths) {
  const Tensor x = leaf({2});
  const Tensor y = x * x;     // x²
  backward(y * y + 3.0 * y);  // x⁴ + 3x²
  EXPECT_EQ(x.grad().item(), 4 * 8 + 6 * 2);
}

TEST(Backward, AddsGradientsOfPiecesWhereTheyStand) {
  const auto f = [](const Tensor& x) {  // pieces before, between and after wholes; some overlap
    Tensor y = sum(select(x, 0, 1) * select(x, 0, 3)) + sum(x * x);
    for (int i = 0; i < 4; ++i) y = y + double(i + 1) * sum(select(x, 0, i));
    y = y + sum(square(x)) + sum(slice(x, 1, {.start = 2, .step = -2}) * 7.0);
    y = y + sum(diagonal(x)) * sum(slice(x, 0, {.start = 1, .stop = 3}));
    return y + 2.0 * sum(x);  // swept first: its gradient is one number, expanded
  };
  const Tensor x = reshape(arange(0, 12, 1, f64), {4, 3}).set_requires_grad();
  const Tensor inner = x * 1.0;  // a place in the graph as well as a leaf
  const auto of = [&](bool recorded) {
    return grad({f(inner)}, {x, inner}, {.retain_graph = true, .create_graph = recorded});
  };
  const std::vector<Tensor> edited = of(false), composed = of(true);  // by wholes alone
  EXPECT_EQ(edited[0].to_vector(), composed[0].to_vector());
  EXPECT_EQ(edited[1].to_vector(), composed[1].to_vector());
}

TEST(Backward, AddsGradientsOfPiecesToNoTensorOfOthers) {
  const Tensor x = leaf({1, 2, 3}), weights = tensor({4, 5, 6}, f64);
  const Tensor a = x * 1.0, b = x * 1.0;
  const Tensor piece = sum(slice(a, 0, {.stop = 2}));  // older than a + b: swept after it
  const Tensor whole = sum(weights * (a + b));         // whose gradient is that of a and of b
  const std::vector<Tensor> gradients = grad({whole + 10.0 * piece}, {a, b});
  EXPECT_EQ(gradients[0].to_vector(), (Values{14, 15, 6}));
  EXPECT_EQ(gradients[1].to_vector(), (Values{4, 5, 6}));
}

TEST(Backward, SumsBroadcastGradientsAndCastsThem) {
  Tensor a = ones({2, 3}, f64), b = ones({3}, f32);
  a.set_requires_grad();
  b.set_requires_grad();
  backward(sum(a * b));
  EXPECT_EQ(b.grad().dtype(), f32);
  EXPECT_EQ(b.grad().to_vector(), (Values{2, 2, 2}));
  EXPECT_EQ(a.grad().shape(), a.shape());
}

TEST(Backward, RejectsWhatItCannotSweep) {
  const Tensor x = leaf({1, 2});
  expect_error([&] { backward(x * x); }, "must have one element, as a sum or mean has");
  expect_error([&] { backward(sum(ones({2}))); }, "records no history");
  expect_error([&] { backward(x * x, ones({3}, f64)); }, "[3]");
  expect_error([&] { backward(x * x, ones({2}, f32)); }, "f32");
  expect_error([] { backward(Tensor()); }, "records no history");
}

TEST(Grad, ReachesIntermediatesAndTouchesNoLeaf) {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const Tensor z = exp(y * 0.1);
  EXPECT_NEAR(grad(z, y).item(), 0.1 * std::exp(0.9), 1e-14);
  EXPECT_FALSE(x.grad().defined());
}

TEST(Grad, OfAnIntermediateThatAnotherTargetDependsOn) {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const std::vector<Tensor> gradients = grad({y * y}, {x, y});
  EXPECT_EQ(gradients[0].item(), 4 * 27);
  EXPECT_EQ(gradients[1].item(), 18);
}

TEST(Grad, OfAnOutputByItself) {
  const Tensor x = leaf({3, 4});
  const Tensor y = x * 2;
  const Tensor g = grad(y, y, {.cotangents = {tensor({5, 6}, f64)}});
  EXPECT_EQ(g.to_vector(), (Values{5, 6}));
}

TEST(Grad, AddsSeveralOutputs) {
  const Tensor x = leaf({3});
  const std::vector<Tensor> g =
      grad({x * 2, x * x}, {x}, {.cotangents = {tensor({1}, f64), tensor({10}, f64)}});
  EXPECT_EQ(g[0].item(), 2 + 60);
}

TEST(Grad, NamesAnUnusedInput) {
  const Tensor x = leaf({1}), unused = leaf({1});
  expect_error([&] { grad(x * 2, unused); }, "allow_unused");
  EXPECT_FALSE(grad(x * 2, unused, {.allow_unused = true}).defined());
  expect_error([&] { grad(x * 2, ones({1}, f64)); }, "does not require a gradient");
  expect_error([&] { grad({x * 2}, {x}, {.cotangents = {x, x}}); }, "cotangents");
}

// Half of a graph was swept before: what needs that half is refused, what does not is right.
TEST(Grad, OfAPartlyFreedGraph) {
  const Tensor p = leaf({2}), own = leaf({5});
  const Tensor h = sin(p);
  const Tensor first = 2 * h, second = 3 * h * own + p * p;
  grad(first, p);
  expect_error([&] { grad(second, p); }, "was already freed");
  EXPECT_NEAR(grad(3 * h * own, own).item(), 3 * std::sin(2), 1e-15);
  EXPECT_NEAR(grad(3 * h, h).item(), 3, 1e-15);
}

TEST(Backward, FreesTheGraphUnlessAskedToRetainIt) {
  const Tensor x = leaf({3});
  const Tensor y = exp(x * x);
  backward(y, {.retain_graph = true});
  const double once = x.grad().item();
  backward(y);
  EXPECT_EQ(x.grad().item(), 2 * once);
  expect_error([&] { backward(y); }, "retain_graph");
}

TEST(Backward, NeverSharesGradientsBetweenLeaves) {
  for (const bool create_graph : {false, true}) {
    const Tensor a = leaf({1, 2}), b = leaf({3, 4});
    const Tensor cotangent = tensor({5, 6}, f64);
    backward(a + b, cotangent, {.create_graph = create_graph});
    {
      const NoGrad no_grad;
      fill_(a.grad(), 0);
    }
    EXPECT_EQ(b.grad().to_vector(), (Values{5, 6}));
    EXPECT_EQ(cotangent.to_vector(), (Values{5, 6}));
  }
}

TEST(Backward, GivesGradientsOfTheirOwnElements) {
  for (const bool create_graph : {false, true}) {
    const Tensor x = leaf({1, 2});
    backward(sum(x), {.create_graph = create_graph});  // sum's gradient is an expanded view
    EXPECT_TRUE(x.grad().contiguous());
    EXPECT_EQ(x.grad().storage().size(), 2 * sizeof(double));
  }
}

// --- higher derivatives ---

TEST(CreateGraph, DifferentiatesThreeTimes) {
  const Tensor x = leaf({2});
  const Tensor first = grad(pow(x, 4), x, {.create_graph = true});
  const Tensor second = grad(first, x, {.create_graph = true});
  const Tensor third = grad(second, x, {.create_graph = true});
  EXPECT_DOUBLE_EQ(first.item(), 32);
  EXPECT_DOUBLE_EQ(second.item(), 48);
  EXPECT_DOUBLE_EQ(third.item(), 48);
  EXPECT_DOUBLE_EQ(grad(third, x).item(), 24);
}

TEST(CreateGraph, GoesThroughSavedOutputs) {
  const Tensor x = leaf({0.3});
  for (const auto f : {exp, tanh, sigmoid, sqrt, reciprocal}) {
    const Tensor first = grad(f(x), x, {.create_graph = true});
    const Tensor second = grad(first, x);
    const double h = 1e-5;
    const auto slope = [&](double at) {
      const Tensor p = leaf({at});
      return grad(f(p), p).item();
    };
    EXPECT_NEAR(second.item(), (slope(0.3 + h) - slope(0.3 - h)) / (2 * h), 1e-6);
  }
}

TEST(CreateGraph, LetsAGradientEnterALoss) {
  const Tensor x = leaf({1, -2});
  const Tensor slope = grad(sum(pow(x, 3)), x, {.create_graph = true});  // 3x²
  backward(sum(square(slope)));                                          // Σ9x⁴ → 36x³
  EXPECT_EQ(x.grad().to_vector(), (Values{36, -288}));
}

TEST(CreateGraph, RecordsTheGradientsOfLeaves) {
  const Tensor x = leaf({2});
  backward(pow(x, 3), {.create_graph = true});
  const Tensor first = x.grad();
  EXPECT_TRUE(first.requires_grad());
  EXPECT_DOUBLE_EQ(grad(first, x).item(), 12);
  Tensor unlinked = x;
  unlinked.set_grad({});  // the gradient's graph holds the leaf, which holds the gradient
}

// --- modes ---

TEST(NoGradTest, RecordsNothingInItsScope) {
  const Tensor x = leaf({1});
  {
    const NoGrad no_grad;
    EXPECT_FALSE(grad_enabled());
    EXPECT_FALSE((x * 2).requires_grad());
    {
      const EnableGrad enable_grad;
      EXPECT_TRUE((x * 2).requires_grad());
    }
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST(RequiresGrad, IsForFloatingLeaves) {
  Tensor integers = ones({2}, i64);
  expect_error([&] { integers.set_requires_grad(); }, "i64");
  Tensor y = leaf({1}) * 2;
  expect_error([&] { y.set_requires_grad(false); }, "mul");
  EXPECT_FALSE(y.detach().requires_grad());
  EXPECT_TRUE(y.detach().storage() == y.storage());
  Tensor x = leaf({1});
  x.set_requires_grad(false);
  EXPECT_FALSE((x * 2).requires_grad());
}

TEST(RequiresGrad, FalseHoldsForEveryHandleOfTheLeaf) {
  const Tensor x = leaf({3}), y = leaf({2});
  Tensor other = x;
  const Tensor before = sum(x * y);
  other.set_requires_grad(false);
  EXPECT_FALSE(x.requires_grad());
  EXPECT_FALSE((x * 2).requires_grad());
  backward(before + sum(x * y));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(y.grad().item(), 6);
  other.set_requires_grad();  // the handle that froze it thaws it
  EXPECT_TRUE(x.requires_grad());
  backward(sum(x * y));
  EXPECT_EQ(x.grad().item(), 2);
  EXPECT_EQ(other.grad().item(), 2);
}

TEST(GradMode, IsHandedOnToTheBackground) {
  const Tensor x = leaf({1});
  const int threads = num_threads();
  for (const int n : {1, 2}) {
    set_num_threads(n);
    auto made = [&] {
      const NoGrad no_grad;
      return parallel::in_background([&] { return x * 2.0; });
    }();
    const Tensor y = made.get();
    EXPECT_FALSE(y.requires_grad()) << n;
    EXPECT_TRUE(grad_enabled());
  }
  set_num_threads(threads);
}

TEST(Recording, ARuleThatGivesWhatIsNotThereIsNamed) {
  const Tensor x = leaf({1, 2});
  const auto with = [&](std::size_t input, const Tensor& gradient) {
    return record_joint("doubled", x * 2.0, {x}, [=](const Tensor&, detail::GradientSink& sink) {
      sink.give(input, gradient);
    });
  };
  expect_error([&] { backward(sum(with(5, ones({2}, f64)))); },
               "[doubled] its gradient rule uses input 5, but only 1 inputs were recorded");
  expect_error([&] { backward(sum(with(0, ones({3}, f64)))); },
               "[doubled] its gradient for input 0 has shape [3], but the input has shape [2]");
  const auto forward = [&](const std::vector<Tensor>& at) {
    return record_joint("doubled", at[0] * 2.0, {at[0]},
                        [](const Tensor& g, detail::GradientSink& sink) { sink.give(5, g); });
  };
  expect_error([&] { jvp(forward, {x.detach()}, {ones({2}, f64)}); },
               "[doubled] its gradient rule uses input 5, but only 1 inputs were recorded");
}

TEST(Saved, AnEditIsReportedWithTheOperationThatNeedsTheTensor) {
  const Tensor x = leaf({1, 2}), factor = tensor({3, 4}, f64);
  const Tensor y = x * factor;
  fill_(factor, 5);
  expect_error([&] { backward(sum(y)); }, "the gradient of `mul` needs a tensor of shape [2]");
  const Tensor index = zeros({2}, i64), z = gather(x, 0, index);
  fill_(index, 7);  // outside of x
  expect_error([&] { backward(sum(z)); }, "the gradient of `gather` needs a tensor of shape [2]");
}

// --- hooks ---

TEST(Hooks, SeeAndReplaceGradients) {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  std::vector<double> seen;
  register_hook(y, [&](const Tensor& g) {
    seen.push_back(g.item());
    return g * 10;
  });
  register_hook(y, [&](const Tensor& g) {
    seen.push_back(g.item());
    return Tensor();
  });
  register_hook(x, [](const Tensor& g) { return g + 1; });
  backward(y * 2);
  EXPECT_EQ(seen, (Values{2, 20}));
  EXPECT_EQ(x.grad().item(), 20 * 6 + 1);
}

TEST(Hooks, SeeTheSumOverAllPathsOnce) {
  const Tensor x = leaf({3});
  const Tensor y = x * 1;
  int calls = 0;
  register_hook(y, [&](const Tensor& g) {
    ++calls;
    EXPECT_EQ(g.item(), 7);
    return Tensor();
  });
  backward(y * 2 + y * 5);
  EXPECT_EQ(calls, 1);
}

// Wherever a sweep breaks off, the gradients of leaves are as before: a second try does not add a
// part twice.
TEST(Backward, ThatThrowsChangesNoGradient) {
  const Tensor x = leaf({1, 2}), y = leaf({3}), z = leaf({5});
  backward(sum(x) + sum(y) + sum(z));
  bool fails = true;
  const auto stop = [&](const Tensor&) -> Tensor {
    if (fails) throw std::runtime_error("stop");
    return {};
  };
  const auto with_hooks = [&](int at) {
    const Tensor xx = x * 3, yy = y * 4, zz = z * 5;
    const Tensor hooked[] = {xx, yy, zz, x, y, z};
    HookHandle handle = register_hook(hooked[at], stop);
    const Tensor loss = sum(xx) * sum(yy) * sum(zz);
    fails = true;
    EXPECT_THROW(backward(loss, {.retain_graph = true}), std::runtime_error);
    EXPECT_EQ(x.grad().to_vector(), (Values{1, 1})) << at;
    EXPECT_EQ(y.grad().to_vector(), (Values{1})) << at;
    EXPECT_EQ(z.grad().to_vector(), (Values{1})) << at;
    fails = false;
    for (const bool create : {false, true}) {
      backward(loss, {.retain_graph = true, .create_graph = create});
      EXPECT_EQ(y.grad().to_vector(), (Values{1 + 3 * 3 * 4 * 25})) << at;
      for (const Tensor& p : {x, y, z}) Tensor(p).set_grad(ones_like(p));
    }
    handle.remove();
  };
  for (int at = 0; at < 6; ++at) with_hooks(at);
  // A rule that throws, after others have reached their leaves.
  const Tensor bad = record("bad", scalar(1, f64), {y},
                            [](const Tensor&) -> Tensor { throw std::runtime_error("stop"); });
  EXPECT_THROW(backward(bad + sum(x) + sum(z)), std::runtime_error);
  EXPECT_EQ(x.grad().to_vector(), (Values{1, 1}));
  EXPECT_EQ(z.grad().to_vector(), (Values{1}));
}

TEST(Hooks, MustKeepShapeAndDtype) {
  const Tensor x = leaf({3}), y = leaf({3});
  register_hook(x, [](const Tensor&) { return ones({2}, f64); });
  expect_error([&] { backward(x * 2); }, "[2]");
  register_hook(y, [](const Tensor& g) { return cast(g, f32); });
  expect_error([&] { backward(y * 2); }, "f32");
  expect_error([] { register_hook(ones({1}), [](const Tensor& g) { return g; }); }, "no history");
  expect_error([&] { register_hook(x, {}); }, "empty");
}

TEST(Hooks, AreRemovedByTheirHandles) {
  const Tensor x = leaf({3});
  int calls = 0;
  const auto count = [&](const Tensor&) {
    ++calls;
    return Tensor();
  };
  HookHandle first = register_hook(x, count);
  const HookHandle second = register_hook(x, count);
  backward(x * 2);
  EXPECT_EQ(calls, 2);
  first.remove();
  first.remove();
  HookHandle third = register_hook(x, count);
  backward(x * 2);
  EXPECT_EQ(calls, 4);
  third.remove();
  HookHandle copy = second;
  copy.remove();
  backward(x * 2);
  EXPECT_EQ(calls, 4);
  HookHandle late;
  {
    const Tensor y = leaf({1});
    late = register_hook(y, count);
  }
  late.remove();  // of a tensor that is gone
  HookHandle().remove();
}

TEST(Hooks, MustNotOwnTheirTensor) {
  const Tensor x = leaf({3});
  expect_error([&] { register_hook(x, [x](const Tensor& g) { return g * x; }); },
               "captures the tensor that it is registered on");
  register_hook(x, [x = x.detach()](const Tensor& g) { return g * x; });
  backward(x * 2);
  EXPECT_EQ(x.grad().item(), 6);
}

TEST(Hooks, RegisteredByAHookRunFromTheNextSweepOn) {
  const Tensor x = leaf({3});
  register_hook(x, [&x](const Tensor&) {
    for (int i = 0; i < 2; ++i) register_hook(x, [](const Tensor& g) { return g * 10; });
    return Tensor();
  });
  backward(x * 2);
  EXPECT_EQ(x.grad().item(), 2);
  backward(x * 2);
  EXPECT_EQ(x.grad().item(), 2 + 200);
}

// --- edits and anomalies ---

TEST(InPlace, IsDetectedByBackward) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 1;
  const Tensor z = sum(y * y);
  fill_(y.detach(), 7);
  expect_error([&] { backward(z); }, "was edited in place");
}

TEST(InPlace, IsDetectedOnSavedOutputs) {
  const Tensor x = leaf({1, 2});
  const Tensor y = exp(x);
  const Tensor z = sum(y);
  fill_(y.detach(), 7);
  expect_error([&] { backward(z); }, "version");
}

TEST(InPlace, OfARecurrencesMaskIsDetected) {
  const Tensor gates = ones({1, 2, 3}, f64).set_requires_grad();
  Tensor mask = ones({1, 2}, boolean);
  const Tensor y = recurrence(RecurrentCell::tanh, gates, ones({3, 3}, f64), {.mask = mask});
  fill_(mask, 0);
  expect_error([&] { backward(sum(y)); }, "was edited in place");
}

TEST(InPlace, OfWhatNoRuleReadsIsAllowed) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x + 1;
  const Tensor z = sum(y * 3);
  fill_(y.detach(), 7);
  EXPECT_NO_THROW(backward(z));
}

TEST(DetectAnomalyTest, NamesTheOperationOfTheFirstNaN) {
  const Tensor x = leaf({0});
  const Tensor y = sqrt(x) * 0.0;  // 0·∞ in the gradient
  {
    const DetectAnomaly detect;
    expect_error([&] { backward(y, {.retain_graph = true}); }, "sqrt");
  }
  backward(y);
  EXPECT_TRUE(std::isnan(x.grad().item()));
}

}  // namespace
}  // namespace ladon::test::graph_test
