// Attention with finitely many heads: kernels given the heads' latents, averages over draws of the
// latents, and comparison with networks.

#include "ladon/autograd/functional.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/finite/gaussianity.h"
#include "ladon/layers/infinite/finite/heads.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::finite_heads_test {
namespace {

using infinite::finite_heads;
using infinite::FiniteHeads;
using infinite::Get;
using infinite::HeadLatents;
using infinite::Inputs;
using infinite::Kernel;
using infinite::Latents;
using infinite::limit;
using infinite::ScaleMixture;

MultiHeadAttention attention(Weighting zeta, std::int64_t dim, double query_key, double value,
                             std::int64_t draws = 256) {
  Generator rng(1);
  return MultiHeadAttention({.dim = dim,
                             .heads = 1,
                             .head_dim = 4,
                             .bias = false,
                             .form = {.weighting = zeta},
                             .prior = {.parameterization = test::ntk,
                                       .query_key_std = query_key,
                                       .value_output_std = value},
                             .limit_draws = {.samples = draws}},
                            rng);
}

/// The layer and a readout of its mean over positions.
Sequential pooled(const MultiHeadAttention& layer) { return Sequential(layer, MeanPositions()); }

// Of two given heads on four sequences of three tokens, by an independent program.
struct Given {
  Weighting zeta;
  Tensor pooled, flattened, between;  // the last between the positions of inputs 0 and 1
};

const Tensor& given_inputs() {
  static const Tensor x =
      tensor({0.5, -1.0, 1.2,  0.3,  -0.7, 0.8,  -0.4, 0.9, 0.1, -1.5, 1.0, 1.0,
              1.5, 0.2,  -0.3, -0.6, 0.4,  -0.2, -1.1, 0.5, 0.6, 0.7,  0.2, -0.9},
             {4, 3, 2}, f64);
  return x;
}

Latents given_heads() {
  return {{.logits = tensor({0.6, -1.1, 0.9, 0.4, -0.5, 0.3, 1.4, -0.8}, {2, 2, 2}, f64)}};
}

std::vector<Given> given() {
  return {{Weighting::softmax,
           tensor({0.147271237266, 0.096312229424, 0.128797176218, -0.048812472849, 0.096312229424,
                   0.082560525149, 0.136981424517, -0.039452687707, 0.128797176218, 0.136981424517,
                   0.261141185187, -0.068969961723, -0.048812472849, -0.039452687707,
                   -0.068969961723, 0.024727171859},
                  {4, 4}, f64),
           tensor({0.576172660959, 0.692805741601, 0.296893413638, 0.323745843847}, f64),
           tensor({-0.493369340106, 0.664138980929, -0.113304399968, -0.079802588947, 0.30960791663,
                   0.303766982158, 0.568359083465, -0.500414579811, 0.207828010467},
                  {3, 3}, f64)},
          {Weighting::relu,
           tensor({0.612368329375, 0.406481910625, 0.3612008525, -0.271970746875, 0.406481910625,
                   0.354755388125, 0.29210932, -0.15801497, 0.3612008525, 0.29210932, 0.26607181,
                   -0.104886395, -0.271970746875, -0.15801497, -0.104886395, 0.211037673125},
                  {4, 4}, f64),
           tensor({3.551424489375, 3.002160886875, 0.827652045, 1.431635810625}, f64),
           tensor({-2.30499129375, 2.6492765625, -0.572243625, -0.47534715, 1.48501539, 1.6382601,
                   3.0505875975, -2.841705185625, 1.0294848},
                  {3, 3}, f64)},
          {Weighting::identity,
           tensor({0.730906555, 0.364582025, 0.346994815, -0.183258195, 0.364582025, 0.30737849875,
                   0.0632623325, -0.06043287, 0.346994815, 0.0632623325, 0.90204181, -0.256560105,
                   -0.183258195, -0.06043287, -0.256560105, 0.122650785},
                  {4, 4}, f64),
           tensor({12.8260817925, 12.5822559225, 2.318462625, 5.3878548525}, f64),
           tensor({-10.161332409375, 13.8789552375, -3.499039125, -4.5613417275, 3.59420020875,
                   5.1484048875, 9.820119583125, -12.82713903, 1.8884106},
                  {3, 3}, f64)}};
}

TEST(FiniteHeads, GivenTheirLatentsAreWhatAnIndependentProgramSays) {
  for (const Given& g : given()) {
    SCOPED_TRACE(to_string(g.zeta));
    const MultiHeadAttention layer = attention(g.zeta, 2, 2, 1.5);
    const Sequential mean = pooled(layer), flat(layer, Flatten());
    const auto nngp = [&](const Layer& net) {
      return finite_heads(net, {.heads = 2}).kernel(given_inputs(), given_heads()).nngp;
    };
    EXPECT_TRUE(all_close(nngp(mean), g.pooled, 0, 1e-10));
    EXPECT_TRUE(all_close(diagonal(nngp(flat)), g.flattened, 0, 1e-10));
    EXPECT_TRUE(all_close(at(nngp(layer), {0, 1}), g.between, 0, 1e-10));
  }
}

// The kernel is an inner product of what each input gives alone.
TEST(FiniteHeads, HaveFeatures) {
  for (const Given& g : given()) {
    const MultiHeadAttention layer = attention(g.zeta, 2, 2, 1.5);
    const auto features = finite_heads(layer, {.heads = 2}).features(given_inputs(), given_heads());
    ASSERT_EQ(features.size(), 1u);
    EXPECT_EQ(features[0].shape(), (Shape{2, 4, 3, 2}));
    const Tensor between =
        einsum("htr,hsr->ts", {select(features[0], 1, 0), select(features[0], 1, 1)});
    EXPECT_TRUE(all_close(1.5 * 1.5 / 2 * between, g.between, 0, 1e-10));
  }
}

// One channel, where a head is one number and the integral is known to 1e-8.
TEST(FiniteHeads, HasTheKurtosisOfTheLaw) {
  const Tensor x = tensor({1.0, -0.5, 2.0, 0.3, 1.7, -1.2, -1.4, 0.6, 0.9, 2.2, 0.1, -0.8, 0.8, 1.1,
                           -2.0, -0.2, 1.3, 0.5},
                          {6, 3, 1}, f64);
  const double times_heads[] = {2.110075156, 3.038765036, 9.267442637,
                                0.922458621, 5.638482828, 1.320564233};
  const double variance[] = {1.133889589537, 0.154425303123, 0.094467894319,
                             0.595672096806, 0.388311850912, 0.47452211362};
  const Sequential net = pooled(attention(Weighting::softmax, 1, 1.5, 1.2));
  for (const std::int64_t heads : {1, 4}) {
    Generator rng(2);
    const auto laws = finite_heads(net, {.heads = heads}).outputs(x, 8000, rng);
    ASSERT_EQ(laws.size(), 6u);
    for (std::size_t n = 0; n < 6; ++n) {
      const Measured k = laws[n].excess_kurtosis();
      EXPECT_LT(std::abs(k.value - times_heads[n] / static_cast<double>(heads)), 4 * k.se) << n;
      EXPECT_LT(k.se, 0.2 * k.value);
      const double se = variance[n] * std::sqrt(k.value / 3 / 8000);  // Var v/(E v)² = kurtosis/3
      EXPECT_LT(std::abs(laws[n].variance() - variance[n]), 4 * se) << n;
    }
  }
  // Values of finite width: (3/H)·((1 + 2/d_v)·(κ·H/3 + 1) − 1), of keys that are infinitely wide.
  Generator rng(3);
  const auto laws = finite_heads(net, {.heads = 2, .value_width = 4}).outputs(x, 8000, rng);
  for (std::size_t n = 0; n < 6; ++n) {
    const Measured k = laws[n].excess_kurtosis();
    EXPECT_LT(std::abs(k.value - 1.5 * (1.5 * (times_heads[n] / 3 + 1) - 1)), 4 * k.se) << n;
  }
}

/// Largest |a − b|/se of all entries that have one; with a mask of those at tokens. (Padding has no
/// coordinates, and its outputs no meaning.)
double largest_z(const Tensor& a, const Tensor& b, const Tensor& se, const Tensor& mask = {}) {
  Tensor z = abs(a - b) / maximum(se, scalar(1e-12, f64));
  if (mask.defined()) {
    const std::int64_t n = mask.size(0), t = mask.size(1);
    z = z * cast(reshape(mask, {n, 1, t, 1}), f64) * cast(reshape(mask, {1, n, 1, t}), f64);
  }
  return amax(z).item();
}

// E K_z is the limit for any number of heads, of both kernels, for every form: masked, causal, with
// positions and behind a layer, so that coordinates are those of a factor. Its variance falls as
// 1/H.
TEST(FiniteHeads, AreTheLimitOnAverage) {
  constexpr std::int64_t draws = 1500;
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs})
    for (const bool causal : {false, true}) {
      auto options = test::sqrt_untied(zeta);
      options.causal = causal;
      options.positions = {.encoding = {.grid = {3}, .correlation = decaying_correlation(0.2)}};
      options.limit_draws.samples = 20000;
      Generator source(2);
      const auto net = test::behind_linear(options, 4)(source);
      const Inputs x = test::padded().a;
      const Kernel expected = limit(*net)(x);
      Tensor variance_of_one;
      for (const std::int64_t heads : {1, 3}) {
        SCOPED_TRACE(detail::join(to_string(options.form), causal ? ", causal, " : ", ", heads));
        Generator rng(7);
        const auto m = finite_heads(*net, {.heads = heads}).moments(x, draws, rng, Get::ntk);
        EXPECT_LT(largest_z(m.nngp.mean, expected.nngp, m.nngp.se, x.mask), 4.5);
        EXPECT_LT(largest_z(m.ntk.mean, expected.ntk, m.ntk.se, x.mask), 4.5);
        const Tensor total = sum(m.nngp.variance);
        if (heads == 1) variance_of_one = total;
        // Variances of heavy tails, so only roughly.
        else
          EXPECT_NEAR((variance_of_one / total).item(), 3, 1.2);
      }
    }
}

