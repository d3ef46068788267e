// LSTM, GRU, RNN and structured self-attention.

#include <cmath>
#include <limits>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/extra/penalties/head_penalties.h"
#include "ladon/tests/support.h"

namespace ladon::recurrent_test {
namespace {

using test::gaussian;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RecurrentOptions options(std::int64_t layers = 1, bool bidirectional = false) {
  return {.in = 3, .hidden = 4, .layers = layers, .bidirectional = bidirectional};
}

/// One of each cell in f64, of two layers in both directions.
std::vector<Recurrent> one_of_each() {
  Generator rng(3);
  std::vector<Recurrent> all{Lstm(options(2, true), rng), Gru(options(2, true), rng),
                             Rnn(options(2, true), rng),
                             Rnn(options(2, true), rng, RecurrentCell::relu)};
  for (Recurrent& layer : all) layer.to(f64);
  return all;
}

Tensor tokens(const std::vector<std::int64_t>& lengths, std::int64_t count, bool at_end = false) {
  Tensor mask = zeros({static_cast<std::int64_t>(lengths.size()), count}, boolean);
  bool* at = mask.mutable_data<bool>();
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (std::int64_t t = 0; t < lengths[i]; ++t)
      at[static_cast<std::int64_t>(i) * count + (at_end ? count - 1 - t : t)] = true;
  return mask;
}

TEST(Recurrent, HasTheNamesOfPyTorch) {
  Generator rng(1);
  const Lstm lstm(options(2, true), rng);
  std::vector<std::string> names;
  for (const auto& [name, x] : lstm.named_parameters())
    names.push_back(detail::join(name, " ", x.shape()));
  const std::vector<std::string> expected{"weight_ih_l0 [16, 3]",
                                          "weight_hh_l0 [16, 4]",
                                          "bias_ih_l0 [16]",
                                          "bias_hh_l0 [16]",
                                          "weight_ih_l0_reverse [16, 3]",
                                          "weight_hh_l0_reverse [16, 4]",
                                          "bias_ih_l0_reverse [16]",
                                          "bias_hh_l0_reverse [16]",
                                          "weight_ih_l1 [16, 8]",
                                          "weight_hh_l1 [16, 4]",
                                          "bias_ih_l1 [16]",
                                          "bias_hh_l1 [16]",
                                          "weight_ih_l1_reverse [16, 8]",
                                          "weight_hh_l1_reverse [16, 4]",
                                          "bias_ih_l1_reverse [16]",
                                          "bias_hh_l1_reverse [16]"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(Gru({.in = 3, .hidden = 4, .bias = false}, rng).state_dict().size(), 2u);
  EXPECT_EQ(Gru(options(), rng).directions[0].weight_ih.shape(), (Shape{12, 3}));
  EXPECT_EQ(Rnn(options(), rng).directions[0].weight_ih.shape(), (Shape{4, 3}));
}

// The numbers that PyTorch's test of its C++ interface holds it to (test/cpp/api/rnn.cpp,
// CheckOutputValuesMatchPyTorch): parameters i/count, inputs (count − i)/count, time first.
TEST(Lstm, GivesTheNumbersOfPyTorch) {
  Generator rng(1);
  Lstm lstm({.in = 2, .hidden = 2}, rng);
  for (Tensor x : lstm.parameters()) {
    const NoGrad no_grad;
    const auto count = static_cast<double>(x.count());
    copy_(x, reshape(arange(0, count, 1, f32) / count, x.shape()));
  }
  const Tensor x = reshape(arange(24, 0, -1, f32) / 24, {3, 4, 2});
  const auto [output, state] = lstm.forward_with_state(transpose(x, 0, 1));
  const Tensor expected = tensor({0.4391, 0.5402, 0.4330, 0.5324, 0.4261, 0.5239, 0.4183, 0.5147,
                                  0.6822, 0.8064, 0.6726, 0.7968, 0.6620, 0.7860, 0.6501, 0.7741,
                                  0.7889, 0.9003, 0.7769, 0.8905, 0.7635, 0.8794, 0.7484, 0.8666},
                                 {3, 4, 2});
  EXPECT_TRUE(all_close(transpose(output, 0, 1), expected, 0, 6e-5));  // of 4 digits
  EXPECT_TRUE(all_close(select(state.h, 0, 0), select(expected, 0, 2), 0, 6e-5));
  const Tensor c =
      tensor({1.1647, 1.6106, 1.1425, 1.5726, 1.1187, 1.5329, 1.0931, 1.4911}, {1, 4, 2});
  EXPECT_TRUE(all_close(state.c, c, 0, 6e-5));
}

// Both directions of the second layer see both of the first.
TEST(Recurrent, LayersAndDirectionsAreCellsOneAfterTheOther) {
  Generator rng(2);
  Gru gru(options(2, true), rng);
  gru.to(f64);
  const Tensor x = gaussian({2, 5, 3}), h0 = gaussian({4, 2, 4}, 2);
  Tensor y = x;
  std::vector<Tensor> last;
  for (std::size_t l = 0; l < 2; ++l) {
    std::vector<Tensor> sides;
    for (std::size_t side = 0; side < 2; ++side) {
      const Recurrent::Direction& d = gru.directions[2 * l + side];
      Tensor h = select(h0, 0, static_cast<std::int64_t>(2 * l + side));
      std::vector<Tensor> outputs(5);
      for (std::size_t i = 0; i < 5; ++i) {
        const std::size_t t = side == 0 ? i : 4 - i;
        const Tensor in = select(y, 1, static_cast<std::int64_t>(t));
        h = gru_cell(linear(in, d.weight_ih, d.bias_ih), linear(h, d.weight_hh, d.bias_hh), h);
        outputs[t] = h;
      }
      sides.push_back(stack(outputs, 1));
      last.push_back(h);
    }
    y = concat(sides, -1);
  }
  const auto [output, state] = gru.forward_with_state(x, {.state = {.h = h0}});
  EXPECT_TRUE(all_close(output, y, 0, 1e-14));
  EXPECT_TRUE(all_close(state.h, stack(last), 0, 1e-14));
  EXPECT_FALSE(state.c.defined());
}

// Before or behind: a padded sequence gives what it gives alone, and whatever stands in the padding
// (NaN here) is not looked at, also by gradients.
TEST(Recurrent, PaddingChangesNothing) {
  for (Recurrent& layer : one_of_each())
    for (const bool at_end : {false, true}) {
      const Tensor mask = tokens({5, 3, 0}, 5, at_end);
      Tensor x = masked_fill(gaussian({3, 5, 3}), unsqueeze(logical_not(mask), -1), nan);
      x.set_requires_grad();
      const auto [y, state] = layer.forward_with_state(x, {.mask = mask});
      const Tensor alone =
          slice(select(x.detach(), 0, 1), 0, {.start = at_end ? 2 : 0, .stop = at_end ? 5 : 3});
      const auto [z, end] = layer.forward_with_state(unsqueeze(alone, 0));
      const Tensor seen = slice(slice(y, 0, {.start = 1, .stop = 2}), 1,
                                {.start = at_end ? 2 : 0, .stop = at_end ? 5 : 3});
      EXPECT_TRUE(all_close(seen, z, 0, 1e-14)) << layer.describe();
      EXPECT_TRUE(all_close(select(state.h, 1, 1), select(end.h, 1, 0), 0, 1e-14));
      const Tensor padding = expand(unsqueeze(logical_not(mask), -1), y.shape());
      EXPECT_TRUE(all_equal(masked_select(y, padding), zeros({7 * 8}, f64)));
      EXPECT_TRUE(all_equal(select(state.h, 1, 2), zeros({4, 4}, f64)));  // nothing happened
      backward(sum(square(y)));
      EXPECT_TRUE(all_equal(masked_fill(x.grad(), unsqueeze(mask, -1), 0), zeros({3, 5, 3}, f64)));
      for (const Tensor& p : layer.parameters()) EXPECT_TRUE(all(isfinite(p.grad())).item<bool>());
      layer.zero_grad();
    }
}

// Gates of masked steps may be NaN in every form of the gradient: that of the kernels, of
// create_graph, and of each example.
TEST(Recurrent, MaskedGatesReachNoGradient) {
  const Tensor mask = tokens({4, 2, 0}, 4);
  for (const RecurrentCell cell :
       {RecurrentCell::lstm, RecurrentCell::gru, RecurrentCell::tanh, RecurrentCell::relu})
    for (const bool reverse : {false, true}) {
      const std::int64_t gates = cell == RecurrentCell::lstm  ? 12
                                 : cell == RecurrentCell::gru ? 9
                                                              : 3;
      const Tensor clean = gaussian({3, 4, gates}, 1);
      const Tensor dirty = masked_fill(clean, logical_not(unsqueeze(mask, -1)), nan);
      const Tensor weight = gaussian({gates, 3}, 2).set_requires_grad();
      const auto loss = [&](const Tensor& x, const Tensor& w, const Tensor& m) {
        return sum(square(recurrence(cell, x, w, {.mask = m, .reverse = reverse})));
      };
      const auto gradients = [&](const Tensor& x, bool create_graph) {
        Tensor in = clone(x).set_requires_grad();
        return grad({loss(in, weight, mask)}, {in, weight}, {.create_graph = create_graph});
      };
      for (const bool create_graph : {false, true}) {
        const auto want = gradients(clean, create_graph), got = gradients(dirty, create_graph);
        for (std::size_t i = 0; i < 2; ++i)
          EXPECT_TRUE(all_close(got[i].detach(), want[i].detach(), 1e-14, 1e-14)) << i;
      }
      const auto second = [&](const Tensor& x) {
        return grad({sum(square(gradients(x, true)[1]))}, {weight})[0];
      };
      EXPECT_TRUE(all_close(second(dirty), second(clean), 1e-12, 1e-12));
    }
}

TEST(Recurrent, ContinuesFromItsState) {
  Generator rng(4);
  Lstm lstm(options(2), rng);
  lstm.to(f64);
  const Tensor x = gaussian({2, 7, 3});
  const auto whole = lstm.forward_with_state(x);
  const auto first = lstm.forward_with_state(slice(x, 1, {.stop = 3}));
  const auto rest = lstm.forward_with_state(slice(x, 1, {.start = 3}), {.state = first.state});
  EXPECT_TRUE(all_equal(concat({first.output, rest.output}, 1), whole.output));
  EXPECT_TRUE(all_equal(rest.state.h, whole.state.h) && all_equal(rest.state.c, whole.state.c));
  const auto none = lstm.forward_with_state(zeros({2, 0, 3}, f64), {.state = first.state});
  EXPECT_TRUE(all_equal(none.state.c, first.state.c));
  EXPECT_EQ(none.output.shape(), (Shape{2, 0, 4}));
}

TEST(Recurrent, GradientsReachTheStateAndTheInputs) {
  Generator rng(5);
  for (Recurrent& layer : one_of_each()) {
    if (layer.cell == RecurrentCell::relu) continue;  // has kinks
    const Tensor mask = tokens({3, 2}, 3);
    const bool lstm = layer.cell == RecurrentCell::lstm;
    const TensorFunction f = [&](const std::vector<Tensor>& in) {
      RecurrentInputs inputs{.state = {.h = in[1]}, .mask = mask};
      if (lstm) inputs.state.c = in[2];
      const auto [y, state] = layer.forward_with_state(in[0], inputs);
      return concat({flatten(y), flatten(state.h), lstm ? flatten(state.c) : zeros({0}, f64)}, 0);
    };
    std::vector<Tensor> at{gaussian({2, 3, 3}), gaussian({4, 2, 4}, 2)};
    if (lstm) at.push_back(gaussian({4, 2, 4}, 3));
    for (Tensor& x : at) x.set_requires_grad();
    EXPECT_NO_THROW(gradcheck(f, at)) << layer.describe();
  }
}

TEST(Recurrent, IsTheSameAtAnyNumberOfThreads) {
  Generator rng(6);
  Gru gru({.in = 40, .hidden = 70}, rng);
  const Tensor x = cast(gaussian({90, 6, 40}), f32);
  const int before = num_threads();
  std::vector<Tensor> outputs, gradients;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    const Tensor y = gru(x);
    backward(sum(square(y)));
    outputs.push_back(y.detach());
    gradients.push_back(clone(gru.directions[0].weight_hh.grad()));
    gru.zero_grad();
  }
  set_num_threads(before);
  for (std::size_t i = 1; i < outputs.size(); ++i)
    EXPECT_TRUE(all_equal(outputs[0], outputs[i]) && all_equal(gradients[0], gradients[i]));
}

TEST(Recurrent, DropoutStandsBetweenLayersInTraining) {
  Generator rng(7);
  const Tensor x = cast(gaussian({2, 5, 3}), f32);
  Rnn two({.in = 3, .hidden = 4, .layers = 2, .dropout = 0.5}, rng);
  EXPECT_FALSE(all_equal(two(x), two(x)));
  two.eval();
  EXPECT_TRUE(all_equal(two(x), two(x)));
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  Generator rng(8);
  const Lstm lstm(options(), rng);
  const Gru gru(options(), rng);
  const Tensor x = ones({2, 5, 3}), state = ones({1, 2, 4});
  using test::expect_error;
  expect_error([&] { lstm(ones({5, 3})); }, "[Lstm] expects [batch, T, 3], got [5, 3]");
  expect_error(
      [&] {
        lstm(x, ones({2, 4}, boolean));
      },
      "the mask must be bool [2, 5], one element per position of inputs [2, 5, 3], true = token; got bool [2, 4]");
  for (const Tensor& mask : {ones({2, 5}), ones({2, 5}, i64), ones({2, 4}, boolean)}) {
    const std::string needs = "] sequences [2, 5, 3] need a mask bool [2, 5], true = token; got ";
    expect_error([&] { lstm.forward_with_state(x, {.mask = mask}); }, "[Lstm" + needs);
    expect_error([&] { gru.forward_with_state(x, {.mask = mask}); }, "[Gru" + needs);
    expect_error([&] { Rnn(options(), rng).forward_with_state(x, {.mask = mask}); },
                 "[Rnn" + needs);
  }
  expect_error([&] { lstm.forward_with_state(x, {.state = {.h = state}}); }, "needs both h and c");
  expect_error([&] { gru.forward_with_state(x, {.state = {.c = state}}); },
               "got an initial state c");
  expect_error(
      [&] {
        gru.forward_with_state(x, {.state = {.h = ones({2, 4})}});
      },
      "needs an initial state of shape [1, 2, 4], got [2, 4]");
  expect_error([&] { Gru({.in = 3, .hidden = 0}, rng); }, "hidden = 0");
  expect_error([&] { Rnn(options(), rng, RecurrentCell::gru); }, "its cell must be tanh or relu");
}

// The sum of five bits needs a memory. What it learns is right to ±0.1 on average.
TEST(Recurrent, LearnsToAddUpBits) {
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru, RecurrentCell::tanh}) {
    Generator rng(9);
    Recurrent layer(cell, {.in = 1, .hidden = 16}, rng);
    Linear read({.in = 16, .out = 1}, rng);
    std::vector<Tensor> parameters = layer.parameters();
    for (const Tensor& p : read.parameters()) parameters.push_back(p);
    Adam adam(parameters, {.lr = 0.02});
    double loss = 0;
    for (int step = 0; step < 250; ++step) {
      const Tensor bits = cast(bernoulli({32, 5, 1}, rng, 0.5), f32);
      const Tensor y = read(select(layer(bits), 1, 4));
      const Tensor error = mse_loss(y, sum(bits, 1));
      backward(error);
      adam.step();
      adam.zero_grad();
      loss = error.item();
    }
    EXPECT_LE(loss, 0.01) << layer.describe();  // a constant guess has 5/4
  }
}

