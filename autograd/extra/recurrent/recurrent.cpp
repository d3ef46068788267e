#include "ladon/autograd/extra/recurrent/recurrent.h"

#include <array>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/inner_graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/kernels/recurrent/recurrent.h"

namespace ladon {
namespace {

/// Splits the last axis into `count` parts of size n. Throws Error if its size is not count·n.
std::vector<Tensor> parts(const char* operation, const Tensor& gates, std::int64_t n, int count) {
  LADON_CHECK(gates.rank() >= 1 && gates.size(-1) == count * n, operation, "a state of ", n,
              " units needs gates [.., ", count, "·", n, "], got shape ", gates.shape());
  return split(gates, std::vector<std::int64_t>(static_cast<std::size_t>(count), n), -1);
}

std::int64_t units(const char* operation, const Tensor& a, const Tensor& b, const Tensor& state) {
  for (const Tensor* x : {&a, &b, &state}) check_floating(operation, *x);
  LADON_CHECK(state.rank() >= 1, operation, "the state has no axis, but must be [.., units]");
  return state.size(-1);
}

}  // namespace

LstmState lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& c) {
  const std::int64_t n = units("lstm_cell", input_gates, hidden_gates, c);
  const auto a = parts("lstm_cell", input_gates, n, 4), b = parts("lstm_cell", hidden_gates, n, 4);
  const Tensor next = sigmoid(a[1] + b[1]) * c + sigmoid(a[0] + b[0]) * tanh(a[2] + b[2]);
  return {sigmoid(a[3] + b[3]) * tanh(next), next};
}

Tensor gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& h) {
  const std::int64_t n = units("gru_cell", input_gates, hidden_gates, h);
  const auto a = parts("gru_cell", input_gates, n, 3), b = parts("gru_cell", hidden_gates, n, 3);
  const Tensor r = sigmoid(a[0] + b[0]), update = a[1] + b[1], z = sigmoid(update);
  return sigmoid(-update) * tanh(a[2] + r * b[2]) + z * h;  // 1 − z = σ(−update)
}

namespace {

/// Gates, weight, bias and initial state, in this order.
using Operands = std::array<Tensor, 4>;

struct Form {
  RecurrentCell cell;
  Tensor mask;
  bool reverse;
};

kernels::Recurrence of(const Form& f, const Operands& x) {
  return {f.cell, x[0], x[1], x[2], x[3], f.mask, f.reverse};
}

Tensor step(RecurrentCell cell, const Tensor& a, const Tensor& b, const Tensor& state) {
  if (cell == RecurrentCell::tanh) return tanh(a + b);
  if (cell == RecurrentCell::relu) return relu(a + b);
  if (cell == RecurrentCell::gru) return gru_cell(a, b, state);
  const std::int64_t n = state.size(-1) / 2;
  const LstmState next = lstm_cell(a, b, slice(state, -1, {.start = n}));
  return concat({next.h, next.c}, -1);
}

/// The recurrence over at least one step, in operations with derivatives of every order.
Tensor composed(const Form& f, const Operands& x) {
  const auto& [given, weight, bias, initial] = x;
  // At masked steps the gates may be NaN or ∞. They are replaced by 0, because derivatives would
  // multiply them by 0, and 0·∞ is NaN.
  const Tensor gates =
      f.mask.defined() ? masked_fill(given, logical_not(unsqueeze(f.mask, -1)), 0) : given;
  const std::int64_t count = gates.size(1);
  std::vector<Tensor> states(count);
  Tensor state = initial;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t t = f.reverse ? count - 1 - i : i;
    const Tensor h = slice(state, -1, {.stop = weight.size(1)});
    const Tensor next = step(f.cell, select(gates, 1, t), linear(h, weight, bias), state);
    state = f.mask.defined() ? where(unsqueeze(select(f.mask, 1, t), -1), next, state) : next;
    states[t] = state;
  }
  return stack(states, 1);
}