// On average over heads, biases of queries and keys add to the tangent kernel what they add in the
// limit.
TEST(FiniteHeads, TrainTheirBiases) {
  for (const Weighting zeta : {Weighting::identity, Weighting::relu}) {
    Generator rng(2);
    const Sequential net = pooled(MultiHeadAttention({.dim = 4,
                                                      .heads = 2,
                                                      .head_dim = 4,
                                                      .form = {.weighting = zeta},
                                                      .prior = {.init = Init::kaiming_normal}},
                                                     rng));
    const Inputs x = test::blocks().a;
    const auto m = finite_heads(net, {.heads = 2}).moments(x, 2000, rng, Get::ntk);
    EXPECT_LT(largest_z(m.ntk.mean, limit(net)(x).ntk, m.ntk.se), 4.5) << to_string(zeta);
    EXPECT_LT(amax(m.ntk.se / abs(m.ntk.mean)).item(), 0.05);
  }
}

// Masked tokens are no tokens.
TEST(FiniteHeads, SeeNoMaskedTokens) {
  Generator rng(3);
  const Tensor x = normal({2, 4, 3}, rng, 0, 1, f64),
               mask = cast(tensor({1, 1, 0, 0, 1, 1, 0, 0}, {2, 4}), boolean);
  const Tensor cut = slice(x, 1, {.stop = 2});
  const Sequential net = pooled(attention(Weighting::softmax, 3, 1.2, 0.8));
  const FiniteHeads heads = finite_heads(net, {.heads = 2});
  const Latents z = heads.draw(cut, rng);
  EXPECT_TRUE(all_close(heads.kernel({x, mask}, z).nngp, heads.kernel(cut, z).nngp, 1e-13, 1e-13));
}

