#include "ladon/core/extra/kernels/recurrent/recurrent.h"

#include <algorithm>

#include "ladon/core/extra/kernels/loops/recurrent.h"
#include "ladon/core/kernels/products/matmul.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

/// One step of all sequences: the elements of sequence b are at data + b·stride.
template <class T>
struct Step {
  T* data;
  std::int64_t stride;  // from one sequence to the next
  T* operator[](std::int64_t b) const { return data + b * stride; }
};

/// Operands of a Recurrence as contiguous arrays.
template <class T>
struct Steps {
  Tensor gates, weight, initial, mask;  // contiguous; own the memory that is read
  std::int64_t batch, count, gate_width, n, state_width;
  bool reverse;

  explicit Steps(const Recurrence& r)
      : gates(contiguous(r.gates)),
        weight(contiguous(r.weight)),
        initial(contiguous(r.initial)),
        mask(r.mask.defined() ? contiguous(r.mask) : r.mask),
        batch(gates.size(0)),
        count(gates.size(1)),
        gate_width(gates.size(2)),
        n(weight.size(1)),
        state_width(initial.size(1)),
        reverse(r.reverse) {}

  std::int64_t time(std::int64_t step) const { return reverse ? count - 1 - step : step; }
  template <class U>
  Step<U> at(U* data, std::int64_t step, std::int64_t width) const {
    return {data + time(step) * width, count * width};
  }
  Step<const T> before(const T* states, std::int64_t step) const {
    if (step == 0) return {initial.template data<T>(), state_width};
    return at(states, step - 1, state_width);
  }
  bool masked(std::int64_t b, std::int64_t step) const {
    return mask.defined() && !mask.template data<bool>()[b * count + time(step)];
  }
};

template <class T>
void run(const Recurrence& r, T* states) {
  const Steps<T> s(r);
  const auto loop = recurrent_loops().of<T>().step[int(r.cell)];
  const Tensor rows =
      r.bias.defined() ? contiguous(view::expand(r.bias, {s.batch, s.gate_width})) : Tensor();
  Tensor hidden_gates = empty({s.batch, s.gate_width}, r.gates.dtype());
  T* b = hidden_gates.mutable_data<T>();
  for (std::int64_t step = 0; step < s.count; ++step) {
    const Step<const T> a = s.at(s.gates.template data<T>(), step, s.gate_width),
                        before = s.before(states, step);
    const Step<T> after = s.at(states, step, s.state_width);
    if (rows.defined()) std::copy_n(rows.data<T>(), rows.count(), b);
    blas::gemm<T>(s.batch, s.gate_width, s.n, T(1), {before.data, before.stride, 1},
                  {s.weight.template data<T>(), 1, s.n}, T(rows.defined() ? 1 : 0),
                  {b, s.gate_width, 1});
    for_rows(s.batch, 8 * s.gate_width, [&](std::int64_t i) {
      if (s.masked(i, step))
        std::copy_n(before[i], s.state_width, after[i]);
      else
        loop(a[i], b + i * s.gate_width, before[i], after[i], s.n);
    });
  }
}

/// Copy of the recurrence r with the tensors `of` in place of r's tensors.
Recurrence with(const Recurrence& r, const std::vector<Tensor>& of) {
  return {r.cell, of[0], of[1], of[2], of[3], of[4], r.reverse};
}

/// h before each step, [B, T, n]: the initial h before the first step, then h of the previous step.
Tensor hidden_before(const Recurrence& r, const Tensor& states) {
  const std::int64_t count = r.gates.size(1), n = r.weight.size(1);
  Tensor h = empty({r.gates.size(0), count, n}, states.dtype());
  if (count == 0) return h;
  const std::int64_t first = r.reverse ? count - 1 : 0;
  const auto part = [&](const Tensor& x, std::int64_t start, std::int64_t length) {
    return view::slice(view::slice(x, 1, start, length, 1), 2, 0, n, 1);
  };
  copy(part(h, first, 1), part(view::unsqueeze(r.initial, 1), 0, 1));
  copy(part(h, r.reverse ? 0 : 1, count - 1), part(states, r.reverse ? 1 : 0, count - 1));
  return h;
}

