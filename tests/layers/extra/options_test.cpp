// Options of layers: numbers out of range are errors that name the option.

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ladon/ladon.h"
#include "ladon/tests/support.h"

namespace ladon::options_test {
namespace {

using test::expect_error;

constexpr auto ntk = Parameterization::ntk;

/// An option and what it must be.
struct Row {
  std::string name;
  std::function<void(double value)> make;
};

Generator& source() {
  static Generator rng(1);
  return rng;
}

/// Attention in NTK parameterization with one standard deviation set.
std::function<void(double)> attention(double AttentionPrior::*option) {
  return [option](double value) {
    MultiHeadAttentionOptions o{.dim = 4, .heads = 2, .prior = {.parameterization = ntk}};
    o.prior.*option = value;
    MultiHeadAttention(o, source());
  };
}

/// A layer made of options of which one number is set.
template <class L, class Options>
std::function<void(double)> made(Options options, double Options::*option) {
  return [=](double value) {
    Options o = options;
    o.*option = value;
    if constexpr (std::is_constructible_v<L, const Options&, Generator&>)
      L(o, source());
    else
      L{o};
  };
}

/// Every standard deviation and eps.
std::vector<Row> sizes() {
  const LinearOptions linear{.in = 3, .out = 2, .parameterization = ntk};
  const ConvOptions conv{.in = 3, .out = 2, .window = {3}, .parameterization = ntk};
  const WideHeadsOptions wide{.dim = 3};
  const EmbeddingOptions embedding{.count = 5, .dim = 2},
      scaled{.count = 5, .dim = 2, .parameterization = ntk};
  const RandomPositionsOptions positions{.grid = {3}, .in = 2};
  const TransformerEncoderLayerOptions block{
      .dim = 4, .heads = 2, .attention = {.prior = {.parameterization = ntk}}};
  return {
      {"weight_std", made<Linear>(linear, &LinearOptions::weight_std)},
      {"bias_std", made<Linear>(linear, &LinearOptions::bias_std)},
      {"weight_std", made<Conv1d>(conv, &ConvOptions::weight_std)},
      {"bias_std", made<Conv1d>(conv, &ConvOptions::bias_std)},
      {"query_key_std", attention(&AttentionPrior::query_key_std)},
      {"value_output_std", attention(&AttentionPrior::value_output_std)},
      {"bias_std", attention(&AttentionPrior::bias_std)},
      {"query_key_std", made<WideHeads>(wide, &WideHeadsOptions::query_key_std)},
      {"value_output_std", made<WideHeads>(wide, &WideHeadsOptions::value_output_std)},
      {"stddev", made<Embedding>(embedding, &EmbeddingOptions::stddev)},
      {"stddev", made<Embedding>(scaled, &EmbeddingOptions::stddev)},
      {"stddev", made<RandomPositions>(positions, &RandomPositionsOptions::stddev)},
      {"stddev", made<LearnedPositions>(LearnedPositionsOptions{.max_length = 3, .dim = 2},
                                        &LearnedPositionsOptions::stddev)},
      {"stddev", made<RelativeBias>(RelativeBiasOptions{.heads = 2}, &RelativeBiasOptions::stddev)},
      {"decay", [](double value) { decaying_correlation(value); }},
      {"eps", made<LayerNorm>(LayerNormOptions{.dim = 3}, &LayerNormOptions::eps)},
      {"eps", made<RmsNorm>(RmsNormOptions{.dim = 3}, &RmsNormOptions::eps)},
      {"eps", made<GroupNorm>(GroupNormOptions{.groups = 1, .dim = 3}, &GroupNormOptions::eps)},
      {"eps", made<InstanceNorm>(InstanceNormOptions{.dim = 3}, &InstanceNormOptions::eps)},
      {"eps", made<BatchNorm>(BatchNormOptions{.dim = 3}, &BatchNormOptions::eps)},
      {"eps", made<TransformerEncoderLayer>(block, &TransformerEncoderLayerOptions::norm_eps)},
      {"weight_std",
       made<TransformerEncoderLayer>(block, &TransformerEncoderLayerOptions::weight_std)},
      {"bias_std", made<TransformerEncoderLayer>(block, &TransformerEncoderLayerOptions::bias_std)},
      {"base", made<RotaryPositions>(RotaryOptions{}, &RotaryOptions::base)},
      {"scale", made<RotaryPositions>(RotaryOptions{}, &RotaryOptions::scale)}};
}

TEST(LayerOptions, SizesAreFiniteAndNotNegative) {
  for (const Row& row : sizes()) {
    for (const double value : {-1.0, -1e-300, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      SCOPED_TRACE(detail::join(row.name, " = ", value));
      expect_error([&] { row.make(value); }, row.name);
    }
    EXPECT_NO_THROW(row.make(0.5)) << row.name;
  }
}

// 2^40 layers drew weights until memory ran out.
TEST(LayerOptions, DepthsAreBounded) {
  const TransformerEncoderLayerOptions block{.dim = 4, .heads = 2};
  for (const std::int64_t layers :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40, max_count}) {
    const RecurrentOptions o{.in = 2, .hidden = 2, .layers = layers};
    const std::vector<std::function<void()>> all{
        [&] { Lstm(o, source()); },
        [&] { Gru(o, source()); },
        [&] { Rnn(o, source()); },
        [&] { TransformerEncoder({.layer = block, .layers = layers}, source()); },
        [&] { TransformerDecoder({.layer = block, .layers = layers}, source()); },
        [&] { Transformer({.layer = block, .encoder_layers = layers}, source()); },
        [&] { Transformer({.layer = block, .decoder_layers = layers}, source()); },
        [&] { LanguageModel(gpt2(5, layers, 4, 2, 6), source()); }};
    for (const auto& make : all) expect_error(make, "layers must be positive and at most 65536");
  }
}

TEST(LayerOptions, WidthsOfAttentionAreNotNegative) {
  for (const auto option :
       {&MultiHeadAttentionOptions::head_dim, &MultiHeadAttentionOptions::key_dim,
        &MultiHeadAttentionOptions::value_dim, &MultiHeadAttentionOptions::value_head_dim,
        &MultiHeadAttentionOptions::out}) {
    MultiHeadAttentionOptions o{.dim = 4, .heads = 2};
    o.*option = -1;
    expect_error([&] { MultiHeadAttention(o, source()); }, "must not be negative, got -1");
  }
  expect_error([] { TransformerEncoderLayer({.dim = 4, .heads = 2, .hidden = -1}, source()); },
               "hidden must not be negative, got -1");
}

TEST(LayerOptions, EveryDistanceHasABucket) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const bool both : {false, true}) {
    const RelativeBias bias({.heads = 2, .bidirectional = both}, source());
    for (const std::int64_t ahead : {Limits::min(), Limits::min() + 1, std::int64_t{-1000}})
      EXPECT_EQ(bias.bucket(ahead), both ? 15 : 31) << ahead;
    EXPECT_EQ(bias.bucket(Limits::max()), both ? 31 : 0);
  }
}

