#include "ladon/optim/particles/particles.h"

#include <type_traits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/particles/rows.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::particles_test {
namespace {

MultiHeadAttention attention(std::uint64_t seed, MultiHeadAttentionOptions options) {
  Generator rng(seed);
  return MultiHeadAttention(options, rng);
}

std::vector<std::string> names(const Particles& particles) {
  std::vector<std::string> names;
  for (const ParticleBlock& block : particles) names.push_back(block.name());
  return names;
}

TransformerEncoder encoder() {
  Generator rng(3);
  return TransformerEncoder({.layer = {.dim = 8, .heads = 4}, .layers = 2}, rng);
}

TEST(Particles, AreViewsOfTheHeads) {
  auto a = attention(1, {.dim = 6, .heads = 3, .key_dim = 5});
  const Particles heads = particles(a);
  EXPECT_EQ(names(heads), (std::vector<std::string>{"query", "key", "value"}));
  EXPECT_EQ(heads[0].count(), 3);
  EXPECT_EQ(heads[0].dim(), 2 * 6);
  EXPECT_EQ(heads[1].dim(), 2 * 5);
  const Tensor values = heads[0].values();
  EXPECT_EQ(values.shape(), (Shape{3, 12}));
  EXPECT_TRUE(values.storage() == a.query.storage());
  EXPECT_TRUE(same_bits(select(values, 0, 2), reshape(select(a.query.detach(), 0, 2), {12})));
}

TEST(Particles, JoinTheHeadsPartsOnRequest) {
  auto a = attention(1, {.dim = 6, .heads = 3, .key_dim = 5});
  const Particles heads = particles(a, {.space = HeadSpace::joint});
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_EQ(heads[0].dim(), 2 * (6 + 5 + 5));
  const auto row = [](const Tensor& x, std::int64_t h) {
    return reshape(select(x.detach(), 0, h), {-1});
  };
  for (std::int64_t h = 0; h < 3; ++h) {
    const Tensor expected = concat({row(a.query, h), row(a.key, h), row(a.value, h)}, 0);
    EXPECT_TRUE(same_bits(select(heads[0].values(), 0, h), expected));
  }
}

TEST(Particles, IncludeWhatIsAskedFor) {
  auto a = attention(1, {.dim = 6, .heads = 3});
  EXPECT_EQ(names(particles(a, {.include = {HeadPart::value, HeadPart::output}})),
            (std::vector<std::string>{"value", "output"}));
  expect_error([&] { particles(a, {.include = {}}); }, "is empty; list at least one part");
  expect_error([&] { particles(a, {.include = {HeadPart::key, HeadPart::key}}); }, "twice");
}

TEST(Particles, FindAttentionByDottedName) {
  auto model = encoder();
  EXPECT_EQ(names(particles(model)),
            (std::vector<std::string>{"layers.0.attention.query", "layers.0.attention.key",
                                      "layers.0.attention.value", "layers.1.attention.query",
                                      "layers.1.attention.key", "layers.1.attention.value"}));
  const auto first = [](std::string_view name) { return name == "layers.0.attention"; };
  EXPECT_EQ(names(particles(model, {.space = HeadSpace::joint, .select = first})),
            (std::vector<std::string>{"layers.0.attention"}));
  expect_error([&] { particles(model, {.select = [](std::string_view) { return false; }}); },
               "2 attention layers, none of which was selected");
  Generator rng(1);
  Linear linear({.in = 2, .out = 2}, rng);
  expect_error([&] { particles(linear); }, "0 attention layers");
}

TEST(Particles, SayThatTiedAttentionHasNoKeys) {
  Generator rng(1);
  MultiHeadAttention tied({.dim = 4, .heads = 2, .form = {.tied = true}}, rng);
  for (const HeadSpace space : {HeadSpace::separate, HeadSpace::joint})
    expect_error([&] { particles(tied, {.space = space, .include = {HeadPart::key}}); },
                 "with tied queries and keys there is no key");
  EXPECT_NO_THROW(particles(tied, {.include = {HeadPart::query, HeadPart::key}}));
}

struct Twice : Module {
  MultiHeadAttention inner = attention(1, {.dim = 4, .heads = 2});
  void visit(Visitor& v) override {
    v("first", inner);
    v("second", inner);
  }
  std::string describe() const override { return "Twice"; }
};

TEST(Particles, TiedQueriesAndKeysAreOneBlock) {
  Generator rng(1);
  MultiHeadAttention tied({.dim = 4, .heads = 2, .form = {.tied = true}}, rng);
  const Particles blocks = particles(tied);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].name(), "query");
  EXPECT_EQ(blocks[1].name(), "value");
}

TEST(Particles, CountASharedLayerOnce) {
  Twice model;
  EXPECT_EQ(names(particles(model)),
            (std::vector<std::string>{"first.query", "first.key", "first.value"}));
}

