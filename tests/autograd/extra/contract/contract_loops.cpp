// Rows of operations that take several elements together. A reference is a loop over jets, numbers
// in long double that carry two derivatives.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/autograd/extra/recurrent/recurrent.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/autograd/extra/contract/contract.h"

namespace ladon::test {
namespace {

using Jets = std::vector<Jet>;
using Operands = std::vector<Jets>;
using Tensors = std::vector<Tensor>;

Exact plain(const Jet& x) { return x.value.value; }
Jet number(Exact x) { return Jet(x); }

Jet total(const Jets& x) {
  Jet s = number(0);
  for (const Jet& v : x) s += v;
  return s;
}
Jet average(const Jets& x) { return total(x) / number(static_cast<Exact>(x.size())); }
Jet squares(const Jets& x) {
  Jet s = number(0);
  for (const Jet& v : x) s += v * v;
  return s;
}
Jets centred(const Jets& x) {
  Jets d;
  const Jet m = average(x);
  for (const Jet& v : x) d.push_back(v - m);
  return d;
}

std::size_t winner(const Jets& x) {
  std::size_t w = 0;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (plain(x[i]) > plain(x[w])) w = i;
  return w;
}

template <class T>
Dual<T> log_of_one_more(const Dual<T>& x);
Exact log_of_one_more(Exact x) { return std::log1p(x); }
template <class T>
Dual<T> log_of_one_more(const Dual<T>& x) {
  return {log_of_one_more(x.value), x.slope / (T(Exact(1)) + x.value)};
}

/// Softmax, and 1 − p of each element: of the winner it is the sum of the others.
struct Shares {
  Jets p, rest;
  Jet log_sum;  ///< Less the winner.
};
Shares shares(const Jets& x) {
  const std::size_t w = winner(x);
  Jets e;
  Jet others = number(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    e.push_back(i == w ? number(1) : exponential(x[i] - x[w]));
    if (i != w) others += e[i];
  }
  Shares s;
  const Jet sum = number(1) + others;
  for (std::size_t i = 0; i < x.size(); ++i) s.p.push_back(e[i] / sum);
  s.log_sum = log_of_one_more(others);
  return s;
}

/// σ and its tail, as jets: of e^−|x|, so that nothing cancels.
Jet sigma(const Jet& x) {
  const bool below = plain(x) < 0;
  const Jet e = exponential(below ? x : number(0) - x);
  return (below ? e : number(1)) / (number(1) + e);
}
/// −σ(−2|x|)·2 + 1: as a jet, its derivatives are those of the small term.
Jet tanh_of(const Jet& x) {
  const bool below = plain(x) < 0;
  const Jet e = exponential((below ? x : number(0) - x) * number(2));
  const Jet y = number(1) - number(2) * e / (number(1) + e);
  return below ? number(0) - y : y;
}

const std::vector<double> six{1, -2, 0.5, 3, -1.25, 0.75};

using Rows = std::vector<LoopRow>;

/// A reduction of one input to one number or to a row of them.
template <class Apply, class Reference>
LoopRow of_one(const char* name, const char* note, Apply apply, Reference reference) {
  LoopRow row{.name = name, .note = note};
  row.apply = [apply](const Tensors& x) { return apply(x[0]); };
  row.reference = [reference](const Operands& x) { return reference(x[0]); };
  row.inputs = {six};
  row.shapes = {{6}};
  row.f32_scales = {0, -30, -25, 20, 25, 30};
  row.f64_scales = {0, -170, 170, 300};
  return row;
}

// --- sums and products ---

void add_sums(Rows& rows) {
  rows.push_back(of_one(
      "sum", "", [](auto& x) { return sum(x); }, [](auto& x) { return Jets{total(x)}; }));
  rows.push_back(of_one(
      "mean", "", [](auto& x) { return mean(x); }, [](auto& x) { return Jets{average(x)}; }));
  rows.push_back(of_one(
      "cumsum", "", [](auto& x) { return cumsum(x, 0); },
      [](auto& x) {
        Jets y = x;
        for (std::size_t i = 1; i < y.size(); ++i) y[i] = y[i - 1] + x[i];
        return y;
      }));
}

void add_products(Rows& rows) {
  const auto product = [](const Jets& x) {
    Jet y = number(1);
    for (const Jet& v : x) y = y * v;
    return Jets{y};
  };
  for (const auto& [note, values] : std::vector<std::pair<const char*, std::vector<double>>>{
           {"ordinary", {2, -0.5, 3, 1.5}},
           {"one zero", {2, 0, 3, -1.5}},
           {"two zeros", {0, 2, 0, 3}},
           {"the product overflows, its derivatives do not", {1e20, 1e18, 0.5}},
           {"partial products overflow", {1e25, 1e25, 1e-30, 1e-25, 2}},
           {"partial products vanish", {1e-25, 1e-25, 1e30, 1e25, 2}},
           {"elements near 0", {1e-38, 1e20, 1e17, -3}}}) {
    LoopRow row = of_one(
        "prod", note, [](auto& x) { return prod(x); }, product);
    row.inputs = {values};
    row.shapes = {{static_cast<std::int64_t>(values.size())}};
    row.f32_scales = row.f64_scales = {0};
    rows.push_back(row);
  }
  {
    LoopRow row = of_one(
        "prod", "a long row", [](auto& x) { return prod(x); }, product);
    row.inputs = {std::vector<double>(300, 1.9)};
    row.inputs[0][7] = 1e-30;
    for (std::size_t i = 100; i < 210; ++i) row.inputs[0][i] = 0.51;
    row.shapes = {{300}};
    row.f32_scales = row.f64_scales = {0};
    row.ulps = {.first = 400, .second = 4000};  // the rounding of 300 factors
    rows.push_back(row);
    row = of_one(
        "cumprod", "", [](auto& x) { return cumprod(x, 0); },
        [](auto& x) {
          Jets y = x;
          for (std::size_t i = 1; i < y.size(); ++i) y[i] = y[i - 1] * x[i];
          return y;
        });
    row.f32_scales = {0, -5, 5};
    row.f64_scales = {0, -30, 30};
    rows.push_back(row);
  }
}

void add_recurrence_of_numbers(Rows& rows) {
  {
    LoopRow row{.name = "linear_recurrence", .note = ""};
    row.apply = [](const Tensors& x) { return linear_recurrence(x[0], x[1], 0); };
    row.reference = [](const Operands& x) {
      Jets y;
      Jet h = number(0);
      for (std::size_t i = 0; i < x[0].size(); ++i) y.push_back(h = x[0][i] * h + x[1][i]);
      return y;
    };
    row.inputs = {{0.5, 0, -2, 1.5}, {1, 2, -1, 0.5}};
    row.shapes = {{4}, {4}};
    row.f32_scales = {0, -8, 8};
    row.f64_scales = {0, -50, 50};
    row.of_largest = true;  // sums of terms of both signs
    rows.push_back(row);
  }
}

// --- moments ---

void add_moments(Rows& rows) {
  {
    const auto variance = [](const Jets& x) { return squares(centred(x)) / number(5); };
    LoopRow row = of_one(
        "var", "", [](auto& x) { return var(x); }, [=](auto& x) { return Jets{variance(x)}; });
    row.ulps.first = 32;
    row.of_largest = true;  // x − mean
    row.f32_scales = {0, -18, 18};
    row.f64_scales = {0, -150, 150};
    rows.push_back(row);
    row = of_one(
        "stddev", "", [](auto& x) { return stddev(x); },
        [=](auto& x) { return Jets{root(variance(x))}; });
    row.of_largest = true;
    rows.push_back(row);
    row = of_one(
        "norm", "", [](auto& x) { return norm(x); },
        [](auto& x) { return Jets{root(squares(x))}; });
    row.of_largest = true;
    rows.push_back(row);
    row = of_one(
        "norm", "at 0: first and second derivatives are 0", [](auto& x) { return norm(x); },
        [](auto&) { return Jets{number(0)}; });
    row.inputs = {{0, 0}};
    row.shapes = {{2}};
    row.f32_scales = row.f64_scales = {0};
    rows.push_back(row);
  }
}

// --- extremes and orders: one element is chosen, ties of amax and amin share ---

void add_extremes(Rows& rows) {
  for (const bool high : {true, false}) {
    const auto chosen = [high](const Jets& x) {
      Exact best = plain(x[0]);
      for (const Jet& v : x) best = high ? std::max(best, plain(v)) : std::min(best, plain(v));
      Jets ties;
      for (const Jet& v : x)
        if (plain(v) == best) ties.push_back(v);
      return ties;
    };
    LoopRow row = of_one(
        high ? "amax" : "amin", "ties share", [=](auto& x) { return high ? amax(x) : amin(x); },
        [=](auto& x) { return Jets{average(chosen(x))}; });
    row.inputs = {{1, 3, 3, -2, -2, -2}};
    rows.push_back(row);
    row = of_one(
        high ? "max" : "min", "the first of ties",
        [=](auto& x) { return high ? max(x, 0).values : min(x, 0).values; },
        [=](auto& x) { return Jets{chosen(x)[0]}; });
    row.inputs = {{1, 3, 3, -2, -2, -2}};
    rows.push_back(row);
  }
}

void add_orders(Rows& rows) {
  const auto ordered = [](const Jets& x, bool descending) {
    Jets y = x;
    std::stable_sort(y.begin(), y.end(), [=](const Jet& a, const Jet& b) {
      return descending ? plain(a) > plain(b) : plain(a) < plain(b);
    });
    return y;
  };
  rows.push_back(of_one(
      "sort", "", [](auto& x) { return sort(x).values; },
      [=](auto& x) { return ordered(x, false); }));
  rows.push_back(of_one(
      "topk", "", [](auto& x) { return topk(x, 3).values; },
      [=](auto& x) {
        const Jets y = ordered(x, true);
        return Jets(y.begin(), y.begin() + 3);
      }));
}

void add_pools(Rows& rows) {
  const auto pooled = [&](const char* name, auto apply) {
    rows.push_back(of_one(name, "", apply, [](auto& x) {
      Jets y;
      for (std::size_t i = 0; i < 6; i += 2)
        y.push_back(plain(x[i]) >= plain(x[i + 1]) ? x[i] : x[i + 1]);
      return y;
    }));
  };
  const auto sequence = [](const Tensor& x) { return reshape(x, {1, 6, 1}); };
  pooled("max_pool", [=](auto& x) { return max_pool(sequence(x), {2}); });
  pooled("max_pool_with_indices",
         [=](auto& x) { return max_pool_with_indices(sequence(x), {2}).values; });
  pooled("adaptive_max_pool", [=](auto& x) { return adaptive_max_pool(sequence(x), {3}); });
}

// --- softmax: ordinary rows, a sure winner, masked elements ---

void add_softmax(Rows& rows) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<const char*, std::vector<double>>> scores{
      {"ordinary", {0.3, -1, 1.2, 0.5}},          {"a sure winner", {-1, 20, 0, -3}},
      {"a surer winner", {40, 0, 1, -2}},         {"three quarters", {0.1, 1.25, -1, -1.5}},
      {"large", {1e4, 1e4 - 3, 0, -1e4}},         {"masked", {0.3, -inf, 1.2, -inf}},
      {"a sure winner, masked", {20, -inf, 0, 1}}};
  for (const auto& named : scores) {
    const auto note = named.first;
    const auto& values = named.second;
    const bool sure = std::string(note).starts_with("a sure");
    const auto with = [&](const char* name, auto apply, auto reference) {
      LoopRow row = of_one(name, note, apply, reference);
      row.inputs = {values};
      row.shapes = {{4}};
      row.f32_scales = row.f64_scales = {0};
      row.ulps = {.first = sure ? 32. : 128., .second = sure ? 64. : 256., .floor = 64};
      row.of_largest = !sure;
      rows.push_back(row);
    };
    with(
        "softmax", [](auto& x) { return softmax(x); }, [](auto& x) { return shares(x).p; });
    with(
        "logsumexp", [](auto& x) { return logsumexp(x, 0); },
        [](auto& x) { return Jets{x[winner(x)] + shares(x).log_sum}; });
    with(
        "log_softmax", [](auto& x) { return log_softmax(x); },
        [](auto& x) {
          Jets y;
          const Shares s = shares(x);
          for (const Jet& v : x) y.push_back(v - x[winner(x)] - s.log_sum);
          return y;
        });
    with(
        "cross_entropy",
        [](auto& x) {
          return cross_entropy(reshape(x, {1, 4}), zeros({1}, i64));
        },
        [](auto& x) {
          const Jet l = x[winner(x)] + shares(x).log_sum - x[0];
          return Jets{winner(x) == 0 ? shares(x).log_sum : l};
        });
  }
}

// --- normalization ---

void add_norms(Rows& rows) {
  const auto standard = [](const Jets& x, Exact eps) {
    const Jets d = centred(x);
    const Jet r = number(1) / root(squares(d) / number(static_cast<Exact>(x.size())) + number(eps));
    Jets y;
    for (const Jet& v : d) y.push_back(v * r);
    return y;
  };
  const auto normed = [&](const char* name, auto apply, auto reference) {
    LoopRow row = of_one(name, "", apply, reference);
    row.ulps = {.first = 64, .second = 512};
    row.of_largest = true;  // differences from means
    rows.push_back(row);
  };
  const auto column = [](const Tensor& x) { return reshape(x, {6, 1}); };
  normed(
      "layer_norm", [](auto& x) { return layer_norm(x, {}, {}, 0); },
      [=](auto& x) { return standard(x, 0); });
  normed(
      "instance_norm",
      [](auto& x) {
        return instance_norm(reshape(x, {1, 6, 1}), {}, {}, 0);
      },
      [=](auto& x) { return standard(x, 0); });
  normed(
      "group_norm",
      [](auto& x) {
        return group_norm(reshape(x, {1, 3, 2}), 1, {}, {}, 0);
      },
      [=](auto& x) { return standard(x, 0); });
  normed(
      "normalize_batch", [=](auto& x) { return normalize_batch(column(x), {}, {}, 0).y; },
      [=](auto& x) { return standard(x, 0); });
  normed(
      "rms_norm", [](auto& x) { return rms_norm(x, {}, 0); },
      [](auto& x) {
        const Jet r = number(1) / root(squares(x) / number(6));
        Jets y;
        for (const Jet& v : x) y.push_back(v * r);
        return y;
      });
  {
    LoopRow row = of_one(
        "batch_norm", "",
        [=](auto& x) {
          const Tensor one = ones({1}, x.dtype());
          return batch_norm(column(x), one * 0.5, one * 4, {}, {}, 0);
        },
        [](auto& x) {
          Jets y;
          for (const Jet& v : x) y.push_back((v - number(0.5)) * number(0.5));
          return y;
        });
    rows.push_back(row);
  }
}

// --- losses ---

void add_losses_of_differences(Rows& rows) {
  const std::vector<double> target{0.5, -1, 0.5, 1, -3, 0};
  const auto loss = [&](const char* name, auto apply, auto term) {
    LoopRow row = of_one(
        name, "",
        [=](const Tensor& x) {
          return apply(x, cast(tensor({0.5, -1, 0.5, 1, -3, 0}, f64), x.dtype()));
        },
        [=](const Jets& x) {
          Jets y;
          for (std::size_t i = 0; i < x.size(); ++i) y.push_back(term(x[i], number(target[i])));
          return Jets{average(y)};
        });
    row.f32_scales = {0, -10, 10};
    row.f64_scales = {0, -100, 100};
    rows.push_back(row);
  };
  loss(
      "mse_loss", [](auto& x, const Tensor& t) { return mse_loss(x, t); },
      [](const Jet& x, const Jet& t) { return (x - t) * (x - t); });
  const auto size = [](const Jet& e) {
    return plain(e) == 0 ? number(0) : plain(e) < 0 ? number(0) - e : e;
  };
  loss(
      "l1_loss", [](auto& x, const Tensor& t) { return l1_loss(x, t); },
      [=](const Jet& x, const Jet& t) { return size(x - t); });
  const auto huber = [=](const Jet& e, Exact delta) {
    return std::abs(plain(e)) <= delta ? e * e * number(0.5)
                                       : (size(e) - number(delta / 2)) * number(delta);
  };
  loss(
      "huber_loss", [](auto& x, const Tensor& t) { return huber_loss(x, t, 1.25); },
      [=](const Jet& x, const Jet& t) { return huber(x - t, 1.25); });
  loss(
      "smooth_l1_loss", [](auto& x, const Tensor& t) { return smooth_l1_loss(x, t, 1.25); },
      [=](const Jet& x, const Jet& t) { return huber(x - t, 1.25) / number(1.25); });
}

void add_cross_entropy_of_logits(Rows& rows) {
  {
    LoopRow row = of_one(
        "binary_cross_entropy_with_logits", "sure on both sides",
        [](const Tensor& x) {
          return binary_cross_entropy_with_logits(
              x, cast(tensor({1, 0, 1, 0, 1, 0}, f64), x.dtype()), {.reduction = Reduction::none});
        },
        [](const Jets& x) {
          Jets y;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const Jet z = i % 2 == 0 ? number(0) - x[i] : x[i];  // softplus(z)
            const bool below = plain(z) < 0;
            const Jet tail = log_of_one_more(exponential(below ? z : number(0) - z));
            y.push_back(below ? tail : z + tail);
          }
          return y;
        });
    row.inputs = {{20, -20, -3, 3, 40, -40}};
    row.f32_scales = row.f64_scales = {0};
    rows.push_back(row);
  }
}

