#include "ladon/layers/extra/sequence/recurrent.h"

#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/kernels/recurrent/recurrent.h"
#include "ladon/core/unread.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {
namespace {

const char* name_of(RecurrentCell cell) {
  switch (cell) {
    case RecurrentCell::lstm:
      return "Lstm";
    case RecurrentCell::gru:
      return "Gru";
    default:
      return "Rnn";
  }
}

}  // namespace

Recurrent::Recurrent(RecurrentCell which, const RecurrentOptions& o, Generator& rng)
    : cell(which), options(o), dropout(o.dropout, rng) {
  LADON_CHECK(o.in > 0 && o.hidden > 0, name_of(cell), "sizes must be positive, got in = ", o.in,
              ", hidden = ", o.hidden);
  detail::check_depth(name_of(cell), o.layers);
  if (o.layers == 1)
    detail::check_unread(name_of(cell), "dropout", o.dropout, 0,
                         "it acts between layers, of which there is 1; set layers to 2 or more, "
                         "put a Dropout behind this layer");
  const std::int64_t gates = cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
  const std::int64_t rows = detail::checked_product(name_of(cell), gates, o.hidden),
                     out = detail::checked_product(name_of(cell), sides(), o.hidden);
  const double bound = 1 / std::sqrt(static_cast<double>(o.hidden));
  const auto draw = [&](const Shape& shape) {
    return parameter(uniform(shape, rng, -bound, bound));
  };
  for (std::int64_t l = 0; l < o.layers; ++l)
    for (int side = 0; side < sides(); ++side) {
      Direction d;
      d.weight_ih = draw({rows, l == 0 ? o.in : out});
      d.weight_hh = draw({rows, o.hidden});
      if (o.bias) d.bias_ih = draw({rows}), d.bias_hh = draw({rows});
      directions.push_back(std::move(d));
    }
}

Tensor Recurrent::forward_masked(const Tensor& x, const Tensor& mask) const {
  return forward_with_state(x, {.mask = mask}).output;
}

void Recurrent::check(const Tensor& x, const RecurrentInputs& inputs) const {
  const char* name = name_of(cell);
  LADON_CHECK(x.defined() && x.rank() == 3 && x.size(2) == options.in, name, "expects [batch, T, ",
              options.in, "], got ", detail::shape_in_words(x));
  const Shape state{options.layers * sides(), x.size(0), options.hidden};
  LADON_CHECK(static_cast<std::int64_t>(directions.size()) == state[0], name, "has ",
              directions.size(), " of its ", state[0], " directions: it was moved from");
  detail::warn_of_precision(name, x, directions[0].weight_ih);
  const auto& [h, c] = inputs.state;
  LADON_CHECK(cell == RecurrentCell::lstm || !c.defined(), name,
              "got an initial state c, which only Lstm has; leave c undefined");
  LADON_CHECK(cell != RecurrentCell::lstm || h.defined() == c.defined(), name,
              "needs both h and c as initial state, or neither, but got only ",
              h.defined() ? "h" : "c");
  for (const Tensor* part : {&h, &c})
    LADON_CHECK(!part->defined() || part->shape() == state, name,
                "needs an initial state of shape ", state, ", got ", part->shape());
  const Tensor& mask = inputs.mask;
  LADON_CHECK(!mask.defined() || (mask.dtype() == boolean && mask.shape() == x.shape().sub(0, 2)),
              name, "sequences ", x.shape(), " need a mask bool ", x.shape().sub(0, 2),
              ", true = token; got ", mask.dtype(), " ", mask.shape());
}

/// Initial state of one direction of one layer: [batch, S], or undefined. S is hidden, or 2·hidden
/// for h and c of an LSTM.
Tensor Recurrent::initial(const RecurrentState& state, std::int64_t index) const {
  if (!state.h.defined()) return {};
  const Tensor h = select(state.h, 0, index);
  return state.c.defined() ? concat({h, select(state.c, 0, index)}, -1) : h;
}

