#include "ladon/autograd/functional.h"

#include <cmath>
#include <map>
#include <random>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/forms.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/rowwise.h"
#include "ladon/core/storage.h"
#include "ladon/tests/support.h"

namespace ladon::test::functional_test {
namespace {

using Values = std::vector<double>;

Tensor leaf(Tensor x) { return x.set_requires_grad(); }
Tensor random(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// f(a, b) = a·b² of vectors, of 3 elements, and its product with a matrix: [3] → [2].
const Tensor matrix = tensor({1, 2, -1, 0.5, 3, 2}, {2, 3}, f64);
Tensor model(const std::vector<Tensor>& x) { return matmul(matrix, x[0] * square(x[1])); }

// --- products with the Jacobian ---

TEST(Vjp, IsTheCotangentTimesTheJacobian) {
  const Tensor a = random({3}, 1), b = random({3}, 2), c = random({2}, 3);
  const VjpResult r = vjp(model, {a, b}, c);
  EXPECT_TRUE(all_close(r.output, model({a, b})));
  const std::vector<Tensor> j = jacobian(model, {a, b});
  EXPECT_TRUE(all_close(r.gradients[0], matmul(c, j[0])));
  EXPECT_TRUE(all_close(r.gradients[1], matmul(c, j[1])));
}

TEST(Vjp, OfAnUnusedInputIsZero) {
  const VjpResult r =
      vjp([](const auto& x) { return x[0] * 2; }, {ones({2}), ones({3})}, ones({2}));
  EXPECT_EQ(r.gradients[1].to_vector(), (Values{0, 0, 0}));
}

TEST(Jvp, IsTheJacobianTimesTheTangents) {
  const Tensor a = random({3}, 1), b = random({3}, 2), u = random({3}, 4), v = random({3}, 5);
  const JvpResult r = jvp(model, {a, b}, {u, v});
  const std::vector<Tensor> j = jacobian(model, {a, b});
  EXPECT_TRUE(all_close(r.output, model({a, b})));
  EXPECT_TRUE(all_close(r.tangent, matmul(j[0], u) + matmul(j[1], v)));
  expect_error([&] { jvp(model, {a, b}, {u}); }, "tangents");
}

TEST(Jacobian, HasTheShapesOfOutputAndInput) {
  const Tensor a = random({3}, 1), b = random({3}, 2);
  const std::vector<Tensor> j = jacobian(model, {a, b});
  EXPECT_EQ(j[0].shape(), (Shape{2, 3}));
  EXPECT_TRUE(all_close(j[0], matrix * square(b)));
  EXPECT_TRUE(all_close(j[1], matrix * (2.0 * a * b)));
  const Tensor tall =
      jacobian([](const auto& x) { return transpose(x[0]); }, {random({2, 3}, 6)})[0];
  EXPECT_EQ(tall.shape(), (Shape{3, 2, 2, 3}));
  EXPECT_EQ(at(tall, {2, 1, 1, 2}).item(), 1);
  EXPECT_EQ(sum(tall).item(), 6);
}

TEST(Hvp, IsTheHessianTimesAVector) {
  const Tensor x = tensor({1, 2}, f64), v = tensor({1, -1}, f64);
  const auto f = [](const Tensor& p) { return prod(p) * sum(square(p)); };  // x³y + xy³
  EXPECT_TRUE(
      all_close(hvp(f, x, v), tensor({6 * 1 * 2 - (3 * 1 + 3 * 4), (3 + 12) - 6 * 1 * 2}, f64)));
  const auto linear = [](const Tensor& p) { return sum(p); };
  EXPECT_EQ(hvp(linear, x, v).to_vector(), (Values{0, 0}));
  expect_error([&] { hvp([](const Tensor& p) { return p; }, x, v); }, "one element");
}

// --- gradient checks must fail on wrong gradients ---

/// f with a gradient that is the right one passed through `spoil`.
TensorFunction spoilt(std::function<Tensor(const Tensor&)> spoil) {
  return CustomFunction{
      .name = "spoilt",
      .forward = [](const auto& x) { return softmax(x[0], -1); },
      .gradient =
          [spoil](const Tensor& g, const auto&, const Tensor& y) {
            return std::vector<Tensor>{spoil(y * (g - sum(g * y, -1, keep_dims)))};
          }};
}

TEST(Gradcheck, PassesTheRightGradientAndCatchesWrongOnes) {
  const std::vector<Tensor> x{leaf(random({3, 3}, 7))};
  EXPECT_TRUE(gradcheck(spoilt([](const Tensor& g) { return g; }), x));
  expect_error([&] { gradcheck(spoilt([](const Tensor& g) { return -g; }), x); },
               "by reverse mode");
  expect_error([&] { gradcheck(spoilt([](const Tensor& g) { return g * 1.001; }), x); },
               "central differences");
  expect_error([&] { gradcheck(spoilt([](const Tensor& g) { return transpose(g); }), x); },
               "input 0");
  expect_error([&] { gradcheck(spoilt([](const Tensor& g) { return g * NAN; }), x); }, "nan");
}

TEST(Gradcheck, NamesTheEntryThatDiffers) {
  const CustomFunction f{.name = "second entry is wrong",
                         .forward = [](const auto& x) { return x[0] * x[1]; },
                         .gradient =
                             [](const Tensor& g, const auto& x, const Tensor&) {
                               return std::vector<Tensor>{g * x[1], g * x[0] * tensor({1, 2}, f64)};
                             }};
  expect_error(
      [&] {
        gradcheck(f, {leaf(random({2}, 1)), leaf(random({2}, 2))});
      },
      "d output[1] / d input 1[1]");
}

TEST(Gradcheck, NeedsF64AndAnInputThatRequiresAGradient) {
  const TensorFunction f = [](const auto& x) { return x[0] * 2; };
  expect_error([&] { gradcheck(f, {leaf(ones({2}))}); }, "f64");
  expect_error([&] { gradcheck(f, {ones({2}, f64)}); }, "requires a gradient");
  expect_error(
      [&] { gradcheck([](const auto& x) { return cast(x[0], f32); }, {leaf(ones({2}, f64))}); },
      "the output of f must be f64");
}

// f may take gradients by what it is given, as meta-learning does: d/dx of (∂/∂x Σx³)² = 36·x³.
TEST(Gradcheck, OfFunctionsThatTakeGradients) {
  const TensorFunction by_grad = [](const std::vector<Tensor>& in) {
    return square(grad({sum(pow(in[0], 3))}, {in[0]}, {.create_graph = true})[0]);
  };
  const TensorFunction by_vjp = [](const std::vector<Tensor>& in) {
    const auto cubes = [](const std::vector<Tensor>& x) { return sum(pow(x[0], 3)); };
    return square(vjp(cubes, in, scalar(1, f64)).gradients[0]);
  };
  const Tensor x = leaf(tensor({0.5, -2, 1.5}, f64));
  for (const TensorFunction& f : {by_grad, by_vjp}) {
    EXPECT_TRUE(gradcheck(f, {x}));
    EXPECT_TRUE(gradgradcheck(f, {x}));
    EXPECT_TRUE(all_close(grad(sum(f({x})), x), 36 * pow(x.detach(), 3), 1e-12));
  }
  // Of a plain argument grad() is an Error that names the cure.
  expect_error([&] { vmap(by_grad, {x.detach()}); }, "vjp(f, {x}");
  EXPECT_TRUE(all_close(vmap(by_vjp, {x.detach()}), 9 * pow(x.detach(), 4), 1e-12));
  expect_error([&] { jvp(by_grad, {x.detach()}, {ones({3}, f64)}); }, "vjp(f, {x}");
}

TEST(Gradcheck, LeavesItsInputsAlone) {
  const Tensor x = leaf(random({3}, 1)), before = clone(x.detach());
  gradcheck([](const auto& in) { return exp(in[0]); }, {x});
  EXPECT_TRUE(all_equal(x, before));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Gradgradcheck, CatchesASecondDerivativeThatIsCutOff) {
  const auto cube = [](bool cut) {
    return CustomFunction{.name = "cube",
                          .forward = [](const auto& x) { return pow(x[0], 3); },
                          .gradient =
                              [cut](const Tensor& g, const auto& x, const Tensor&) {
                                const Tensor at = cut ? x[0].detach() : x[0];
                                return std::vector<Tensor>{g * 3.0 * square(at)};
                              }};
  };
  const std::vector<Tensor> x{leaf(random({3}, 8))};
  EXPECT_TRUE(gradcheck(cube(true), x));
  EXPECT_TRUE(gradgradcheck(cube(false), x));
  expect_error([&] { gradgradcheck(cube(true), x); }, "by reverse mode");
  const auto nothing = [](const std::vector<Tensor>&) { return Tensor(); };
  expect_error([&] { gradcheck(nothing, x); }, "undefined");
  expect_error([&] { gradgradcheck(nothing, x); }, "undefined");
}

// --- checkpoint ---

TEST(Checkpoint, EqualsThePlainFunction) {
  const Tensor w = leaf(random({3, 3}, 9));  // captured, not passed
  const TensorFunction f = [&](const auto& x) { return tanh(matmul(x[0], w)) * x[1]; };
  const Tensor a = leaf(random({2, 3}, 10)), b = leaf(random({3}, 11)), c = random({2, 3}, 12);
  const GradOptions options{.cotangents = {c}};
  const std::vector<Tensor> plain = grad({f({a, b})}, {a, b, w}, options);
  const std::vector<Tensor> again = grad({checkpoint(f, {a, b})}, {a, b, w}, options);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(all_equal(plain[i], again[i])) << i;
  const TensorFunction passed = [](const auto& x) { return tanh(matmul(x[0], x[1])); };
  const auto checkpointed = [&](const auto& x) { return checkpoint(passed, x); };
  EXPECT_TRUE(gradcheck(checkpointed, {a, w}));
  EXPECT_TRUE(gradgradcheck(checkpointed, {a, w}));
}

TEST(Checkpoint, TakesInputsThatDependOnEachOther) {
  const Tensor x = leaf(random({3}, 13));
  const auto f = [](const auto& in) { return exp(in[0]) * in[1]; };
  for (const bool create_graph : {false, true}) {
    const auto slope = [&](auto&& call) {
      const Tensor y = square(x);
      return grad(sum(call(std::vector<Tensor>{x, y})), x, {.create_graph = create_graph});
    };
    EXPECT_TRUE(all_close(slope([&](const auto& in) { return checkpoint(f, in); }), slope(f)));
  }
}

TEST(Checkpoint, KeepsNothingOfItsInside) {
  const Tensor x = leaf(random({1 << 14}, 14));
  const std::size_t size = x.storage().size(), before = Storage::bytes_in_use();
  const TensorFunction f = [](const auto& in) {
    Tensor y = in[0];
    for (int i = 0; i < 20; ++i) y = sin(exp(y * 0.1));
    return y;
  };
  const Tensor plain = f({x});
  EXPECT_GT(Storage::bytes_in_use() - before, 20 * size);
  const std::size_t with_plain = Storage::bytes_in_use();
  const Tensor again = checkpoint(f, {x});
  EXPECT_LT(Storage::bytes_in_use() - with_plain, 2 * size);
  EXPECT_TRUE(all_equal(grad(sum(plain), x), grad(sum(again), x)));
}

TEST(Checkpoint, DrawsTheSameNumbersAgain) {
  Generator rng(3), same(3);
  const Tensor x = leaf(ones({1000}));
  const auto noisy = [](Generator& g) {
    return [&g](const std::vector<Tensor>& in) { return dropout(in[0], 0.5, g) * normal({1}, g); };
  };
  const Tensor plain = noisy(same)({x}), again = checkpoint(noisy(rng), {x});
  EXPECT_TRUE(all_equal(plain, again));
  const std::uint64_t position = rng.position();
  EXPECT_TRUE(all_equal(grad(again, x, {.cotangents = {ones({1000})}}),
                        grad(plain, x, {.cotangents = {ones({1000})}})));
  EXPECT_EQ(rng.position(), position) << "the second run leaves the generator where it stood";
}

TEST(Checkpoint, DrawsTheSameNumbersAgainWhenNested) {
  Generator rng(3), same(3);
  const Tensor x = leaf(ones({1000}));
  const auto inner = [](Generator& g) {
    return [&g](const std::vector<Tensor>& in) { return dropout(in[0], 0.5, g); };
  };
  const auto outer = [&](const std::vector<Tensor>& in) {
    return checkpoint(inner(rng), {dropout(in[0], 0.3, rng) * dropout(in[0], 0.3, rng)});
  };
  const Tensor twice = dropout(x, 0.3, same) * dropout(x, 0.3, same);
  const Tensor plain = inner(same)({twice}), again = checkpoint(outer, {x});
  EXPECT_TRUE(all_equal(plain, again));
  const GradOptions options{.cotangents = {ones({1000})}};
  EXPECT_TRUE(all_equal(grad(again, x, options), grad(plain, x, options)));
}

TEST(Checkpoint, NoticesThatTheSecondRunDrawsOtherwise) {
  Generator rng(3), other(4);
  const Tensor x = leaf(ones({10}));
  int draws = 1;
  bool elsewhere = false;
  const auto f = [&](const std::vector<Tensor>& in) {
    Tensor y = in[0];
    for (int i = 0; i < draws; ++i) y = dropout(y, 0.5, elsewhere ? other : rng);
    return y;
  };
  const auto swept_with = [&](int second_draws, bool second_elsewhere) {
    draws = 1, elsewhere = false;
    const Tensor y = checkpoint(f, {x});
    draws = second_draws, elsewhere = second_elsewhere;
    backward(sum(y));
  };
  for (const int n : {0, 2})
    test::expect_error([&] { swept_with(n, false); }, "[checkpoint] the second run draws other");
  test::expect_error([&] { swept_with(1, true); }, "[checkpoint] the second run draws other");
  swept_with(1, false);
}

/// What a checkpointed function reads: everything that a program may change between its forward and
/// its backward.
struct Outside {
  Tensor input = leaf(random({3}, 1)), w = leaf(random({3}, 2)), frozen = leaf(random({3}, 3));
  Tensor constant = random({3}, 4), result = sin(w), number = scalar(2, f64);
  Tensor mask = tensor({1, 0, 1}, DType::boolean), index = tensor({2, 0, 1}, i64);
  Tensor beside = leaf(random({3}, 5));  // that nothing else happens to
  double factor = 1.5;
  int calls = 0;

  Outside() { frozen.set_requires_grad(false); }
  Tensor operator()(const std::vector<Tensor>& in) {
    ++calls;
    Tensor y = in[0] * w * constant + frozen * exp(in[0]) + result * in[0] * number + beside;
    const Tensor unrecorded = [&] {
      const NoGrad off;
      return abs(constant) * factor;
    }();
    y = (y + unrecorded) * in[0];
    return index_select(masked_fill(y, mask, 0.5), 0, index) * number.item();
  }
};

TEST(Checkpoint, NoticesWhateverWasChanged) {
  const auto edit = [](const Tensor& x) {
    const NoGrad off;
    copy_(x.detach(), x.detach() + 0.25);
  };
  using Edit = std::function<void(Outside&)>;
  const std::map<std::string, std::pair<Edit, std::string>> edits = {
      {"an input", {[&](Outside& o) { edit(o.input); }, "that was edited in place: version"}},
      {"a parameter", {[&](Outside& o) { edit(o.w); }, "that was edited in place: version"}},
      {"a frozen one", {[&](Outside& o) { edit(o.frozen); }, "that was edited in place: version"}},
      {"a constant", {[&](Outside& o) { edit(o.constant); }, "that was edited in place: version"}},
      {"a result", {[&](Outside& o) { edit(o.result); }, "that was edited in place: version"}},
      {"a number", {[&](Outside& o) { edit(o.number); }, "that was edited in place: version"}},
      {"a mask",
       {[](Outside& o) {
          copy_(o.mask, tensor({0, 1, 1}, DType::boolean));
        },
        "[checkpoint]"}},
      {"an index",
       {[](Outside& o) {
          copy_(o.index, tensor({0, 1, 2}, i64));
        },
        "[checkpoint]"}},
      {"a captured double", {[](Outside& o) { o.factor = 1.6; }, "differs from the first run"}},
      {"another parameter",
       {[](Outside& o) { o.w = leaf(clone(o.w.detach())); }, "did not use the first time"}},
      {"another result", {[](Outside& o) { o.result = sin(o.w); }, "did not use the first time"}},
      {"a parameter that is a constant now",
       {[](Outside& o) { o.w = o.w.detach(); }, "no longer depends on a tensor of shape [3]"}},
      {"a result that is a constant now",
       {[](Outside& o) { o.result = o.result.detach(); }, "no longer depends on"}},
      {"another constant",
       {[](Outside& o) { o.constant = o.constant * 1.001; }, "differs from the first run"}},
      {"a last digit", {[](Outside& o) { o.factor *= 1 + 1e-13; }, "differs from the first run"}}};
  // Freezing and thawing beside it excuses nothing else, but a last digit, which is rounding.
  const std::map<std::string, Edit> meanwhile = {
      {"", [](Outside&) {}},
      {", and another one frozen", [](Outside& o) { o.beside.set_requires_grad(false); }},
      {", and another one thawed", [](Outside& o) { o.frozen.set_requires_grad(true); }}};
  for (const auto& [what, change] : edits)
    for (const auto& [beside, act] : meanwhile)
      for (const int depth : {1, 2}) {
        if (what == "a last digit" && !beside.empty()) continue;
        SCOPED_TRACE(what + beside + (depth == 2 ? ", in a checkpoint inside another" : ""));
        Outside o;
        const TensorFunction f = [&](const auto& in) { return o(in); };
        const Tensor y =
            depth == 1 ? checkpoint(f, {o.input})
                       : checkpoint([&](const auto& in) { return checkpoint(f, in); }, {o.input});
        change.first(o);
        act(o);
        test::expect_error([&] { backward(sum(y)); }, change.second);
        EXPECT_FALSE(o.input.grad().defined()) << "nothing is added";
      }
}

TEST(Checkpoint, LetsFreezeAndThaw) {
  for (const bool thaw : {false, true}) {
    Outside o;
    const TensorFunction f = [&](const auto& in) { return o(in); };
    const Tensor plain = grad({sum(f({o.input}))}, {o.input})[0];
    const Tensor y = checkpoint(f, {o.input});
    (thaw ? o.frozen : o.beside).set_requires_grad(thaw);
    backward(sum(y));
    EXPECT_TRUE(all_close(o.input.grad(), plain, 1e-12));
    EXPECT_TRUE(o.w.grad().defined());
    EXPECT_FALSE((thaw ? o.frozen : o.beside).grad().defined()) << "as without checkpoint";
  }
}

// What does not enter, and what the function changes by itself, may change.
TEST(Checkpoint, LetsChangeWhatItDoesNotRead) {
  const Tensor x = leaf(random({3}, 1)), w = leaf(random({3}, 2)), other = leaf(random({3}, 3));
  Tensor mean = zeros({3}, f64), seen = zeros({3}, f64);
  int calls = 0;
  const TensorFunction f = [&](const std::vector<Tensor>& in) {
    const NoGrad off;
    mul_(mean, 0.9);  // a running mean
    add_(mean, in[0].detach(), 0.1);
    seen = in[0].detach() * 2;
    ++calls;
    const EnableGrad on;
    return sin(in[0] * w);
  };
  const std::vector<Tensor> plain = grad({sum(f({x})) + sum(other)}, {x, w});
  const Tensor y = checkpoint(f, {x}), z = checkpoint(f, {x});
  {
    const NoGrad off;
    fill_(other.detach(), 7);
    fill_(seen, 7);
    fill_(mean, 7);
  }
  const std::vector<Tensor> again = grad({sum(y)}, {x, w});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(all_equal(again[i], plain[i]));
  EXPECT_TRUE(all_equal(grad({sum(z)}, {x, w})[0], plain[0]));
}

// The step of the other player, between a forward and its backward, is the same Error as without.
TEST(Checkpoint, TheStepOfAnotherPlayerIsAnErrorAsWithout) {
  for (const bool checkpointed : {false, true}) {
    const Tensor x = leaf(random({3}, 1)), w = leaf(random({3}, 2));
    const TensorFunction f = [&](const auto& in) { return in[0] * w; };
    const Tensor y = checkpointed ? checkpoint(f, {x}) : f({x});
    {
      const NoGrad off;
      add_(w.detach(), ones({3}, f64), -0.1);
    }
    test::expect_error([&] { backward(sum(y)); }, "that was edited in place: version");
    EXPECT_FALSE(x.grad().defined());
  }
}

// The function's modes are those of its first run; what is frozen meanwhile gets no gradient.
TEST(Checkpoint, RunsAgainAsItRanFirst) {
  const Tensor x = leaf(random({40, 48}, 1)), w = leaf(random({48, 48}, 2)),
               b = leaf(random({48}, 3));
  const TensorFunction f = [&](const auto& in) {
    const Tensor h = reshape(matmul(in[0], w) + b, {1, 40, 3, 16});
    return scaled_dot_product_attention(permute(h, {0, 2, 1, 3}), permute(h, {0, 2, 1, 3}),
                                        permute(h, {0, 2, 1, 3}));
  };
  const Tensor c = random({1, 3, 40, 16}, 4);
  const auto slopes = [&](const Tensor& y) { return grad({y}, {x}, {.cotangents = {c}})[0]; };
  const Tensor plain = slopes(f({x}));
  Tensor y;
  {
    const ComposedForms composed;
    y = checkpoint(f, {x});
  }
  EXPECT_TRUE(all_close(slopes(y), plain, 1e-12));
  const Tensor row = leaf(random({1, 48}, 5)), d = random({1, 48}, 6);  // sums go in another order
  const TensorFunction product = [&](const auto& in) { return tanh(matmul(in[0], w)); };
  const GradOptions options{.cotangents = {d}};
  const Tensor slope = grad({product({row})}, {row}, options)[0];
  {
    const RowwiseProducts rowwise;
    y = checkpoint(product, {row});
  }
  EXPECT_TRUE(all_close(grad({y}, {row}, options)[0], slope, 1e-12));
  y = checkpoint(f, {x});
  for (const Tensor& p : {w, b}) Tensor(p).set_requires_grad(false);
  EXPECT_TRUE(all_close(slopes(y), plain, 1e-12));
  y = checkpoint(f, {x});
  for (const Tensor& p : {w, b}) Tensor(p).set_requires_grad(true);
  EXPECT_TRUE(all_close(slopes(y), plain, 1e-12));
}

// A random function of captured parameters, of a captured result of theirs and of two inputs, with
// checkpoints inside of checkpoints and hooks: on what is captured hooks that are not linear,
// inside linear ones, for a second derivative runs each function more than once.
class HookedGraph {
 public:
  HookedGraph(std::uint32_t seed, bool checkpointed) : seed_(seed), checkpointed_(checkpointed) {
    for (std::uint64_t i = 0; i < 3; ++i) w.push_back(leaf(random({3}, 3 * seed + i)));
    for (const Tensor& x : w) hook(x, on_leaves);
  }

  Tensor loss() {
    result_ = sin(w[0] * w[1]);
    hook(result_, on_results);
    return sum(square(block(2, {exp(w[1]), w[2]})) + w[0] * w[2]);
  }

  std::vector<Tensor> w;
  int on_leaves = 0, on_results = 0;

 private:
  static void hook(const Tensor& x, int& calls) {
    register_hook(x, [&calls](const Tensor& g) {
      ++calls;
      return tanh(g) * 1.5;
    });
  }

  Tensor block(int depth, const std::vector<Tensor>& inputs) {
    const auto f = [=, this](const std::vector<Tensor>& in) {
      std::mt19937 choose(10 * seed_ + static_cast<std::uint32_t>(depth));
      Tensor y = in[0] * 0.5;
      for (int k = 0; k < 4; ++k) {
        const auto kind = choose() % 4;
        if (kind == 0) y = tanh(y * w[choose() % 3]);
        if (kind == 1) y = y * in[1] + result_;
        if (kind == 2) register_hook(y, [](const Tensor& g) { return g * 1.5; });
        if (kind == 3 && depth > 0) y = y + block(depth - 1, {y, in[choose() % 2]});
      }
      return y;
    };
    return checkpointed_ ? checkpoint(f, inputs) : f(inputs);
  }

  std::uint32_t seed_;
  bool checkpointed_;
  Tensor result_;
};

TEST(Checkpoint, HooksAreCalledAsOftenAndWithTheSame) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    HookedGraph plain(seed, false), again(seed, true);
    for (HookedGraph* graph : {&plain, &again}) {
      for (int i = 0; i < 2; ++i) backward(graph->loss());
      const auto slopes =
          grad({graph->loss()}, graph->w, {.create_graph = true, .allow_unused = true});
      Tensor norm = scalar(0, f64);
      for (const Tensor& slope : slopes)
        if (slope.defined()) norm = norm + sum(square(slope));
      backward(norm);
    }
    for (std::size_t i = 0; i < plain.w.size(); ++i)
      EXPECT_TRUE(all_close(plain.w[i].grad(), again.w[i].grad(), 1e-10))
          << seed << ": " << plain.w[i].grad() << again.w[i].grad();
    EXPECT_EQ(plain.on_leaves, again.on_leaves) << seed;
    EXPECT_EQ(plain.on_results, again.on_results) << seed;
  }
}

TEST(Checkpoint, UnderNoGradIsTheFunction) {
  const NoGrad no_grad;
  const Tensor y = checkpoint([](const auto& x) { return x[0] * 2; }, {leaf(ones({2}))});
  EXPECT_FALSE(y.requires_grad());
}

// --- custom functions ---

TEST(CustomFunctionTest, HasItsOwnGradient) {
  const CustomFunction f{.name = "double_with_slope_7",
                         .forward = [](const auto& x) { return x[0] * 2; },
                         .gradient =
                             [](const Tensor& g, const auto&, const Tensor&) {
                               return std::vector<Tensor>{g * 7, Tensor()};
                             }};
  const Tensor x = leaf(ones({2}, f64)), unused = leaf(ones({2}, f64));
  const Tensor y = f({x, unused});
  EXPECT_EQ(y.to_vector(), (Values{2, 2}));
  backward(sum(y));
  EXPECT_EQ(x.grad().to_vector(), (Values{7, 7}));
  EXPECT_FALSE(unused.grad().defined());
  EXPECT_FALSE(f({x.detach(), unused.detach()}).requires_grad());
}

TEST(CustomFunctionTest, MustGiveOneGradientAnInput) {
  const CustomFunction f{.name = "one_too_many",
                         .forward = [](const auto& x) { return x[0] * 2; },
                         .gradient =
                             [](const Tensor& g, const auto&, const Tensor&) {
                               return std::vector<Tensor>{g, g};
                             }};
  const Tensor y = f({leaf(ones({2}, f64))});
  expect_error([&] { backward(sum(y)); }, "[one_too_many] its gradient returned 2 tensors for 1");
}

TEST(CustomFunctionTest, MustGiveGradientsOfTheInputsShapes) {
  const auto with = [](const Shape& shape) {
    return CustomFunction{"triple", [](const auto& in) { return in[0] * 3; },
                          [shape](const Tensor&, const auto&, const Tensor&) {
                            return std::vector<Tensor>{ones(shape)};
                          }};
  };
  const Tensor x = leaf(ones({2, 3}));
  test::expect_error(
      [&] {
        backward(sum(with({5, 2, 3})({x})));
      },
      "[triple] its gradient for input 0 has shape [5, 2, 3], but the input has shape [2, 3]");
  test::expect_error([&] { backward(sum(with({7})({x}))); }, "[triple] its gradient");
  backward(sum(with({2, 3})({x})));
}

TEST(CustomFunctionTest, NeedsBothOfItsFunctions) {
  const Tensor x = tensor({1}, f64);
  const CustomFunction none{.name = "none", .forward = {}, .gradient = {}};
  expect_error([&] { none({x}); }, "forward is empty");
  const CustomFunction half{
      .name = "half", .forward = [](const auto& inputs) { return inputs[0]; }, .gradient = {}};
  expect_error([&] { half({x}); }, "gradient is empty");
}

TEST(CustomFunctionTest, IsNamedInErrorsOfItsGraph) {
  Tensor y;
  {
    const CustomFunction f{.name = "a_name_that_outlives_its_function",
                           .forward = [](const auto& x) { return x[0] * 2; },
                           .gradient = [](const Tensor& g, const auto&,
                                          const Tensor&) { return std::vector<Tensor>{g * 2}; }};
    y = f({leaf(ones({}, f64))});
  }
  backward(y);
  expect_error([&] { backward(y); }, "a_name_that_outlives_its_function");
}

/// f = Σ w·x³ in four ways of a derivative: 3·w·x², the same, 3·w·x²·t, 6·w·x·t.
struct Derivatives {
  Tensor w, t;
  TensorFunction f = [w = w](const std::vector<Tensor>& in) {
    return sum(w * in[0] * in[0] * in[0]);
  };
  TensorFunction by_vjp = [f = f](const std::vector<Tensor>& in) {
    return vjp(f, in, scalar(1, f64)).gradients[0];
  };
  TensorFunction by_jacobian = [f = f](const auto& in) { return jacobian(f, in)[0]; };
  TensorFunction by_jvp = [f = f, t = t](const auto& in) { return jvp(f, in, {t}).tangent; };
  TensorFunction by_hvp = [f = f, t = t](const auto& in) {
    return hvp([f](const Tensor& x) { return f({x}); }, in[0], t);
  };
};

TEST(Functional, DerivativesNestInAnyOrder) {
  Generator rng(3);
  const Tensor x = normal({3}, rng, f64), t = normal({3}, rng, f64), u = normal({3}, rng, f64);
  const Derivatives d{.w = ones({3}, f64), .t = t};
  const auto diagonal_of = [](const Tensor& v) { return eye(3, f64) * v; };
  for (const TensorFunction& gradient : {d.by_vjp, d.by_jacobian}) {
    EXPECT_TRUE(all_close(jacobian(gradient, {x})[0], diagonal_of(6 * x)));
    EXPECT_TRUE(all_close(vjp(gradient, {x}, u).gradients[0], 6 * x * u));
    EXPECT_TRUE(all_close(jvp(gradient, {x}, {u}).tangent, 6 * x * u));
    const auto norm = [&](const Tensor& at) { return sum(square(gradient({at}))); };  // Σ 9·x⁴
    EXPECT_TRUE(all_close(hvp(norm, x, u), 108 * square(x) * u));
  }
  EXPECT_TRUE(all_close(jacobian(d.by_jvp, {x})[0], 6 * x * t));
  EXPECT_TRUE(all_close(jacobian(d.by_hvp, {x})[0], diagonal_of(6 * t)));
  EXPECT_TRUE(all_close(vjp(d.by_hvp, {x}, u).gradients[0], 6 * t * u));
  EXPECT_TRUE(all_close(jvp(d.by_hvp, {x}, {u}).tangent, 6 * t * u));
  const auto third = [&](const std::vector<Tensor>& in) { return jacobian(d.by_vjp, in)[0]; };
  EXPECT_TRUE(all_close(jvp(third, {x}, {u}).tangent, diagonal_of(6 * u)));
  EXPECT_TRUE(
      all_close(vmap([&](const auto& in) { return jacobian(d.by_vjp, in)[0]; }, {stack({x, t}, 0)}),
                stack({diagonal_of(6 * x), diagonal_of(6 * t)}, 0)));
}

TEST(Functional, DerivativesAreRecordedForWhatTheFunctionCaptures) {
  Generator rng(3);
  const Tensor x = normal({3}, rng, f64), t = normal({3}, rng, f64);
  Tensor w = normal({3}, rng, f64).set_requires_grad();
  const Derivatives d{.w = w, .t = t};
  const Tensor of_w = w.detach();
  const auto check = [&](const TensorFunction& derivative, const Tensor& want) {
    EXPECT_TRUE(all_close(grad(sum(square(derivative({x}))), w), want));
    const NoGrad no_grad;
    EXPECT_FALSE(derivative({x}).requires_grad());
  };
  check(d.by_vjp, 18 * of_w * square(square(x)));
  check(d.by_jacobian, 18 * of_w * square(square(x)));
  check(d.by_hvp, 72 * of_w * square(x * t));
  // Nothing is kept where nothing else is differentiated.
  const Derivatives constant{.w = of_w, .t = t};
  for (const TensorFunction& f : {constant.by_vjp, constant.by_jacobian, constant.by_hvp})
    EXPECT_FALSE(f({x}).requires_grad());
}

}  // namespace
}  // namespace ladon::test::functional_test
