// Property of every hyper-parameter that any layer lists: the finite layer and its limit are
// differentiable by it.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/registry/every_layer.h"
#include "ladon/tests/sources.h"
#include "ladon/tests/support.h"

namespace ladon::test::every_hyperparameter_test {
namespace {

constexpr auto ntk = Parameterization::ntk;

/// A layer with hyper-parameters, and what it is called with.
struct Row {
  std::string name;
  std::function<std::unique_ptr<Layer>(Generator&)> make;
  Tensor input;
  std::function<Tensor(const Layer&)> call;
};

Tensor numbers(const Shape& shape) { return gaussian(shape, 1); }

template <class L, class Options>
Row row(const char* name, const Options& o, const Tensor& input) {
  return {name,
          [o](Generator& rng) -> std::unique_ptr<Layer> { return std::make_unique<L>(o, rng); },
          input, [input](const Layer& layer) { return layer(input); }};
}

/// The call of a row of the table in f64, as differences want it; where it takes two tensors, as it
/// is.
std::function<Tensor(const Layer&)> in_f64(const LayerRow& r) {
  const Tensor x = is_floating(r.input.dtype()) ? cast(r.input, f64) : r.input;
  return [r, x](const Layer& layer) {
    try {
      return layer(x);
    } catch (const Error&) {
      return r.call(layer);
    }
  };
}

/// Layers in NTK parameterization, in every form that reads hyper-parameters in another place;
/// then all of the layers' table that list any.
std::vector<Row> rows() {
  const Tensor x = numbers({2, 4, 4}), images = numbers({2, 4, 4, 4});
  const Tensor tokens = tensor({0, 3, 1, 4, 2, 2}, {2, 3}, i64);
  const AttentionPrior prior{
      .parameterization = ntk, .query_key_std = 1.3, .value_output_std = 0.8, .bias_std = 0.4};
  std::vector<Row> all;
  all.push_back(row<Linear>(
      "Linear",
      LinearOptions{.in = 4, .out = 3, .parameterization = ntk, .weight_std = 1.5, .bias_std = 0.5},
      x));
  all.push_back(row<Embedding>(
      "Embedding", EmbeddingOptions{.count = 5, .dim = 4, .stddev = 1.7, .parameterization = ntk},
      tokens));
  all.push_back(row<Conv2d>("Conv2d",
                            ConvOptions{.in = 4,
                                        .out = 4,
                                        .window = {3, 3},
                                        .groups = 2,
                                        .parameterization = ntk,
                                        .weight_std = 1.5,
                                        .bias_std = 0.5},
                            images));
  all.push_back(row<MultiHeadAttention>(
      "MultiHeadAttention", MultiHeadAttentionOptions{.dim = 4, .heads = 2, .prior = prior}, x));
  for (const Weighting weighting : {Weighting::relu, Weighting::identity}) {
    MultiHeadAttentionOptions o{.dim = 4, .heads = 2, .prior = prior};
    o.form.weighting = weighting;
    all.push_back(row<MultiHeadAttention>("MultiHeadAttention, weighed", o, x));
  }
  for (const auto merge : {PositionMerge::sum, PositionMerge::concat})
    all.push_back(row<RandomPositions>(
        "RandomPositions",
        RandomPositionsOptions{.grid = {4},
                               .in = 4,
                               .merge = merge,
                               .channels = merge == PositionMerge::concat ? 3 : 0,
                               .stddev = 1.4,
                               .correlation = decaying_correlation(0.3)},
        x));
  for (const LayerRow& r : every_layer())
    all.push_back({r.name + " of the table", r.make, r.input, in_f64(r)});
  return all;
}

std::unique_ptr<Layer> make(const Row& row) {
  Generator rng(5);
  std::unique_ptr<Layer> layer = row.make(rng);
  layer->eval();
  layer->to(f64);
  return layer;
}

double by_differences(const std::function<Tensor(const Tensor&)>& f, double at) {
  const NoGrad off;
  const double h = 1e-5;
  return (f(scalar(at + h, f64)) - f(scalar(at - h, f64))).item() / (2 * h);
}

/// dy/dx by a sweep; 0 where y does not depend on x.
double slope(const Tensor& y, const Tensor& x) {
  const Tensor g = grad({y}, {x}, {.allow_unused = true})[0];
  return g.defined() ? g.item() : 0;
}

TEST(EveryHyperparameter, HasItsDerivativeInTheFiniteLayer) {
  std::set<std::string> seen;
  for (const Row& row : rows()) {
    const auto layer = make(row);
    const auto hyperparameters = layer->hyperparameters();
    for (const auto& [path, was] : hyperparameters) {
      SCOPED_TRACE(row.name + ", " + path);
      seen.insert(path.substr(path.rfind('.') + 1));
      const Tensor before = was;
      const std::string name = path;
      const std::function<Tensor(const Tensor&)> f = [&, name](const Tensor& value) {
        layer->set_hyperparameter(name, value);
        const Tensor y = row.call(*layer);
        return sum(square(y) * (0.5 + cast(arange(y.size(-1)), f64)));
      };
      const double want = by_differences(f, before.item()), room = 1e-7 * (1 + std::abs(want));
      Tensor leaf = scalar(before.item(), f64).set_requires_grad();
      try {
        const Tensor y = f(leaf);
        if (std::abs(want) > room) {
          ASSERT_TRUE(y.requires_grad()) << "nothing is recorded; differences give " << want;
        }
        if (y.requires_grad()) {
          EXPECT_NEAR(slope(y, leaf), want, room) << "backward";
        }
        const TensorFunction list = [&](const std::vector<Tensor>& at) { return f(at[0]); };
        EXPECT_NEAR(jvp(list, {before.detach()}, {scalar(1, f64)}).tangent.item(), want, room);
        EXPECT_NO_THROW(gradgradcheck(list, {leaf})) << "second derivative";
        const Tensor several = tensor({before.item(), 1.1 * before.item()}, f64);
        const Tensor mapped = vmap(list, {several});
        EXPECT_NEAR(select(mapped, 0, 1).item(), f(select(several, 0, 1)).item(),
                    1e-10 * (1 + std::abs(want)))
            << "vmap";
      } catch (const Error& refused) {  // around a network that is a constant
        EXPECT_NE(std::string(refused.what()).find("[TaylorExpansion] reads"), std::string::npos)
            << refused.what();
      }
      layer->set_hyperparameter(name, before);
    }
  }
  // Every name that a layer of the library lists is tried above.
  for (const auto& [path, text] : sources())
    if (path.starts_with("layers/") && path.ends_with(".cpp"))
      for (const std::string& name : matches(text, "hyperparameter\\(\"(\\w+)\", \\w+\\)")) {
        EXPECT_TRUE(seen.contains(name)) << path << " lists `" << name << "`: give it a row";
      }
}

// Of the same object; the numbers that both read are one.
TEST(EveryHyperparameter, HasItsDerivativeInTheLimit) {
  for (const Row& row : rows()) {
    const auto layer = make(row);
    if (layer->hyperparameters().empty()) continue;
    const infinite::Inputs x(is_floating(row.input.dtype()) ? cast(row.input, f64) : row.input);
    const auto hyperparameters = layer->hyperparameters();
    for (const auto& [path, was] : hyperparameters) {
      SCOPED_TRACE(row.name + ", " + path);
      const Tensor before = was;
      const std::string name = path;
      const std::function<Tensor(const Tensor&)> f = [&, name](const Tensor& value) {
        layer->set_hyperparameter(name, value);
        const auto k = infinite::limit(*layer)(x, infinite::Get::ntk);
        return sum(k.nngp) + sum(k.ntk);
      };
      try {
        f(before.detach());
      } catch (const Error&) {
        layer->set_hyperparameter(name, before);
        continue;  // no limit
      }
      if (infinite::limit(*layer).draws()) continue;  // of other draws at each value
      const double want = by_differences(f, before.item()), room = 1e-6 * (1 + std::abs(want));
      const Tensor leaf = scalar(before.item(), f64).set_requires_grad();
      const Tensor y = f(leaf);
      if (std::abs(want) > room) {
        ASSERT_TRUE(y.requires_grad()) << "nothing is recorded; differences give " << want;
      }
      if (y.requires_grad()) {
        EXPECT_NEAR(slope(y, leaf), want, room);
      }
      layer->set_hyperparameter(name, before);
    }
  }
}

}  // namespace
}  // namespace ladon::test::every_hyperparameter_test
