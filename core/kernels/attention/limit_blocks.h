#pragma once
// Loops over blocks of T × T elements, one block for each pair of inputs of T tokens, in the
// kernels of infinitely wide attention (layers/infinite/attention). Each operation is rounded by
// itself, without fused multiply-adds on x86-64, so that results equal those of the formulas in
// public operations.

#include <cstdint>

namespace ladon::kernels {

/// column[j] += Σ_a x[a, j]·y[a, j], summed in order over the rows a for which may[a] > 0. x and y
/// are [rows, n], `may` is [rows].
void add_column_products(std::int64_t rows, std::int64_t n, const double* may, const double* x,
                         const double* y, double* column);

/// y = −a·b.
void negative_products(std::int64_t n, const double* a, const double* b, double* y);
/// y += a·b.
void add_products(std::int64_t n, const double* a, const double* b, double* y);
/// y[s, i, j] = a[i, s, j]·b[i, s, j] for `draws` indices s of random draws, and i, j < t.
void products_by_draw(std::int64_t draws, std::int64_t t, const double* a, const double* b,
                      double* y);

/// Attention whose weights are the logits G themselves, ζ(G) = G
/// (layers/infinite/attention/identity.cpp): factors that belong to a layer, and sums over the keys
/// of one pair of inputs, kv = ⟨k, v⟩, ku = ⟨k, u⟩ and tv = ⟨t, v⟩. k and t are the NNGP kernel and
/// the NTK of the pair's queries and keys (in tv, t includes the bias of the keys); v and u are the
/// NNGP kernel and the NTK of the pair's values.
struct IdentityFactors {
  double qk2, query_key_trained, query_bias_trained;
};
struct IdentitySums {
  const double *kv, *ku, *tv;
};
/// value = qk2·k·kv and, unless `tangent` is null,
/// tangent = qk2·(k·(ku + query_key_trained·kv + tv) + (t + query_bias_trained)·kv), elementwise;
/// the sums have n elements each, or a single one if `one_sum`.
void identity_block(std::int64_t n, const IdentityFactors& by, const double* k, const double* t,
                    const IdentitySums& sums, bool one_sum, double* value, double* tangent);

/// Factors that convert second moments of the outputs of attention's heads to the NNGP kernel and
/// the NTK of the outputs of the layer.
struct OutputFactors {
  double value_output2, bias_variance, value_output_trained, bias_trained;
};
/// In place, with s = value_output2·value: value ← s + bias_variance and, unless `tangent` is null,
/// tangent ← value_output2·tangent + value_output_trained·s + bias_trained.
void attention_outputs(std::int64_t n, const OutputFactors& by, double* value, double* tangent);

}  // namespace ladon::kernels
