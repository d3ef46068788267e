#pragma once
// Entries of the table of operations: one function per family, each in a file of its own.

#include "row.h"

namespace ladon::bench::every {

void add_pointwise(Table& t);
void add_comparisons(Table& t);
void add_reductions(Table& t);
void add_shapes(Table& t);
void add_indices(Table& t);
void add_products(Table& t);
void add_linear_algebra(Table& t);
void add_losses(Table& t);
void add_norms(Table& t);
void add_windows(Table& t);
void add_attention(Table& t);
void add_recurrences(Table& t);
void add_layers(Table& t);
void add_transformers(Table& t);
void add_optimizers(Table& t);
void add_particles(Table& t);
void add_samplers(Table& t);
void add_limits(Table& t);
void add_posteriors(Table& t);

// Functions that draw inputs, for entries of more than one family.
inline Tensors line(Draw& d) { return {d.normal(d.line())}; }
inline Tensors lines(Draw& d) { return {d.normal(d.line()), d.normal(d.line())}; }
inline Tensors positive_line(Draw& d) { return {d.between(0.1, 2, d.line())}; }
inline Tensors positive_lines(Draw& d) {
  return {d.between(0.1, 2, d.line()), d.between(0.1, 2, d.line())};
}
inline Tensors matrix(Draw& d) { return {d.normal(d.matrix())}; }
inline Tensors matrices(Draw& d) { return {d.normal(d.matrix()), d.normal(d.matrix())}; }
inline Tensors images(Draw& d) { return {d.normal(d.images())}; }

}  // namespace ladon::bench::every