void add_losses_of_classes(Rows& rows) {
  {
    LoopRow row = of_one(
        "nll_loss", "an ignored row",
        [](const Tensor& x) {
          return nll_loss(reshape(x, {2, 3}), tensor({1, -100}, {2}, i64));
        },
        [](const Jets& x) { return Jets{number(0) - x[1]}; });
    rows.push_back(row);
    row = of_one(
        "kl_div", "",
        [](const Tensor& x) {
          return kl_div(reshape(x, {1, 6}),
                        cast(tensor({0.25, 0, 0.25, 0.125, 0.125, 0.25}, {1, 6}, f64), x.dtype()));
        },
        [](const Jets& x) {
          const double p[] = {0.25, 0, 0.25, 0.125, 0.125, 0.25};
          Jet y = number(0);
          for (std::size_t i = 0; i < 6; ++i)
            if (p[i] > 0) y += number(p[i]) * (number(std::log(Exact(p[i]))) - x[i]);
          return Jets{y};
        });
    row.f32_scales = {0, -10, 10};
    rows.push_back(row);
  }
}

void add_cosines(Rows& rows) {
  for (const bool embed : {false, true}) {
    LoopRow row = of_one(
        embed ? "cosine_embedding_loss" : "cosine_similarity", "",
        [=](const Tensor& x) {
          const Tensor other = cast(tensor({1, 0.5, -2}, {1, 3}, f64), x.dtype());
          const Tensor a = reshape(slice(x, 0, {.stop = 3}), {1, 3});
          return embed ? cosine_embedding_loss(a, other, tensor({1}, {1}, i64))
                       : cosine_similarity(a, other, -1, x.dtype() == f32 ? 1e-45 : 1e-300);
        },
        [=](const Jets& x) {
          const Jets a(x.begin(), x.begin() + 3);
          const Jet c = (a[0] + number(0.5) * a[1] - number(2) * a[2]) /
                        (root(squares(a)) * number(std::sqrt(Exact(5.25))));
          return Jets{embed ? number(1) - c : c};
        });
    row.of_largest = true;
    row.ulps = {.first = 64, .second = 512};
    // Below, second derivatives leave the range; eps of the loss is 1e-8.
    row.f32_scales = embed ? std::vector<double>{0, 20} : std::vector<double>{0, -15, 20, 30};
    row.f64_scales = embed ? std::vector<double>{0, 20} : std::vector<double>{0, -150, 170};
    rows.push_back(row);
  }
}

