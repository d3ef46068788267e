#pragma once
// Sums over keys of the arc-cosine kernels: the hot loop of attention with relu or abs in place of
// softmax. Internal to this folder.

#include "ladon/core/kernels/loops/limits/rectifier.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/attention/attention_form.h"

namespace ladon::infinite {

/// Data of the keys i and j of each pair of inputs that enter the sums over keys, contiguous [P, T,
/// T] each: their correlation ρ_ij, and weights w_0 to w_3, which are 0 if a key is masked. w_0 and
/// w_1 multiply the arc-cosine kernel κ at unit variance, w_2 and w_3 its derivative κ'
/// (rectified.cpp). Without an NTK only weight[0] is defined.
struct KeyFactors {
  Tensor correlation, weight[4];
};

/// The four sums over keys for every pair (a, b) of queries, [P, T, T] each:
///   Σ_ij w_0·κ(ρ_ab·ρ_ij),  Σ_ij w_1·κ,  Σ_ij w_2·κ',  Σ_ij w_3·κ'.
/// With causal attention they are over i ≤ a and j ≤ b. Without an NTK only the first is defined.
struct KeySums {
  Tensor of[4];
};

/// Computes the sums over keys. With 16 positions or more, this takes O(T²) instead of O(T⁴)
/// operations per pair of inputs, as far as correlations allow. With r = ρ_ab,
///   κ(r·ρ) = Σ_k c_k·(r²)^k·(ρ²)^k   for abs (relu is |x|/2 + x/2), with c_k > 0,
/// so the moments Σ_ij w_ij·(ρ_ij²)^k serve every r. 128 terms give κ and κ' to 1e-15 where |r·ρ| ≤
/// 0.9. Terms with |r| and |ρ| both above 0.9 are summed directly, as are all terms if there are
/// fewer than 16 positions.
KeySums key_sums(Weighting zeta, bool causal, const KeyFactors& keys);

}  // namespace ladon::infinite
