// Infinite-width limits of convolutions, compared with finite networks, and the sums over windows
// by which they are computed.

#include "ladon/autograd/forms.h"
#include "ladon/autograd/functional.h"
#include "ladon/layers/extra/images/kernel_windows.h"
#include "ladon/tests/layers/infinite/empirical.h"
#include "ladon/tests/layers/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon::extra_conv_test {
namespace {

using infinite::Inputs;

constexpr auto ntk = Parameterization::ntk;
constexpr std::int64_t width = 48;

/// A filter in NTK parameterization.
ConvOptions filter(std::int64_t in, std::int64_t out, Shape window, Padding padding,
                   Shape stride = {}) {
  return {.in = in,
          .out = out,
          .window = window,
          .stride = stride,
          .padding = padding,
          .parameterization = ntk,
          .weight_std = 1.3,
          .bias_std = 0.3};
}

Linear readout(std::int64_t in, Generator& rng) {
  return Linear({.in = in, .out = 64, .parameterization = ntk, .bias_std = 0.2}, rng);
}

/// Convolution, relu, convolution, and what is left of the positions flattened into a readout.
template <class Filter>
infinite::NetworkFactory two_layers(Shape window, Padding padding, std::int64_t positions,
                                    Shape stride = {}) {
  return [=](Generator& rng) {
    auto net = std::make_unique<Sequential>();
    net->append(Filter(filter(2, width, window, padding, stride), rng));
    net->append(Activation(Nonlinearity::relu));
    net->append(Filter(filter(width, width, window, padding), rng));
    net->append(Flatten());
    net->append(readout(width * positions, rng));
    return net;
  };
}

struct Data {
  Tensor sequences[2], images[2];