TEST(Particles, ComeByValueFromTemporaries) {
  auto a = attention(1, {.dim = 6, .heads = 3});
  static_assert(std::is_same_v<decltype(particles(a)[0]), ParticleBlock>);
  static_assert(std::is_same_v<decltype(particles(a)[0].parameters()), std::vector<Tensor>>);
  static_assert(std::is_same_v<decltype(particles(a)[0].name()), std::string>);
  static_assert(std::is_same_v<decltype(Svgd(particles(a)).particles()), Particles>);
  const Particles kept = particles(a);
  static_assert(std::is_same_v<decltype(kept[0].parameters()), const std::vector<Tensor>&>);
  int count = 0;
  for (const Tensor& x : particles(a)[0].parameters()) {
    EXPECT_TRUE(x.history() == a.query.history());
    ++count;
  }
  EXPECT_EQ(count, 1);
  EXPECT_EQ(Svgd(particles(a)).particles()[2].name(), "value");
}

// Pieces are windows on the matrix in the parameters' own shapes.
TEST(ParticleBlock, CutsAMatrixAsItsParametersAre) {
  auto a = attention(1, {.dim = 6, .heads = 3, .key_dim = 5});
  const ParticleBlock joint = particles(a, {.space = HeadSpace::joint})[0];
  const Tensor x = reshape(arange(0, 3 * 32, 1, f64), {3, 32});
  const std::vector<Tensor> pieces = joint.pieces(x);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_TRUE(pieces[1].storage() == x.storage());
  EXPECT_TRUE(same_bits(pieces[1], reshape(slice(x, 1, {.start = 12, .stop = 22}), {3, 2, 5})));
  EXPECT_TRUE(same_bits(joint.pieces(transpose(clone(transpose(x))))[2], pieces[2]));
  expect_error([&] { joint.pieces(zeros({3, 31})); }, "must have that shape, got [3, 31]");
}

TEST(Particles, GatherWholeModels) {
  Generator rng(5);
  std::vector<Linear> models;
  for (int i = 0; i < 3; ++i) models.emplace_back(LinearOptions{.in = 2, .out = 2}, rng);
  const Particles ensemble = particles({&models[0], &models[1], &models[2]});
  ASSERT_EQ(ensemble.size(), 1U);
  const ParticleBlock& block = ensemble[0];
  EXPECT_EQ(block.name(), "models");
  EXPECT_EQ(block.values().shape(), (Shape{3, 6}));
  const Tensor row = concat({reshape(models[1].weight.detach(), {4}), models[1].bias.detach()}, 0);
  EXPECT_TRUE(same_bits(select(block.values(), 0, 1), row));

  const Tensor delta = reshape(arange(0, 18, 1, f64), {3, 6}), before = block.values();
  block.add_to_values(delta);
  EXPECT_TRUE(same_bits(block.values(), before + cast(delta, f32)));
  block.set_gradients(delta);
  expect_values(models[2].weight.grad(), {12, 13, 14, 15}, 0);
  expect_values(models[2].bias.grad(), {16, 17}, 0);
  expect_values(block.gradients(), delta.to_vector(), 0);

  Linear other({.in = 3, .out = 2}, rng);
  expect_error([&] { particles({&models[0], &other}); }, "[2, 2] in row 0 and [2, 3] in row 1");
  expect_error(
      [&] {
        particles({&models[0], &models[0]});
      },
      "shares memory with another parameter");
  const Tensor p = leaf(zeros({2})), q = leaf(zeros({2}));  // of one shape, and not alike
  expect_error(
      [&] {
        particles_of_members({{{"a", p}, {"b", q}}, {{"b", leaf(p)}, {"a", leaf(q)}}});
      },
      "parameter 0 is `a` in row 0 and `b` in row 1");
  const Tensor memory = arange(0, 9, 1, f64);
  const auto part = [&](std::int64_t start) {
    return parameter(slice(memory, 0, {.start = start, .stop = start + 3}));
  };
  expect_error(
      [&] {
        ParticleBlock::gathered("one", {{part(0)}, {part(0)}});
      },
      "a parameter of block \"one\" (shape [3]) shares memory with another parameter");
  expect_error(
      [&] {
        ParticleBlock::gathered("late", {{part(4)}, {part(2)}});
      },
      "shares memory with another");
  expect_error(
      [&] {
        ParticleBlock::gathered("early", {{part(0)}, {part(2)}});
      },
      "shares memory with another");
  const ParticleBlock a = ParticleBlock::gathered("a", {{part(6)}, {part(0)}}),
                      b = ParticleBlock::stacked("b", {part(2)});
  expect_error([&] { Particles({a, b}); }, "a parameter of block \"b\" (shape [3]) shares memory");
  EXPECT_EQ(Particles({a, ParticleBlock::stacked("c", {part(3)})}).size(), 2U);
  expect_error([&] { particles({&models[0], nullptr}); }, "model 1 is null");
  expect_error([&] { particles(std::vector<Module*>{}); }, "has no parameter");
}

