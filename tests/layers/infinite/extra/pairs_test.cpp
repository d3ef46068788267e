// The fast form of every operation that has two forms, compared with the composed form
// (autograd/forms.h). The tests also fail for a pair of forms in the sources without a row in the
// table, and for a choice between forms without fast_or_composed().

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
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/layers/infinite/extra/pairs_table.h"
#include "ladon/tests/sources.h"

namespace ladon::pairs_test {
namespace {

using test::matches;
using test::pairs;
using test::sources;
using Tensors = std::vector<Tensor>;
using Shapes = std::vector<Shape>;
using Row = test::Pair;
using Of = Row::Of;

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

/// Result of the pair where nothing, or no graph of the gradient, is recorded.
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
  for (const Row& row : pairs())
    for (const Shapes& shapes : row.samples) {
      const Tensors inputs = draw(shapes);
      constexpr std::size_t layouts = 6;
      for (std::size_t layout = 0; layout < layouts; ++layout) {
        Tensors laid_out;
        for (const Tensor& x : inputs) {
          const Tensors all = layout::layouts(x);
          laid_out.push_back(all[layout % all.size()]);
        }
        expect_pair(row, laid_out);
      }
    }
}

TEST(Pairs, AgreeOnNothing) {
  for (const Row& row : pairs()) {
    const bool some = std::any_of(pairs().begin(), pairs().end(), [&](const Row& other) {
      return std::string(other.name) == row.name && !other.empty.empty();
    });
    EXPECT_TRUE(some) << row.name << " has no row with empty inputs";
    for (const Shapes& shapes : row.empty) expect_pair(row, draw(shapes));
  }
}

// The derivatives that the composed form records, against differences, which the fast form
// computes.
TEST(Pairs, TheComposedFormHasTheDerivativesOfTheFastOne) {
  for (const Row& row : pairs())
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
  for (const Row& row : pairs()) {
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
  for (const Row& row : pairs()) in_table.insert(row.name);
  EXPECT_EQ(in_sources, in_table);
}

// Code that asks the graph itself, instead of fast_or_composed, has a fast form without twin, or
// one of these reasons. A file that asks no longer leaves the list.
TEST(Pairs, NobodyElseAsksWhetherSomethingIsRecorded) {
  const std::map<std::string, const char*> reasons{
      {"core/tensor.h", "says what a tensor is"},
      {"autograd/graph.h", "declares the mode"},
      {"autograd/graph.cpp", "is the mode, and sweeps only what was recorded"},
      {"autograd/record.h", "records, and saves what rules need"},
      {"autograd/reads.cpp", "notes what checkpoint's function reads, and whether it was trained"},
      {"autograd/record.cpp", "records"},
      {"autograd/forms.cpp", "is the door of all pairs"},
      {"autograd/number.cpp", "refuses numbers that would lose a derivative"},
      {"autograd/ops/loss.cpp", "refuses labels that are differentiated"},
      {"autograd/ops/linalg/linalg.cpp", "keeps factors only where a rule will read them"},
      {"autograd/leaf.cpp", "makes leaves"},
      {"optim/extra/penalties/head_mask.cpp", "refuses losses that record no gradient"},
      {"autograd/checkpoint.cpp", "records the second run as the first"},
      {"autograd/functional.cpp", "differentiates by the inputs that want it"},
      {"autograd/extra/transforms/forward.cpp",
       "keeps a graph of tangents only where one is wanted"},
      {"autograd/extra/transforms/vmap.cpp", "sweeps only what was recorded"},
      {"autograd/extra/recurrent/recurrent.cpp",
       "runs again by operands that only forward mode wants"},
      {"autograd/ops/inplace.cpp", "refuses edits that the graph would lose"},
      {"layers/attention/attention.cpp",
       "multiplies odd rows apart only where a gradient is wanted"},
      {"layers/module.cpp", "tells trained tensors from others"},
      {"layers/parameter_set.cpp", "tells frozen parameters from trained ones"},
      {"layers/infinite/dual/closed.cpp", "differentiates a user's function, recorded or not"},
      {"layers/infinite/dual/dual.cpp", "refuses second derivatives"},
      {"layers/infinite/dual/numeric.cpp",
       "differentiates a user's function, which may be constant"},
      {"layers/extra/infinite/linearized.cpp",
       "refuses gradients by inputs, and stops where no parameter is left"},
      {"layers/infinite/gram/backward.cpp", "sweeps only what was recorded"},
      {"layers/infinite/kernel/roots.cpp", "refuses second derivatives"},
      {"core/extra/io/dlpack.cpp", "refuses to give away what is trained"},
      {"autograd/extra/distributions/discrete.cpp",
       "refuses outcomes that would lose a derivative"},
      {"autograd/extra/diagnosis/dot.cpp", "draws what was recorded"},
      {"autograd/hook.cpp", "refuses what has no history"},
      {"optim/parameters.cpp", "takes gradients by what is not frozen"},
      {"optim/extra/training/data_parallel.cpp", "passes over what is frozen"},
      {"optim/extra/training/training_run.cpp",
       "refuses to save what is trained as a number of the run"},
      {"optim/particles/particles.cpp", "refuses parameters that are not trained"},
      {"optim/particles/kernel.cpp", "refuses profiles that have no slope"},
      {"optim/extra/penalties/head_mask.cpp", "refuses losses that no mask is recorded in"},
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
}  // namespace ladon::pairs_test
