#pragma once
// Functions that fill the table of loops of one instruction level. Each is defined in the file of
// this folder whose loops it adds.

#include "ladon/core/kernels/loops.h"

namespace ladon::kernels::LADON_LEVEL {

void add_pointwise(Loops& table);
void add_reductions(Loops& table);
void add_rows(Loops& table);
void add_optimizers(Loops& table);
void add_attention(Loops& table);
void add_columns(Loops& table);
void add_duals(Loops& table);
void add_halves(Loops& table);
void add_gathered(Loops& table);
void add_gemm(Loops& table);
void add_gemm_of_bf16(Loops& table);
void add_rectifier(Loops& table);
void add_largest(Loops& table);
void add_products(Loops& table);
void add_particles(Loops& table);
void add_piecewise(Loops& table);
void add_places(Loops& table);
void add_random(Loops& table);
void add_symmetric(Loops& table);
void add_transpositions(Loops& table);
void add_triangular(Loops& table);
void add_weights(Loops& table);

const Loops& table();

}  // namespace ladon::kernels::LADON_LEVEL
