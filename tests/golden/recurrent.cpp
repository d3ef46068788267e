// ONNX operators: LSTM, GRU and RNN. In ONNX time is the first axis, the weights of all directions
// are one tensor [directions, gates·n, in], both biases are in one row, and gates are in another
// order than in Ladon, which has PyTorch's.

#include "ladon/autograd/extra/recurrent/recurrent.h"

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

struct Kind {
  RecurrentCell cell;
  std::vector<std::int64_t> order;  ///< Place in ONNX of each of our gates.
};

/// One direction, with gates in our order.
struct Direction {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  bool reverse;
};

/// Rows [gates·n, ..] in our order.
Tensor ordered(const Tensor& rows, const std::vector<std::int64_t>& order) {
  const auto gates = static_cast<std::int64_t>(order.size());
  const std::vector<Tensor> parts = split(rows, rows.size(0) / gates);
  std::vector<Tensor> ours;
  for (const std::int64_t gate : order) ours.push_back(parts.at(static_cast<std::size_t>(gate)));
  return concat(ours, 0);
}

void skip_unless_plain(const Case& c, const Kind& kind) {
  if (c.has("clip")) throw Skip{c.op() + " clips its gates, which Ladon's cells do not"};
  if (c.flag("input_forget", false)) throw Skip{"LSTM couples its gates; Ladon's has both"};
  if (kind.cell == RecurrentCell::lstm && c.has(7))
    throw Skip{"LSTM has peepholes, which Ladon's has not"};
  if (c.has("activations")) throw Skip{c.op() + " names its activations; Ladon's are fixed"};
}

std::vector<Direction> directions_of(const Case& c, const Kind& kind) {
  const std::string which = c.text("direction", "forward");
  const std::int64_t count = c.in(1).size(0);
  LADON_CHECK(count == (which == "bidirectional" ? 2 : 1) && c.in(2).size(0) == count, c.op(),
              which, " has weights for ", count, " directions");
  std::vector<Direction> directions;
  for (std::int64_t i = 0; i < count; ++i) {
    Direction d{ordered(select(c.in(1), 0, i), kind.order),
                ordered(select(c.in(2), 0, i), kind.order),
                {},
                {},
                which == "reverse" || i == 1};
    if (c.has(3)) {
      const Tensor both = select(c.in(3), 0, i);
      const std::vector<Tensor> halves = split(both, both.size(0) / 2);
      d.bias_ih = ordered(halves.at(0), kind.order), d.bias_hh = ordered(halves.at(1), kind.order);
    }
    directions.push_back(std::move(d));
  }
  return directions;
}

/// bool [batch, T], from the lengths of the sequences (input 4), if they are given.
Tensor mask_of(const Case& c, std::int64_t count) {
  if (!c.has(4)) return {};
  return less(unsqueeze(arange(count), 0), unsqueeze(c.in(4), 1));
}

/// The states of a GRU whose reset stands before the product, ONNX's default and Cho et al.'s first
/// form:  n = tanh(a_n + W_n·(r ∘ h) + b_n).
Tensor reset_before(const Tensor& gates, const Direction& d, const Tensor& initial,
                    const Tensor& mask) {
  const std::int64_t n = d.weight_hh.size(1), count = gates.size(1);
  const Tensor rz = slice(d.weight_hh, 0, {.stop = 2 * n}),
               w_n = slice(d.weight_hh, 0, {.start = 2 * n});
  const bool has_bias = d.bias_hh.defined();
  const Tensor b_rz = has_bias ? slice(d.bias_hh, 0, {.stop = 2 * n}) : Tensor(),
               b_n = has_bias ? slice(d.bias_hh, 0, {.start = 2 * n}) : Tensor();
  Tensor h = initial.defined() ? initial : zeros({gates.size(0), n}, gates.dtype());
  std::vector<Tensor> states(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t t = d.reverse ? count - 1 - i : i;
    const std::vector<Tensor> a = split(select(gates, 1, t), n, -1),
                              b = split(linear(h, rz, b_rz), n, -1);
    const Tensor r = sigmoid(a.at(0) + b.at(0)), z = sigmoid(a.at(1) + b.at(1));
    const Tensor next = (1 - z) * tanh(a.at(2) + linear(r * h, w_n, b_n)) + z * h;
    h = mask.defined() ? where(unsqueeze(select(mask, 1, t), -1), next, h) : next;
    states[static_cast<std::size_t>(t)] = h;
  }
  return stack(states, 1);
}

Tensors run(const Case& c, const Kind& kind) {
  skip_unless_plain(c, kind);
  const bool batch_first = c.flag("layout", false), lstm = kind.cell == RecurrentCell::lstm;
  const Tensor x = batch_first ? c.in(0) : transpose(c.in(0), 0, 1);  // [batch, T, in]
  LADON_CHECK(x.rank() == 3 && x.size(1) > 0, c.op(), "needs steps, got ", x.shape());
  const Tensor mask = mask_of(c, x.size(1));
  const auto start = [&](std::size_t input, std::int64_t i) {
    return select(c.in(input), batch_first ? 1 : 0, i);
  };
  const std::vector<Direction> directions = directions_of(c, kind);
  Tensors outputs, last_h, last_c;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const Direction& d = directions[i];
    const std::int64_t n = d.weight_hh.size(1);
    Tensor initial = c.has(5) ? start(5, static_cast<std::int64_t>(i)) : Tensor();
    if (lstm && (c.has(5) || c.has(6))) {
      const Tensor none = zeros({x.size(0), n}, x.dtype());
      initial = concat(
          {c.has(5) ? initial : none, c.has(6) ? start(6, static_cast<std::int64_t>(i)) : none},
          -1);
    }
    const Tensor gates = linear(x, d.weight_ih, d.bias_ih);
    const bool before = kind.cell == RecurrentCell::gru && !c.flag("linear_before_reset", false);
    const Tensor states =
        before ? reset_before(gates, d, initial, mask)
               : recurrence(kind.cell, gates, d.weight_hh, {d.bias_hh, initial, mask, d.reverse});
    const Tensor last = select(states, 1, d.reverse ? 0 : x.size(1) - 1);
    const Tensor h = slice(states, -1, {.stop = n});
    outputs.push_back(mask.defined() ? masked_fill(h, unsqueeze(logical_not(mask), -1), 0) : h);
    last_h.push_back(slice(last, -1, {.stop = n}));
    if (lstm) last_c.push_back(slice(last, -1, {.start = n}));
  }
  // Y is [T, directions, batch, n], or [batch, T, directions, n]; the last states likewise.
  const int place = batch_first ? 1 : 0;
  Tensors results{batch_first ? stack(outputs, 2) : permute(stack(outputs, 0), {2, 0, 1, 3}),
                  stack(last_h, place)};
  if (lstm) results.push_back(stack(last_c, place));
  return results;
}

}  // namespace

void add_recurrent(Table& t) {
  t["LSTM"] = [](const Case& c) { return run(c, {RecurrentCell::lstm, {0, 2, 3, 1}}); };  // i o f c
  t["GRU"] = [](const Case& c) { return run(c, {RecurrentCell::gru, {1, 0, 2}}); };       // z r h
  t["RNN"] = [](const Case& c) { return run(c, {RecurrentCell::tanh, {0}}); };
}

}  // namespace ladon::golden
