#include "ladon/tests/layers/infinite/extra/pairs_table.h"

#include "ladon/autograd/ops.h"
#include "ladon/layers/extra/images/kernel_windows.h"
#include "ladon/layers/infinite/attention/outputs.h"
#include "ladon/layers/infinite/attention/pair_blocks.h"
#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon::test {
namespace {

using Tensors = std::vector<Tensor>;
using Shapes = std::vector<Shape>;
using Of = Pair::Of;

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

/// On QK, the kernels k and v of what queries and keys and what values see, and perhaps their
/// tangent kernels t and u.
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

/// Averages over 6 draws with softmax: of the coordinates of two inputs' tokens and what is left of
/// each, [2, T, R] and [2, T, T]; then as above.
TensorFunction drawn(const Seen& see) {
  return [see](const Tensors& x) {
    infinite::Pairs seen, values;
    seen.left_root = {x[1], tril(x[2]), from_vector<std::int64_t>({1, 3}, {2}), {}};
    seen.right_root = {
        flip(x[1], {0}), flip(seen.left_root.own, {0}), from_vector<std::int64_t>({3, 1}, {2}), {}};
    seen.left = seen.right = ones({2, x[1].size(1), x[1].size(1)}, f64);
    seen.nngp = x[3];
    values.nngp = x[4];
    if (x.size() > 5) seen.ntk = x[5], values.ntk = x[6];
    return moments(infinite::softmax_moments, see, Weighting::softmax, x[0], seen, values);
  };
}

/// On the kernel of inputs with landmarks, of whose tokens three are pivots, and their L⁻ᵀ.
Tensor coordinates(const Tensors& x) { return infinite::coordinates(x[0], {{0, 3, 2}, x[1]}); }

/// On OV, the variance and the tangent kernel of the bias, and the moments of heads.
Tensor outputs(const Tensors& x) {
  infinite::AttentionLimit layer{};
  layer.value_output = x[0];
  layer.bias_variance = x[1];
  layer.bias_trained = x[2];
  layer.value_output_trained = 0.6;
  const auto y = infinite::attention_outputs(layer, {x[3], x.size() > 4 ? x[4] : Tensor()});
  return y.ntk.defined() ? concat({y.nngp, y.ntk}, 0) : y.nngp;
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
    if (x.size() > 1) return infinite::input_kernel(x[0], x[1], {.entries = entries}).nngp;
    return infinite::begin(x[0], nullptr, {.entries = entries, .pairs = false}).kernel.cov1;
  };
}

TensorFunction recurrent(RecurrentCell cell, const RecurrenceOptions& options) {
  return [=](const Tensors& x) {
    RecurrenceOptions with = options;
    if (x.size() > 2) with.bias = x[2], with.initial = x[3];
    return recurrence(cell, x[0], x[1], with);
  };
}

std::vector<Pair> rows_of_operations() {
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
      {.name = "tanh_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return tanh(x[0]); },
       .empty = {{{0, 3}}}},
      {.name = "sigmoid_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return sigmoid(x[0]); },
       .empty = {{{0, 3}}}},
      {.name = "softplus_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return softplus(x[0]); },
       .empty = {{{0, 3}}}},
      {.name = "relu_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return relu(x[0]); },
       .empty = {{{0, 3}}}},
      {.name = "gelu_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return gelu(x[0]); },
       .empty = {{{0, 3}}}},
      {.name = "gelu_tanh_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return gelu(x[0], Gelu::tanh); },
       .empty = {{{0, 3}}}},
      {.name = "silu_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return silu(x[0]); },
       .empty = {{{0, 3}}}},
      {.name = "piecewise_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return selu(x[0]); },
       .empty = {{{0, 3}}}},
      {.name = "piecewise_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return leaky_relu(x[0], 0.2); }},
      {.name = "piecewise_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return clamp(x[0], -0.6, 0.7); }},
      {.name = "loss_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}, {4, 5}}},
       .apply = [](const Tensors& x) { return mse_loss(x[0], x[1], Reduction::sum); },
       .empty = {{{0, 3}, {0, 3}}}},
      {.name = "loss_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}, {4, 5}}},
       .apply = [](const Tensors& x) { return l1_loss(x[0], x[1], Reduction::none); }},
      {.name = "loss_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}, {4, 5}}},
       .apply = [](const Tensors& x) { return smooth_l1_loss(x[0], x[1], 0.8); }},
      {.name = "loss_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}, {4, 5}}},
       .apply =
           [](const Tensors& x) { return binary_cross_entropy_with_logits(x[0], sigmoid(x[1])); }},
      {.name = "solve_transposed",  // larger than what is eliminated anew
       .of = Of::gradient,
       .samples = {{{28, 28}, {28, 3}}, {{2, 28, 28}, {2, 28, 1}}},
       .apply = [](const Tensors& x) { return solve(x[0] + 30 * eye(x[0].size(-1), f64), x[1]); },
       .empty = {{{0, 28, 28}, {0, 28, 3}}}},
      {.name = "eigenvalues",
       .of = Of::value,
       .samples = {{{5, 5}}, {{2, 4, 4}}},
       .apply = [](const Tensors& x) { return eigenvalues(x[0] + transpose(x[0])); },
       .empty = {{{0, 3, 3}}, {{2, 0, 0}}}},
      {.name = "prod_gradient",
       .of = Of::gradient,
       .samples = {{{4, 5}}},
       .apply = [](const Tensors& x) { return prod(x[0], 1); },
       .empty = {{{3, 0}}}},
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
      {.name = "rms_norm_gradient",
       .of = Of::gradient,
       .samples = {{{3, 4}}, {{3, 4}, {4}}, {{2, 3, 4}, {4}}},
       .apply =
           [](const Tensors& x) { return x.size() > 1 ? rms_norm(x[0], x[1]) : rms_norm(x[0]); },
       .empty = {{{0, 4}, {4}}}},
      {.name = "batch_norm_gradient",
       .of = Of::gradient,
       .samples = {{{5, 4}}, {{5, 4}, {4}}, {{2, 3, 4}, {4}, {4}}},
       .apply =
           [](const Tensors& x) {
             return normalize_batch(x[0], x.size() > 1 ? x[1] : Tensor(),
                                    x.size() > 2 ? x[2] : Tensor())
                 .y;
           },
       .empty = {{{0, 4}, {4}, {4}}, {{3, 0}, {0}, {0}}}},
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

std::vector<Pair> rows_of_limits() {
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
      {.name = "attention_outputs",
       .of = Of::value,
       .samples = {{number, number, number, pairs}, {number, number, number, pairs, pairs}},
       .apply = outputs,
       .empty = {{number, number, number, none, none}, {number, number, number, nowhere}}},
      {.name = "coordinates",
       .of = Of::value,
       .samples = {{{4, 2, 2, 2}, {3, 3}}, {{1, 2, 2, 2}, {3, 3}}},
       .apply = coordinates,
       .empty = {{{0, 2, 2, 2}, {3, 3}}}},
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

}  // namespace

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> rows = [] {
    std::vector<Pair> all = rows_of_operations();
    for (Pair& row : rows_of_limits()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

}  // namespace ladon::test