// The layer itself, of any width: given queries, keys and what its outputs are weighted by, an
// output is a sum over normal values.
TEST(FiniteHeads, OfAFiniteLayerAreItsOwn) {
  Generator rng(4);
  const std::int64_t heads = 2, key = 3, value = 5, dim = 4;
  const Inputs x = normal({3, 4, dim}, rng, 0, 1, f64);
  const MultiHeadAttention layer(
      {.dim = dim,
       .heads = heads,
       .head_dim = key,
       .bias = false,
       .value_head_dim = value,
       .out = 1,
       .prior = {.parameterization = test::ntk, .query_key_std = 1.4, .value_output_std = 0.7}},
      rng);
  // Ladon's weights are [H, d_k, d] and the output's [H, d_v, out].
  const Latents z{{.logits = {},
                   .query = transpose(cast(layer.query, f64)),
                   .key = transpose(cast(layer.key, f64)),
                   .output = squeeze(cast(layer.output, f64), 2)}};
  const Tensor k =
      finite_heads(pooled(layer), {.heads = heads, .key_width = key, .value_width = value})
          .kernel(x, z)
          .nngp;
  // f is linear in the values' weights, which are standard normal: its covariance is that of the
  // gradients by them.
  MultiHeadAttention again = layer;
  again.to(f64);
  again.value.set_requires_grad();
  const Sequential net = pooled(again);
  const Tensor f = reshape(net(x.x), {3});
  std::vector<Tensor> rows;
  for (std::int64_t n = 0; n < 3; ++n)
    rows.push_back(flatten(grad(select(f, 0, n), again.value, {.retain_graph = true})));
  const Tensor jacobian = stack(rows, 0);
  EXPECT_TRUE(all_close(k, matmul(jacobian, transpose(jacobian)), 1e-5, 1e-6));
}

