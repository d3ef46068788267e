// Every fast form against its composed form: one row a pair. A pair that stands in the sources without
// a row here, and a choice between forms that passes fast_or_composed by, are failures too.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/attention/pair_blocks.h"
#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/infinite/kernel/windows.h"
#include "ladon/tests/core/layouts.h"
#include "ladon/tests/sources.h"

namespace ladon {
namespace {

using test::matches;
using test::sources;
using Tensors = std::vector<Tensor>;
using Shapes = std::vector<Shape>;

/// Where the pair stands: in the computation of a value, or in the rule of its gradient.
enum class Of { value, gradient };

struct Row {
  const char* name;  ///< As given to fast_or_composed.
  Of of;
  std::vector<Shapes> samples;     ///< Shapes of the inputs.
  TensorFunction apply;            ///< The operation, on f64.
  std::vector<Shapes> empty = {};  ///< Shapes without elements.
};

// --- the rows ---

TensorFunction attention(AttentionOptions options) {
  return [options](const Tensors& x) {
    AttentionOptions with_mask = options;
    if (x.size() > 3) with_mask.mask = x[3];
    return scaled_dot_product_attention(x[0], x[1], x[2], with_mask);
  };
}

/// q, k, v, and perhaps an added mask: [2, heads, 5, 3], [2, shared heads, 6, 3], [.., 2], [5, 6].
Shapes attention_shapes(std::int64_t heads, std::int64_t shared, bool masked) {
  Shapes shapes{{2, heads, 5, 3}, {2, shared, 6, 3}, {2, shared, 6, 2}};
  if (masked) shapes.push_back({5, 6});
  return shapes;
}

struct Seen {
  bool causal = false;
  Tensor mask = {};
};

/// A layer of sqrt scaling whose queries and keys, and values, have kernels in `seen` and `values`.
Tensor moments(infinite::AttentionMoments (*of)(const infinite::AttentionLimit&,
                                                const infinite::Seen&, const infinite::Pairs&),
               const Seen& see, Weighting zeta, const Tensor& query_key, infinite::Pairs seen,
               const infinite::Pairs& values) {
  infinite::AttentionLimit layer{};
  layer.form.weighting = zeta;
  layer.causal = see.causal;
  layer.query_key = query_key;
  layer.query_key_trained = 2;
  layer.query_bias_trained = 0.7;
  layer.key_bias_trained = 0.4;
  layer.samples = 6;
  seen.has_positions = true;
  seen.left_mask = seen.right_mask = see.mask;
  const infinite::AttentionMoments m = of(layer, seen, values);
  return m.tangent.defined() ? concat({m.value, m.tangent}, 0) : m.value;
}

/// On QK, the kernels k and v of what queries and keys and what values see, and perhaps their tangent
/// kernels t and u.
TensorFunction identity(const Seen& see) {
  return [see](const Tensors& x) {
    infinite::Pairs seen, values;
    seen.nngp = x[1];
    values.nngp = x[2];
    if (x.size() > 3) seen.ntk = x[3], values.ntk = x[4];
    return moments(infinite::identity_moments, see, Weighting::identity, x[0], seen, values);
  };
}

/// The same, but k is the product of what queries and keys see of both inputs: [P, T, d] each.
TensorFunction rectified(Weighting zeta, const Seen& see) {
  return [zeta, see](const Tensors& x) {
    const auto product = [](const Tensor& a, const Tensor& b) { return matmul(a, transpose(b)); };
    infinite::Pairs seen, values;
    seen.nngp = product(x[1], x[2]);
    seen.left = product(x[1], x[1]);
    seen.right = product(x[2], x[2]);
    values.nngp = x[3];
    if (x.size() > 4) seen.ntk = x[4], values.ntk = x[5];
    return moments(infinite::rectified_moments, see, zeta, x[0], seen, values);
  };
}

/// Averages over 6 draws with softmax: of the coordinates of two inputs' tokens and what is left of each,
/// [2, T, R] and [2, T, T]; then as above. The inputs' own kernels, which name their draws, are fixed.
TensorFunction drawn(const Seen& see) {
  return [see](const Tensors& x) {
    infinite::Pairs seen, values;
    seen.left_root = {x[1], tril(x[2])};
    seen.right_root = {flip(x[1], {0}), flip(seen.left_root.own, {0})};
    seen.left = seen.right = ones({2, x[1].size(1), x[1].size(1)}, f64);
    seen.nngp = x[3];
    values.nngp = x[4];
    if (x.size() > 5) seen.ntk = x[5], values.ntk = x[6];
    return moments(infinite::softmax_moments, see, Weighting::softmax, x[0], seen, values);
  };
}

/// On left, x, right, scale and offset, and perhaps what is added.
Tensor sandwich(const Tensors& x) {
  infinite::SandwichTerms terms{.scale = x[3], .offset = x[4]};
  if (x.size() > 5) {
    terms.added = x[5];
    terms.added_scale = 0.7;
  }
  return infinite::sandwich(x[0], x[1], x[2], terms);
}

TensorFunction window_sums(Padding padding, std::int64_t stride) {
  return [=](const Tensors& x) {
    return infinite::joint_window_sums(x[0], 1, 3, {3, stride, padding});
  };
}

/// Of two blocks the kernel between them, of one that of each input with itself.
TensorFunction inputs(infinite::Entries entries) {
  return [entries](const Tensors& x) {
    const infinite::KernelOptions options{.entries = entries};
    return x.size() > 1 ? infinite::input_kernel(x[0], x[1], options).nngp
                        : infinite::input_selves(x[0], options).cov1;
  };
}

TensorFunction recurrent(RecurrentCell cell, const RecurrenceOptions& options) {
  return [=](const Tensors& x) {
    RecurrenceOptions with = options;
    if (x.size() > 2) with.bias = x[2], with.initial = x[3];
    return recurrence(cell, x[0], x[1], with);
  };
}

std::vector<Row> rows_of_operations() {
  const auto normalize = [](const Tensors& x) {
    return layer_norm(x[0], x.size() > 1 ? x[1] : Tensor(), x.size() > 2 ? x[2] : Tensor());
  };
  const auto value = "scaled_dot_product_attention", gradient = "attention_gradient";
  const Shapes nobody = {{2, 2, 0, 3}, {2, 2, 6, 3}, {2, 2, 6, 2}},
               nothing_seen = {{2, 2, 5, 3}, {2, 2, 0, 3}, {2, 2, 0, 2}};
  const auto masked = [](Shapes shapes) {
    shapes.push_back({shapes[0][2], shapes[1][2]});
    return shapes;
  };
  return {
      {.name = "gelu_slope",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return gelu(x[0]); },
       .empty = {{{0, 3}}}},
      {.name = "gelu_tanh_slope",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return gelu(x[0], Gelu::tanh); },
       .empty = {{{0, 3}}}},
      {.name = "recurrence_gradient",  // input gates, weight, bias, initial state
       .of = Of::gradient,
       .samples = {{{2, 3, 8}, {8, 2}, {8}, {2, 4}}, {{1, 4, 4}, {4, 1}}},
       .apply = recurrent(RecurrentCell::lstm, {}),
       .empty = {{{2, 0, 8}, {8, 2}, {8}, {2, 4}}, {{0, 3, 8}, {8, 2}, {8}, {0, 4}}}},
      {.name = "recurrence_gradient",
       .of = Of::gradient,
       .samples = {{{2, 3, 6}, {6, 2}, {6}, {2, 2}}, {{1, 4, 3}, {3, 1}}},
       .apply = recurrent(RecurrentCell::gru, {.reverse = true})},
      {.name = "recurrence_gradient",
       .of = Of::gradient,
       .samples = {{{2, 3, 6}, {6, 2}, {6}, {2, 2}}},
       .apply = recurrent(RecurrentCell::gru,
                          {.mask = cast(tensor({1, 1, 0, 1, 0, 1}, {2, 3}), boolean)})},
      {.name = "recurrence_gradient",
       .of = Of::gradient,
       .samples = {{{2, 3, 4}, {4, 4}, {4}, {2, 4}}},
       .apply = recurrent(RecurrentCell::tanh, {})},
      {.name = "recurrence_gradient",
       .of = Of::gradient,
       .samples = {{{2, 3, 4}, {4, 4}, {4}, {2, 4}}},
       .apply = recurrent(RecurrentCell::relu, {})},
      {.name = "softmax_gradient",
       .of = Of::gradient,
       .samples = {{{3, 4}}, {{3, 2, 4}}},
       .apply = [](const Tensors& x) { return softmax(x[0], 1); },
       .empty = {{{0, 4}}, {{3, 0}}, {{3, 4, 0}}}},
      {.name = "log_softmax_gradient",
       .of = Of::gradient,
       .samples = {{{3, 4}}, {{3, 2, 4}}},
       .apply = [](const Tensors& x) { return log_softmax(x[0], 1); },
       .empty = {{{0, 4}}, {{3, 0}}, {{3, 4, 0}}}},
      {.name = "layer_norm_gradient",
       .of = Of::gradient,
       .samples = {{{3, 4}}, {{3, 4}, {4}}, {{2, 3, 4}, {4}, {4}}},
       .apply = normalize,
       .empty = {{{0, 4}, {4}, {4}}, {{3, 0}, {0}, {0}}, {{3, 0}}}},
      {.name = value,
       .of = Of::value,
       .samples = {attention_shapes(2, 2, true), attention_shapes(4, 2, true)},
       .apply = attention({}),
       .empty = {masked(nobody), masked(nothing_seen)}},
      {.name = value,
       .of = Of::value,
       .samples = {attention_shapes(4, 2, true)},
       .apply = attention({.causal = true, .softcap = 2})},
      {.name = gradient,
       .of = Of::gradient,
       .samples = {attention_shapes(2, 2, false), attention_shapes(4, 2, false)},
       .apply = attention({}),
       .empty = {nobody, nothing_seen}},
      {.name = gradient,
       .of = Of::gradient,
       .samples = {attention_shapes(4, 2, false)},
       .apply = attention({.causal = true, .causal_offset = 2, .scale = 0.4, .softcap = 2})},
      {.name = gradient,  // the first query sees no key
       .of = Of::gradient,
       .samples = {attention_shapes(2, 1, false)},
       .apply = attention({.mask = cast(tril(ones({5, 6}), -1), boolean)})},
  };
}