// --- recurrent cells: saturated gates ---

void add_cells(Rows& rows) {
  for (const double at : {1.0, 12.0, 30.0}) {
    const std::vector<double> gates{at, -at, 0.75 * at, -0.5 * at};
    LoopRow row{.name = "lstm_cell", .note = "gates of size"};
    row.apply = [](const Tensors& x) {
      const LstmState s = lstm_cell(x[0], zeros_like(x[0]), x[1]);
      return concat({s.h, s.c}, 0);
    };
    row.reference = [](const Operands& x) {
      const Jet c = sigma(x[0][1]) * x[1][0] + sigma(x[0][0]) * tanh_of(x[0][2]);
      return Jets{sigma(x[0][3]) * tanh_of(c), c};
    };
    row.inputs = {gates, {0.5}};
    row.shapes = {{4}, {1}};
    row.ulps = {.first = 32, .second = 4096};  // sums that cancel
    rows.push_back(row);
    row.name = "gru_cell";
    row.inputs = {{0.5 * at, at, -0.75 * at}, {0.5}};
    row.shapes = {{3}, {1}};
    row.apply = [](const Tensors& x) {
      return gru_cell(x[0], cast(tensor({0, 0, 1}, f64), x[0].dtype()), x[1]);
    };
    const auto gru = [](const Jet& a, const Jet& b, const Jet& n, const Jet& h) {
      return sigma(number(0) - b) * tanh_of(n + sigma(a)) + sigma(b) * h;
    };
    row.reference = [=](const Operands& x) {
      return Jets{gru(x[0][0], x[0][1], x[0][2], x[1][0])};
    };
    row.of_largest = true;  // (h − m)·σ'
    rows.push_back(row);
  }
}