/// P-values of outputs of networks against laws of `heads` heads, and against the normal law.
struct Judged {
  double mixture, normal;
};
Judged judge(std::int64_t heads, std::int64_t width, std::int64_t networks) {
  Generator inputs(5);
  const Inputs x = normal({1, 4, 4}, inputs, 0, 1, f64);
  const auto make = [&](Generator& rng) {
    return std::make_unique<Sequential>(
        MultiHeadAttention(
            {.dim = 4,
             .heads = heads,
             .head_dim = width,
             .bias = false,
             .value_head_dim = width,
             .out = 1,
             .prior = {.parameterization = test::ntk, .query_key_std = 4, .value_output_std = 2}},
            rng),
        MeanPositions());
  };
  Generator rng(6);
  std::vector<double> outputs;
  for (std::int64_t i = 0; i < networks; ++i) {
    const NoGrad off;
    Generator own = rng.split(static_cast<std::uint64_t>(i));
    const auto net = make(own);
    outputs.push_back((*net)(cast(x.x, f32)).item());
  }
  const auto law = finite_heads(*make(rng), {.heads = heads}).outputs(x, 20000, rng)[0];
  const Tensor y = from_vector(outputs, {networks});
  const auto against = [&](const std::function<double(double)>& cdf) {
    return infinite::kolmogorov_smirnov(y, cdf).p_value;
  };
  return {against([&](double v) { return law.cdf(v); }),
          infinite::kolmogorov_smirnov(y, std::sqrt(law.variance())).p_value};
}

// Outputs of wide networks follow the mixture; those of one head are far from normal.
TEST(FiniteHeads, AreTheLawOfWideNetworks) {
  for (const std::int64_t heads : {1, 2, 8}) {
    const Judged p = judge(heads, 64, 5000);
    EXPECT_GT(p.mixture, 0.01) << heads;
    if (heads == 1) {
      EXPECT_LT(p.normal, 1e-4);
    }
  }
}

TEST(FiniteHeads, HaveGradientsByTheirLatents) {
  const Sequential net = pooled(attention(Weighting::softmax, 2, 2, 1.5));
  const FiniteHeads heads = finite_heads(net, {.heads = 2});
  const FiniteHeads narrow = finite_heads(net, {.heads = 1, .key_width = 3, .value_width = 2});
  Generator rng(9);
  const Latents z = narrow.draw(given_inputs(), rng);
  EXPECT_TRUE(gradcheck(
      [&](const std::vector<Tensor>& b) {
        return heads.kernel(given_inputs(), {{.logits = b[0]}}).nngp;
      },
      {clone(given_heads()[0].logits).set_requires_grad()}));
  EXPECT_TRUE(gradcheck(
      [&](const std::vector<Tensor>& b) {
        return narrow
            .kernel(given_inputs(), {{.logits = {}, .query = b[0], .key = b[1], .output = b[2]}})
            .nngp;
      },
      {clone(z[0].query).set_requires_grad(), clone(z[0].key).set_requires_grad(),
       clone(z[0].output).set_requires_grad()}));
}

