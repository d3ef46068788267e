// Masked positions and other inputs in a batch have no effect. For every layer: whatever numbers
// are in the padding, and however long it is, outputs at tokens, gradients of weights and kernels
// do not change, and gradients of padding are 0. For every form of attention, at infinite width and
// with finitely many heads, the same holds for Gram matrices with any tiles, their reported share
// of variance that coordinates leave out, predictions, and the kernels of two inputs when a third
// input is scaled or repeated.

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/finite/compare.h"
#include "ladon/layers/infinite/finite/empirical.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/posterior/predict.h"
#include "ladon/tests/registry/every_layer.h"
#include "ladon/tests/support.h"

namespace ladon::test::masked_test {
namespace {

using infinite::Inputs;
using infinite::Kernel;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

/// What may stand in padding: of floating inputs these numbers, or (junk) normal ones.
constexpr double junk = -12345;
std::vector<double> fills(DType dtype) {
  const double huge = dtype == f64 ? 1e300 : 3e38;
  return {junk, 7, 100, -1000, -1e9, 4e17, 1e18, huge, -huge, nan, infinity, -infinity};
}

/// [N, positions] → as it stands on x.
Tensor on(const Tensor& mask, const Tensor& x) {
  const bool indices = x.dtype() == i64;
  Shape shape = x.shape();
  if (!indices) shape[shape.rank() - 1] = 1;
  return reshape(mask, shape);
}

/// x with `fill` where the mask is false.
Tensor filled(const Tensor& x, const Tensor& mask, double fill) {
  if (x.dtype() == i64) return where(on(mask, x), x, scalar(fill == junk ? 1 : -100, i64));
  const Tensor there =
      fill == junk ? cast(gaussian(x.shape(), 99), x.dtype()) : full(x.shape(), fill, x.dtype());
  return where(on(mask, x), x, there);
}

/// Tokens and padding, a token first; of the last input all are tokens.
Tensor mask_of(const Tensor& x) {
  const Shape& s = x.shape();
  const std::int64_t n = s[0], t = s.sub(1, x.dtype() == i64 ? s.rank() : s.rank() - 1).count();
  Tensor mask = ones({n, t}, boolean);
  for (std::int64_t i = 0; i < n * t; ++i)
    mask.mutable_data<bool>()[i] = i % t == 0 || i / t == n - 1 || (i + i / t) % 3 != 1;
  return mask;
}

/// y without what it has at masked positions, if it has positions.
Tensor at_tokens(const Tensor& y, const Tensor& mask) {
  if (y.rank() < 3 || y.shape().sub(0, y.rank() - 1).count() != mask.count()) return y;
  return masked_fill(y, logical_not(on(mask, y)), 0);
}

/// The rows, and layers whose rows are of a kind that knows no mask, so that they have one.
std::vector<LayerRow> rows() {
  std::vector<LayerRow> all = every_layer();
  const auto add = [&](const char* name, auto layer) {
    LayerRow row;
    row.name = name;
    row.make = [layer](Generator&) -> std::unique_ptr<Layer> {
      return std::make_unique<decltype(layer)>(layer);
    };
    row.input = gaussian({3, 4, 4});
    row.limit = Ends::in_a_refusal;
    all.push_back(row);
  };
  const PoolOptions beside{.window = {3}, .stride = {1}, .padding = Padding::same};
  add("AveragePool, same", AveragePool(beside));
  add("MaxPool, same", MaxPool(beside));
  all[all.size() - 2].limit = Ends::in_a_limit;
  return all;
}

std::unique_ptr<Layer> made(const LayerRow& row, bool training) {
  Generator rng(1);
  std::unique_ptr<Layer> layer = row.make(rng);
  layer->train(training);
  StateDict state = layer->state_dict();
  std::uint64_t seed = 3;
  for (const auto& [name, x] : layer->named_parameters())
    state[name] = x.detach() + 0.3 * cast(gaussian(x.shape(), seed++), x.dtype());
  layer->load_state_dict(state);
  return layer;
}

/// Layers that give their inputs no gradient.
const std::set<std::string> have_no_input_gradient = {"TaylorExpansion", "Linearized"};

/// The output at tokens of layer(x, mask), and gradients by x and the weights.
std::vector<Tensor> passed(const LayerRow& row, bool training, const Tensor& x,
                           const Tensor& mask) {
  const auto layer_of_row = made(row, training);
  const Layer& layer = *layer_of_row;
  const bool numbers = is_floating(x.dtype()) && !have_no_input_gradient.contains(row.name);
  Tensor in = x.detach();
  if (numbers) in.set_requires_grad();
  const Tensor y = at_tokens(layer(in, mask), mask);
  std::vector<Tensor> by = layer.parameters(), all{y.detach()};
  if (numbers) by.push_back(in);
  if (by.empty() || !y.requires_grad()) return all;
  const Tensor c = cast(gaussian(y.shape(), 5), y.dtype());
  for (const Tensor& g : grad({sum(y * c)}, by, {.allow_unused = true}))
    all.push_back(g.defined() ? g : zeros({1}));
  if (numbers) {
    EXPECT_TRUE(all_equal(masked_fill(all.back(), on(mask, x), 0), zeros(x.shape(), x.dtype())))
        << "padding has a gradient";
  }
  return all;
}

/// Layers that are told of no mask, as these rows make them: an Error says so. A new layer knows
/// masks, or stands here.
const std::set<std::string> know_no_mask = {"AdaptiveAveragePool",
                                            "AveragePool",
                                            "ConvTranspose1d",
                                            "ConvTranspose2d",
                                            "GroupNorm",
                                            "InstanceNorm",
                                            "MaxPool",
                                            "Transformer",
                                            "TransformerDecoder",
                                            "TransformerDecoderLayer",
                                            "TranslationModel"};

TEST(Masked, PaddingOfEveryLayerDoesNotExist) {
  std::set<std::string> refuse;
  for (const LayerRow& row : rows())
    for (const bool training : {false, true}) {
      SCOPED_TRACE(row.name + (training ? ", training" : ""));
      const Tensor &x = row.input, mask = mask_of(x);
      std::vector<Tensor> expected;
      try {
        expected = passed(row, training, filled(x, mask, 0), mask);
      } catch (const Error&) {
        refuse.insert(row.name);
        continue;
      }
      for (const double fill : fills(x.dtype())) {
        SCOPED_TRACE(fill);
        const std::vector<Tensor> found = passed(row, training, filled(x, mask, fill), mask);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_TRUE(all_close(found[i], expected[i], 1e-5, 1e-5)) << "tensor " << i;
      }
    }
  EXPECT_EQ(refuse, know_no_mask);
}

/// Models of two inputs know the mask of the first, their memory or sources.
template <class Call>
void expect_no_padding_of_memory(const Module& model, const Tensor& memory, const Call& call) {
  const Tensor mask = mask_of(memory);
  const auto gradients = [&](double fill) {
    const Tensor y = call(filled(memory, mask, fill), mask);
    std::vector<Tensor> all =
        grad({sum(y * gaussian(y.shape(), 5))}, model.parameters(), {.allow_unused = true});
    all.push_back(y.detach());
    return all;
  };
  const std::vector<Tensor> expected = gradients(0);
  for (const double fill : fills(memory.dtype())) {
    SCOPED_TRACE(fill);
    const std::vector<Tensor> found = gradients(fill);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (expected[i].defined()) {
        EXPECT_TRUE(all_equal(found[i], expected[i])) << i;
      }
    }
  }
}

TEST(Masked, PaddingOfMemoriesDoesNotExist) {
  Generator rng(8);
  const TransformerEncoderLayerOptions narrow{.dim = 4, .heads = 2, .dropout = 0};
  const TransformerDecoder decoder({.layer = narrow, .layers = 2}, rng);
  const Transformer both({.layer = narrow, .encoder_layers = 2, .decoder_layers = 1}, rng);
  const TranslationModel translation(
      {.vocabulary = 5, .body = {.layer = narrow, .encoder_layers = 1, .decoder_layers = 1}}, rng);
  const MultiHeadAttention attention({.dim = 4, .heads = 2}, rng);
  const Tensor x = gaussian({3, 2, 4}, 1), memory = gaussian({3, 5, 4}, 2);
  const Tensor targets = from_vector(std::vector<std::int64_t>{1, 2, 3, 4, 0, 1}, {3, 2});
  const Tensor sources =
      from_vector(std::vector<std::int64_t>{1, 2, 3, 4, 0, 1, 3, 2, 1, 4, 4, 2}, {3, 4});
  expect_no_padding_of_memory(decoder, memory, [&](const Tensor& m, const Tensor& mask) {
    return decoder(x, m, AttentionMask{}, padding(mask));
  });
  expect_no_padding_of_memory(decoder, memory, [&](const Tensor& m, const Tensor& mask) {
    return decoder.layers[0](x, m, AttentionMask{}, padding(mask));
  });
  expect_no_padding_of_memory(
      both, memory, [&](const Tensor& m, const Tensor& mask) { return both(m, x, mask); });
  expect_no_padding_of_memory(translation, sources, [&](const Tensor& m, const Tensor& mask) {
    return translation(m, targets, mask);
  });
  expect_no_padding_of_memory(attention, memory, [&](const Tensor& m, const Tensor& mask) {
    return attention(x, m, m, padding(mask));
  });
  const NoGrad off;
  const Tensor mask = mask_of(memory);
  const auto cached = [&](double fill) {
    DecodingCache cache = decoder.remember(filled(memory, mask, fill), mask);
    return decoder(x, cache);
  };
  for (const double fill : fills(f32)) EXPECT_TRUE(all_equal(cached(fill), cached(0))) << fill;
}

TEST(Masked, PaddingOfCachedDecodingDoesNotExist) {
  const NoGrad off;
  Generator rng(8);
  TransformerEncoder encoder(
      {.layer = {.dim = 4, .heads = 2, .dropout = 0, .attention = {.causal = true}}, .layers = 2},
      rng);
  const Tensor x = gaussian({3, 5, 4}, 2), mask = mask_of(x), next = gaussian({3, 1, 4}, 3);
  const auto decoded = [&](double fill) {
    DecodingCache cache;
    encoder(filled(x, mask, fill), cache, mask);
    return encoder(next, cache);
  };
  for (const double fill : fills(f32)) EXPECT_TRUE(all_equal(decoded(fill), decoded(0))) << fill;
}

// --- models that users write ---

/// A model of nobody's: its tensors, an input of it, and a call of it.
struct OwnModel {
  std::string name;
  std::shared_ptr<Module> model;
  Tensor input;
  std::function<Tensor(const Tensor& x, const Tensor& mask)> call;
};

constexpr std::int64_t own_width = 4;
MultiHeadAttention own_attention(Generator& rng) {
  return MultiHeadAttention({.dim = own_width, .heads = 2}, rng);
}
Linear own_linear(Generator& rng) { return Linear({.in = own_width, .out = own_width}, rng); }
TransformerEncoderLayer own_block(Generator& rng) {
  return TransformerEncoderLayer({.dim = own_width, .heads = 2, .dropout = 0}, rng);
}

/// A call of two tensors that hands the mask to attention alone.
struct OwnCall : Callable<OwnCall> {
  explicit OwnCall(Generator& rng) : attention(own_attention(rng)), out(own_linear(rng)) {}
  MultiHeadAttention attention;
  Linear out;
  Tensor forward(const Tensor& x) const override { return forward(x, Tensor()); }
  Tensor forward(const Tensor& x, const Tensor& mask) const {
    return out(first_token(attention(x, AttentionMask{.key_mask = mask})));
  }
  void visit(Visitor& v) override { v("attention", attention), v("out", out); }
  std::string describe() const override { return "OwnCall"; }
};

/// A layer whose linear map, which is first, hears of no mask.
struct OwnLayer : Layer {
  explicit OwnLayer(Generator& rng) : in(own_linear(rng)), block(own_block(rng)) {}
  Linear in;
  TransformerEncoderLayer block;
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return mean_positions(block(in(x), AttentionMask{.key_mask = mask}), mask);
  }
  void visit(Visitor& v) override { v("in", in), v("block", block); }
  std::string describe() const override { return "OwnLayer"; }
};