void add_recurrences(Rows& rows) {
  for (const RecurrentCell cell :
       {RecurrentCell::tanh, RecurrentCell::relu, RecurrentCell::lstm, RecurrentCell::gru}) {
    // One unit, one step, and no product with the state: the fused gradient of a saturated cell.
    LoopRow row{.name = "recurrence", .note = detail::join("cell ", static_cast<int>(cell))};
    const bool lstm = cell == RecurrentCell::lstm, gru = cell == RecurrentCell::gru;
    const std::int64_t count = lstm ? 4 : gru ? 3 : 1;
    const std::vector<double> gates{14, -12, 13, 15};
    row.inputs = {{gates.begin(), gates.begin() + count}, {0.5, 0.25}};
    if (!lstm) row.inputs[1].resize(1);
    row.shapes = {{1, 1, count}, {1, lstm ? 2 : 1}};
    row.apply = [=](const Tensors& x) {
      return recurrence(cell, x[0], zeros({count, 1}, x[0].dtype()), {.initial = x[1]});
    };
    row.reference = [=](const Operands& x) {
      const Jets &a = x[0], &h = x[1];
      if (cell == RecurrentCell::tanh) return Jets{tanh_of(a[0])};
      if (cell == RecurrentCell::relu) return Jets{a[0]};
      if (gru) return Jets{sigma(number(0) - a[1]) * tanh_of(a[2]) + sigma(a[1]) * h[0]};
      const Jet c = sigma(a[1]) * h[1] + sigma(a[0]) * tanh_of(a[2]);
      return Jets{sigma(a[3]) * tanh_of(c), c};
    };
    row.ulps = {.first = 32, .second = 256};
    row.of_largest = gru;
    rows.push_back(row);
  }
}