// Two layers of attention: the second has latents of its own, in coordinates that the first gives.
TEST(FiniteHeads, OfTwoLayersHaveLatentsEach) {
  Generator rng(1);
  const auto options = test::sqrt_untied(Weighting::softmax);
  auto second = options;
  second.dim = 64;
  const Sequential net(MultiHeadAttention(options, rng), MultiHeadAttention(second, rng),
                       MeanPositions());
  const FiniteHeads heads = finite_heads(net, {.heads = 3});
  const Tensor x = test::blocks().a.x;
  Generator one(8), two(8);
  const Latents z = heads.draw(x, one);
  ASSERT_EQ(z.size(), 2u);
  EXPECT_EQ(z[0].logits.shape(), (Shape{3, 4, 4}));
  EXPECT_EQ(z[1].logits.size(0), 3);
  EXPECT_LE(z[1].rank(), 6);  // tokens of both inputs
  const Tensor k = heads.kernel(x, z).nngp;
  heads.for_each(x, 1, two, Get::nngp,
                 [&](const Kernel& first) { EXPECT_TRUE(all_equal(first.nngp, k)); });
}

TEST(FiniteHeads, KeepATemporaryModel) {
  const FiniteHeads heads =
      finite_heads(pooled(attention(Weighting::softmax, 2, 2, 1.5)), {.heads = 2});
  EXPECT_TRUE(
      all_close(heads.kernel(given_inputs(), given_heads()).nngp, given()[0].pooled, 0, 1e-10));
}

TEST(FiniteHeads, AreTheSameAtAnyNumberOfThreads) {
  const Sequential net = pooled(attention(Weighting::relu, 4, 1.3, 0.8));
  const Tensor x = test::blocks().a.x;
  const int before = num_threads();
  const auto moments = [&](int threads) {
    set_num_threads(threads);
    Generator rng(3);
    const auto m = finite_heads(net, {.heads = 2}).moments(x, 100, rng, Get::ntk);
    set_num_threads(before);
    return m;
  };
  const auto alone = moments(1), together = moments(3);
  EXPECT_TRUE(all_equal(alone.nngp.mean, together.nngp.mean));
  EXPECT_TRUE(all_equal(alone.ntk.variance, together.ntk.variance));
}

TEST(FiniteHeads, RefuseWhatDoesNotFit) {
  const Sequential net = pooled(attention(Weighting::softmax, 2, 2, 1.5));
  const FiniteHeads heads = finite_heads(net, {.heads = 2});
  const auto error = [](const std::function<void()>& f, const std::string& what) {
    test::expect_error(f, what);
  };
  error([&] { finite_heads(net, {.heads = 0}); }, "heads must be positive, got 0");
  error([&] { finite_heads(net, {.key_width = -1}); }, "must not be negative");
  error([&] { heads.kernel(given_inputs(), {}); }, "latents of 0 layers");
  HeadLatents one = given_heads()[0], both = one;
  one.logits = slice(one.logits, 0, {.stop = 1});
  if (one.output.defined()) one.output = slice(one.output, 0, {.stop = 1});
  error([&] { heads.kernel(given_inputs(), {one}); }, "of 1 heads, but the option `heads` is 2");
  both.query = both.key = zeros({2, both.rank(), 4}, f64);
  error([&] { heads.kernel(given_inputs(), {both}); }, "both logits, and a query or key");
  error([&] { both.form(); }, "either logits, or a query and a key");
  error([] { HeadLatents().form(); }, "either logits, or a query and a key");
  const Tensor four = zeros({2, 3, 4}, f64);
  error([&] { HeadLatents{.query = four}.form(); }, "either logits, or a query and a key");
  for (const Tensor& key : {zeros({2, 5, 4}, f64), zeros({1, 3, 4}, f64), zeros({3, 4}, f64)})
    error([&] { HeadLatents{.query = four, .key = key}.form(); }, "must both be [H, R, d_k]");
  error([&] { HeadLatents{.logits = four}.form(); }, "logits must be [H, R, R]");
  error(
      [&] {
        HeadLatents{.logits = zeros({2, 3, 3}, f64), .output = zeros({5, 4}, f64)}.scale();
      },
      "output must be [2, d_v]");
  error(
      [&] {
        heads.kernel(given_inputs(), {given_heads()[0], given_heads()[0]});
      },
      "the model has 1 attention layers");
  error(
      [&] {
        heads.kernel(given_inputs(), {{.logits = zeros({2, 3, 3}, f64)}});
      },
      "have 3 coordinates, but its tokens have 2");
  Generator rng(1);
  error([&] { heads.moments(given_inputs(), 1, rng); }, "at least 2 draws");
  const FiniteHeads narrow = finite_heads(net, {.value_width = 3});
  error([&] { narrow.moments(given_inputs(), 2, rng, Get::ntk); }, "only for infinite key_width");
  error([&] { ScaleMixture({}); }, "no variances");
  error([&] { ScaleMixture({1, -2}); }, "must not be negative");
  error([&] { ScaleMixture({1, NAN}); }, "must be finite");
  error([&] { heads.outputs(given_inputs(), 0, rng); }, "at least one draw");
  error([&] { heads.kernel(given_inputs(), {{.logits = zeros({0, 2, 2}, f64)}}); }, "need logits");
  error(
      [&] {
        narrow.kernel(given_inputs(), {{.logits = {},
                                        .query = zeros({3, 2, 4}, f64),
                                        .key = zeros({1, 2, 4}, f64),
                                        .output = {}}});
      },
      "query and key must both be [H, R, d_k]");
}