template <class T>
void run_backward(const Recurrence& r, const Tensor& b, const Tensor& states, const Tensor& g,
                  RecurrenceGradients& d) {
  const Steps<T> s(r);
  const auto loop = recurrent_loops().of<T>().gradient[int(r.cell)];
  const Tensor after = contiguous(states), given = contiguous(g);
  T *da = d.gates.mutable_data<T>(), *db = d.hidden_gates.mutable_data<T>(),
    *carried = d.initial.mutable_data<T>();
  Tensor sums = empty({s.batch, s.state_width}, g.dtype());
  T* sum = sums.mutable_data<T>();
  for (std::int64_t step = s.count; step-- > 0;) {
    const Step<const T> at_a = s.at(s.gates.template data<T>(), step, s.gate_width),
                        at_b = s.at(b.data<T>(), step, s.gate_width),
                        before = s.before(after.data<T>(), step),
                        at_g = s.at(given.data<T>(), step, s.state_width);
    const Step<T> to_a = s.at(da, step, s.gate_width), to_b = s.at(db, step, s.gate_width);
    for_rows(s.batch, 8 * s.gate_width, [&](std::int64_t i) {
      T *total = sum + i * s.state_width, *out = carried + i * s.state_width;
      for (std::int64_t k = 0; k < s.state_width; ++k) total[k] = out[k] + at_g[i][k];
      if (s.masked(i, step)) {
        std::copy_n(total, s.state_width, out);
        std::fill_n(to_a[i], s.gate_width, T(0));
        std::fill_n(to_b[i], s.gate_width, T(0));
      } else {
        loop(total, at_a[i], at_b[i], before[i], to_a[i], to_b[i], out, s.n);
      }
    });
    blas::gemm<T>(s.batch, s.n, s.gate_width, T(1), {to_b.data, to_b.stride, 1},
                  {s.weight.template data<T>(), s.n, 1}, T(1), {carried, s.state_width, 1});
  }
}

}  // namespace

Tensor recurrence(const Recurrence& r) {
  if (mapped::any(r.gates, r.weight, r.bias, r.initial, r.mask)) {
    const auto alone = [&](const auto& of) { return std::vector{recurrence(with(r, of))}; };
    return mapped::each({r.gates, r.weight, r.bias, r.initial, r.mask}, alone)[0];
  }
  Tensor states = empty({r.gates.size(0), r.gates.size(1), r.initial.size(1)}, r.gates.dtype());
  visit_floating("recurrence", r.gates.dtype(),
                 [&]<class T>() { run<T>(r, states.mutable_data<T>()); });
  return states;
}

RecurrenceGradients recurrence_backward(const Recurrence& r, const Tensor& states,
                                        const Tensor& g) {
  if (mapped::any(r.gates, r.weight, r.bias, r.initial, r.mask, states, g)) {
    const auto alone = [&](const auto& of) {
      const RecurrenceGradients d = recurrence_backward(with(r, of), of[5], of[6]);
      return std::vector{d.gates, d.hidden_gates, d.initial, d.hidden};
    };
    const std::vector<Tensor> d =
        mapped::each({r.gates, r.weight, r.bias, r.initial, r.mask, states, g}, alone);
    return {d[0], d[1], d[2], d[3]};
  }
  RecurrenceGradients d;
  d.hidden = hidden_before(r, states);
  const Tensor columns = view::transpose(r.weight, 0, 1);
  const Tensor b =
      r.bias.defined() ? affine(d.hidden, columns, contiguous(r.bias)) : matmul(d.hidden, columns);
  d.gates = empty(r.gates.shape(), g.dtype());
  d.hidden_gates = r.cell == RecurrentCell::gru ? empty(r.gates.shape(), g.dtype()) : d.gates;
  d.initial = zeros(r.initial.shape(), g.dtype());
  visit_floating("recurrence_backward", g.dtype(),
                 [&]<class T>() { run_backward<T>(r, b, states, g, d); });
  return d;
}

}  // namespace ladon::kernels
