// Rows of the kernels of infinite networks, which LibTorch does not have: they are compared only
// with the speed of dgemm on this machine.

#include "../networks.h"
#include "ladon/core/random.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "row.h"

namespace ladon::bench {
namespace {

constexpr std::int64_t vectors = 2000, pixels = 784;
constexpr std::int64_t sequences = 64, tokens = 64, channels = 64;

Sides dense() {
  Generator rng(2);
  const auto net = std::make_shared<Sequential>(relu_net(pixels));
  const infinite::Inputs x = normal({vectors, pixels}, rng, 0, 1, f64);
  return {[=] { gram(infinite::limit(*net), x); }, {}, {}};
}

/// Attention with identity in softmax's place, of 64 texts of 64 tokens.
Sides attention(infinite::Get get) {
  Generator rng(2);
  const auto layer =
      std::make_shared<MultiHeadAttention>(attention_layer(channels, Weighting::identity));
  const infinite::Inputs x = normal({sequences, tokens, channels}, rng, 0, 1, f64);
  return {[=] { gram(infinite::limit(*layer), x, infinite::GramOptions{.get = get}); }, {}, {}};
}

/// As in the goals all pairs count; those on and above the diagonal are needed. Of each x·x'ᵀ of
/// all tokens, and A·k·A'ᵀ for each kernel.
Row attention_row(const std::string& name, infinite::Get get, int kernels,
                  std::array<double, 2> goal) {
  const double pair = 2.0 * tokens * tokens * (channels + 2.0 * kernels * tokens);
  const double all = double(sequences * sequences), half = (all + double(sequences)) / 2;
  return {.name = "attention Gram N 64 T 64, " + name,
          .unit = Unit::gflops,
          .amount = pair * all,
          .goal = goal,
          .ceiling = Ceiling::dgemm,
          .needed = pair * half,
          .make = [=] { return attention(get); }};
}

}  // namespace

std::vector<Row> limit_rows() {
  const double pairs = double(vectors) * (vectors + 1) / 2;
  return {{.name = "dense NNGP+NTK N 2000 f64",
           .goal = {55, 30},
           .ceiling = Ceiling::dgemm,
           .needed = 2.0 * pixels * pairs,
           .make = dense},
          attention_row("NNGP", infinite::Get::nngp, 1, {85, 150}),
          attention_row("NNGP+NTK", infinite::Get::ntk, 2, {85, 150})};
}

}  // namespace ladon::bench