/// The states of one direction of one layer: [batch, T, S], with S as in initial().
Tensor Recurrent::run(const Tensor& x, const RecurrentInputs& inputs, std::int64_t index) const {
  const Direction& d = directions[index];
  const RecurrenceOptions how{.bias = d.bias_hh,
                              .initial = initial(inputs.state, index),
                              .mask = inputs.mask,
                              .reverse = index % sides() == 1};
  const Tensor gates = linear(x, d.weight_ih, d.bias_ih);
  const Tensor states = recurrence(cell, gates, d.weight_hh, how);
  if (ParameterUses::active()) {
    ParameterUses::report_product(x, gates, d.bias_ih.defined() ? 1 : 0);
    report(gates, d.weight_hh, how, states);
  }
  return states;
}

// At each step t, the hidden state contributes b_t = W·h_t + c to the gates. With δ_t the gradient
// with respect to b_t, ∂/∂W = Σ_t δ_t h_tᵀ and ∂/∂c = Σ_t δ_t.
void Recurrent::report(const Tensor& gates, const Tensor& weight, const RecurrenceOptions& how,
                       const Tensor& states) const {
  kernels::Recurrence r{cell,        gates.detach(), weight.detach(), how.bias,
                        how.initial, how.mask,       how.reverse};
  if (!r.initial.defined()) r.initial = zeros({states.size(0), states.size(2)}, states.dtype());
  ParameterUses::report(states, [r, y = states.detach()](const Tensor& delta) {
    const kernels::RecurrenceGradients d = kernels::recurrence_backward(r, y, delta);
    const Tensor by_weight = matmul(transpose(d.hidden_gates), d.hidden);  // Σ_t δ_t h_tᵀ
    const Tensor flat = reshape(by_weight, {y.size(0), by_weight.size(1) * by_weight.size(2)});
    return r.bias.defined() ? concat({flat, sum(d.hidden_gates, 1)}, 1) : flat;
  });
}

RecurrentResult Recurrent::forward_with_state(const Tensor& x,
                                              const RecurrentInputs& inputs) const {
  check(x, inputs);
  const std::int64_t count = x.size(1), n = options.hidden;
  const auto at_tokens = [&](const Tensor& t) {  // zeros at padding, which may be NaN
    const Tensor& mask = inputs.mask;
    return mask.defined() ? masked_fill(t, unsqueeze(logical_not(mask), -1), 0) : t;
  };
  Tensor y = at_tokens(x);
  std::vector<Tensor> last_h, last_c;
  for (std::int64_t l = 0; l < options.layers; ++l) {
    if (l > 0) y = dropout(y);
    std::vector<Tensor> outputs;
    for (int side = 0; side < sides(); ++side) {
      const std::int64_t index = l * sides() + side;
      const Tensor states = run(y, inputs, index);
      outputs.push_back(slice(states, -1, {.stop = n}));
      const Tensor begin = initial(inputs.state, index);
      const Tensor last = count > 0         ? select(states, 1, side == 0 ? count - 1 : 0)
                          : begin.defined() ? begin
                                            : zeros({x.size(0), states.size(2)}, states.dtype());
      last_h.push_back(slice(last, -1, {.stop = n}));
      if (cell == RecurrentCell::lstm) last_c.push_back(slice(last, -1, {.start = n}));
    }
    y = at_tokens(outputs.size() == 1 ? outputs[0] : concat(outputs, -1));
  }
  return {y, {stack(last_h), last_c.empty() ? Tensor() : stack(last_c)}};
}

void Recurrent::visit(Visitor& v) {
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const auto side = static_cast<std::size_t>(sides());
    const std::string end = detail::join("_l", i / side, i % side == 1 ? "_reverse" : "");
    Direction& d = directions[i];
    v("weight_ih" + end, d.weight_ih);
    v("weight_hh" + end, d.weight_hh);
    v("bias_ih" + end, d.bias_ih);
    v("bias_hh" + end, d.bias_hh);
  }
  v("dropout", dropout);
}

std::string Recurrent::describe() const {
  return detail::join(name_of(cell), "(", options.in, " → ", options.hidden,
                      options.layers > 1 ? detail::join(", ", options.layers, " layers") : "",
                      options.bidirectional ? ", both directions)" : ")");
}

Rnn::Rnn(const RecurrentOptions& o, Generator& rng, RecurrentCell which)
    : Recurrent(which, o, rng) {
  LADON_CHECK(cell == RecurrentCell::tanh || cell == RecurrentCell::relu, "Rnn",
              "its cell must be tanh or relu; for other cells use Lstm or Gru");
}

}  // namespace ladon