TEST(FiniteOptions, CountsOutOfRangeAreNamed) {
  const auto make = [](const infinite::NetworkSize& size, Generator& rng) {
    return std::make_unique<Linear>(LinearOptions{.in = 2, .out = 2 * size.width}, rng);
  };
  const Tensor x = test::gaussian({2, 2});
  const auto compare = [&](const infinite::CompareOptions& options) {
    infinite::compare(make, x, {{.size = {.width = 2}, .draws = 4}}, options, source());
  };
  for (const std::int64_t count : {-100, -1, 0}) {
    expect_error([&] { compare({.gaussian_channels = count}); }, "gaussian_channels must be");
    expect_error([&] { compare({.mmd_samples = count}); }, "mmd_samples at least 3");
  }
  EXPECT_NO_THROW(compare({.gaussian_channels = 1, .mmd_samples = 3}));
  Linear network({.in = 2, .out = 2}, source());
  for (const std::int64_t channels : {-1, 3, 5})
    for (const std::int64_t inputs : {0, 2})
      expect_error(
          [&] {
            infinite::empirical_kernel(network, zeros({inputs, 2}, f64), {.channels = channels});
          },
          detail::join("the first ", channels, " outputs"));
  const Tensor k = eye(2, f64);
  for (const double width : {-1.0, 0.0, std::nan("")})
    for (const auto option :
         {&infinite::AttentionWidths::key_width, &infinite::AttentionWidths::value_width,
          &infinite::AttentionWidths::readout_width}) {
      infinite::AttentionWidths widths;
      widths.*option = width;
      expect_error([&] { infinite::identity_kurtosis(k, k, widths); }, "widths must be positive");
    }
  const auto gram = infinite::store_gram(infinite::limit(network), test::gaussian({3, 2}), "",
                                         {.get = infinite::Get::nngp});
  for (const std::int64_t row : {std::int64_t{-1}, gram.across() + 1})
    expect_error([&] { gram.first(row); }, "there is no tile row");
  EXPECT_EQ(gram.first(gram.across()), 3);
}

}  // namespace
}  // namespace ladon::options_test