/// A container that passes its mask on, here of tokens and by a call of two tensors.
struct OwnContainer : Callable<OwnContainer> {
  std::vector<Owned<Layer>> layers;
  Tensor forward(const Tensor& x) const override { return forward(x, Tensor()); }
  Tensor forward(const Tensor& x, const Tensor& mask) const {
    Tensor y = x;
    for (const auto& layer : layers) y = (*layer)(y, mask);
    return mean_positions(y, mask);
  }
  void visit(Visitor& v) override { v("layers", layers); }
  std::string describe() const override { return "OwnContainer"; }
};

/// A layer that looks at a memory of its own; as a part, it is told of another mask.
struct OwnMemory : Layer {
  OwnMemory(Generator& rng, std::shared_ptr<std::pair<Tensor, Tensor>> seen)
      : attention(own_attention(rng)), memory(std::move(seen)) {}
  MultiHeadAttention attention;
  std::shared_ptr<std::pair<Tensor, Tensor>> memory;  // and its mask
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor&) const override {
    const auto& [m, mask] = *memory;
    return attention(x, m, m, AttentionMask{.key_mask = mask});
  }
  void visit(Visitor& v) override { v("attention", attention); }
  std::string describe() const override { return "OwnMemory"; }
};

/// A layer that makes ∞ of the 0 that stands in padding.
struct OwnReciprocal : Layer {
  Tensor forward(const Tensor& x) const override { return reciprocal(x); }
  bool per_position() const override { return true; }
  void visit(Visitor&) override {}
  std::string describe() const override { return "OwnReciprocal"; }
};