// --- structured self-attention ---

TEST(StructuredAttention, IsItsFormula) {
  Generator rng(10);
  StructuredAttention layer({.dim = 3, .hidden = 5, .hops = 2}, rng);
  layer.to(f64);
  const Tensor h = gaussian({2, 4, 3});
  const auto [m, a] = layer.forward_with_weights(h);
  ASSERT_EQ(m.shape(), (Shape{2, 2, 3}));
  for (std::int64_t n = 0; n < 2; ++n) {
    const Tensor one = select(h, 0, n);
    const Tensor expected =
        softmax(matmul(layer.outer, tanh(matmul(layer.inner, transpose(one)))), -1);
    EXPECT_TRUE(all_close(select(a, 0, n), expected, 0, 1e-14));
    EXPECT_TRUE(all_close(select(m, 0, n), matmul(expected, one), 0, 1e-14));
  }
  EXPECT_TRUE(all_equal(layer(h), m));
}

TEST(StructuredAttention, LeavesPaddingOut) {
  Generator rng(11);
  StructuredAttention layer({.dim = 3, .hidden = 5, .hops = 2}, rng);
  layer.to(f64);
  const Tensor mask = tokens({4, 2, 0}, 4);
  const Tensor h = masked_fill(gaussian({3, 4, 3}), unsqueeze(logical_not(mask), -1), nan);
  const auto [m, a] = layer.forward_with_weights(h, mask);
  const Tensor alone = slice(slice(h, 0, {.start = 1, .stop = 2}), 1, {.stop = 2});
  EXPECT_TRUE(all_close(slice(m, 0, {.start = 1, .stop = 2}), layer(alone), 0, 1e-14));
  EXPECT_TRUE(all_equal(select(m, 0, 2), zeros({2, 3}, f64)));
  backward(sum(square(m)));
  EXPECT_TRUE(all(isfinite(layer.inner.grad())).item<bool>());
}