TEST(FiniteHeads, RefuseLatentsOfOtherWidths) {
  const Sequential net = pooled(attention(Weighting::softmax, 2, 2, 1.5));
  const auto of = [&](std::int64_t key, std::int64_t value) {
    return finite_heads(net, {.heads = 2, .key_width = key, .value_width = value});
  };
  const auto latents = [&](std::int64_t key, std::int64_t value) {
    Generator rng(1);
    return of(key, value).draw(given_inputs(), rng);
  };
  const auto refused = [](const FiniteHeads& heads, const Latents& z, const std::string& why) {
    test::expect_error([&] { heads.kernel(given_inputs(), z); }, why);
    test::expect_error([&] { heads.maps(given_inputs(), z); }, why);
    test::expect_error([&] { heads.features(given_inputs(), z); }, why);
  };
  refused(of(3, 0), latents(0, 0), "have key_width 0, but the option `key_width` is 3");
  refused(of(0, 0), latents(3, 0), "have key_width 3, but the option `key_width` is 0");
  refused(of(2, 0), latents(3, 0), "have key_width 3, but the option `key_width` is 2");
  refused(of(0, 4), latents(0, 0), "have value_width 0, but the option `value_width` is 4");
  refused(of(0, 0), latents(0, 4), "have value_width 4, but the option `value_width` is 0");
  refused(of(3, 5), latents(3, 4), "have value_width 4, but the option `value_width` is 5");
}

TEST(ScaleMixture, OfExtremeVariances) {
  EXPECT_NEAR(ScaleMixture({0, 1}).density(1), 0.5 * std::exp(-0.5) / std::sqrt(2 * M_PI), 1e-15);
  EXPECT_NEAR(ScaleMixture({0, 1}).cdf(1), 0.5 + 0.25 * std::erfc(-1 / std::sqrt(2)), 1e-15);
  for (const double scale : {1e-200, 1.0, 1e200})
    EXPECT_NEAR(ScaleMixture({scale, 3 * scale}).excess_kurtosis().value, 0.75, 1e-12);
  // N(0, s²) at y is N(0, 1) at y/s, over s, also where y², 2s², 2πs² or Σs² is not representable.
  for (const double s : {0x1p-530, 1.0, 1.3e154}) {
    const ScaleMixture law({s * s, s * s});
    for (const double y : {0.0, 0.5, -1.5, 3.0}) {
      const double exact = std::exp(-0.5 * y * y) / std::sqrt(2 * M_PI);
      EXPECT_NEAR(law.density(y * s) * s, exact, 1e-14) << s << ", " << y;
      EXPECT_NEAR(law.cdf(y * s), 0.5 * std::erfc(-y / std::sqrt(2)), 1e-14) << s << ", " << y;
    }
    EXPECT_DOUBLE_EQ(law.variance(), s * s);
    EXPECT_NEAR(law.excess_kurtosis().value, 0, 1e-12);
  }
  const double largest = std::numeric_limits<double>::max();
  EXPECT_NEAR(ScaleMixture({largest, largest, largest}).variance() / largest, 1, 1e-12);
}

}  // namespace
}  // namespace ladon::finite_heads_test