template <class M>
OwnModel own_model(const char* name, M model, const Tensor& input) {
  const auto held = std::make_shared<M>(std::move(model));
  return {name, held, input,
          [held](const Tensor& x, const Tensor& mask) { return (*held)(x, mask); }};
}

template <class... L>
OwnContainer own_container(L... layers) {
  OwnContainer c;
  (c.layers.push_back(std::move(layers)), ...);
  return c;
}

std::vector<OwnModel> own_models() {
  Generator rng(8);
  const Tensor x = gaussian({3, 5, own_width}, 2);
  const Tensor tokens =
      from_vector(std::vector<std::int64_t>{1, 2, 3, 4, 0, 1, 3, 2, 1, 4, 4, 2}, {3, 4});
  const LanguageModelOptions small{
      .vocabulary = 5, .layers = 1, .layer = {.dim = own_width, .heads = 2, .dropout = 0}};
  std::vector<OwnModel> all{
      own_model("a call of two tensors", OwnCall(rng), x),
      own_model("a layer", OwnLayer(rng), x),
      own_model("a layer in a Sequential", Sequential(OwnLayer(rng), own_linear(rng)), x),
      own_model("a container", own_container(own_linear(rng), own_block(rng), own_attention(rng)),
                x),
      own_model("a Sequential in a container",
                own_container(Sequential(own_linear(rng), own_block(rng)), own_linear(rng)), x),
      own_model("tokens in a container",
                own_container(Embedding({.count = 5, .dim = own_width}, rng), own_block(rng)),
                tokens),
      own_model("a language model in a container", own_container(LanguageModel(small, rng)),
                tokens),
      own_model("∞ in the middle", Sequential(OwnReciprocal(), own_attention(rng), MeanPositions()),
                x)};
  // Functions that make ∞ of ordinary numbers.
  const std::map<std::string, infinite::Pointwise> steep{
      {"exp", [](const Tensor& t) { return exp(t); }},
      {"log of sigmoid", [](const Tensor& t) { return log(sigmoid(t)); }}};
  for (const auto& [name, function] : steep)
    all.push_back(
        own_model(name.c_str(),
                  Sequential(own_linear(rng), Elementwise(function, name), own_attention(rng)), x));
  all.push_back(own_model("a polynomial",
                          Sequential(own_linear(rng), Polynomial::hermite(5), MeanPositions()), x));
  all.push_back(
      own_model("a product of three",
                Sequential(MultiplyBranches(own_linear(rng), own_linear(rng), own_linear(rng)),
                           own_attention(rng)),
                x));
  const auto memory = std::make_shared<std::pair<Tensor, Tensor>>();
  const auto looks = std::make_shared<Sequential>(own_linear(rng), OwnMemory(rng, memory));
  all.push_back({"a memory in a layer", looks, x, [=](const Tensor& m, const Tensor& mask) {
                   *memory = {m, mask};
                   const Tensor queries = gaussian({3, 2, own_width}, 4);
                   return (*looks)(queries, ones({3, 2}, boolean));
                 }});
  const auto projects = std::make_shared<OwnCall>(rng);
  all.push_back({"a projected memory", projects, x, [=](const Tensor& m, const Tensor& mask) {
                   const ProjectedMemory once = projects->attention.project_memory(m, m, mask);
                   return projects->attention(gaussian({3, 2, own_width}, 4), once,
                                              AttentionMask{.key_mask = mask});
                 }});
  const auto parts = std::make_shared<OwnContainer>(
      own_container(own_linear(rng), own_block(rng), own_attention(rng)));
  all.push_back({"layers one by one", parts, x, [=](const Tensor& given, const Tensor& mask) {
                   Tensor y = given;
                   for (const auto& layer : parts->layers) y = (*layer)(y, mask);
                   return first_token(y);
                 }});
  return all;
}

