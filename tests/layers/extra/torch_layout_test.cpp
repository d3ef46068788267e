// Models from PyTorch: outputs that PyTorch publishes for layers whose weights are cosines (the
// constants in its test/cpp/api/transformer.cpp), conversion to PyTorch's layout and back, and an
// encoder–decoder by names of parameters.

#include "ladon/layers/extra/state/torch_layout.h"

#include <gtest/gtest.h>

#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/embedding.h"
#include "ladon/layers/extra/images/conv.h"
#include "ladon/layers/extra/images/conv_transpose.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/transformer/transformer.h"
#include "ladon/tests/support.h"

namespace ladon::torch_layout_test {
namespace {

using test::expect_error;

TransformerEncoderLayerOptions published(Nonlinearity activation) {
  return {.dim = 4,
          .heads = 2,
          .hidden = 16,
          .dropout = 0,
          .norm_placement = NormPlacement::post,
          .activation = activation};
}

/// Each tensor, in PyTorch's layout, is cos(0), cos(1), ….
void fill_by_cosines(Module& model) {
  StateDict state = to_torch(model);
  for (auto& [name, x] : state) x = reshape(cos(arange(0, double(x.count()), 1, f64)), x.shape());
  from_torch(model, state);
}

/// The figures stand as [T, batch, 4].
Tensor figures(std::int64_t tokens, std::int64_t batch, const std::vector<double>& values) {
  return transpose(cast(from_vector(values, {tokens, batch, 4}), f32), 0, 1);
}

Tensor mask_of(const std::vector<double>& hidden, std::int64_t batch) {  // PyTorch: true is hidden
  const auto tokens = static_cast<std::int64_t>(hidden.size()) / batch;
  return equal(from_vector(hidden, {batch, tokens}), 0);
}

const Tensor five =
    figures(5, 2, {0.7462, 0.6653, 0.5679, 0.4891, 0.5387, 0.1655, 0.3565, 0.0471, 0.8335, 0.2799,
                   0.5031, 0.2947, 0.1402, 0.0318, 0.7636, 0.1346, 0.6333, 0.9344, 0.1376, 0.9938,
                   0.8924, 0.2872, 0.6692, 0.2944, 0.9897, 0.6915, 0.3154, 0.1733, 0.8645, 0.3513,
                   0.3064, 0.0767, 0.8117, 0.2366, 0.4838, 0.7881, 0.3718, 0.4945, 0.9511, 0.0864});
const Tensor three =
    figures(3, 2, {0.4517, 0.6793, 0.5313, 0.0034, 0.2678, 0.3677, 0.4459, 0.7166,
                   0.8100, 0.3716, 0.4096, 0.1976, 0.6958, 0.8844, 0.6081, 0.8315,
                   0.0494, 0.9343, 0.5955, 0.3830, 0.5404, 0.3464, 0.9378, 0.6200});

void expect_near(const Tensor& y, const Tensor& expected) {
  EXPECT_TRUE(all_close(y, expected, 0, 1e-5)) << y << "\n" << expected;
}

TEST(TorchFigures, EncoderLayer) {
  Generator rng(1);
  TransformerEncoderLayer relu(published(Nonlinearity::relu), rng),
      gelu(published(Nonlinearity::gelu), rng);
  fill_by_cosines(relu);
  fill_by_cosines(gelu);
  const Tensor one = figures(1, 1, {20, 30, 40, 50}), two = figures(2, 1, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_near(relu(one), figures(1, 1, {2.258703, 0.127985, -0.697881, 0.170862}));
  expect_near(gelu(one), figures(1, 1, {2.249815, 0.131006, -0.702199, 0.177868}));
  expect_near(relu(two), figures(2, 1,
                                 {2.272644, 0.119035, -0.691669, 0.153486,  //
                                  2.272644, 0.119035, -0.691669, 0.153486}));
  expect_near(relu(two, mask_of({1, 0}, 1)), figures(2, 1,
                                                     {2.301516, 0.092249, -0.679101, 0.103088,  //
                                                      2.301516, 0.092249, -0.679101, 0.103088}));
  expect_near(
      relu(five),
      figures(5, 2, {2.428589,  0.020835,  -0.602055, -0.085249, 2.427987,  0.021213,  -0.602496,
                     -0.084103, 2.424689,  0.019155,  -0.604793, -0.085672, 2.413863,  0.022211,
                     -0.612486, -0.072490, 2.433774,  0.021598,  -0.598343, -0.087548, 2.425104,
                     0.019748,  -0.604515, -0.084839, 2.436185,  0.022682,  -0.596625, -0.087261,
                     2.433556,  0.021891,  -0.598509, -0.086832, 2.416246,  0.017512,  -0.610712,
                     -0.082961, 2.422901,  0.024187,  -0.606178, -0.074929}));
  expect_near(
      relu(five, mask_of({0, 1, 0, 0, 0, 0, 0, 0, 1, 1}, 2)),
      figures(5, 2, {2.429026,  0.020793,  -0.601741, -0.085642, 2.428811,  0.021445,  -0.601912,
                     -0.084252, 2.425009,  0.019155,  -0.604566, -0.085899, 2.415408,  0.02249,
                     -0.611415, -0.073,    2.434199,  0.021682,  -0.598039, -0.087699, 2.42598,
                     0.019941,  -0.603896, -0.085091, 2.436457,  0.022736,  -0.59643,  -0.08736,
                     2.434021,  0.022093,  -0.598179, -0.08679,  2.416531,  0.017498,  -0.610513,
                     -0.083181, 2.4242,    0.024653,  -0.605266, -0.074959}));
  expect_near(
      gelu(five),
      figures(5, 2, {2.42163188,  0.03227153,  -0.60714219, -0.05908082, 2.42151276,  0.03302179,
                     -0.60722523, -0.05762651, 2.41926761,  0.02974034,  -0.60879519, -0.0621269,
                     2.41626395,  0.03539356,  -0.61087842, -0.04978623, 2.42382808,  0.03218872,
                     -0.6055963,  -0.06073591, 2.41983477,  0.03085259,  -0.60840145, -0.06046414,
                     2.42500749,  0.03328855,  -0.60476388, -0.0595334,  2.4237977,   0.03290575,
                     -0.60561789, -0.05940082, 2.41383916,  0.02686345,  -0.61256377, -0.06380707,
                     2.42000277,  0.03800944,  -0.60824798, -0.04754947}));
}

TEST(TorchFigures, Encoder) {
  Generator rng(1);
  const Tensor mask = mask_of({0, 1, 0, 0, 0, 0, 0, 0, 1, 1}, 2);
  TransformerEncoder stack({published(Nonlinearity::relu), 2}, rng);
  fill_by_cosines(stack);
  const Tensor y = stack(five, mask);
  expect_near(
      y, figures(5, 2, {2.419051,  0.017446,  -0.608738, -0.085003, 2.419102,  0.017452,  -0.608703,
                        -0.085026, 2.419043,  0.017445,  -0.608744, -0.084999, 2.419052,  0.017446,
                        -0.608738, -0.085004, 2.419067,  0.017448,  -0.608727, -0.085010, 2.419098,
                        0.017452,  -0.608706, -0.085024, 2.419072,  0.017449,  -0.608724, -0.085012,
                        2.419119,  0.017455,  -0.608691, -0.085034, 2.419019,  0.017442,  -0.608761,
                        -0.084989, 2.419075,  0.017449,  -0.608722, -0.085014}));
  // With a norm at its end, whose weights are as at first.
  expect_near(slice(LayerNorm({.dim = 4})(y), 1, {.stop = 1}),
              figures(1, 2,
                      {1.695949, -0.357635, -0.893077, -0.445238,  //
                       1.695955, -0.357639, -0.893050, -0.445266}));
}

TEST(TorchFigures, DecoderLayer) {
  Generator rng(1);
  TransformerDecoderLayer relu(published(Nonlinearity::relu), rng),
      gelu(published(Nonlinearity::gelu), rng);
  for (auto* layer : {&relu, &gelu}) {
    fill_by_cosines(*layer);
    layer->attention->causal = false;  // no mask there
  }
  const AttentionMask none;
  const Tensor one = figures(1, 1, {20, 30, 40, 50}), ones = figures(1, 1, {60, 70, 80, 90});
  expect_near(relu(one, ones, none), figures(1, 1, {2.314351, 0.094805, -0.671322, 0.101977}));
  expect_near(gelu(one, ones, none), figures(1, 1, {2.306435, 0.095946, -0.675796, 0.10687}));
  const Tensor two = figures(2, 1, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor twos = figures(2, 1, {9, 10, 11, 12, 11, 12, 13, 14});
  expect_near(relu(two, twos, none), figures(2, 1,
                                             {2.343536, 0.085561, -0.654954, 0.074991,  //
                                              2.343536, 0.085561, -0.654954, 0.074991}));
  expect_near(relu(three, five, none),
              figures(3, 2, {2.430065,  0.027862,  -0.601136, -0.073096, 2.431935,  0.028907,
                             -0.599809, -0.072488, 2.428457,  0.027053,  -0.602275, -0.073462,
                             2.431970,  0.029387,  -0.599789, -0.071621, 2.431934,  0.028196,
                             -0.599802, -0.073809, 2.432306,  0.028858,  -0.599542, -0.072846}));
  expect_near(relu(three, five, padding(mask_of({0, 0, 1, 0, 1, 1}, 2))),
              figures(3, 2, {2.430025,  0.027643,  -0.601164, -0.073476, 2.4323,    0.029375,
                             -0.599553, -0.071881, 2.428523,  0.026838,  -0.602226, -0.07391,
                             2.432634,  0.029842,  -0.599318, -0.071253, 2.432278,  0.028152,
                             -0.599555, -0.074139, 2.432659,  0.029244,  -0.599294, -0.072382}));
  expect_near(relu(three, five, none, padding(mask_of({0, 0, 0, 0, 1, 0, 0, 0, 1, 1}, 2))),
              figures(3, 2, {2.429757,  0.027358,  -0.601351, -0.073816, 2.432692,  0.028583,
                             -0.599263, -0.073634, 2.428247,  0.02662,   -0.602419, -0.074123,
                             2.432657,  0.029055,  -0.599293, -0.072732, 2.431515,  0.027687,
                             -0.600096, -0.074459, 2.433075,  0.028543,  -0.598987, -0.073985}));
  expect_near(gelu(three, five, none),
              figures(3, 2, {2.42049104,  0.03443088,  -0.60793706, -0.05436271, 2.42210631,
                             0.03546578,  -0.60679895, -0.05357488, 2.41907674,  0.0336104,
                             -0.60892977, -0.05490462, 2.42216881,  0.03586554,  -0.6067524,
                             -0.05289126, 2.42205716,  0.03488046,  -0.60683681, -0.05460596,
                             2.42240309,  0.0354595,   -0.60659063, -0.05378816}));
}

/// A model of a user's, with members named as in PyTorch.
struct Seq2Seq : Module {
  Embedding source, target;
  Transformer transformer;
  Sequential out;
  Conv1d conv;

  explicit Seq2Seq(Generator& rng)
      : source({.count = 7, .dim = 8}, rng),
        target({.count = 9, .dim = 8}, rng),
        transformer({.layer = {.dim = 8, .heads = 2, .hidden = 12, .dropout = 0},
                     .encoder_layers = 2,
                     .decoder_layers = 1},
                    rng),
        out(Linear({.in = 8, .out = 9}, rng)),
        conv({.in = 8, .out = 8, .window = {3}}, rng) {}
  Tensor forward(const Tensor& x, const Tensor& y) const {
    return out(transformer(conv(source(x)), target(y), Tensor()));
  }
  void visit(Visitor& v) override {
    v("source", source);
    v("target", target);
    v("transformer", transformer);
    v("out", out);
    v("conv", conv);
  }
  std::string describe() const override { return "Seq2Seq"; }
};

TEST(TorchLayout, AWholeModelThereAndBackByNames) {
  Generator rng(2);
  Seq2Seq one(rng), two(rng);
  const StateDict state = to_torch(one);
  for (const char* name :
       {"source.weight", "transformer.encoder.layers.1.self_attn.in_proj_weight",
        "transformer.encoder.layers.0.linear1.bias", "transformer.encoder.norm.weight",
        "transformer.decoder.layers.0.multihead_attn.out_proj.bias",
        "transformer.decoder.layers.0.norm3.weight", "out.0.weight", "conv.weight"})
    EXPECT_TRUE(state.contains(name)) << name;
  EXPECT_EQ(state.at("conv.weight").shape(), Shape({8, 8, 3}));
  from_torch(two, state);
  const Tensor x = randint({2, 5}, rng, 0, 7), y = randint({2, 4}, rng, 0, 9);
  EXPECT_TRUE(all_equal(one.forward(x, y), two.forward(x, y)));
}

// [in, out, taps] there, [in, taps, out] here; of equal sizes, so that no shape tells.
TEST(TorchLayout, TransposedConvolutionsAreTurned) {
  Generator rng(4);
  ConvTranspose1d layer({.in = 3, .out = 3, .window = {3}}, rng);
  StateDict state = to_torch(layer);
  const Tensor w = normal({3, 3, 3}, rng);
  state["weight"] = w;
  from_torch(layer, state);
  EXPECT_EQ(at(layer.weight, {0, 2, 1}).item(), at(w, {0, 1, 2}).item());
  EXPECT_TRUE(all_equal(to_torch(layer).at("weight"), w));
}

// A layer of a user's inside of the library's: x·A + b with A [in, out], which PyTorch's module
// keeps as `weight` [out, in], and a norm called otherwise.
struct Turned : Layer, TorchForm {
  Tensor matrix;
  LayerNorm inner_norm;
  explicit Turned(const Tensor& a) : matrix(parameter(clone(a))), inner_norm({.dim = 3}) {}
  Tensor forward(const Tensor& x) const override { return inner_norm(matmul(x, matrix)); }
  void visit(Visitor& v) override {
    v("matrix", matrix);
    v("inner_norm", inner_norm);
  }
  std::string describe() const override { return "Turned"; }
  ForeignTensor torch_form(const std::string& member) const override {
    const auto turn = [](const Tensor& x) { return transpose(x); };
    if (member == "matrix") return {.foreign = "weight", .out = turn, .in = turn};
    return {.foreign = member == "inner_norm" ? "ln" : member};
  }
};

TEST(TorchLayout, ALayerOfAUsersSaysItsOwnNames) {
  Generator rng(1);
  const Tensor a = tensor({0, 1, 2, 3, 4, 5}, {2, 3}, f64);
  Sequential model(Turned(a), Linear({.in = 3, .out = 1}, rng)),
      other(Turned(a), Linear({.in = 3, .out = 1}, rng));
  StateDict state = to_torch(model);
  ASSERT_TRUE(state.contains("0.weight") && state.contains("0.ln.weight") &&
              state.contains("1.bias"));
  EXPECT_EQ(state.size(), 5u);
  EXPECT_TRUE(all_equal(state.at("0.weight"), tensor({0, 3, 1, 4, 2, 5}, {3, 2}, f64)));
  state.at("0.weight") = tensor({1, 2, 3, 4, 5, 6}, {3, 2}, f64);
  from_torch(other, state);
  EXPECT_TRUE(
      all_equal(other.state_dict().at("layers.0.matrix"), tensor({1, 3, 5, 2, 4, 6}, {2, 3}, f64)));
  state.erase("0.ln.weight");
  expect_error([&] { from_torch(other, state); }, "0.ln.weight");
}

TEST(TorchLayout, AFailedLoadChangesNothing) {
  Generator rng(3);
  Seq2Seq model(rng);
  const Tensor before = clone(model.out.state_dict().at("layers.0.weight"));
  const auto broken = [&](const auto& change) {
    StateDict state = to_torch(Seq2Seq(rng));
    change(state);
    return [&model, state] { from_torch(model, state); };
  };
  expect_error(
      broken([](StateDict& s) { s.erase("out.0.bias"); }),
      "`out.0.bias` is missing from the state; the model needs it for `out.layers.0.bias`");
  expect_error(broken([](StateDict& s) { s["extra"] = ones({2}); }),
               "`extra` (shape [2]) is not in this model");
  expect_error(
      broken([](StateDict& s) {
        s["transformer.encoder.layers.0.self_attn.in_proj_bias"] = ones({8});
      }),
      "`transformer.encoder.layers.0.self_attn.in_proj_bias` has shape [8], expected [24]");
  EXPECT_TRUE(all_equal(model.out.state_dict().at("layers.0.weight"), before));
  TransformerEncoderLayer gated({.dim = 8, .heads = 2, .gated = true}, rng);
  expect_error([&] { to_torch(gated); }, "has no feed-forward block with a gate");
  MultiHeadAttention shared({.dim = 8, .heads = 2, .kv_heads = 1}, rng);
  expect_error([&] { to_torch(shared); }, "heads that share keys and values");
}

}  // namespace
}  // namespace ladon::torch_layout_test
