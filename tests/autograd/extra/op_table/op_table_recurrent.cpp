// Rows of recurrent cells and of the recurrence (autograd/extra/recurrent/recurrent.h).

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/tests/autograd/op_table/op_table.h"

namespace ladon::test {
namespace {

using Inputs = std::vector<Tensor>;
using Numbers = std::vector<double>;

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

/// One row: the state after, of the gates a and b and the state before, by the formulas of
/// PyTorch's documentation.
Numbers lstm(const Numbers& a, const Numbers& b, const Numbers& state) {
  const std::size_t n = state.size() / 2;
  Numbers next(2 * n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto gate = [&](std::size_t i) { return a[i * n + k] + b[i * n + k]; };
    next[n + k] = sigma(gate(1)) * state[n + k] + sigma(gate(0)) * std::tanh(gate(2));
    next[k] = sigma(gate(3)) * std::tanh(next[n + k]);
  }
  return next;
}

Numbers gru(const Numbers& a, const Numbers& b, const Numbers& h) {
  const std::size_t n = h.size();
  Numbers next(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double r = sigma(a[k] + b[k]), z = sigma(a[n + k] + b[n + k]);
    next[k] = (1 - z) * std::tanh(a[2 * n + k] + r * b[2 * n + k]) + z * h[k];
  }
  return next;
}

Numbers next_state(RecurrentCell cell, const Numbers& a, const Numbers& b, const Numbers& state) {
  if (cell == RecurrentCell::lstm) return lstm(a, b, state);
  if (cell == RecurrentCell::gru) return gru(a, b, state);
  Numbers next(a.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    next[k] = cell == RecurrentCell::tanh ? std::tanh(a[k] + b[k]) : std::max(0.0, a[k] + b[k]);
  return next;
}

Numbers row(const Dense& x, std::size_t r, std::size_t width) {
  const auto at = x.values.begin() + static_cast<std::ptrdiff_t>(r * width);
  return {at, at + static_cast<std::ptrdiff_t>(width)};
}

// --- cells ---

/// Rows of a cell by themselves; of the LSTM, whose state is h and c, the half that `half` names.
Reference cell_rows(RecurrentCell cell, int half = 0) {
  return [=](const std::vector<Dense>& in) {
    Dense y = in[2];
    const auto n = static_cast<std::size_t>(y.shape[-1]);
    const std::size_t gates = cell == RecurrentCell::lstm ? 4 : 3;
    for (std::size_t r = 0; n > 0 && r < y.values.size() / n; ++r) {
      Numbers state = row(in[2], r, n);
      if (cell == RecurrentCell::lstm) state.insert(state.begin(), n, 0);  // h itself is not read
      const Numbers next =
          next_state(cell, row(in[0], r, gates * n), row(in[1], r, gates * n), state);
      for (std::size_t k = 0; k < n; ++k)
        y.values[r * n + k] = next[static_cast<std::size_t>(half) * n + k];
    }
    return y;
  };
}

void add_cell_rows(OpTable& table) {
  const auto h_of = [](const Inputs& in) { return lstm_cell(in[0], in[1], in[2]).h; };
  const auto c_of = [](const Inputs& in) { return lstm_cell(in[0], in[1], in[2]).c; };
  const auto gru_of = [](const Inputs& in) { return gru_cell(in[0], in[1], in[2]); };
  const Inputs x{table.random({2, 12}), table.random({2, 12}), table.random({2, 3})};
  table.add({.name = "lstm_cell",
             .samples = {{"h", x, h_of, cell_rows(RecurrentCell::lstm, 0)},
                         {"c", x, c_of, cell_rows(RecurrentCell::lstm, 1)}},
             .empty = {{"no rows",
                        {zeros({0, 4}, f64), zeros({0, 4}, f64), zeros({0, 1}, f64)},
                        h_of,
                        cell_rows(RecurrentCell::lstm)}},
             .errors = {{"a state of 3 units needs gates [.., 4·3], got shape [2, 9]",
                         [] {
                           lstm_cell(ones({2, 9}), ones({2, 12}), ones({2, 3}));
                         }},
                        {"got shape [2, 1]",
                         [] {
                           lstm_cell(ones({2, 12}), ones({2, 1}), ones({2, 3}));
                         }},
                        {"i64", [] {
                           lstm_cell(ones({2, 12}), ones({2, 12}), ones({2, 3}, i64));
                         }}}});
  const Inputs y{table.random({2, 9}), table.random({2, 9}), table.random({2, 3})};
  table.add({.name = "gru_cell",
             .samples = {{"rows", y, gru_of, cell_rows(RecurrentCell::gru)}},
             .empty = {{"no rows",
                        {zeros({0, 3}, f64), zeros({0, 3}, f64), zeros({0, 1}, f64)},
                        gru_of,
                        cell_rows(RecurrentCell::gru)}},
             .errors = {{"a state of 3 units needs gates [.., 3·3], got shape [2, 12]", [] {
                           gru_cell(ones({2, 12}), ones({2, 9}), ones({2, 3}));
                         }}}});
}

// --- the recurrence ---

struct Setting {
  RecurrentCell cell;
  bool bias = true, initial = true, reverse = false;
  Tensor mask = {};
};

/// Inputs are gates, weight, and, where the setting has them, bias and initial state.
TensorFunction apply(const Setting& s) {
  return [s](const Inputs& in) {
    RecurrenceOptions options{.mask = s.mask, .reverse = s.reverse};
    if (s.bias) options.bias = in[2];
    if (s.initial) options.initial = in.back();
    return recurrence(s.cell, in[0], in[1], options);
  };
}

Reference in_loops(const Setting& s) {
  return [s](const std::vector<Dense>& in) {
    const Dense &gates = in[0], &weight = in[1];
    const auto batch = static_cast<std::size_t>(gates.shape[0]),
               count = static_cast<std::size_t>(gates.shape[1]),
               width = static_cast<std::size_t>(gates.shape[2]),
               n = static_cast<std::size_t>(weight.shape[1]),
               states = s.cell == RecurrentCell::lstm ? 2 * n : n;
    Dense y(Shape{gates.shape[0], gates.shape[1], static_cast<std::int64_t>(states)});
    const std::vector<bool> mask =
        s.mask.defined() ? s.mask.to_vector<bool>() : std::vector<bool>(batch * count, true);
    for (std::size_t i = 0; i < batch; ++i) {
      Numbers state = s.initial ? row(in.back(), i, states) : Numbers(states, 0);
      for (std::size_t step = 0; step < count; ++step) {
        const std::size_t t = s.reverse ? count - 1 - step : step;
        Numbers b = s.bias ? in[2].values : Numbers(width, 0);
        for (std::size_t g = 0; g < width; ++g)
          for (std::size_t k = 0; k < n; ++k) b[g] += weight.values[g * n + k] * state[k];
        if (mask[i * count + t])
          state = next_state(s.cell, row(gates, i * count + t, width), b, state);
        std::copy(state.begin(), state.end(),
                  y.values.begin() + static_cast<std::ptrdiff_t>((i * count + t) * states));
      }
    }
    return y;
  };
}

OpSample sample(OpTable& table, std::string note, const Setting& s, std::int64_t batch = 2,
                std::int64_t count = 4, std::int64_t n = 3) {
  const std::int64_t gates = s.cell == RecurrentCell::lstm  ? 4
                             : s.cell == RecurrentCell::gru ? 3
                                                            : 1;
  const std::int64_t states = s.cell == RecurrentCell::lstm ? 2 * n : n;
  Inputs x{table.random({batch, count, gates * n}), table.random({gates * n, n}, -1, 1)};
  if (s.bias) x.push_back(table.random({gates * n}));
  if (s.initial) x.push_back(table.random({batch, states}));
  return {.note = std::move(note), .inputs = x, .apply = apply(s), .reference = in_loops(s)};
}

void add_recurrence_row(OpTable& table) {
  using enum RecurrentCell;
  const Tensor mask = cast(tensor({1, 0, 1, 1, 1, 1, 0, 0}, {2, 4}), boolean);
  OpRow recurrent{
      .name = "recurrence",
      .samples = {sample(table, "tanh", {.cell = tanh}), sample(table, "relu", {.cell = relu}),
                  sample(table, "lstm", {.cell = lstm}), sample(table, "gru", {.cell = gru}),
                  sample(table, "lstm, reverse", {.cell = lstm, .reverse = true}),
                  sample(table, "gru, masked", {.cell = gru, .mask = mask}),
                  sample(table, "lstm, masked, reverse, no bias",
                         {.cell = lstm, .bias = false, .reverse = true, .mask = mask}),
                  sample(table, "gru, from zero", {.cell = gru, .initial = false}),
                  sample(table, "gru, of a vector's width and more", {.cell = gru}, 1, 2, 9)},
      .empty = {sample(table, "no steps", {.cell = lstm}, 2, 0),
                sample(table, "no sequences", {.cell = gru, .reverse = true}, 0, 3)}};
  const Tensor gates = ones({2, 4, 12}), weight = ones({12, 3});
  recurrent.errors = {
      {"a cell of 4 gates needs a weight [4·n, n], got shape [9, 3]",
       [=] {
         recurrence(lstm, gates, ones({9, 3}));
       }},
      {"needs gates [batch, T, 12], got shape [4, 12]",
       [=] {
         recurrence(lstm, ones({4, 12}), weight);
       }},
      {"bias has shape [3]", [=] { recurrence(lstm, gates, weight, {.bias = ones({3})}); }},
      {"initial state has shape [2, 3], not [2, 6]",
       [=] {
         recurrence(lstm, gates, weight, {.initial = ones({2, 3})});
       }},
      {"mask has shape [2], not [2, 4]",
       [=] { recurrence(lstm, gates, weight, {.mask = ones({2}, boolean)}); }},
      {"bool", [=] {
         recurrence(lstm, gates, weight, {.mask = ones({2, 4})});
       }}};
  table.add(recurrent);
}

const Family cells(add_cell_rows);
const Family recurrences(add_recurrence_row);

}  // namespace
}  // namespace ladon::test
