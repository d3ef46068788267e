// Rows of autograd/ops/matmul.h.

#include "ladon/autograd/ops/linalg/einsum.h"
#include "ladon/autograd/ops/matmul.h"
#include "op_table.h"

namespace ladon::test {
namespace {

/// Entry of an operand whose leading axes broadcast to those of `lead`.
double entry(const Dense& x, const Shape& lead, std::int64_t row, std::int64_t column) {
  Shape index = lead.sub(lead.rank() - (x.shape.rank() - 2), lead.rank());
  for (int i = 0; i < index.rank(); ++i) index[i] = x.shape[i] == 1 ? 0 : index[i];
  index.append(row);
  index.append(column);
  return x(index);
}

/// Σ_k a_ik b_kj, leading axes broadcast; operands of at least two axes.
Dense product(const Dense& a, const Dense& b) {
  const int ra = a.shape.rank(), rb = b.shape.rank();
  Shape shape = broadcast_shapes("reference", a.shape.sub(0, ra - 2), b.shape.sub(0, rb - 2));
  const int batch = shape.rank();
  shape.append(a.shape[ra - 2]);
  shape.append(b.shape[rb - 1]);
  Dense y(shape);
  for_each_index(shape, [&](const Shape& i) {
    const Shape lead = i.sub(0, batch);
    for (std::int64_t k = 0; k < a.shape[ra - 1]; ++k)
      y(i) += entry(a, lead, i[batch], k) * entry(b, lead, k, i[batch + 1]);
  });
  return y;
}

Dense under(Dense x, const Shape& shape) {
  x.shape = shape;
  return x;
}

const Reference products = [](const std::vector<Dense>& x) { return product(x[0], x[1]); };

/// x·Wᵀ + b.
Dense affine(const std::vector<Dense>& in) {
  Shape shape = in[0].shape;
  const std::int64_t n = shape[shape.rank() - 1], out = in[1].shape[0];
  shape[shape.rank() - 1] = out;
  Dense y(shape);
  for (std::size_t p = 0; p < y.values.size(); ++p) {
    const auto row = static_cast<std::int64_t>(p) / out, o = static_cast<std::int64_t>(p) % out;
    if (in.size() > 2) y.values[p] = in[2]({o});
    for (std::int64_t i = 0; i < n; ++i)
      y.values[p] += in[0].values[static_cast<std::size_t>(row * n + i)] * in[1]({o, i});
  }
  return y;
}

/// Sums term(index) over `letters`, whose first `kept` axes are the output's.
Reference summed(const Shape& letters, int kept,
                 std::function<double(const std::vector<Dense>&, const Shape&)> term) {
  return [=](const std::vector<Dense>& x) {
    Dense y(letters.sub(0, kept));
    for_each_index(letters, [&](const Shape& i) { y(i.sub(0, kept)) += term(x, i); });
    return y;
  };
}

OpSample matmul_sample(const std::string& note, const Tensor& a, const Tensor& b,
                       const Reference& reference = products) {
  return {.note = note,
          .inputs = {a, b},
          .apply = [](const auto& x) { return matmul(x[0], x[1]); },
          .reference = reference};
}

void add_product_rows(OpTable& table) {
  table.add(
      {.name = "matmul",
       .samples =
           {matmul_sample("matrices", table.random({2, 3}), table.random({3, 4})),
            matmul_sample("a batch and one matrix", table.random({2, 2, 3}), table.random({3, 2})),
            matmul_sample("one matrix and a batch", table.random({2, 3}), table.random({2, 3, 2})),
            matmul_sample("batches", table.random({2, 2, 2, 3}), table.random({2, 2, 3, 2})),
            matmul_sample("broadcast batches", table.random({2, 1, 2, 3}), table.random({3, 3, 2})),
            matmul_sample("column and row", table.random({3, 1}), table.random({1, 2})),
            matmul_sample("a vector on the left", table.random({3}), table.random({2, 3, 2}),
                          [](const std::vector<Dense>& x) {
                            return under(product(under(x[0], {1, 3}), x[1]), {2, 2});
                          }),
            matmul_sample("a vector on the right", table.random({2, 2, 3}), table.random({3}),
                          [](const std::vector<Dense>& x) {
                            return under(product(x[0], under(x[1], {3, 1})), {2, 2});
                          }),
            matmul_sample("two vectors", table.random({3}), table.random({3}),
                          [](const std::vector<Dense>& x) {
                            return under(product(under(x[0], {1, 3}), under(x[1], {3, 1})), {});
                          })},
       .empty = {matmul_sample("no inner axis", table.random({2, 0}), table.random({0, 3})),
                 matmul_sample("no rows", table.random({0, 2}), table.random({2, 3})),
                 matmul_sample("no batch", table.random({0, 2, 2}), table.random({2, 3}))},
       .errors = {{"[32, 64] · [63, 10]", [] { matmul(ones({32, 64}), ones({63, 10})); }},
                  {"transpose the right operand", [] { matmul(ones({2, 3}), ones({4, 3})); }},
                  {"do not broadcast", [] { matmul(ones({2, 2, 3}), ones({3, 3, 2})); }},
                  {"floating-point operands, got i64",
                   [] { matmul(ones({2, 2}, i64), ones({2, 2}, i64)); }},
                  {"multiply by a number with *", [] { matmul(ones({}), ones({2})); }}}});
  const auto with_bias = [](const std::vector<Tensor>& x) { return linear(x[0], x[1], x[2]); };
  const auto without = [](const std::vector<Tensor>& x) { return linear(x[0], x[1]); };
  table.add(
      {.name = "linear",
       .samples = {{.note = "a batch with bias",
                    .inputs = {table.random({2, 2, 3}), table.random({4, 3}), table.random({4})},
                    .apply = with_bias,
                    .reference = affine},
                   {.note = "rows without bias",
                    .inputs = {table.random({3, 2}), table.random({2, 2})},
                    .apply = without,
                    .reference = affine},
                   {.note = "a vector",
                    .inputs = {table.random({3}), table.random({2, 3}), table.random({2})},
                    .apply = with_bias,
                    .reference = affine}},
       .empty = {{.note = "no rows",
                  .inputs = {table.random({0, 3}), table.random({2, 3}), table.random({2})},
                  .apply = with_bias,
                  .reference = affine},
                 {.note = "no inputs",
                  .inputs = {table.random({2, 0}), table.random({2, 0}), table.random({2})},
                  .apply = with_bias,
                  .reference = affine},
                 {.note = "no outputs",
                  .inputs = {table.random({2, 3}), table.random({0, 3})},
                  .apply = without,
                  .reference = affine}},
       .errors = {{"last axis must have size 3", [] { linear(ones({2, 4}), ones({2, 3})); }},
                  {"the bias has shape [3], not [2]",
                   [] { linear(ones({2, 3}), ones({2, 3}), ones({3})); }},
                  {"[out, in]", [] {
                     linear(ones({2, 3}), ones({3}));
                   }}}});
  table.add({.name = "dot",
             .samples = {{.note = "matrices",
                          .inputs = {table.random({2, 3}), table.random({2, 3})},
                          .apply = [](const auto& x) { return dot(x[0], x[1]); },
                          .reference = summed({2, 3}, 0,
                                              [](const std::vector<Dense>& x, const Shape& i) {
                                                return x[0](i) * x[1](i);
                                              })}},
             .errors = {{"[2] and [3]", [] { dot(ones({2}), ones({3})); }}}});
}

OpSample einsum_sample(const char* equation, std::vector<Tensor> inputs, Reference reference) {
  return {.note = equation,
          .inputs = std::move(inputs),
          .apply = [equation](const auto& x) { return einsum(equation, x); },
          .reference = std::move(reference)};
}

using Terms = std::vector<Dense>;

void add_einsum_row(OpTable& table) {
  table.add(
      {.name = "einsum",
       .samples = {einsum_sample(
                       "bqd,bkd->bqk", {table.random({2, 2, 3}), table.random({2, 2, 3})},
                       summed({2, 2, 2, 3}, 3,  // b q k d
                              [](const Terms& x, const Shape& i) {
                                return x[0]({i[0], i[1], i[3]}) * x[1]({i[0], i[2], i[3]});
                              })),
                   einsum_sample(" ij , jk ", {table.random({2, 3}), table.random({3, 2})},
                                 summed({2, 2, 3}, 2,  // i k j
                                        [](const Terms& x, const Shape& i) {
                                          return x[0]({i[0], i[2]}) * x[1]({i[2], i[1]});
                                        })),
                   einsum_sample("ii->i", {table.random({3, 3})},
                                 summed({3}, 1,
                                        [](const Terms& x, const Shape& i) {
                                          return x[0]({i[0], i[0]});
                                        })),
                   einsum_sample("iji->j", {table.random({2, 3, 2})},
                                 summed({3, 2}, 1,  // j i
                                        [](const Terms& x, const Shape& i) {
                                          return x[0]({i[1], i[0], i[1]});
                                        })),
                   einsum_sample("ii", {table.random({3, 3})},
                                 summed({3}, 0,
                                        [](const Terms& x, const Shape& i) {
                                          return x[0]({i[0], i[0]});
                                        })),
                   einsum_sample("...ij->...ji", {table.random({2, 2, 3})},
                                 summed({2, 3, 2}, 3,
                                        [](const Terms& x, const Shape& i) {
                                          return x[0]({i[0], i[2], i[1]});
                                        })),
                   einsum_sample("...hd,hd...->...",
                                 {table.random({2, 2, 3}), table.random({2, 3, 1})},
                                 summed({2, 2, 3}, 1,  // . h d
                                        [](const Terms& x, const Shape& i) {
                                          return x[0](i) * x[1]({i[1], i[2], 0});
                                        })),
                   einsum_sample("i,j->ji", {table.random({2}), table.random({3})},
                                 summed({3, 2}, 2,
                                        [](const Terms& x, const Shape& i) {
                                          return x[0]({i[1]}) * x[1]({i[0]});
                                        })),
                   einsum_sample(
                       "ab,bc,cd->ad",
                       {table.random({2, 2}), table.random({2, 3}), table.random({3, 2})},
                       summed({2, 2, 2, 3}, 2,  // a d b c
                              [](const Terms& x, const Shape& i) {
                                return x[0]({i[0], i[2]}) * x[1]({i[2], i[3]}) * x[2]({i[3], i[1]});
                              })),
                   einsum_sample(  // the second and third operands are contracted first
                       "ijkl,kl,l->ij",
                       {table.random({2, 2, 2, 3}), table.random({2, 3}), table.random({3})},
                       summed({2, 2, 2, 3}, 2,  // i j k l
                              [](const Terms& x, const Shape& i) {
                                return x[0](i) * x[1]({i[2], i[3]}) * x[2]({i[3]});
                              })),
                   einsum_sample("...i,ij,...j,j",
                                 {table.random({2, 2}), table.random({2, 3}), table.random({1, 3}),
                                  table.random({3})},
                                 summed({2, 2, 3}, 1,  // . i j
                                        [](const Terms& x, const Shape& i) {
                                          return x[0]({i[0], i[1]}) * x[1]({i[1], i[2]}) *
                                                 x[2]({0, i[2]}) * x[3]({i[2]});
                                        })),
                   einsum_sample("...i,...i->", {table.random({2, 3}), table.random({1, 3})},
                                 summed({2, 3}, 0,
                                        [](const Terms& x, const Shape& i) {
                                          return x[0](i) * x[1]({0, i[1]});
                                        }))},
       .empty = {einsum_sample("ij,jk->ik", {table.random({2, 0}), table.random({0, 3})},
                               [](const auto&) {
                                 return Dense(Shape{2, 3});
                               })},
       .errors = {{"has 2 operands, but 1 were given", [] { einsum("i,i->i", {ones({2})}); }},
                  {"names 2 axes", [] { einsum("ij->i", {ones({2})}); }},
                  {"has size 2 and size 3", [] { einsum("i,i->", {ones({2}), ones({3})}); }},
                  {"is in no operand", [] { einsum("i->j", {ones({2})}); }},
                  {"occurs twice", [] { einsum("i->ii", {ones({2})}); }},
                  {"unexpected \"1\"", [] { einsum("1->1", {ones({2})}); }},
                  {"unexpected \"...0\"", [] { einsum("...0->...", {ones({2, 2})}); }},
                  {"unexpected \"..i\"", [] { einsum("..i->i", {ones({2, 2, 2})}); }},
                  {"at least one operand", [] { einsum("", {}); }}}});
}

void add_rows(OpTable& table) {
  add_product_rows(table);
  add_einsum_row(table);
}

const Family family(add_rows);

}  // namespace
}  // namespace ladon::test