/// Gradients of those operands for which `wanted` is true, from the gradient g of the states; the
/// others are undefined. Runs the recurrence again by composed(), with recording.
Operands composed_gradients(const Form& f, const Operands& x, const std::array<bool, 4>& wanted,
                            const Tensor& g) {
  Operands again, result;
  if (g.size(1) == 0) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (wanted[i]) result[i] = zeros_like(x[i]);
    return result;
  }
  const EnableGrad enable_grad;
  for (std::size_t i = 0; i < x.size(); ++i)
    again[i] = x[i].requires_grad() ? detail::alias(x[i]) : detail::as_leaf(x[i]);
  std::vector<Tensor> targets;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (wanted[i]) targets.push_back(again[i]);
  const std::vector<Tensor> gradients =
      grad({composed(f, again)}, targets,
           {.cotangents = {g}, .create_graph = true, .allow_unused = true});
  for (std::size_t i = 0, k = 0; i < x.size(); ++i)
    if (wanted[i]) result[i] = gradients[k++];
  return result;
}

/// Gradients of all operands by kernels. The gradient of the weight is one product over all steps;
/// that of the bias is returned per step, and summed by the backward pass.
Operands fast_gradients(const Form& f, const Operands& x, const Tensor& states, const Tensor& g) {
  const kernels::RecurrenceGradients d = kernels::recurrence_backward(of(f, x), states, g);
  const auto rows = [](const Tensor& y) { return reshape(y, {y.size(0) * y.size(1), y.size(2)}); };
  return {d.gates, matmul(transpose(rows(d.hidden_gates)), rows(d.hidden)), d.hidden_gates,
          d.initial};
}

int gate_count(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
}

void check_shapes(const Form& f, const Operands& x) {
  const auto& [gates, weight, bias, initial] = x;
  const char* name = "recurrence";
  LADON_CHECK(weight.rank() == 2 && weight.size(1) > 0 &&
                  weight.size(0) == gate_count(f.cell) * weight.size(1),
              name, "a cell of ", gate_count(f.cell), " gates needs a weight [", gate_count(f.cell),
              "·n, n], got shape ", weight.shape());
  LADON_CHECK(gates.rank() == 3 && gates.size(2) == weight.size(0), name, "needs gates [batch, T, ",
              weight.size(0), "], got shape ", gates.shape());
  const std::int64_t batch = gates.size(0),
                     state = weight.size(1) * (f.cell == RecurrentCell::lstm ? 2 : 1);
  LADON_CHECK(!bias.defined() || bias.shape() == Shape{weight.size(0)}, name, "the bias has shape ",
              bias.shape(), ", not [", weight.size(0), "]");
  LADON_CHECK(!initial.defined() || initial.shape() == Shape({batch, state}), name,
              "the initial state has shape ", initial.shape(), ", not [", batch, ", ", state, "]");
  if (!f.mask.defined()) return;
  check_boolean(name, f.mask);
  LADON_CHECK(f.mask.shape() == Shape({batch, gates.size(1)}), name, "the mask has shape ",
              f.mask.shape(), ", not [", batch, ", ", gates.size(1), "]");
}

}  // namespace

Tensor recurrence(RecurrentCell cell, const Tensor& input_gates, const Tensor& weight,
                  const RecurrenceOptions& options) {
  const Form f{cell, options.mask, options.reverse};
  Operands x{input_gates, weight, options.bias, options.initial};
  check_floating("recurrence", input_gates);
  check_floating("recurrence", weight);
  check_shapes(f, x);
  DType dtype = promote(input_gates.dtype(), weight.dtype());
  for (Tensor& operand : x)
    if (operand.defined()) dtype = promote(dtype, operand.dtype());
  if (!x[3].defined())
    x[3] =
        zeros({input_gates.size(0), weight.size(1) * (cell == RecurrentCell::lstm ? 2 : 1)}, dtype);
  for (Tensor& operand : x)
    if (operand.defined()) operand = cast(operand, dtype);
  const std::array kept{saved(x[0]), saved(x[1]), saved(x[2]), saved(x[3])};
  return record_joint(
      "recurrence", kernels::recurrence(of(f, x)), x,
      [cell, reverse = options.reverse, mask = saved(options.mask), kept](
          const Tensor& g, const Tensor& states, detail::GradientSink& sink) {
        const Form form{cell, *mask, reverse};
        const Operands in{*kept[0], *kept[1], *kept[2], *kept[3]};
        const std::array wanted{sink.needs(0), sink.needs(1), sink.needs(2), sink.needs(3)};
        const Operands d = fast_or_composed(
            "recurrence_gradient", {g, in[0], in[1], in[2], in[3]},
            [&] { return fast_gradients(form, in, states, g); },
            [&] { return composed_gradients(form, in, wanted, g); });
        for (std::size_t i = 0; i < in.size(); ++i) sink.give(i, d[i]);
      });
}

}  // namespace ladon
