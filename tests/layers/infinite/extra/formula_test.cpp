// The formulas that a derivation prints, evaluated on the kernels before each step and compared
// with the kernels that the step computes: for every layer with a limit, and for options that
// change the limit.

#include "ladon/tests/layers/infinite/extra/formula.h"

#include <cmath>

#include "ladon/layers/extra/images/conv.h"
#include "ladon/layers/extra/images/conv_transpose.h"
#include "ladon/layers/extra/images/window_pooling.h"
#include "ladon/layers/extra/state/low_rank.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/registry/every_layer.h"
#include "ladon/tests/support.h"

namespace ladon::test::formula_test {
namespace {

using infinite::Inputs;
using infinite::Kernel;
using infinite::KernelGraph;
using infinite::KernelNode;
using infinite::Passes;

constexpr auto ntk = Parameterization::ntk;
constexpr int draws = 256, replicates = 48;

// --- the kernels behind every step ---

/// A limit whose graph ends at any of its steps.
class Steps {
 public:
  Steps(const Layer& model, const Inputs& inputs) : model_(&model), inputs_(inputs) {}

  std::vector<infinite::DerivedStep> derived() const {
    return derived_steps(*infinite::limit(*model_).graph(infinite::kind_of(inputs_)));
  }
  StepKernels kernels(int step, std::uint64_t replicate) const {
    const Passes passes(infinite::limit(*model_).with_replicate(replicate), up_to(step), inputs_,
                        infinite::Entries::full);
    const std::int64_t n = inputs_.count();
    const auto selves = passes.landmarks() ? passes.selves(inputs_, n) : infinite::Selves();
    return numbers(passes.pairs({inputs_, selves, 0, n}));
  }

 private:
  std::shared_ptr<const KernelGraph> up_to(int step) const {
    const auto model = [&](const KernelNode& k) {
      KernelNode y = (*model_)(k);
      const KernelGraph::Placed& last = y.owner()->steps()[static_cast<std::size_t>(step)];
      y.step = step;
      y.law = last.step.makes;
      y.positions = last.positions;
      y.masked = last.masked;
      return y;
    };
    return KernelGraph::of(infinite::kind_of(inputs_), infinite::Get::ntk, false, model,
                           [](const Layer*) { return std::nullopt; });
  }
  static StepKernels numbers(const Kernel& k) {
    StepKernels y;
    y.inputs = static_cast<int>(k.nngp.size(0));
    y.positions = static_cast<int>(k.position_count());
    const auto list = [](const Tensor& x) {
      const Tensor flat = contiguous(x);
      return std::vector<double>(flat.data<double>(), flat.data<double>() + flat.count());
    };
    y.nngp = list(k.nngp);
    y.ntk = list(k.ntk);
    const Shape each{y.inputs, y.positions};
    if (k.mean1.defined())
      y.means = list(expand(reshape(k.mean1, {k.mean1.size(0), y.positions}), each));
    y.visible.assign(static_cast<std::size_t>(each.count()), true);
    if (k.mask1.defined() && k.has_positions())
      for (std::size_t i = 0; i < y.visible.size(); ++i)
        y.visible[i] = contiguous(k.mask1).data<bool>()[i];
    return y;
  }

