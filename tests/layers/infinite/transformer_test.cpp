// The Transformer's limit against networks.

#include "ladon/layers/transformer.h"

#include "ladon/tests/layers/infinite/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon {
namespace {

infinite::NetworkFactory transformer(NormPlacement norm) {
  return [norm](Generator& rng) {
    constexpr std::int64_t width = 128;
    auto net = std::make_unique<Sequential>();
    net->append(Linear({.in = 4, .out = width, .init = Init::kaiming_normal}, rng));
    net->append(TransformerEncoder({.layer = {.dim = width,
                                              .heads = 8,
                                              .hidden = 128,
                                              .dropout = 0,
                                              .norm = norm,
                                              .activation = Nonlinearity::relu,
                                              .projection_bias = false},
                                    .layers = 1},
                                   rng));
    net->append(Linear({.in = width, .out = 16, .init = Init::kaiming_normal}, rng));
    return net;
  };
}

// Two tokens, of which softmax needs no draws.
TEST(TransformerLimit, OfBothPlacementsOfTheNorm) {
  for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
    const auto x = test::blocks(2);
    test::expect_limit(transformer(norm), x.a, x.b, test::fewer);
  }
}

TEST(TransformerLimit, RefusesBiasesOfProjections) {
  Generator rng(1);
  const TransformerEncoderLayer layer({.dim = 4, .heads = 2}, rng);
  infinite::Kernel k = infinite::input_kernel(ones({2, 3, 4}));
  k.law.zero_given = 0;
  test::expect_error([&] { layer.limit(k); }, "set projection_bias = false");
}

}  // namespace
}  // namespace ladon