// --- attention: the cap's derivative, where it is saturated ---

void add_attention(Rows& rows) {
  for (const bool formed : {false, true}) {
    LoopRow row{.name = formed ? "attention_with_weights" : "scaled_dot_product_attention",
                .note = "saturated softcap"};
    row.apply = [=](const Tensors& x) {
      const Tensor k = cast(tensor({1, 0.9}, {1, 1, 2, 1}, f64), x[0].dtype()),
                   v = cast(tensor({3, 5}, {1, 1, 2, 1}, f64), x[0].dtype());
      const AttentionOptions options{.scale = 1.0, .softcap = 1};
      return formed ? attention_with_weights(x[0], k, v, options).output
                    : scaled_dot_product_attention(x[0], k, v, options);
    };
    row.reference = [](const Operands& x) {
      Jets y;
      for (const Jet& q : x[0]) {
        const Jet a = tanh_of(q), b = tanh_of(q * number(0.9));
        const Jet p = sigma(a - b);
        y.push_back(p * number(3) + sigma(b - a) * number(5));
      }
      return y;
    };
    row.inputs = {{0.5, 2, 5, 8, 10, 12, 14, 16}};
    row.shapes = {{1, 1, 8, 1}};
    row.ulps = {.first = 256, .second = 2048};  // keys, weights and caps have errors of their own
    rows.push_back(row);
  }
}

}  // namespace

std::vector<LoopRow> loop_rows() {
  Rows rows;
  for (const auto family :
       {add_sums, add_products, add_recurrence_of_numbers, add_moments, add_extremes, add_orders,
        add_pools, add_softmax, add_norms, add_losses_of_differences, add_cross_entropy_of_logits,
        add_losses_of_classes, add_cosines, add_cells, add_recurrences, add_attention})
    family(rows);
  return rows;
}

}  // namespace ladon::test
