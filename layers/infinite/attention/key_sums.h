#pragma once
// Sums over keys of the arc-cosine kernels: the hot loop of attention with relu or abs in place of
// softmax. Internal to this folder.

#include "ladon/core/kernels/loops/limits/rectifier.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/attention/attention_form.h"

namespace ladon::infinite {

/// Factors of the keys i and j in the sums over keys, for each pair of inputs, [P, T, T],
/// contiguous: their correlation ρ_ij, and weights w_0 and w_1 of the arc-cosine kernel κ at unit
/// variance and w_2 and w_3 of its derivative κ' (rectified.cpp), zero where a key is masked.
/// Without an NTK only weight[0] is defined.
struct KeyFactors {
  Tensor correlation, weight[4];
};

/// The four sums over keys for every pair (a, b) of queries, [P, T, T] each:
///   Σ_ij w_0·κ(ρ_ab·ρ_ij),  Σ_ij w_1·κ,  Σ_ij w_2·κ',  Σ_ij w_3·κ'.
/// `causal`: over i ≤ a and j ≤ b. Without an NTK only the first.
struct KeySums {
  Tensor of[4];
};

/// The sums over keys, in O(T²) instead of O(T⁴) per pair of inputs from 16 positions on, as far as
/// correlations allow. With r = ρ_ab,
///   κ(r·ρ) = Σ_k c_k·(r²)^k·(ρ²)^k   (abs; relu: |x|/2 + x/2),   c_k > 0,
/// so the moments Σ_ij w_ij·(ρ_ij²)^k serve every r. 128 terms give κ and κ' to 1e-15 where |r·ρ| ≤
/// 0.9. Terms with |r| and |ρ| both above 0.9 are summed directly, as are all terms if there are
/// fewer than 16 positions.
KeySums key_sums(Weighting zeta, bool causal, const KeyFactors& keys);

}  // namespace ladon::infinite
