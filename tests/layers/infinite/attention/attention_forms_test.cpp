// Infinite-width limits of attention, tested without finite networks: by definitions and
// quadrature, tiled and untiled, for degenerate inputs, and errors.

#include <cmath>
#include <numbers>

#include "ladon/autograd/functional.h"
#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::attention_attention_forms_test {
namespace {

using infinite::Inputs;
using infinite::Kernel;
using infinite::limit;
using test::blocks;
using test::Blocks;
using test::linear_tied;
using test::ntk;
using test::padded;
using test::sqrt_untied;
using test::wide;

/// The limit of a layer drawn with these options, on sequences of 3 tokens.
Kernel limit_of(const MultiHeadAttentionOptions& options, const Inputs& a, const Inputs& b) {
  Generator rng(2);
  return limit(MultiHeadAttention(options, rng))(a, b);
}

TEST(AttentionLimit, UntiedLinearScalingAveragesUniformly) {
  auto options = wide(AttentionScaling::linear, Weighting::softmax, 1, 4);
  options.form.tied = false;
  const Blocks x = padded();
  const Kernel k = limit_of(options, x.a, x.b), in = infinite::input_kernel(x.a, x.b);
  // Input 0 sees tokens 0 and 1, input 1 all three; the other block's sees tokens 1 and 2.
  for (const std::int64_t n : {0, 1}) {
    const Tensor block = at(in.nngp, {n, 0, Slice{.stop = 2 + n}, Slice{.start = 1}});
    const double expected = 0.81 * mean(block).item() + 0.09;
    EXPECT_TRUE(all_close(at(k.nngp, {n, 0}), full({3, 3}, expected, f64), 1e-13, 0));
    EXPECT_TRUE(all_close(at(k.ntk, {n, 0}), full({3, 3}, 2 * expected - 0.09, f64), 1e-13, 0));
  }
  for (const Weighting zeta : {Weighting::identity, Weighting::relu, Weighting::abs}) {
    options.form.weighting = zeta;  // logits of 0 give weights of 0: the bias alone
    const Kernel bias = limit_of(options, x.a, x.b);
    EXPECT_TRUE(all_close(bias.nngp, full({2, 1, 3, 3}, 0.09, f64), 1e-13, 0));
    EXPECT_TRUE(all_close(bias.ntk, full({2, 1, 3, 3}, 0.09, f64), 1e-13, 0));
  }
}

// The definition, entry by entry, with the duals of dual.h (which are tested by quadrature).
TEST(AttentionLimit, RectifiedIsTheSumOfDuals) {
  const Blocks x = blocks();
  const Kernel in = infinite::input_kernel(x.a, x.b);
  const auto of = [](const Tensor& k, std::int64_t n, std::int64_t m, std::int64_t a,
                     std::int64_t b) {
    return at(k, {n, m, a, b});
  };
  for (const Weighting zeta : {Weighting::relu, Weighting::abs}) {
    const Kernel k = limit_of(sqrt_untied(zeta), x.a, x.b);
    const auto dual =
        zeta == Weighting::relu ? infinite::DualFunction::relu() : infinite::DualFunction::abs();
    const double qk2 = 1.44, ov2 = 0.81;
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t ab = 0; ab < 9; ++ab) {
        const std::int64_t a = ab / 3, b = ab % 3;
        double value = 0, slopes = 0;
        for (std::int64_t ij = 0; ij < 9; ++ij) {
          const std::int64_t i = ij / 3, j = ij % 3;
          const auto e =
              infinite::dual(dual, qk2 * at(in.cov1, {n, a, a}) * at(in.cov1, {n, i, i}),
                             qk2 * at(in.cov2, {0, b, b}) * at(in.cov2, {0, j, j}),
                             qk2 * of(in.nngp, n, 0, a, b) * of(in.nngp, n, 0, i, j), true);
          const double v = of(in.nngp, n, 0, i, j).item();
          value += v * e.value.item();
          slopes += v * e.derivative.item() * qk2 * 2 * of(in.nngp, n, 0, a, b).item() * v;
        }
        EXPECT_NEAR(of(k.nngp, n, 0, a, b).item(), ov2 * value + 0.09, 1e-12);
        EXPECT_NEAR(of(k.ntk, n, 0, a, b).item(), ov2 * (2 * value + slopes) + 0.09, 1e-12);
      }
  }
}

TEST(AttentionLimit, TwoTokensOfNetworks) {
  const Blocks x = blocks(2);
  test::expect_limit(test::attention(sqrt_untied(Weighting::softmax)), x.a, x.b, test::once);
}