TEST(Masked, PaddingOfUsersModelsDoesNotExist) {
  for (const OwnModel& own : own_models()) {
    SCOPED_TRACE(own.name);
    const Tensor mask = mask_of(own.input);
    const auto passed_on = [&](double fill) {
      const Tensor y = at_tokens(own.call(filled(own.input, mask, fill), mask), mask);
      std::vector<Tensor> all =
          grad({sum(y * gaussian(y.shape(), 5))}, own.model->parameters(), {.allow_unused = true});
      all.push_back(y.detach());
      return all;
    };
    const std::vector<Tensor> expected = passed_on(0);
    for (const double fill : fills(own.input.dtype())) {
      SCOPED_TRACE(fill);
      const std::vector<Tensor> found = passed_on(fill);
      for (std::size_t i = 0; i < found.size(); ++i)
        if (expected[i].defined()) {
          EXPECT_TRUE(all_close(found[i], expected[i], 1e-5, 1e-5)) << "tensor " << i;
        }
    }
  }
}

/// A model of nobody's that decodes.
struct OwnDecoder : Callable<OwnDecoder> {
  explicit OwnDecoder(Generator& rng)
      : in(own_linear(rng)),
        encoder(
            {.layer = {.dim = own_width, .heads = 2, .dropout = 0, .attention = {.causal = true}},
             .layers = 2},
            rng) {}
  Linear in;
  TransformerEncoder encoder;
  Tensor forward(const Tensor& x) const override { return encoder(in(x)); }
  Tensor forward(const Tensor& x, DecodingCache& cache, const Tensor& mask = {}) const {
    return encoder(mask.defined() ? in(x, mask) : in(x), cache, mask);
  }
  void visit(Visitor& v) override { v("in", in), v("encoder", encoder); }
  std::string describe() const override { return "OwnDecoder"; }
};