// ‖A·Aᵀ − I‖² of its weights, from the same numbers in loops.
TEST(StructuredAttention, HasThePenaltyOfItsPaper) {
  Generator rng(12);
  StructuredAttention layer({.dim = 3, .hidden = 5, .hops = 3}, rng);
  layer.to(f64);
  const Tensor a = layer.forward_with_weights(gaussian({2, 4, 3})).weights;
  const std::vector<double> w = a.detach().to_vector();
  double expected = 0;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        double product = i == j ? -1 : 0;
        for (std::size_t t = 0; t < 4; ++t)
          product += w[(n * 3 + i) * 4 + t] * w[(n * 3 + j) * 4 + t];
        expected += product * product / 2;
      }
  const Tensor penalty = frobenius_penalty(unsqueeze(a, 2));
  EXPECT_NEAR(penalty.item(), expected, 1e-13);
  backward(penalty);
  EXPECT_GT(norm(layer.outer.grad()).item(), 0);
}

TEST(StructuredAttention, RefusesWhatDoesNotFit) {
  Generator rng(13);
  const StructuredAttention layer({.dim = 3, .hidden = 5, .hops = 2}, rng);
  test::expect_error([&] { layer(ones({4, 3})); }, "expects [batch, T, 3], got [4, 3]");
  test::expect_error([&] { layer(ones({2, 4, 3}), ones({2, 3}, boolean)); }, "got bool [2, 3]");
  test::expect_error([&] { StructuredAttention({.dim = 3, .hidden = 5, .hops = 0}, rng); },
                     "hops = 0");
}

}  // namespace
}  // namespace ladon::recurrent_test