/// All forms that have a limit.
std::vector<MultiHeadAttentionOptions> all_forms() {
  std::vector<MultiHeadAttentionOptions> forms;
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs})
    for (const bool causal : {false, true}) {
      forms.push_back(linear_tied(zeta));
      forms.push_back(sqrt_untied(zeta));
      for (auto* form : {&forms[forms.size() - 2], &forms.back()}) {
        form->limit_draws.samples = 10;
        form->causal = causal;
        form->positions = {.encoding = {.grid = {3}, .correlation = decaying_correlation(0.2)}};
      }
    }
  return forms;
}

TEST(AttentionLimit, DoesNotDependOnTheTiling) {
  Generator rng(4);
  const Inputs x{normal({5, 3, 4}, rng, 0, 1, f64),
                 cast(tensor({1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0}, {5, 3}), boolean)};
  for (const auto& form : all_forms()) {
    Generator source(2);
    const MultiHeadAttention layer(form, source);
    const auto make = limit(layer).with_landmarks(x);
    const Kernel whole = make(x, x), part = make(x.rows(1, 4), x.rows(3, 5));
    const auto cut = [](const Tensor& k) {
      return at(k, {Slice{.start = 1, .stop = 4}, Slice{.start = 3, .stop = 5}});
    };
    EXPECT_TRUE(all_equal(part.nngp, cut(whole.nngp))) << layer.describe();
    EXPECT_TRUE(all_equal(part.ntk, cut(whole.ntk))) << layer.describe();
    EXPECT_TRUE(all_equal(part.cov2, slice(whole.cov2, 0, {.start = 3}))) << layer.describe();
  }
}

TEST(AttentionLimit, OneTokenIsALinearMap) {
  const Blocks x = blocks(1);
  const Kernel in = infinite::input_kernel(x.a, x.b);
  for (const auto& form : {linear_tied(Weighting::softmax), sqrt_untied(Weighting::softmax)}) {
    const Kernel k = limit_of(form, x.a, x.b);
    EXPECT_TRUE(all_close(k.nngp, 0.81 * in.nngp + 0.09, 1e-13, 1e-13));
    EXPECT_TRUE(all_close(k.ntk, 2 * 0.81 * in.nngp + 0.09, 1e-13, 1e-13));
  }
}

TEST(AttentionLimit, IsSymmetric) {
  const Blocks x = padded();
  for (const auto& form : all_forms()) {
    Generator rng(2);
    const auto of = limit(MultiHeadAttention(form, rng)).with_landmarks(x.a);
    const Kernel k = of(x.a, x.b), turned = of(x.b, x.a);
    const std::vector<int> order{1, 0, 3, 2};
    EXPECT_TRUE(all_close(permute(turned.nngp, order), k.nngp, 1e-12, 1e-12));
    EXPECT_TRUE(all_close(permute(turned.ntk, order), k.ntk, 1e-12, 1e-12));
  }
}

TEST(AttentionLimit, DegenerateInputsGiveNoNan) {
  Generator rng(4);
  Tensor x = normal({3, 3, 4}, rng, 0, 1, f64);
  fill_(select(x, 0, 1), 0);                // an input of zeros
  copy_(select(x, 0, 2), select(x, 0, 0));  // a repeated input
  copy_(at(x, {0, 1}), at(x, {0, 0}));      // repeated tokens
  const Tensor mask = cast(tensor({1, 1, 1, 1, 1, 1, 0, 0, 0}, {3, 3}), boolean);
  for (auto form : all_forms())
    for (const bool told : {true, false}) {
      if (!told) form.positions.reset();
      Generator source(2);
      const MultiHeadAttention layer(form, source);
      const Kernel k = limit(layer)(Inputs(x, mask));
      for (const Tensor* part : {&k.nngp, &k.ntk, &k.cov1, &k.cov2})
        for (const double element : part->to_vector()) ASSERT_TRUE(std::isfinite(element));
      // Input 2 sees nothing: the bias remains.
      EXPECT_TRUE(all_close(at(k.nngp, {2}), full({3, 3, 3}, 0.09, f64), 1e-13, 1e-13));
      EXPECT_TRUE(all_close(at(k.ntk, {2}), full({3, 3, 3}, 0.09, f64), 1e-13, 1e-13));
    }
}

/// All that a limit is, as one list of numbers.
Tensor numbers(const Kernel& k) {
  return concat({flatten(k.nngp), flatten(k.ntk), flatten(k.cov1)}, 0);
}