  const Layer* model_;
  Inputs inputs_;
};

// --- formulas beside maps ---

/// A number by its formula less that of the map, over replicates.
struct Difference {
  double sum = 0, squares = 0, largest = 0;
  int count = 0;
  void add(double formula, double map) {
    const double by = formula - map;
    sum += by;
    squares += by * by;
    largest = std::max(largest, std::abs(map));
    ++count;
  }
  double mean() const { return sum / count; }
  double standard_error() const {
    return std::sqrt(std::max(0.0, squares / count - mean() * mean()) / (count - 1));
  }
};

/// Visible entries of the step's kernels.
std::vector<Entry> entries_of(const StepKernels& k) {
  std::vector<Entry> all;
  const auto visible = [&k](int n, int a) {
    return k.visible[static_cast<std::size_t>(n * k.positions + a)];
  };
  for (int n = 0; n < k.inputs; ++n)
    for (int m = 0; m < k.inputs; ++m)
      for (int a = 0; a < k.positions; ++a)
        for (int b = 0; b < k.positions; ++b)
          if (visible(n, a) && visible(m, b)) all.push_back({n, m, a, b});
  return all;
}

double of_map(const std::vector<double>& kernel, const StepKernels& k, const Entry& at) {
  const int i = ((at.n * k.inputs + at.m) * k.positions + at.a) * k.positions + at.b;
  return kernel[static_cast<std::size_t>(i)];
}

/// Largest error of a formula without draws, as a part of an entry.
double allowed(const StepFormulas& formulas, const infinite::DerivedStep& step) {
  if (formulas.rounded()) return 1e-5;
  // The map of any function is an expansion of it in some terms.
  if (step.nngp.find("φ = Elementwise(") != std::string::npos) return 1e-5;
  return formulas.has_quadrature() ? 1e-9 : 1e-10;
}

/// Compares a step; `kernels` has those before it, and gets its own.
void expect_step(const infinite::DerivedStep& step, const Steps& steps,
                 std::map<int, StepKernels>& kernels, const Words& words) {
  SCOPED_TRACE(
      detail::join("step ", step.number, ", ", step.layer, "\n  ", step.nngp, "\n  ", step.ntk));
  StepKernels& own = kernels[step.number] = steps.kernels(step.number, 0);
  const StepFormulas formulas(step, kernels, words);
  const std::vector<Entry> entries = entries_of(own);
  std::vector<Difference> nngp(entries.size()), tangent(entries.size());
  for (int i = formulas.drawn() ? replicates : 1; i-- > 0;) {
    if (i > 0 || formulas.drawn()) own = steps.kernels(step.number, static_cast<std::uint64_t>(i));
    for (std::size_t e = 0; e < entries.size(); ++e) {
      nngp[e].add(formulas.nngp(entries[e]), of_map(own.nngp, own, entries[e]));
      tangent[e].add(formulas.ntk(entries[e]), of_map(own.ntk, own, entries[e]));
    }
  }
  const double relative = allowed(formulas, step);
  for (const auto* all : {&nngp, &tangent}) {
    double largest = 0;
    for (const Difference& each : *all) largest = std::max(largest, each.largest);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const Difference& each = (*all)[e];
      // Sums that cancel are as exact as their parts, and so are rounded factors.
      double bound = relative * each.largest + std::max(1e-13, relative / 100) * largest;
      if (formulas.rounded()) bound += relative * largest;
      if (formulas.drawn()) bound += 4.5 * each.standard_error();
      EXPECT_LE(std::abs(each.mean()), bound)
          << (all == &nngp ? "NNGP" : "NTK") << " kernel of inputs " << entries[e].n << " and "
          << entries[e].m << " at " << entries[e].a << " and " << entries[e].b << ": "
          << each.largest << " by the map";
      if (!(std::abs(each.mean()) <= bound)) return;
    }
  }
}

/// Compares all steps of the model's limit.
void expect_formulas(const std::string& name, const Layer& model, const Inputs& inputs,
                     Words words = {}) {
  SCOPED_TRACE(name);
  try {
    const bool indices = inputs.x.dtype() == i64;
    const std::int64_t n = inputs.count();
    words.inputs = contiguous(indices ? reshape(inputs.x, {n, -1})
                                      : reshape(inputs.x, {n, -1, inputs.x.size(-1)}));
    const Steps steps(model, inputs);
    std::map<int, StepKernels> kernels;
    for (const infinite::DerivedStep& step : steps.derived())
      expect_step(step, steps, kernels, words);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

// --- models ---

Linear dense(Generator& rng, std::int64_t in = 4, std::int64_t out = 4) {
  return Linear({.in = in, .out = out, .parameterization = ntk, .weight_std = 1.1, .bias_std = 0.3},
                rng);
}

/// The layers behind dense ones: after two, the tangent kernel is neither 0 nor the NNGP kernel.
template <class... L>
Sequential behind_dense(L... layers) {
  Generator rng(1);
  return Sequential(dense(rng), dense(rng), std::move(layers)...);
}

Inputs vectors() { return gaussian({2, 4}, 2); }
Inputs sequences(std::int64_t positions = 3) { return gaussian({2, positions, 4}, 3); }
Inputs images() { return gaussian({2, 3, 3, 4}, 4); }
Inputs indices() { return tensor({0, 3, 1, 3, 2, 0}, {2, 3}, i64); }
Tensor some_masked() { return cast(tensor({1, 1, 0, 1, 1, 1}, {2, 3}), boolean); }
Inputs masked() { return Inputs(sequences().x, some_masked()); }

// --- windows ---

/// Input positions that output positions see through taps; −1: none.
using Windows = std::vector<std::vector<int>>;

struct Sliding {
  int size = 1, stride = 1, before = 0, dilation = 1;
  bool ring = false;
};

/// Tap o of output a sees a·stride − before + o·dilation.
Windows sliding(int inputs, int outputs, const Sliding& w) {
  Windows all;
  for (int a = 0; a < outputs; ++a) {
    all.emplace_back();
    for (int o = 0; o < w.size; ++o) {
      const int at = a * w.stride - w.before + o * w.dilation;
      const bool outside = at < 0 || at >= inputs;
      all.back().push_back(w.ring ? (at + inputs) % inputs : outside ? -1 : at);
    }
  }
  return all;
}

/// Input i makes output i·stride − before + o·dilation through tap o.
Windows spreading(int inputs, int outputs, const Sliding& w) {
  Windows all(static_cast<std::size_t>(outputs),
              std::vector<int>(static_cast<std::size_t>(w.size), -1));
  for (int i = 0; i < inputs; ++i)
    for (int o = 0; o < w.size; ++o) {
      const int a = i * w.stride - w.before + o * w.dilation;
      if (a >= 0 && a < outputs) all[static_cast<std::size_t>(a)][static_cast<std::size_t>(o)] = i;
    }
  return all;
}

/// Windows that share the positions evenly.
Windows sharing(int inputs, int outputs) {
  Windows all;
  for (int a = 0; a < outputs; ++a) {
    all.emplace_back();
    for (int i = a * inputs / outputs; i * outputs < (a + 1) * inputs; ++i) all.back().push_back(i);
  }
  return all;
}

/// Of images: windows of rows and of `columns` columns, row by row.
Windows both(const Windows& rows, const Windows& of_columns, int columns) {
  Windows all;
  for (const auto& row : rows)
    for (const auto& column : of_columns) {
      all.emplace_back();
      for (const int i : row)
        for (const int j : column) all.back().push_back(i < 0 || j < 0 ? -1 : i * columns + j);
    }
  return all;
}

// --- every layer ---

/// What words of the row's formulas mean on that many positions, or on images 3 × 3.
Words words_of(const LayerRow& row, int positions) {
  const int n = positions;
  const std::map<std::string, Windows> windows = {
      {"Conv1d", sliding(n, n, {.size = 3, .before = 1})},
      {"Conv2d", both(sliding(3, 3, {.size = 3, .before = 1}), sliding(3, 3, {.size = 2}), 3)},
      {"ConvTranspose1d", spreading(n, n + 2, {.size = 3})},
      {"ConvTranspose2d", both(spreading(3, 5, {.size = 3}), spreading(3, 4, {.size = 2}), 3)},
      {"AveragePool", both(sliding(3, 1, {.size = 2, .stride = 2}), sliding(3, 3, {.size = 1}), 3)},
      {"AdaptiveAveragePool", both(sharing(3, 3), sharing(3, 2), 3)}};
  Words words;
  if (windows.contains(row.name)) words.windows = windows.at(row.name);
  if (row.name == "RandomPositions")
    words.correlation = [](int a, int b) { return std::exp(-2.0 * (a - b) * (a - b)); };
  return words;
}

std::vector<Inputs> inputs_of(const LayerRow& row) {
  if (row.input.dtype() == i64) return {indices(), Inputs(tensor({2, 2}, {2, 1}, i64))};
  if (row.input.rank() == 4) return {images()};
  return {sequences(), sequences(1)};
}

TEST(Formula, OfEveryLayerIsWhatItsMapComputes) {
  int with_limit = 0;
  for (const LayerRow& row : every_layer()) {
    if (row.limit == Ends::in_a_refusal) continue;
    ++with_limit;
    for (const Inputs& inputs : inputs_of(row)) {
      Generator rng(1);
      const Words words = words_of(row, static_cast<int>(inputs.x.size(1)));
      if (row.limit == Ends::in_a_limit) expect_formulas(row.name, *row.make(rng), inputs, words);
      if (inputs.x.dtype() == i64) continue;
      Sequential behind = behind_dense();
      behind.append(row.make(rng));
      expect_formulas(row.name + " behind two Linears", behind, inputs, words);
    }
  }
  EXPECT_GT(with_limit, 25);
}

// --- options ---

TEST(Formula, OfLinearMapsAndTables) {
  Generator rng(1);
  for (const bool bias : {true, false}) {
    expect_formulas("standard", behind_dense(Linear({.in = 4, .out = 8, .bias = bias}, rng)),
                    vectors());
    for (const double std : {0.5, 0.0})
      expect_formulas("ntk",
                      behind_dense(Linear({.in = 4,
                                           .out = 8,
                                           .bias = bias,
                                           .parameterization = ntk,
                                           .weight_std = std,
                                           .bias_std = bias ? 0.7 : 0},
                                          rng)),
                      sequences());
  }
  for (const Parameterization each : {ntk, Parameterization::standard}) {
    expect_formulas("table",
                    Embedding({.count = 5, .dim = 4, .stddev = 0.5, .parameterization = each}, rng),
                    indices());
    expect_formulas(
        "padded table",
        Embedding(
            {.count = 5, .dim = 4, .padding_index = 1, .stddev = 0.5, .parameterization = each},
            rng),
        Inputs(indices().x, some_masked()));
  }
  LowRank adapter(Linear({.in = 4, .out = 4}, rng), {.rank = 2, .alpha = 3, .stabilized = true},
                  rng);
  expect_formulas("LowRank", behind_dense(std::move(adapter)), sequences());
}

TEST(Formula, OfFunctionsOfEachChannel) {
  Generator rng(1);
  for (const Nonlinearity f : {Nonlinearity::relu, Nonlinearity::gelu, Nonlinearity::erf})
    for (const Inputs& inputs : {vectors(), sequences()})
      expect_formulas(std::string(to_string(f)), behind_dense(Activation(f)), inputs);
  expect_formulas("masked", behind_dense(Activation(Nonlinearity::relu)), masked());
  for (const double p : {0.2, 0.0, 1.0})
    for (const Inputs& inputs : {vectors(), sequences(), masked()})
      expect_formulas("Dropout", behind_dense(Dropout(p, rng)), inputs);
}

TEST(Formula, OfNorms) {
  Generator rng(1);
  for (const bool affine : {true, false}) {
    const LayerNorm norm({.dim = 4, .eps = 0.125, .affine = affine});
    const RmsNorm by_power({.dim = 4, .eps = 0.125, .affine = affine});
    for (const Inputs& inputs : {vectors(), sequences(), masked()}) {
      expect_formulas("LayerNorm of data", Sequential(norm, dense(rng)), inputs);
      expect_formulas("RmsNorm of data", Sequential(by_power, dense(rng)), inputs);
      expect_formulas("LayerNorm", behind_dense(norm), inputs);
      expect_formulas("RmsNorm", behind_dense(by_power), inputs);
    }
    expect_formulas("LayerNorm of a table", behind_dense(SinusoidalPositions(), norm), sequences());
    expect_formulas("LayerNorm of a sum",
                    behind_dense(SinusoidalPositions(), Residual(0.25, dense(rng)), norm),
                    sequences());
  }
}

TEST(Formula, OfBranches) {
  Generator rng(1);
  const auto relu = [&] {
    return Sequential(dense(rng), Activation(Nonlinearity::relu), dense(rng));
  };
  for (const double alpha : {0.25, 0.0, 1.0})
    expect_formulas("Residual", behind_dense(Residual(alpha, relu())), sequences());
  expect_formulas("SumBranches", behind_dense(SumBranches(Identity(), relu(), dense(rng))),
                  sequences());
  expect_formulas("MultiplyBranches",
                  behind_dense(MultiplyBranches(dense(rng), relu(), Identity())), sequences());
  expect_formulas("ConcatenateBranches",
                  behind_dense(ConcatenateBranches({2, 6}, dense(rng, 4, 2), dense(rng, 4, 6))),
                  sequences());
}

TEST(Formula, OfPooledPositions) {
  for (const Inputs& inputs : {sequences(), sequences(1), masked(), images()}) {
    expect_formulas("MeanPositions", behind_dense(MeanPositions()), inputs);
    expect_formulas("SumPositions", behind_dense(SumPositions()), inputs);
    expect_formulas("Flatten", behind_dense(Flatten()), inputs);
    expect_formulas("FirstToken", behind_dense(FirstToken()), inputs);
  }
  Generator rng(1);
  expect_formulas(
      "FlattenPositions",
      behind_dense(FlattenPositions(), dense(rng), Activation(Nonlinearity::relu), MeanPositions()),
      images());
}

TEST(Formula, OfConvolutions) {
  Generator rng(1);
  const auto conv = [&](ConvOptions o, const Inputs& inputs, const Windows& windows) {
    for (const Parameterization each : {ntk, Parameterization::standard}) {
      o.parameterization = each;
      if (each == Parameterization::standard) o.weight_std = 1, o.bias_std = 0;
      expect_formulas("Conv1d", behind_dense(Conv1d(o, rng)), inputs, {.windows = windows});
    }
  };
  conv({.in = 4, .out = 3, .window = {3}, .weight_std = 1.5, .bias_std = 0.5}, masked(),
       sliding(3, 3, {.size = 3, .before = 1}));
  conv({.in = 4, .out = 3, .window = {2}, .stride = {2}, .bias = false}, sequences(),
       sliding(3, 2, {.size = 2, .stride = 2}));
  conv({.in = 4, .out = 3, .window = {3}, .padding = Padding::circular}, sequences(),
       sliding(3, 3, {.size = 3, .before = 1, .ring = true}));
  conv({.in = 4, .out = 3, .window = {2}, .before = {2}, .after = {1}, .dilation = {2}},
       sequences(), sliding(3, 4, {.size = 2, .before = 2, .dilation = 2}));
  const auto spread = [&](const ConvTransposeOptions& o, const Windows& windows) {
    expect_formulas("ConvTranspose1d", behind_dense(ConvTranspose1d(o, rng)), sequences(),
                    {.windows = windows});
  };
  spread({.in = 4, .out = 3, .window = {3}, .stride = {2}, .bias = false},
         spreading(3, 7, {.size = 3, .stride = 2}));
  spread(
      {.in = 4, .out = 3, .window = {2}, .before = {1}, .after = {0}, .dilation = {2}, .gain = 1.5},
      spreading(3, 4, {.size = 2, .before = 1, .dilation = 2}));
}

TEST(Formula, OfPooledWindows) {
  for (const Inputs& inputs : {sequences(), masked()})
    expect_formulas(
        "AveragePool",
        behind_dense(AveragePool({.window = {2}, .stride = {1}, .padding = Padding::same})), inputs,
        {.windows = sliding(3, 3, {.size = 2})});
  expect_formulas("AdaptiveAveragePool", behind_dense(AdaptiveAveragePool({2})), sequences(),
                  {.windows = sharing(3, 2)});
  expect_formulas("AdaptiveAveragePool of padding", behind_dense(AdaptiveAveragePool({3})),
                  masked(), {.windows = sharing(3, 3)});
}

TEST(Formula, OfPositions) {
  Generator rng(1);
  for (const Inputs& inputs : {sequences(), sequences(1), masked()}) {
    expect_formulas("SinusoidalPositions", behind_dense(SinusoidalPositions()), inputs);
    expect_formulas("LearnedPositions",
                    behind_dense(LearnedPositions({.max_length = 4, .dim = 4, .stddev = 0.5}, rng)),
                    inputs);
    for (const PositionMerge merge : {PositionMerge::sum, PositionMerge::concat}) {
      RandomPositionsOptions o{.grid = {4}, .in = 4, .merge = merge, .stddev = 0.5};
      if (merge == PositionMerge::concat) o.channels = 12;
      expect_formulas("RandomPositions", behind_dense(RandomPositions(o, rng)), inputs,
                      {.correlation = [](int a, int b) { return a == b ? 1.0 : 0.0; }});
      o.correlation = decaying_correlation(0.5);
      expect_formulas(
          "RandomPositions in order", behind_dense(RandomPositions(o, rng)), inputs,
          {.correlation = [](int a, int b) { return std::exp(-(a - b) * (a - b) / 2.0); }});
    }
  }
}

// --- attention ---

/// Options in ntk parameterization, whose numbers differ from each other.
MultiHeadAttentionOptions in_front() {
  return {.dim = 4,
          .heads = 2,
          .value_head_dim = 3,
          .out = 6,
          .prior = {.parameterization = ntk,
                    .query_key_std = 1.5,
                    .value_output_std = 0.5,
                    .bias_std = 0.75}};
}

/// The layer's kinds of parameters and biases.
std::vector<MultiHeadAttentionOptions> with_parameters(AttentionForm form) {
  MultiHeadAttentionOptions standard{
      .dim = 4, .heads = 2, .value_head_dim = 3, .out = 6, .form = form};
  MultiHeadAttentionOptions without = standard, ntk_options = in_front(), plain = in_front();
  without.bias = false;
  ntk_options.form = plain.form = form;
  plain.bias = false;
  plain.prior.bias_std = 0;
  plain.prior.query_key_std = 1;
  return {standard, without, ntk_options, plain};
}

void expect_attention(const MultiHeadAttentionOptions& o, const Inputs& inputs, Words words = {}) {
  Generator rng(1);
  const bool drawn = o.form == AttentionForm{} && inputs.x.size(1) > 2;
  words.draws = drawn ? draws : 0;
  expect_formulas(
      detail::join(to_string(o.form), o.causal ? ", causal" : "", ", window ", o.window),
      behind_dense(MultiHeadAttention(o, rng)), inputs, words);
}

TEST(Formula, OfAttentionBySquareRoot) {
  using enum Weighting;
  for (const Weighting zeta : {softmax, identity, relu, abs})
    for (MultiHeadAttentionOptions o : with_parameters({.weighting = zeta}))
      for (const bool causal : {false, true}) {
        o.causal = causal;
        for (const std::int64_t positions : {1, 2, 3})
          if (zeta != softmax || positions < 3) expect_attention(o, sequences(positions));
        if (zeta != softmax) expect_attention(o, masked());
      }
  MultiHeadAttentionOptions o = in_front();
  const Tensor one_key = cast(tensor({1, 0, 1, 1}, {2, 2}), boolean);
  expect_attention(o, Inputs(sequences(2).x, one_key));
  o.causal = true, o.window = 1;
  expect_attention(o, sequences(2));
}

TEST(Formula, OfAttentionByWidth) {
  using enum Weighting;
  for (const Weighting zeta : {softmax, identity, relu, abs})
    for (const bool tied : {false, true})
      for (MultiHeadAttentionOptions o : with_parameters(
               {.scaling = AttentionScaling::linear, .weighting = zeta, .tied = tied})) {
        expect_attention(o, sequences());
        expect_attention(o, masked());
        o.causal = true;
        expect_attention(o, sequences());
        o.window = 2;
        expect_attention(o, sequences());
      }
}

// Small tokens have small logits, whose quadrature needs few nodes.
TEST(Formula, OfAttentionByDraws) {
  const Tensor tokens = 0.6 * sequences().x;
  for (MultiHeadAttentionOptions o : with_parameters({})) {
    expect_attention(o, tokens);
    o.causal = true;
    expect_attention(o, tokens);
  }
  MultiHeadAttentionOptions o = in_front();
  expect_attention(o, Inputs(tokens, some_masked()));
  o.causal = true, o.window = 2;
  expect_attention(o, tokens);
  Generator rng(1);
  TransformerEncoder encoder({.layer = {.dim = 4, .heads = 2}, .layers = 1}, rng);
  encoder.eval();
  expect_formulas("encoder", encoder, sequences(), {.draws = draws});
}

TEST(Formula, OfAttentionWithPositions) {
  for (const bool values : {false, true})
    for (const AttentionForm form :
         {AttentionForm{.weighting = Weighting::relu},
          AttentionForm{.scaling = AttentionScaling::linear, .tied = true}, AttentionForm{}})
      for (MultiHeadAttentionOptions o : with_parameters(form)) {
        o.positions = {
            .encoding = {.grid = {4}, .stddev = 0.5, .correlation = decaying_correlation(0.5)},
            .values = values};
        expect_attention(
            o, sequences(form == AttentionForm{} ? 2 : 3),
            {.correlation = [](int a, int b) { return std::exp(-(a - b) * (a - b) / 2.0); }});
      }
}

// A factor of 0 leaves the bias.
TEST(Formula, OfAttentionWithoutWeights) {
  for (const AttentionForm form :
       {AttentionForm{.weighting = Weighting::identity}, AttentionForm{},
        AttentionForm{.scaling = AttentionScaling::linear, .tied = true}})
    for (const bool bias : {true, false}) {
      MultiHeadAttentionOptions o = in_front();
      o.form = form;
      o.bias = bias;
      if (!bias) o.prior.bias_std = 0;
      o.prior.value_output_std = 0;
      expect_attention(o, sequences(2));
      o.prior.value_output_std = 0.5;
      o.prior.query_key_std = 0;
      expect_attention(o, sequences(2));
    }
}

/// The first positions attend to means of all.
struct Attending : Layer {
  Part<Linear> queries;
  Part<Sequential> memory;
  Part<MultiHeadAttention> attention;

  Attending(Linear q, Sequential m, MultiHeadAttention a)
      : queries(std::move(q)), memory(std::move(m)), attention(std::move(a)) {}
  Tensor forward(const Tensor& x) const override {
    const Tensor keys = (*memory)(x);
    return attention->forward((*queries)(x), keys, keys);
  }
  KernelNode limit(const KernelNode& k) const override {
    return attention->limit((*queries)(k), (*memory)(k));
  }
  void visit(Visitor& v) override {
    v("queries", queries);
    v("memory", memory);
    v("attention", attention);
  }
  std::string describe() const override { return "Attending"; }
};

TEST(Formula, OfCrossAttention) {
  using enum Weighting;
  std::vector<AttentionForm> forms = {{.scaling = AttentionScaling::linear}, {}};
  for (const Weighting zeta : {identity, relu, abs}) forms.push_back({.weighting = zeta});
  for (const AttentionForm& form : forms)
    for (const MultiHeadAttentionOptions& o : with_parameters(form)) {
      Generator rng(1);
      Attending model(dense(rng), Sequential(dense(rng), AdaptiveAveragePool({2})),
                      MultiHeadAttention(o, rng));
      expect_formulas(to_string(form), behind_dense(std::move(model)), sequences(),
                      {.windows = sharing(3, 2)});
    }
}

/// A variant of attention that gives all keys the same weight.
struct Uniform : AttentionHook {
  infinite::AttentionMap limit(const infinite::AttentionLimit&) const override {
    return [](const infinite::AttentionLimit& layer, const infinite::Pairs& seen,
              const infinite::Pairs& values) {
      const Tensor weights = infinite::weights_of(
          layer, zeros({seen.nngp.size(-2), seen.nngp.size(-1)}, f64), seen.left_mask);
      return infinite::given_weights(layer, weights, weights, values);
    };
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Uniform"; }
};

TEST(Formula, OfAttentionWithAHookNamesWhatItSees) {
  for (const bool values : {true, false}) {
    MultiHeadAttentionOptions o{.dim = 4, .heads = 2, .prior = {.parameterization = ntk}};
    o.hook = Uniform();
    o.positions = {.encoding = {.grid = {4}}, .values = values};
    Generator rng(1);
    expect_formulas("hook", behind_dense(MultiHeadAttention(o, rng)), sequences(2),
                    {.correlation = [](int a, int b) { return a == b ? 1.0 : 0.0; }});
  }
}

// --- what fails ---

/// A layer that prints what it is given, and keeps kernels as they are.
struct Printing : Layer {
  std::function<infinite::Formula()> formula;
  explicit Printing(std::function<infinite::Formula()> f) : formula(std::move(f)) {}
  Tensor forward(const Tensor& x) const override { return x; }
  KernelNode limit(const KernelNode& k) const override {
    const infinite::Step step{.makes = k.law, .formula = formula};
    return infinite::map_pairs(k, step, [](const infinite::Pairs& p) {
      return infinite::PairKernels{p.nngp, p.ntk};
    });
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Printing"; }
};

/// Reads the formulas of such a layer.
void read(const infinite::Formula& formula) {
  const Printing layer([&] { return formula; });
  const Steps steps(layer, sequences());
  std::map<int, StepKernels> kernels;
  for (const auto& step : steps.derived()) {
    kernels[step.number] = steps.kernels(step.number, 0);
    const StepFormulas formulas(step, kernels, {});
    if (step.number > 0) formulas.nngp({0, 1, 0, 1}), formulas.ntk({0, 1, 0, 1});
  }
}

TEST(Formula, ThatSaysNothingIsRefused) {
  EXPECT_NO_THROW(read({"$k", "$t + $K"}));
  const Printing silent(std::function<infinite::Formula()>{});
  const Steps steps(silent, sequences());
  const auto step = steps.derived().at(1);
  const std::map<int, StepKernels> kernels = {{0, steps.kernels(0, 0)}, {1, steps.kernels(1, 0)}};
  expect_error([&] { StepFormulas(step, kernels, {}); }, "cannot read \"a map of k₀\"");
  expect_error([] { read({"$K", "$t"}); }, "names step 1, of step 1");
  expect_error([] { read({"$k", "some of $t"}); }, "cannot read");
  expect_error([] { read({"$k, of keys that it likes", "$t"}); }, "from \"of keys that it likes\"");
  expect_error(
      [] {
        read({"E[φ(u)·φ(v)], (u, v) ~ N(0, $k of x and x')", "$t"});
      },
      "φ, or the law of u and v, is not said");
}

}  // namespace
}  // namespace ladon::test::formula_test