  Data() {
    Generator rng(23);
    for (int i = 0; i < 2; ++i) {
      sequences[i] = normal({2, 5, 2}, rng, 0, 1, f64);
      images[i] = normal({2, 3, 4, 2}, rng, 0, 1, f64);
    }
  }
};

TEST(ConvLimit, OfSequences) {
  const Data data;
  const auto check = [&](const infinite::NetworkFactory& make) {
    test::expect_sharp_limit(make, data.sequences[0], data.sequences[1]);
  };
  check(two_layers<Conv1d>({3}, Padding::same, 5));
  check(two_layers<Conv1d>({2}, Padding::valid, 3));
  check(two_layers<Conv1d>({2}, Padding::circular, 5));
  check(two_layers<Conv1d>({3}, Padding::same, 3, {2}));
}

TEST(ConvLimit, OfImages) {
  const Data data;
  const auto check = [&](const infinite::NetworkFactory& make) {
    test::expect_sharp_limit(make, data.images[0], data.images[1]);
  };
  check(two_layers<Conv2d>({3, 2}, Padding::same, 12));
  check(two_layers<Conv2d>({2, 2}, Padding::valid, 2));
  check(two_layers<Conv2d>({2, 3}, Padding::circular, 8, {2, 1}));
}

// No readout: every entry of the [N, N, T, T] blocks is compared.
TEST(ConvLimit, OfEveryPairOfPositions) {
  const Data data;
  test::expect_sharp_limit(
      [](Generator& rng) {
        return std::make_unique<Sequential>(
            Conv2d(filter(2, width, {2, 2}, Padding::same), rng), Activation(Nonlinearity::erf),
            AveragePool({.window = {2, 2}, .stride = {1, 2}, .padding = Padding::same}),
            Conv2d(filter(width, 32, {3, 3}, Padding::same), rng));
      },
      data.images[0], data.images[1], 300);
}

TEST(ConvLimit, OfImagesPooledToTokens) {
  const Data data;
  test::expect_sharp_limit(
      [](Generator& rng) {
        return std::make_unique<Sequential>(Conv2d(filter(2, width, {3, 3}, Padding::same), rng),
                                            Activation(Nonlinearity::relu), FlattenPositions(),
                                            Conv1d(filter(width, width, {2}, Padding::valid), rng),
                                            MeanPositions(), readout(width, rng));
      },
      data.images[0], data.images[1]);
}

TEST(ConvLimit, ReadsMaskedPositionsAsZeros) {
  const Data data;
  Tensor mask = ones({2, 5}, boolean);
  fill_(at(mask, {1, Slice{.start = 2}}), 0);
  test::expect_sharp_limit(
      [](Generator& rng) {
        return std::make_unique<Sequential>(Conv1d(filter(2, width, {3}, Padding::same), rng),
                                            Activation(Nonlinearity::relu),
                                            Conv1d(filter(width, width, {3}, Padding::same), rng),
                                            MeanPositions(), readout(width, rng));
      },
      Inputs(data.sequences[0], mask), Inputs(data.sequences[1], mask));
}

TEST(ConvLimit, InStandardParameterization) {
  const Data data;
  test::expect_sharp_limit(
      [](Generator& rng) {
        return std::make_unique<Sequential>(
            Conv1d({.in = 2, .out = 64, .window = {3}, .gain = 1.3}, rng),
            Activation(Nonlinearity::relu),
            Conv1d({.in = 64, .out = 64, .window = {2}, .padding = Padding::valid}, rng));
      },
      data.sequences[0], data.sequences[1]);
}

TEST(ConvLimit, OfDilatedWindowsAmongZeros) {
  const Data data;
  test::expect_sharp_limit(
      [](Generator& rng) {
        ConvOptions wide = filter(2, width, {2}, Padding::same);
        wide.dilation = {3};
        wide.before = {1};
        wide.after = {2};
        return std::make_unique<Sequential>(Conv1d(wide, rng), Activation(Nonlinearity::relu),
                                            MeanPositions(), readout(width, rng));
      },
      data.sequences[0], data.sequences[1]);
  test::expect_sharp_limit(
      [](Generator& rng) {
        ConvOptions wide = filter(2, width, {2, 2}, Padding::same);
        wide.dilation = {1, 2};
        return std::make_unique<Sequential>(Conv2d(wide, rng), Activation(Nonlinearity::relu),
                                            MeanPositions(), readout(width, rng));
      },
      data.images[0], data.images[1]);
}

TEST(ConvLimit, InGroupsIsRefused) {
  const Data data;
  Generator rng(3);
  const Conv1d layer({.in = 2, .out = 4, .window = {3}, .groups = 2}, rng);
  test::expect_error([&] { infinite::limit(layer)(data.sequences[0], data.sequences[1]); },
                     "no limit of infinite width is known for 2 groups");
}

TEST(ConvLimit, LayerwiseIsTheContractionOfJacobians) {
  const Data data;
  Generator rng(9);
  Sequential sequences(Conv1d({.in = 2, .out = 3, .window = {3}}, rng),
                       Activation(Nonlinearity::gelu),
                       Conv1d(filter(3, 3, {2}, Padding::circular, {2}), rng));
  test::expect_layerwise(sequences, data.sequences[0], data.sequences[1]);
  Sequential images(
      Conv2d(filter(2, 3, {2, 2}, Padding::valid), rng), Activation(Nonlinearity::tanh),
      Conv2d(filter(3, 2, {3, 1}, Padding::same), rng), AveragePool({.window = {2, 2}}), Flatten());
  test::expect_layerwise(images, data.images[0], data.images[1]);
  Sequential grouped(
      Conv2d(
          {.in = 2, .out = 4, .window = {2, 2}, .before = {1, 0}, .dilation = {1, 2}, .groups = 2},
          rng),
      MaxPool({.window = {2, 1}, .stride = {1, 1}}),
      ConvTranspose2d({.in = 4,
                       .out = 2,
                       .window = {2, 2},
                       .stride = {2, 1},
                       .before = {1, 0},
                       .dilation = {3, 1},
                       .output_padding = {2, 0},
                       .groups = 2},
                      rng),
      GroupNorm({.groups = 1, .dim = 2}), InstanceNorm({.dim = 2, .affine = true}),
      BatchNorm({.dim = 2}), Flatten());
  grouped.eval();
  test::expect_layerwise(grouped, data.images[0], data.images[1]);
}

// --- transposed convolutions ---

/// Transposed convolution, relu, another one, and all positions flattened into a readout.
template <class Spread>
infinite::NetworkFactory spread_twice(const ConvTransposeOptions& first, std::int64_t positions) {
  return [=](Generator& rng) {
    ConvTransposeOptions second = first;
    second.in = width;
    auto net = std::make_unique<Sequential>();
    net->append(Spread(first, rng));
    net->append(Activation(Nonlinearity::relu));
    net->append(Spread(second, rng));
    net->append(Flatten());
    net->append(readout(width * positions, rng));
    return net;
  };
}

TEST(ConvTransposeLimit, IsThatOfNetworks) {
  const Data data;
  test::expect_sharp_limit(spread_twice<ConvTranspose1d>({.in = 2, .out = width, .window = {3}}, 9),
                           data.sequences[0], data.sequences[1]);
  test::expect_sharp_limit(  // 5 → 9 → 17
      spread_twice<ConvTranspose1d>({.in = 2,
                                     .out = width,
                                     .window = {2},
                                     .stride = {2},
                                     .before = {1},
                                     .after = {0},
                                     .gain = 1.2},
                                    17),
      data.sequences[0], data.sequences[1]);
  test::expect_sharp_limit(  // 3 × 4 → 4 × 7 → 5 × 13
      spread_twice<ConvTranspose2d>({.in = 2,
                                     .out = width,
                                     .window = {2, 3},
                                     .stride = {1, 2},
                                     .before = {0, 2},
                                     .after = {0, 1},
                                     .output_padding = {0, 1},
                                     .bias = false},
                                    65),
      data.images[0], data.images[1], 200);
}

// One input position and one tap per output: every entry is one kernel of the input or 0.
TEST(ConvTransposeLimit, ByHand) {
  Generator rng(1);
  const ConvTranspose1d layer(
      {.in = 4, .out = 3, .window = {2}, .stride = {3}, .init = Init::normal, .gain = 0.5}, rng);
  const Tensor x = test::gaussian({1, 2, 4}, 3);  // 2 positions → 5, of which the third sees none
  const infinite::Kernel k = infinite::limit(layer)(Inputs(x));
  ASSERT_EQ(k.nngp.shape(), (Shape{1, 1, 5, 5}));
  const auto inner = [&](std::int64_t i, std::int64_t j) {
    return dot(at(x, {0, i}), at(x, {0, j})).item();  // in·k_ij
  };
  const std::int64_t sees[] = {0, 0, -1, 1, 1}, tap[] = {0, 1, -1, 0, 1};
  for (std::int64_t a = 0; a < 5; ++a)
    for (std::int64_t b = 0; b < 5; ++b) {
      const bool meet = sees[a] >= 0 && sees[b] >= 0 && tap[a] == tap[b];
      const double sum = meet ? inner(sees[a], sees[b]) : 0;
      EXPECT_NEAR(at(k.nngp, {0, 0, a, b}).item(), 0.25 * sum, 1e-12) << a << b;
      EXPECT_NEAR(at(k.ntk, {0, 0, a, b}).item(), sum + 1, 1e-12) << a << b;
    }
}

TEST(ConvTransposeLimit, RefusesWhatHasNone) {
  Generator rng(1);
  const Inputs x = test::gaussian({2, 4, 2}, 3);
  test::expect_error(
      [&] {
        infinite::limit(ConvTranspose1d({.in = 2, .out = 2, .window = {2}, .groups = 2}, rng))(x);
      },
      "no limit of infinite width is known for 2 groups");
  const ConvTranspose1d layer({.in = 2, .out = 2, .window = {2}}, rng);
  test::expect_error(
      [&] {
        infinite::limit(layer)(Inputs{x.x, ones({2, 4}, boolean)});
      },
      "takes no mask");
  test::expect_error([&] { infinite::limit(layer)(Inputs(test::gaussian({2, 4, 3}, 1))); }, "2");
  test::expect_error(
      [&] {
        infinite::limit(layer)(Inputs(test::gaussian({2, 3, 3, 2}, 1)));
      },
      "windows over 1 axes");
}

// --- sums over windows ---

TEST(JointWindowSums, AreThoseOfTensorOperations) {
  Generator rng(2);
  const Tensor k = normal({2, 5, 3, 5, 2}, rng, 0, 1, f64);
  for (const Padding padding : {Padding::valid, Padding::same, Padding::circular})
    for (const std::int64_t size : {1, 2, 3, 5})
      for (const std::int64_t stride : {1, 2, 3}) {
        const SlidingWindow w = {size, stride, padding, /*dilation=*/size == 3 ? 2 : 1};
        const auto sums = [&] { return infinite::joint_window_sums(k, 1, 3, w); };
        const auto composed_sums = [&] {
          const ComposedForms composed;
          return sums();
        };
        EXPECT_TRUE(all_equal(sums(), composed_sums()))
            << to_string(padding) << ' ' << size << ' ' << stride;
      }
  const SlidingWindow w = {3, 1, Padding::same};
  EXPECT_TRUE(all_equal(infinite::joint_window_sums(k, -4, -2, w),
                        infinite::joint_window_sums(k, 1, 3, w)));
  test::expect_error([&] { infinite::joint_window_sums(k, 0, 1, w); }, "two axes of equal length");
}

TEST(ConvLimit, IsDifferentiableByItsHyperParameters) {
  const Data data;
  Generator rng(4);
  Sequential net(Conv1d(filter(2, 3, {3}, Padding::same), rng), Activation(Nonlinearity::relu),
                 Conv1d(filter(3, 3, {3}, Padding::same), rng), MeanPositions());
  const auto value = [&](const std::vector<Tensor>& stds) {
    net.set_hyperparameter("layers.0.weight_std", stds[0]);
    net.set_hyperparameter("layers.2.bias_std", stds[1]);
    return infinite::limit(net)(data.sequences[0], infinite::Get::nngp).nngp;
  };
  EXPECT_TRUE(gradcheck(
      value, {scalar(1.3, f64).set_requires_grad(), scalar(0.3, f64).set_requires_grad()}));
}

}  // namespace
}  // namespace ladon::extra_conv_test