TEST(Masked, PaddingOfUsersCachesDoesNotExist) {
  const NoGrad off;
  Generator rng(8);
  const OwnDecoder own(rng);
  const TransformerEncoderLayerOptions narrow{.dim = own_width, .heads = 2, .dropout = 0};
  const TranslationModel translation(
      {.vocabulary = 5, .body = {.layer = narrow, .encoder_layers = 1, .decoder_layers = 1}}, rng);
  const Tensor x = gaussian({3, 5, own_width}, 2), mask = mask_of(x);
  const Tensor tokens =
      from_vector(std::vector<std::int64_t>{1, 2, 3, 4, 0, 1, 3, 2, 1, 4, 4, 2}, {3, 4});
  const auto vectors = [&](double fill) {
    DecodingCache cache;
    own(filled(x, mask, fill), cache, mask);
    return own(gaussian({3, 1, own_width}, 3), cache);
  };
  const auto texts = [&](double fill) {
    DecodingCache cache = translation.remember(tokens);
    translation(filled(tokens, mask_of(tokens), fill), cache, mask_of(tokens));
    return translation(slice(tokens, 1, {.stop = 1}), cache);
  };
  for (const double fill : fills(f32)) EXPECT_TRUE(all_equal(vectors(fill), vectors(0))) << fill;
  for (const double fill : fills(i64)) EXPECT_TRUE(all_equal(texts(fill), texts(junk))) << fill;
}