std::vector<Row> rows_of_limits() {
  const Shape pairs = {3, 4, 4}, small = {2, 3, 3}, none = {0, 4, 4}, nowhere = {3, 0, 0},
              number = {};
  const Shape vectors = {3, 5}, tokens = {2, 4, 5}, pixels = {2, 3, 2, 3};
  return {
      {.name = "input_kernel",
       .of = Of::value,
       .samples =
           {{vectors, {130, 5}}, {tokens, {1, 4, 5}}, {pixels, pixels}, {{2, 1, 5}, {1, 1, 5}}},
       .apply = inputs(infinite::Entries::full),
       .empty = {{{0, 5}, vectors}, {{2, 0, 5}, {2, 0, 5}}}},
      {.name = "input_kernel",
       .of = Of::value,
       .samples = {{vectors, vectors}, {tokens, {1, 4, 5}}, {{2, 1, 5}, {1, 1, 5}}},
       .apply = inputs(infinite::Entries::diagonal)},
      {.name = "input_selves",
       .of = Of::value,
       .samples = {{vectors}, {tokens}, {pixels}, {{2, 1, 5}}},
       .apply = inputs(infinite::Entries::full),
       .empty = {{{0, 5}}, {{2, 0, 5}}}},
      {.name = "input_selves",
       .of = Of::value,
       .samples = {{vectors}, {tokens}, {{2, 1, 5}}},
       .apply = inputs(infinite::Entries::diagonal)},
      {.name = "identity_moments",
       .of = Of::value,
       .samples = {{number, pairs, pairs}, {number, pairs, pairs, pairs, pairs}},
       .apply = identity({}),
       .empty = {{number, none, none, none, none}, {number, nowhere, nowhere}}},
      {.name = "identity_moments",
       .of = Of::value,
       .samples = {{number, pairs, pairs, pairs, pairs}},
       .apply = identity({.causal = true, .mask = cast(tril(ones({3, 4}), 1), boolean)})},
      {.name = "rectified_moments",
       .of = Of::value,
       .samples = {{number, {2, 3, 4}, {2, 3, 4}, small},
                   {number, {2, 3, 4}, {2, 3, 4}, small, small, small}},
       .apply = rectified(Weighting::relu, {}),
       .empty = {{number, {0, 3, 4}, {0, 3, 4}, {0, 3, 3}, {0, 3, 3}, {0, 3, 3}},
                 {number, {2, 0, 4}, {2, 0, 4}, {2, 0, 0}}}},
      {.name = "rectified_moments",
       .of = Of::value,
       .samples = {{number, {2, 3, 4}, {2, 3, 4}, small, small, small}},
       .apply = rectified(Weighting::abs,
                          {.causal = true, .mask = cast(tril(ones({2, 3}), 1), boolean)})},
      {.name = "softmax_moments",
       .of = Of::value,
       .samples = {{number, {2, 3, 2}, small, small, small},
                   {number, {2, 3, 2}, small, small, small, small, small}},
       .apply = drawn({}),
       .empty = {{number, {2, 3, 0}, small, small, small}}},
      {.name = "softmax_moments",
       .of = Of::value,
       .samples = {{number, {2, 3, 2}, small, small, small, small, small}},
       .apply = drawn({.causal = true, .mask = cast(tensor({1, 1, 1, 0, 1, 1}, {2, 3}), boolean)})},
      {.name = "sandwich",
       .of = Of::value,
       .samples = {{pairs, pairs, pairs, number, number},
                   {{4, 4}, pairs, {1, 4, 4}, number, number, pairs},
                   {{2, 1, 4, 4}, {2, 3, 4, 4}, {1, 3, 4, 4}, number, number, {2, 3, 4, 4}}},
       .apply = sandwich,
       .empty = {{{4, 4}, none, {4, 4}, number, number},
                 {nowhere, nowhere, nowhere, number, number}}},
      {.name = "joint_window_sums",
       .of = Of::value,
       .samples = {{{2, 5, 3, 5, 2}}, {{1, 7, 1, 7}}},
       .apply = window_sums(Padding::same, 1),
       .empty = {{{0, 5, 3, 5, 2}}, {{2, 5, 0, 5, 2}}}},
      {.name = "joint_window_sums",
       .of = Of::value,
       .samples = {{{2, 5, 3, 5}}},
       .apply = window_sums(Padding::circular, 2)},
      {.name = "joint_window_sums",
       .of = Of::value,
       .samples = {{{1, 7, 2, 7}}},
       .apply = window_sums(Padding::valid, 3)},
  };
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all = rows_of_operations();
    for (Row& row : rows_of_limits()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

// --- running a row ---

Tensors draw(const Shapes& shapes, std::uint64_t seed = 7) {
  Generator rng(seed);
  Tensors inputs;
  for (const Shape& shape : shapes) inputs.push_back(normal(shape, rng, 0, 1, f64));
  return inputs;
}

Tensors leaves(const Tensors& inputs) {
  Tensors result;
  for (const Tensor& x : inputs) result.push_back(x.detach().set_requires_grad());
  return result;
}

/// Which form to take: as the library does, or the composed one in any case.
enum class Form { chosen, composed };

/// The gradients of ⟨c, value⟩ for a fixed c, where only the sweep is told which form to take.
Tensors gradients(const Row& row, const Tensors& inputs, Form form, bool create_graph = false) {
  const Tensors at = leaves(inputs);
  const Tensor y = row.apply(at);
  const Tensor c = draw({y.shape()}, 8)[0];
  std::optional<ComposedForms> composed;
  if (form == Form::composed) composed.emplace();
  return grad({y}, at, {.cotangents = {c}, .create_graph = create_graph, .allow_unused = true});
}

/// What the pair computes where nothing, or no graph of the gradient, is recorded.
Tensors run(const Row& row, const Tensors& inputs, Form form) {
  if (row.of == Of::gradient) return gradients(row, inputs, form);
  std::optional<ComposedForms> composed;
  if (form == Form::composed) composed.emplace();
  return {row.apply(inputs)};
}

void expect_fast(const Row& row, const CountForms& count) {
  EXPECT_GT(count.fast(row.name), 0) << row.name << ": the fast form did not run";
  EXPECT_EQ(count.composed(row.name), 0) << row.name << ": the composed form ran";
}
void expect_composed(const Row& row, const CountForms& count) {
  EXPECT_GT(count.composed(row.name), 0) << row.name << ": the composed form did not run";
  EXPECT_EQ(count.fast(row.name), 0) << row.name << ": the fast form ran";
}

/// Equal up to the order of sums, relative to the largest element.
void expect_agree(const Row& row, const Tensor& fast, const Tensor& composed) {
  ASSERT_EQ(fast.shape(), composed.shape()) << row.name;
  constexpr double rtol = 1e-12;
  const std::vector<double> a = fast.to_vector(), b = composed.to_vector();
  double largest = 0;
  for (const double v : b) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(std::abs(a[i] - b[i]) <= rtol * largest)  // false for a NaN
        << row.name << ": element " << i << " is " << a[i] << " by the fast form, " << b[i]
        << " by the composed one";
}

/// Runs both forms, sees that they did run, and compares.
void expect_pair(const Row& row, const Tensors& inputs) {
  const CountForms count_fast;
  const Tensors fast = run(row, inputs, Form::chosen);
  expect_fast(row, count_fast);
  const CountForms count_composed;
  const Tensors composed = run(row, inputs, Form::composed);
  expect_composed(row, count_composed);
  for (std::size_t i = 0; i < fast.size(); ++i) expect_agree(row, fast[i], composed[i]);
}

TEST(Pairs, AgreeInEveryLayout) {
  for (const Row& row : table())
    for (const Shapes& shapes : row.samples) {
      const Tensors inputs = draw(shapes);
      constexpr std::size_t layouts = 6;
      for (std::size_t layout = 0; layout < layouts; ++layout) {
        Tensors laid_out;
        for (const Tensor& x : inputs) {
          const Tensors all = testing::layouts(x);
          laid_out.push_back(all[layout % all.size()]);
        }
        expect_pair(row, laid_out);
      }
    }
}

TEST(Pairs, AgreeOnNothing) {
  for (const Row& row : table()) {
    const bool some = std::any_of(table().begin(), table().end(), [&](const Row& other) {
      return std::string(other.name) == row.name && !other.empty.empty();
    });
    EXPECT_TRUE(some) << row.name << " has no row with empty inputs";
    for (const Shapes& shapes : row.empty) expect_pair(row, draw(shapes));
  }
}

// The derivatives that the composed form records, against differences, which the fast form computes.
TEST(Pairs, TheComposedFormHasTheDerivativesOfTheFastOne) {
  for (const Row& row : table())
    for (const Shapes& shapes : row.samples) {
      const Tensors inputs = draw(shapes), at = leaves(inputs);
      const CountForms count;
      if (row.of == Of::value)
        row.apply(at);
      else
        gradients(row, inputs, Form::chosen, true);
      expect_composed(row, count);
      const auto check = row.of == Of::value ? gradcheck : gradgradcheck;
      EXPECT_NO_THROW(check(row.apply, at, {})) << row.name;
    }
}

// That an input needs a gradient is no reason to be slow where nothing is recorded.
TEST(Pairs, AreFastUnderNoGrad) {
  for (const Row& row : table()) {
    if (row.of == Of::gradient) continue;
    const NoGrad no_grad;
    const CountForms count;
    row.apply(leaves(draw(row.samples[0])));
    expect_fast(row, count);
  }
}

// --- the table against the sources ---

TEST(Pairs, OfTheSourcesAreAllHere) {
  std::set<std::string> in_sources, in_table;
  for (const auto& [path, text] : sources()) {
    if (path == "autograd/forms.h") continue;
    const auto names = matches(text, "fast_or_composed\\(\\s*\"([^\"]*)\"");
    EXPECT_EQ(names.size(), matches(text, "(fast_or_composed)\\(").size())
        << path << ": the name of a pair is not written out";
    for (const std::string& name : names)
      EXPECT_TRUE(in_sources.insert(name).second) << path << ": there are two pairs " << name;
  }
  for (const Row& row : table()) in_table.insert(row.name);
  EXPECT_EQ(in_sources, in_table);
}

// Who asks the graph himself, instead of fast_or_composed, has a fast form without its twin, or one
// of these reasons. A file that asks no longer leaves the list.
TEST(Pairs, NobodyElseAsksWhetherSomethingIsRecorded) {
  const std::map<std::string, const char*> reasons{
      {"core/tensor.h", "says what a tensor is"},
      {"autograd/graph.h", "declares the mode"},
      {"autograd/graph.cpp", "is the mode, and sweeps only what was recorded"},
      {"autograd/record.h", "records, and saves what rules need"},
      {"autograd/record.cpp", "records"},
      {"autograd/forms.cpp", "is the door of all pairs"},
      {"autograd/leaf.cpp", "makes leaves"},
      {"autograd/functional.cpp", "differentiates by the inputs that want it"},
      {"autograd/ops/inplace.cpp", "refuses edits that the graph would lose"},
      {"layers/module.cpp", "tells trained tensors from others"},
      {"layers/infinite/dual/closed.cpp", "differentiates a user's function, recorded or not"},
      {"layers/infinite/dual/dual.cpp", "refuses second derivatives"},
      {"layers/infinite/dual/numeric.cpp",
       "differentiates a user's function, which may be constant"},
      {"layers/infinite/finite/linearized.cpp",
       "refuses gradients by inputs, and stops where no parameter is left"},
      {"layers/infinite/gram/backward.cpp", "sweeps only what was recorded"},
      {"layers/infinite/kernel/roots.cpp", "refuses second derivatives"},
      {"core/io/dlpack.cpp", "refuses to give away what is trained"},
      {"autograd/dot.cpp", "draws what was recorded"},
      {"optim/parameters.cpp", "refuses parameters that are not trained"},
      {"optim/training_run.cpp", "refuses to save what is trained as a number of the run"},
      {"optim/particles/particles.cpp", "refuses parameters that are not trained"},
      {"optim/particles/kernel.cpp", "refuses profiles that have no slope"},
      {"optim/particles/head_mask.cpp", "refuses losses that no mask is recorded in"},
      {"optim/samplers/log_density.cpp", "refuses densities that have no slope"},
      {"optim/posterior/gp.cpp", "gives its solution a graph only where one is wanted"},
  };
  std::set<std::string> asking, allowed;
  for (const auto& [path, text] : sources())
    if (!matches(text, "\\b(grad_enabled|recorded|requires_grad)\\(").empty()) asking.insert(path);
  for (const auto& [path, reason] : reasons) allowed.insert(path);
  EXPECT_EQ(asking, allowed);
}

}  // namespace
}  // namespace ladon