TEST(ParticleBlock, CountsAMissingGradientAsZero) {
  Generator rng(5);
  Linear a({.in = 2, .out = 1}, rng), b({.in = 2, .out = 1}, rng);
  const Particles ensemble = particles({&a, &b});
  a.weight.set_grad(tensor({1, 2}, {1, 2}));
  expect_values(ensemble[0].gradients(), {1, 2, 0, 0, 0, 0}, 0);
  Tensor rows = leaf(zeros({2, 3}));
  expect_values(particles_of_rows(rows)[0].gradients(), {0, 0, 0, 0, 0, 0}, 0);
}

TEST(ParticleBlock, RewritesGradientsInPlace) {
  Tensor rows = leaf(zeros({2, 2}, f64));
  rows.set_grad(ones({2, 2}, f64));
  const Tensor held = rows.grad();
  const ParticleBlock block = particles_of_rows(rows)[0];
  block.set_gradients(tensor({1, 2, 3, 4}, {2, 2}, f64));
  expect_values(held, {1, 2, 3, 4}, 0);
  Svgd(particles_of_rows(rows)).apply();
  block.set_gradients(tensor({5, 6, 7, 8}, {2, 2}, f64));  // no longer a method's
  EXPECT_TRUE(Leaf::of(rows)->rewrite().by.empty());
  expect_error([&] { block.set_gradients(zeros({4}, f64)); },
               "is [2, 2]; the gradients must have that shape, got [4]");
  expect_error([&] { block.add_to_values(zeros({4}, f64)); }, "is [2, 2]; the values to add must");
}

TEST(ParticleBlock, RecordsItsValuesForALoss) {
  Generator rng(5);
  Linear a({.in = 2, .out = 1}, rng), b({.in = 2, .out = 1}, rng);
  auto heads = attention(1, {.dim = 4, .heads = 2});
  for (const Particles& p :
       {particles({&a, &b}), particles(heads, {.space = HeadSpace::joint}), particles(heads)}) {
    const ParticleBlock& block = p[0];
    const Tensor values = block.recorded_values();
    EXPECT_TRUE(same_bits(values, block.values()));
    const Tensor cotangent = normal(values.shape(), rng);
    backward(values, cotangent);
    EXPECT_TRUE(same_bits(block.gradients(), cotangent));
    heads.zero_grad();
  }
}

TEST(ParticleBlock, RefusesWhatAreNoRows) {
  const Tensor x = leaf(zeros({2, 3}));
  expect_error([&] { particles_of_rows(x.detach()); }, "does not require a gradient");
  expect_error([&] { particles_of_rows(x * 2.0); }, "only leaves");
  expect_error([&] { particles_of_rows(leaf(scalar(1))); }, "same number of rows");
  expect_error([&] { particles_of_rows(leaf(zeros({0, 3}))); }, "is empty");
  expect_error([&] { ParticleBlock::stacked("b", {x, leaf(zeros({3, 2}))}); }, "[2, 3] and [3, 2]");
  expect_error(
      [&] {
        ParticleBlock::stacked("b", {x, leaf(zeros({2, 2}, f64))});
      },
      "mixes f32 and f64");
  expect_error([&] { ParticleBlock::gathered("b", {{x}, {}}); }, "row 1 has 0");
  expect_error([&] { Particles(std::vector<ParticleBlock>{}); }, "at least one block");
}

// Head h of a part fills row h, and nothing else, of that part's matrix and of no other.
TEST(Particles, OneHeadChangesOneRowAndColumnOfItsOwnDistances) {
  for (const std::int64_t changed : {0, 1, 2}) {
    auto a = attention(2, {.dim = 8, .heads = 4, .key_dim = 6});
    const Particles heads = particles(a);
    std::vector<Tensor> before;
    for (const auto& block : heads) before.push_back(rows::squared_distances(block.values()));
    Tensor* parts[] = {&a.query, &a.key, &a.value};
    const std::int64_t h = 2;
    add_(select(parts[changed]->detach(), 0, h), scalar(1));
    for (std::int64_t b = 0; b < 3; ++b) {
      const Tensor after = rows::squared_distances(heads[b].values());
      const auto old_d2 = before[b].to_vector(), new_d2 = after.to_vector();
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 4; ++j) {
          const bool differs = old_d2[i * 4 + j] != new_d2[i * 4 + j];
          EXPECT_EQ(differs, b == changed && i != j && (i == h || j == h)) << b << i << j;
        }
    }
  }
}

}  // namespace
}  // namespace ladon::test::particles_test