/// Kernels at tokens alone.
std::vector<Tensor> kernels_at_tokens(const infinite::Limit& limit, const Inputs& x) {
  const Kernel k = limit(x);
  std::vector<Tensor> all;
  for (const Tensor& y : {k.nngp, k.ntk}) {
    if (y.rank() != 4 || y.size(2) != x.mask.size(1)) {
      all.push_back(y);
      continue;
    }
    const std::int64_t n = x.count(), t = y.size(2);
    const Tensor both = logical_and(reshape(x.mask, {n, 1, t, 1}), reshape(x.mask, {1, n, 1, t}));
    all.push_back(where(both, y, scalar(0, f64)));
  }
  return all;
}

std::unique_ptr<Layer> behind(const LayerRow& row) {
  Generator rng(6);
  std::unique_ptr<Layer> layer = row.make(rng);
  layer->eval();
  if (row.limit != Ends::behind_linear) return layer;
  const std::int64_t width = row.input.size(-1);
  return std::make_unique<Sequential>(
      Linear({.in = width, .out = width, .parameterization = Parameterization::ntk}, rng),
      std::move(layer));
}

TEST(Masked, PaddingOfEveryLimitDoesNotExist) {
  std::set<std::string> refuse;
  for (const LayerRow& row : rows()) {
    if (row.limit == Ends::in_a_refusal) continue;
    SCOPED_TRACE(row.name);
    const auto layer = behind(row);
    const Tensor x = is_floating(row.input.dtype()) ? cast(row.input, f64) : row.input;
    const Tensor mask = mask_of(x);
    const infinite::Limit limit(*layer);
    std::vector<Tensor> expected;
    try {
      expected = kernels_at_tokens(limit, {filled(x, mask, 0), mask});
    } catch (const Error&) {
      refuse.insert(row.name);
      continue;
    }
    for (const double fill : fills(f64)) {
      SCOPED_TRACE(fill);
      const std::vector<Tensor> found = kernels_at_tokens(limit, {filled(x, mask, fill), mask});
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(all_equal(found[i], expected[i])) << "kernel " << i;
    }
  }
  EXPECT_EQ(refuse, (std::set<std::string>{"AdaptiveAveragePool", "AveragePool", "ConvTranspose1d",
                                           "ConvTranspose2d"}));
}

// --- attention, at infinite width and with finitely many heads ---

constexpr std::int64_t inputs = 5, tokens = 4, width = 3;

/// Every form of attention that has a limit; which these are is asked of the limit itself.
std::vector<AttentionForm> forms() {
  std::vector<AttentionForm> all;
  for (const auto scaling : {AttentionScaling::sqrt, AttentionScaling::linear})
    for (int w = 0; w <= static_cast<int>(Weighting::abs); ++w)
      for (const bool tied : {false, true}) {
        if (tied && scaling == AttentionScaling::sqrt) continue;
        all.push_back({scaling, static_cast<Weighting>(w), tied});
      }
  return all;
}

