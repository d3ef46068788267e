// Objects that were moved from: each use of them throws Error and does not crash. The test registry
// finds classes that own data by a pointer and have no row here.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/extra/data/prefetch.h"
#include "ladon/core/extra/ranks/ranks_cholesky.h"
#include "ladon/ladon.h"
#include "ladon/tests/support.h"
#include "ladon/tests/temporary_folder.h"

namespace ladon::moved_test {
namespace {

using infinite::Get;
using test::expect_error;
using test::TemporaryFolder;

const char* const moved = "moved from";

struct Use {
  std::string of;
  std::function<void()> act;
};

void expect_refused(const std::vector<Use>& uses) {
  for (const Use& use : uses) {
    SCOPED_TRACE(use.of);
    expect_error(use.act, moved);
  }
}

Sequential network(Generator& rng) {
  return Sequential(Linear({.in = 3, .out = 8, .parameterization = Parameterization::ntk}, rng),
                    Activation(Nonlinearity::relu),
                    Linear({.in = 8, .out = 1, .parameterization = Parameterization::ntk}, rng));
}

/// Uses of a layer after it was moved from: forward, and its limit if it has one.
template <class L>
std::vector<Use> uses(L& layer, const Tensor& x, bool has_limit = true) {
  const L now = std::move(layer);
  const std::string name = now.describe();
  std::vector<Use> all{{name, [&layer, x] { layer(x); }}};
  if (has_limit) all.push_back({name + "'s limit", [&layer, x] { infinite::limit(layer)(x); }});
  return all;
}

// Norms computed without their weights; the others crashed or named another layer's shapes.
TEST(MovedFrom, Layers) {
  Generator rng(1);
  const Tensor x = normal({2, 5, 4}, rng, 0, 1, f64), image = normal({2, 5, 5, 4}, rng, 0, 1, f64);
  LayerNorm layer_norm({.dim = 4});
  RmsNorm rms_norm({.dim = 4});
  GroupNorm group_norm({.groups = 2, .dim = 4});
  BatchNorm batch_norm({.dim = 4}), tracked({.dim = 4, .affine = false});
  Polynomial polynomial({1, 2});
  Elementwise elementwise([](const Tensor& t) { return tanh(t); });
  Conv1d conv({.in = 4, .out = 3, .window = {3}}, rng);
  Conv2d conv2d({.in = 4, .out = 3, .window = {3, 3}}, rng);
  AveragePool average({.window = {2}});
  MaxPool largest({.window = {2}});
  for (const auto& each : {uses(layer_norm, x), uses(rms_norm, x), uses(group_norm, x, false),
                           uses(batch_norm, x, false), uses(tracked, x, false), uses(conv, x),
                           uses(conv2d, image), uses(average, x), uses(largest, x, false)})
    expect_refused(each);
  expect_refused(uses(polynomial, x, false));
  expect_refused(uses(elementwise, x, false));
  expect_error([&] { polynomial.limit({}); }, moved);
  EXPECT_EQ(polynomial.describe(), "Polynomial(moved from)");
  auto f = infinite::DualFunction::relu();
  const auto g = std::move(f);
  const Tensor one = scalar(1, f64);
  expect_error([&] { infinite::dual(f, one, one, one, true); }, moved);
}

TEST(MovedFrom, KernelsAndFactorsOnDisk) {
  const TemporaryFolder folder;
  Generator rng(1);
  const auto limit = infinite::limit(network(rng));
  const Tensor x = normal({6, 3}, rng, f64), y = normal({6}, rng, f64);
  const GpOptions options{.noise = 0.1};
  auto gram = infinite::store_gram(limit, x, (folder / "gram").string(), {.get = Get::nngp});
  auto factor = store_factor(gram, (folder / "factor").string(), options);
  const auto gram_now = std::move(gram);
  const auto factor_now = std::move(factor);
  const Tensor v = ones({6, 1}, f64);
  expect_refused(
      {{"StoredGram::size", [&] { gram.size(); }},
       {"StoredGram::kind", [&] { gram.kind(); }},
       {"StoredGram::dtype", [&] { gram.dtype(); }},
       {"StoredGram::estimate", [&] { gram.estimate(); }},
       {"StoredGram::identity", [&] { gram.identity(); }},
       {"StoredGram::diagonal", [&] { gram.diagonal(); }},
       {"StoredGram::rows", [&] { gram.rows(0, 1); }},
       {"StoredGram::multiply", [&] { gram.multiply(v); }},
       {"StoredGram::across", [&] { gram.across(); }},
       {"StoredGram::first", [&] { gram.first(0); }},
       {"StoredGram::tile", [&] { gram.tile(0, 0); }},
       {"StoredGram of kernel_map", [&] { kernel_map(gram); }},
       {"StoredGram of store_factor",
        [&] { store_factor(gram, (folder / "other").string(), options); }},
       {"StoredGram of distribute_factor", [&] { distribute_factor(gram, options); }},
       {"StoredFactor::size", [&] { factor.size(); }},
       {"StoredFactor::log_determinant", [&] { factor.log_determinant(); }},
       {"StoredFactor::solve", [&] { factor.solve(v); }},
       {"StoredFactor::half_solve", [&] { factor.half_solve(v); }},
       {"StoredFactor::variances", [&] { factor.variances(); }},
       {"StoredFactor::kind", [&] { factor.kind(); }},
       {"StoredFactor::precision", [&] { factor.precision(); }},
       {"StoredFactor of GaussianProcess", [&] { GaussianProcess(std::move(factor), y); }}});
  EXPECT_EQ(factor_now.solve(gram_now.multiply(v)).x.shape(), v.shape());
}

TEST(MovedFrom, PosteriorsAndFlows) {
  Generator rng(1);
  const Tensor kernel = eye(6, f64), y = normal({6}, rng, f64), v = ones({6, 1}, f64);
  GaussianProcess gp(kernel, y, {.noise = 0.1});
  GradientFlow flow(kernel, y);
  ranks::Cholesky cholesky(2, 1, [](auto, auto, std::int64_t rows, std::int64_t columns) {
    return zeros({rows, columns}, f64);
  });
  const auto gp_now = std::move(gp);
  const auto flow_now = std::move(flow);
  const auto cholesky_now = std::move(cholesky);
  const NngpBlocks blocks{kernel, kernel, kernel};
  expect_refused(
      {{"GaussianProcess::predict", [&] { gp.predict(kernel); }},
       {"GaussianProcess::log_marginal_likelihood", [&] { gp.log_marginal_likelihood(); }},
       {"GaussianProcess::leave_one_out", [&] { gp.leave_one_out(); }},
       {"GaussianProcess::amplitude", [&] { gp.amplitude(); }},
       {"GradientFlow::train", [&] { flow.train(1); }},
       {"GradientFlow::train to the end", [&] { flow.train(infinite_time); }},
       {"GradientFlow::test", [&] { flow.test(1, kernel); }},
       {"GradientFlow::ensemble", [&] { flow.ensemble(1, kernel, blocks); }},
       {"Cholesky::size", [&] { cholesky.size(); }},
       {"Cholesky::log_determinant", [&] { cholesky.log_determinant(); }},
       {"Cholesky::solve", [&] { cholesky.solve(v); }}});
  EXPECT_EQ(gp_now.predict(kernel).mean.shape(), v.shape());
  EXPECT_EQ(flow_now.train(1).shape(), v.shape());
  EXPECT_EQ(cholesky_now.size(), 2);
}

TEST(MovedFrom, SourcesOfBatches) {
  Generator rng(1);
  const auto make = [&] { return tensor_loader({arange(0, 6, 1, f64)}, {.batch_size = 2}, rng); };
  auto loader = make();
  auto ahead = prefetch(make());
  loader.next();
  ahead.next();
  auto loader_now = std::move(loader);
  auto ahead_now = std::move(ahead);
  const StateDict state = ahead_now.state_dict();
  expect_refused({{"Loader::next", [&] { loader.next(); }},
                  {"Prefetch::next", [&] { ahead.next(); }},
                  {"Prefetch::size", [&] { ahead.size(); }},
                  {"Prefetch::seek",
                   [&] {
                     ahead.seek({0, 0});
                   }},
                  {"Prefetch::state_dict", [&] { ahead.state_dict(); }},
                  {"Prefetch::load_state_dict", [&] { ahead.load_state_dict(state); }}});
  loader_now.next();
  ahead_now.next();
}

// A batch that is moved inside on_token goes on where it is now.
TEST(MovedFrom, ABatchInAStep) {
  Generator rng(1);
  LanguageModel model(gpt2(11, 1, 8, 2, 16), rng);
  model.eval();
  ContinuousBatch batch(next_token(model));
  std::optional<ContinuousBatch> now;
  GenerateOptions options{.length = 4};
  options.on_token = [&](auto&&...) {
    if (!now) now.emplace(std::move(batch));
    return true;
  };
  batch.add(ones({2}, i64), options, rng);
  batch.step();
  ASSERT_TRUE(now);
  std::size_t tokens = 0;
  for (int i = 0; i < 4; ++i)
    for (const auto& [request, text] : now->step()) tokens = text.tokens.size();
  EXPECT_GE(tokens, 4u);
  expect_error([&] { batch.add(ones({2}, i64), {}, rng); }, moved);
}

}  // namespace
}  // namespace ladon::moved_test
