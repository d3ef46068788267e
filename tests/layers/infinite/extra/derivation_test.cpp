// The printed derivation of a limit, compared with the text in the README.md of layers/infinite.

#include "ladon/layers/infinite/kernel/derivation.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::derivation_test {
namespace {

using infinite::limit;

TEST(Derivation, OfTheDefaultEncoderStandsOnTheCard) {
  Generator rng(1);
  TransformerEncoder encoder({.layer = {.dim = 64, .heads = 8}, .layers = 1}, rng);
  encoder.eval();
  std::string rows;
  for (const auto& step : infinite::derived_steps(*limit(encoder).graph()))
    rows += detail::join("| ", step.number, " | ", step.layer, " | ", step.nngp, " | ", step.ntk,
                         " |\n");
  std::ifstream file(std::string(test::source_folder()) + "/layers/infinite/README.md");
  const std::string card{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(card.find(rows), std::string::npos) << rows;
}

TEST(Derivation, NumbersEveryKernelAndNamesItsLayer) {
  Generator rng(1);
  const LinearOptions options{.in = 3,
                              .out = 3,
                              .parameterization = Parameterization::ntk,
                              .weight_std = 0.5,
                              .bias_std = 2};
  const Sequential net(
      Linear(options, rng),
      Residual(0.25, Sequential(Activation(Nonlinearity::relu), Linear(options, rng))));
  std::ostringstream text;
  text << limit(net);
  EXPECT_EQ(text.str(),
            "inputs: vectors\n"
            "  k₀ = x·x' / the number of channels\n"
            "  t₀ = 0\n"
            "layers.0: Linear(3 → 3)\n"
            "  k₁ = 0.25·k₀ + 4\n"
            "  t₁ = 0.25·t₀ + k₁\n"
            "layers.1.branch.layers.0: Activation(relu)\n"
            "  k₂ = E[φ(u)·φ(v)], (u, v) ~ N(0, k₁ of x and x'), φ = Activation(relu)\n"
            "  t₂ = t₁·E[φ'(u)·φ'(v)]\n"
            "layers.1.branch.layers.1: Linear(3 → 3)\n"
            "  k₃ = 0.25·k₂ + 4\n"
            "  t₃ = 0.25·t₂ + k₃\n"
            "layers.1: Residual(0.25, Sequential(2 layers))\n"
            "  k₄ = 0.25·k₁ + 0.75·k₃\n"
            "  t₄ = 0.25·t₁ + 0.75·t₃\n");
  const std::string dot = to_dot(*limit(net).graph(infinite::Get::nngp));
  EXPECT_NE(dot.find("s1 -> s4"), std::string::npos);
  EXPECT_NE(dot.find("s4 [label=\"layers.1: Residual(0.25, Sequential(2 layers))\\nk₄ = "),
            std::string::npos);
  EXPECT_EQ(dot.find("t₄"), std::string::npos);
}

// Inputs of unknown kind: the first that the model takes.
TEST(Derivation, OfImagesAndOfWhatItIsGiven) {
  Generator rng(1);
  const Sequential net(Conv2d({.in = 3, .out = 8, .window = {3, 3}}, rng), Flatten());
  std::ostringstream text;
  text << limit(net);
  EXPECT_TRUE(text.str().starts_with("inputs: images of H × W\n")) << text.str();
  const auto graph = limit(net).graph({.positions = {5, 7}});
  EXPECT_TRUE(derivation(*graph).starts_with("inputs: images of 5 × 7\n"));
  const MultiHeadAttention attention({.dim = 4, .heads = 1}, rng);
  const Sequential wrong(attention, MeanPositions(), MeanPositions());
  test::expect_error([&] { limit(wrong).graph(); }, "layers.2: [MeanPositions]");
}

}  // namespace
}  // namespace ladon::derivation_test