/// Linear, relu, attention, mean. `coordinates` = 3 leaves much to each input.
Sequential network(const AttentionForm& form, std::int64_t coordinates, bool causal = false) {
  Generator rng(2);
  Linear map({.in = width, .out = 8, .parameterization = Parameterization::ntk, .bias_std = 0.3},
             rng);
  MultiHeadAttention attention(
      {.dim = 8,
       .heads = 2,
       .causal = causal,
       .form = form,
       .prior = {.parameterization = Parameterization::ntk, .query_key_std = 2},
       .limit_draws = {.samples = 16, .coordinates = coordinates}},
      rng);
  return Sequential(std::move(map), Activation(Nonlinearity::relu), std::move(attention),
                    MeanPositions());
}

/// Inputs of 2 to 4 tokens in T places, with `before` of padding first; `fill` stands there.
Inputs padded(std::int64_t t, std::int64_t before, double fill, double scale_of_last = 1) {
  const Tensor x = cast(gaussian({inputs, tokens, width}, 7), f64);
  Tensor y = filled(zeros({inputs, t, width}, f64), zeros({inputs, t}, boolean), fill);
  Tensor mask = zeros({inputs, t}, boolean);
  for (std::int64_t n = 0; n < inputs; ++n)
    for (std::int64_t a = 0; a < 2 + n % 3; ++a) {
      mask.mutable_data<bool>()[n * t + before + a] = true;
      for (std::int64_t c = 0; c < width; ++c)
        y.mutable_data<double>()[(n * t + before + a) * width + c] =
            (n + 1 == inputs ? scale_of_last : 1) * x.data<double>()[(n * tokens + a) * width + c];
    }
  return {y, mask};
}

void expect_near(const Tensor& a, const Tensor& b, const char* what) {
  const double scale = amax(abs(b)).item();
  EXPECT_TRUE(all_close(a, b, 1e-12, 1e-12 * scale)) << what << "\n" << a << b;
}

/// All that is told of inputs at infinite width; in the same draws.
struct Told {
  Tensor nngp, ntk;
  std::vector<double> unexplained, most;
};
Told told(const Sequential& net, const Inputs& x, std::int64_t tile) {
  const infinite::Gram g = infinite::gram(infinite::limit(net), x, {.tile = tile, .replicates = 2});
  return {g.nngp, g.ntk, g.unexplained, g.most_unexplained};
}

TEST(Masked, PaddingOfEveryFormDoesNotExist) {
  for (const AttentionForm& form : forms())
    for (const std::int64_t coordinates : {3, 128})
      for (const bool causal : {false, true}) {
        SCOPED_TRACE(to_string(form) + (causal ? ", causal, " : ", ") +
                     std::to_string(coordinates));
        const Sequential net = network(form, coordinates, causal);
        const Told expected = told(net, padded(4, 0, 0), 0);
        const auto expect_same = [&](const Inputs& x, std::int64_t tile) {
          const Told found = told(net, x, tile);
          expect_near(found.nngp, expected.nngp, "NNGP kernel");
          expect_near(found.ntk, expected.ntk, "tangent kernel");
          ASSERT_EQ(found.unexplained.size(), expected.unexplained.size());
          for (std::size_t i = 0; i < found.unexplained.size(); ++i) {
            EXPECT_NEAR(found.unexplained[i], expected.unexplained[i], 1e-12);
            EXPECT_NEAR(found.most[i], expected.most[i], 1e-12);
          }
        };
        for (const double fill : fills(f64)) {
          SCOPED_TRACE(fill);
          expect_same(padded(4, 0, fill), 2);
        }
        expect_same(padded(7, 0, -1e9), 0);
        expect_same(padded(7, 3, nan), 3);
        if (form == AttentionForm{} && coordinates == 3) {
          EXPECT_GT(expected.unexplained.at(0), 0.01) << "nothing is left to the inputs themselves";
        }
      }
}