// One block, so that every token is in the span of the landmarks: what is not draws numbers that
// its kernel's bits name, and no difference quotient means anything.
Inputs one_block() {
  const Blocks x = padded();
  return {concat({x.a.x, x.b.x}, 0), concat({x.a.mask, x.b.mask}, 0)};
}

TEST(AttentionLimit, IsDifferentiableByItsHyperparameters) {
  for (const auto& form : all_forms()) {
    SCOPED_TRACE(to_string(form.form));
    Generator rng(2);
    MultiHeadAttention layer(form, rng);
    const Inputs x = one_block();
    const auto f = [&](const std::vector<Tensor>& h) {
      layer.query_key_std = h[0];
      layer.value_output_std = h[1];
      layer.bias_std = h[2];
      layer.positions->stddev = h[3];
      return numbers(limit(layer)(x));
    };
    std::vector<Tensor> at{scalar(1.2, f64), scalar(0.9, f64), scalar(0.3, f64), scalar(0.8, f64)};
    const Tensor plain = f(at);
    for (Tensor& h : at) h.set_requires_grad();
    EXPECT_TRUE(all_close(f(at).detach(), plain, 1e-13, 1e-13));
    EXPECT_NO_THROW(gradcheck(f, at)) << to_string(form.form);
  }
}

// Behind a linear layer, whose tangent kernel is not 0, and with biases of queries, keys and
// values.
TEST(AttentionLimit, IsDifferentiableByItsInputs) {
  auto forms = all_forms();
  auto two_tokens = sqrt_untied(Weighting::softmax);
  two_tokens.positions = {.encoding = {.grid = {2}, .correlation = decaying_correlation(0.2)}};
  forms.push_back(two_tokens);
  for (auto form : forms) {
    Generator rng(2);
    form.bias = true;
    const auto net = test::behind_linear(form, 4)(rng);
    const bool two = form.positions->encoding.grid == Shape{2};
    const Inputs x = two ? blocks(2).a : one_block();
    EXPECT_NO_THROW(gradcheck(
        [&](const std::vector<Tensor>& in) { return numbers(limit(*net)(Inputs(in[0], x.mask))); },
        {clone(x.x).set_requires_grad()}))
        << to_string(form.form);
  }
}

TEST(AttentionLimit, RefusesWhatHasNone) {
  Generator rng(2);
  const Inputs x = ones({2, 3, 4});
  const auto refuse = [&](const MultiHeadAttentionOptions& options, const std::string& why) {
    test::expect_error([&] { limit(MultiHeadAttention(options, rng))(x); }, why);
  };
  auto tied = sqrt_untied(Weighting::identity);
  tied.form.tied = true;
  refuse(tied, "the logits grow as sqrt(head_dim)");
  refuse({.dim = 4, .heads = 2, .key_dim = 5, .bias = false},
         "weights of this layer take different");
  refuse({.dim = 4, .heads = 2, .bias = false, .prior = {.init = Init::ones}}, "no Gaussian limit");
  refuse({.dim = 4, .heads = 2, .value_dim = 5, .bias = false},
         "weights of this layer take different");
  refuse({.dim = 4, .heads = 2, .bias = false, .dropout = 0.1}, "call eval()");
  const MultiHeadAttention layer(linear_tied(Weighting::softmax), rng);
  test::expect_error([&] { limit(layer)(ones({2, 4})); }, "have no positions");
}

// Every form, with everything that a network may leave out of its limit.
TEST(EmpiricalKernel, OfAttentionIsTheContractionOfJacobians) {
  Generator rng(5);
  const Blocks x = padded();
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs})
    for (const auto scaling : {AttentionScaling::sqrt, AttentionScaling::linear})
      for (const bool tied : {false, true})
        for (const auto parameterization : {ntk, Parameterization::standard}) {
          MultiHeadAttention layer({.dim = 4,
                                    .heads = 2,
                                    .value_head_dim = 3,
                                    .out = 3,
                                    .form = {.scaling = scaling, .weighting = zeta, .tied = tied},
                                    .prior = {.parameterization = parameterization,
                                              .bias_std = parameterization == ntk ? 0.3 : 0}},
                                   rng);
          layer.to(f64);
          const auto layerwise = infinite::empirical_kernel(layer, x.a, x.b);
          const auto contraction = infinite::empirical_kernel(
              layer, x.a, x.b, {.method = infinite::NtkMethod::jacobian});
          EXPECT_TRUE(all_close(layerwise.ntk, contraction.ntk, 1e-10, 1e-12)) << layer.describe();
        }
}

}  // namespace
}  // namespace ladon::attention_attention_forms_test
