// Random calls of matrix products, attention, and linear algebra.

#include <optional>

#include "ladon/core/linalg/lapack.h"
#include "ladon/optim/extra/extra.h"
#include "table.h"

namespace ladon::test {
namespace {

/// [.., k, n] for a subject [.., m, k].
Tensor right_operand(Draw& d) {
  const Tensor& a = d.subject();
  if (!a.defined() || a.rank() == 0 || d.chance(0.1)) return d.tensor();
  if (d.chance(0.2)) return d.near({a.size(-1)});
  Shape shape = d.chance(0.5) && a.rank() > 2 ? a.shape() : Shape{1, 1};
  shape[shape.rank() - 2] = a.size(-1);
  shape[shape.rank() - 1] = d.below(5);
  return d.near(shape);
}

std::string equation(Draw& d) {
  const std::vector<std::string> known{
      "ij,jk->ik", "ij,jk", "bij,bjk->bik",  "...i,...j->...ij", "ii->i", "ii",
      "ij->ji",    "i,i",   "ij,kj,lj->ikl", "a...,...b",        "ijk->", "->",
      "i,j->ij",   "AB,BA", "...",           "ij...,kj...->ik"};
  if (d.chance(0.85)) return d.say(d.one_of(known));
  std::string text;
  for (std::int64_t n = d.below(9); n > 0; --n) text += "ijij,->.A z1"[d.below(12)];
  return d.say(text);
}

/// An operand a term of the equation; a letter has one size, mostly.
std::vector<Tensor> operands(Draw& d, const std::string& equation) {
  std::vector<Tensor> list;
  Shape shape;
  const std::string terms = equation.substr(0, equation.find("->")) + ",";
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const char letter = terms[i];
    if (letter == ',') {
      list.push_back(d.near(shape));
      shape = {};
    } else if (letter != '.' || (terms.substr(i, 3) == "..." && d.chance(0.5))) {
      if (shape.rank() < Shape::max_rank) shape.append(d.chance(0.03) ? d.below(4) : letter % 4);
    }
  }
  return list;
}

/// Sizes of attention's operands that fit each other, mostly.
struct Heads {
  std::int64_t batch, heads, shared, queries, keys, dim, value_dim;
  explicit Heads(Draw& d)
      : batch(d.below(3)),
        heads(d.below(5)),
        shared(d.chance(0.6) ? heads : d.below(3)),
        queries(d.below(5)),
        keys(d.below(5)),
        dim(d.below(4)),
        value_dim(d.below(4)) {}
};

AttentionOptions attention_options(Draw& d, const Heads& h, Generator& rng) {
  AttentionOptions options;
  if (d.chance(0.4)) {
    const Shape shape{d.chance(0.5) ? h.batch : 1, d.chance(0.5) ? h.heads : 1,
                      d.chance(0.7) ? h.queries : 1, h.keys};
    options.mask = d.chance(0.5) ? d.mask(shape) : d.near(shape);
  }
  options.causal = d.flag();
  if (d.chance(options.causal ? 0.6 : 0.05)) options.causal_offset = d.integer();
  if (d.chance(0.2)) options.scale = d.number();
  if (d.chance(0.2)) options.softcap = d.number();
  if (d.chance(0.2)) options.dropout = d.fraction();
  if (d.chance(0.9)) options.rng = &rng;
  return options;
}

template <class F>
auto attend(Draw& d, F f) {
  const Heads h(d);
  Generator rng(d.seed());
  const Tensor q = d.near({h.batch, h.heads, h.queries, h.dim});
  const Tensor k = d.near({d.chance(0.8) ? h.batch : 1, h.shared, h.keys, h.dim});
  const Tensor v = d.near({h.batch, h.shared, h.keys, h.value_dim});
  return f(q, k, v, attention_options(d, h, rng));
}

/// x·xᵀ + I for a random x, or any matrix.
Tensor positive(Draw& d) {
  if (d.chance(0.2)) return d.floating();
  const std::int64_t n = d.below(5);
  const Tensor x = d.floating({n, n}).detach();
  return d.chance(0.9) ? matmul(x, transpose(x)) + cast(eye(n), x.dtype()) : x;
}

Tensor square_side(Draw& d) {
  const Tensor& a = d.subject();
  const Tensor b = a.defined() && a.rank() > 0 ? d.near({a.size(0), d.below(4)}) : d.tensor();
  return a.defined() && b.defined() && d.chance(0.9) ? cast(b, a.dtype()) : b;
}

void add_lapack(CallTable& table) {
  table.add("lapack::cholesky", lapack::cholesky, positive);
  table.add("lapack::cholesky_inverse", lapack::cholesky_inverse, positive);
  table.add("lapack::cholesky_solve", lapack::cholesky_solve, positive, square_side);
  table.add("lapack::eigenvalues", lapack::eigenvalues, positive);
  table.add("lapack::eigh", lapack::eigh, positive);
  table.add("lapack::solve_triangular", lapack::solve_triangular, positive, square_side,
            [](Draw& d) { return d.flag(); });
  table.add("lapack::lu", [](Draw& d) {
    const lapack::Lu lu = lapack::lu(positive(d));
    return std::pair{lu.factors, lu.swaps};
  });
  table.add("lapack::lu_solve", [](Draw& d) {
    lapack::Lu lu = lapack::lu(positive(d));
    if (d.chance(0.2)) lu.swaps = d.indices(d.shape(), lu.factors.size(0));
    const Tensor b = square_side(d);
    return lapack::lu_solve(lu, b, d.flag());
  });
}

/// A batch of square matrices, or one.
Tensor squares(Draw& d) {
  if (d.chance(0.3)) return d.tensor();
  const std::int64_t n = d.below(5);
  const Tensor x = d.floating(d.chance(0.5) ? Shape{n, n} : Shape{d.below(4), n, n});
  return d.chance(0.6) ? matmul(x, transpose(x)) + cast(eye(n), x.dtype()) : x;
}

Tensor other_side(Draw& d) {
  const Tensor& a = d.subject();
  if (!a.defined() || a.rank() < 2) return d.tensor();
  const Shape column{a.size(-1), d.below(4)};
  return d.near(d.chance(0.3) ? Shape{a.size(-1)} : column);
}

void add_linalg(CallTable& table) {
  table.add("cholesky", cholesky, squares);
  table.add("solve_triangular", solve_triangular, squares, other_side, [](Draw& d) {
    return TriangularOptions{.upper = d.flag(), .transposed = d.flag(), .left = d.flag()};
  });
  table.add("cholesky_solve", cholesky_solve, squares, other_side);
  table.add("solve", solve, squares, other_side);
  table.add("inverse", inverse, squares);
  table.add("eigh", [](Draw& d) {
    const EigenResult e = eigh(squares(d));
    return std::pair{e.values, e.vectors};
  });
  table.add("eigenvalues", eigenvalues, squares);
  table.add("logdet", logdet, squares);
  table.add("slogdet", [](Draw& d) {
    const SignAndLog s = slogdet(squares(d));
    return std::pair{s.sign, s.log};
  });
  table.add("det", det, squares);
}

/// [.., n] beside [.., gates·n], mostly.
Tensor gates_of(Draw& d, const Tensor& state, std::int64_t gates) {
  Shape shape = state.defined() && state.rank() > 0 ? state.shape() : Shape{2};
  shape[shape.rank() - 1] *= gates;
  return d.near(shape);
}

void add_recurrences(CallTable& table) {
  table.add("lstm_cell", [](Draw& d) {
    const Tensor c = d.floating(), a = gates_of(d, c, 4);
    const LstmState next = lstm_cell(a, gates_of(d, c, 4), c);
    return Tensors{next.h, next.c};
  });
  table.add("gru_cell", [](Draw& d) {
    const Tensor h = d.floating(), a = gates_of(d, h, 3);
    return gru_cell(a, gates_of(d, h, 3), h);
  });
  table.add("recurrence", [](Draw& d) {
    const auto cell = static_cast<RecurrentCell>(d.say(d.below(4)));
    const std::int64_t gates = cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
    const std::int64_t batch = d.below(3), count = d.below(5), n = 1 + d.below(3);
    const Tensor x = d.near({batch, count, gates * n}), weight = d.near({gates * n, n});
    RecurrenceOptions options{.reverse = d.flag()};
    if (d.chance(0.5)) options.bias = d.near({gates * n});
    if (d.chance(0.5)) options.initial = d.near({batch, cell == RecurrentCell::lstm ? 2 * n : n});
    if (d.chance(0.5)) options.mask = d.mask({batch, count});
    return recurrence(cell, x, weight, options);
  });
}

}  // namespace

void add_product_calls(CallTable& table) {
  table.add("matmul", matmul, floating, right_operand);
  table.add("linear", [](Draw& d) {
    const Tensor x = d.floating();
    const std::int64_t out = d.below(4);
    const Tensor weight = d.near({out, x.defined() && x.rank() > 0 ? x.size(-1) : 2});
    return linear(x, weight, d.chance(0.5) ? d.near({out}) : Tensor());
  });
  table.add("einsum", [](Draw& d) {
    const std::string text = equation(d);
    return einsum(text, operands(d, text));
  });
  table.add("dot", dot, floating, twin);
  table.add(
      "scaled_dot_product_attention",
      [](Draw& d) { return attend(d, scaled_dot_product_attention); }, 3);
  table.add(
      "attention_with_weights", [](Draw& d) { return attend(d, attention_with_weights); }, 2);
  add_lapack(table);
  add_recurrences(table);
  add_linalg(table);
}

}  // namespace ladon::test