TEST(Masked, PaddingOfFiniteHeadsDoesNotExist) {
  for (int w = 0; w <= static_cast<int>(Weighting::abs); ++w) {
    SCOPED_TRACE(w);
    const Sequential net = network({.weighting = static_cast<Weighting>(w)}, 128);
    const auto heads = infinite::finite_heads(net, {.heads = 3});
    const auto drawn = [&](const Inputs& x) {
      Generator rng(4);
      const infinite::Latents z = heads.draw(x, rng);
      const infinite::LatentKernel latent = infinite::latent_kernel(heads, x);
      const Tensor row = reshape(infinite::row_of_latents(z), {1, latent.dim});
      return std::vector<Tensor>{heads.kernel(x, z).nngp, latent.at(row, inputs)};
    };
    const std::vector<Tensor> expected = drawn(padded(4, 0, 0));
    for (const double fill : fills(f64))
      for (const std::int64_t t : {4, 6}) {
        SCOPED_TRACE(fill);
        const std::vector<Tensor> found = drawn(padded(t, t - 4, fill));
        expect_near(found[0], expected[0], "kernel of the heads");
        expect_near(found[1], expected[1], "latent kernel");
      }
  }
}

// Kernels of finite networks are at masked positions, too, those of zeros, as their limits are.
TEST(Masked, PaddingOfEmpiricalKernelsDoesNotExist) {
  Generator rng(2);
  const Sequential net(Linear({.in = 3, .out = 4}, rng), Activation(Nonlinearity::relu),
                       MultiHeadAttention({.dim = 4, .heads = 2}, rng));
  const auto kernels = [&](double fill) {
    Sequential copy = net;
    const auto k = infinite::empirical_kernel(copy, padded(5, 1, fill));
    return stack({k.nngp, k.ntk}, 0);
  };
  for (const double fill : fills(f64)) EXPECT_TRUE(all_equal(kernels(fill), kernels(0))) << fill;
}

// An input of scale 1e9 takes no coordinates from the others, and hides nothing of them.
TEST(Masked, BatchMatesDoNotExist) {
  Generator rng(2);
  const Sequential net(MultiHeadAttention({.dim = width,
                                           .heads = 1,
                                           .prior = {.parameterization = Parameterization::ntk},
                                           .limit_draws = {.samples = 16, .coordinates = 2}},
                                          rng),
                       MeanPositions());
  const infinite::Limit limit(net);
  const Slice others{.stop = inputs - 1};
  const auto of_others = [&](const Tensor& k) { return slice(slice(k, 0, others), 1, others); };
  const Inputs x = padded(4, 0, 0);
  const Kernel expected = limit(x);
  for (const double scale : {1e-9, 1e3, 1e9}) {
    SCOPED_TRACE(scale);
    const Inputs scaled = padded(4, 0, 0, scale);
    const Kernel found = limit(scaled);
    expect_near(of_others(found.nngp), of_others(expected.nngp), "NNGP kernel");
    expect_near(of_others(found.ntk), of_others(expected.ntk), "tangent kernel");
    EXPECT_NEAR(limit.unexplained(scaled).at(0), limit.unexplained(x).at(0), 1e-9);
  }
  const Inputs twice{concat({x.x, slice(x.x, 0, {.start = 1, .stop = 3})}, 0),
                     concat({x.mask, slice(x.mask, 0, {.start = 1, .stop = 3})}, 0)};
  expect_near(of_others(limit(twice).nngp), of_others(expected.nngp), "with inputs twice");
  const infinite::Limit by = limit.with_landmarks(x);
  expect_near(by(x.rows(0, inputs - 1)).ntk, of_others(expected.ntk), "without the last input");
}

TEST(Masked, PaddingOfPredictionsDoesNotExist) {
  const Sequential net = network({}, 3);
  const auto predicted = [&](const Inputs& all) {
    const Predicted y =
        predict(net, all.rows(0, 3), tensor({1, -1, 0.5}, {3, 1}, f64), all.rows(3, inputs),
                {.relative_noise = 0.1, .gram = {.replicates = 2}});
    return std::vector<Tensor>{y.mean, y.covariance};
  };
  const std::vector<Tensor> expected = predicted(padded(4, 0, 0));
  for (const double fill : fills(f64)) {
    SCOPED_TRACE(fill);
    const std::vector<Tensor> found = predicted(padded(6, 1, fill));
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(all_close(found[i], expected[i], 1e-10, 1e-10)) << i;
  }
}

}  // namespace
}  // namespace ladon::test::masked_test
