#pragma once
// Sums over keys of the arc-cosine kernels: the hot loop of attention with relu or abs in place of
// softmax. Internal to this folder.

#include "ladon/core/kernels/loops/limits/rectifier.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/attention/attention_form.h"

namespace ladon::infinite {

/// The factors of the keys for each pair, [P, T, T], contiguous: ρ_ij, and the weights of κ (0, 1)
/// and of κ' (2, 3), zero where a key is masked. All but weight[0] are undefined where there is no
/// NTK.
struct KeyFactors {
  Tensor correlation, weight[4];
};

/// The four sums over keys for every pair (a, b) of queries, [P, T, T] each:
///   Σ_ij w_0·κ(ρ_ab·ρ_ij),  Σ_ij w_1·κ,  Σ_ij w_2·κ',  Σ_ij w_3·κ'.
/// `causal`: over i ≤ a and j ≤ b. Without an NTK the first alone.
struct KeySums {
  Tensor of[4];
};

/// From 16 positions on in O(T²) instead of O(T⁴) per pair, as far as correlations allow. With r =
/// ρ_ab,
///   κ(r·ρ) = Σ_k c_k·(r²)^k·(ρ²)^k   (abs; relu: |x|/2 + x/2),   c_k > 0,
/// so the moments Σ_ij w_ij·(ρ_ij²)^k serve every r. 128 terms give κ and κ' to 1e-15 where
/// |r·ρ| ≤ 0.9; what is left, |r| and |ρ| both above 0.9, is summed as it stands. Below 16
/// positions everything is.
KeySums key_sums(Weighting zeta, bool causal, const KeyFactors& keys);

}  // namespace ladon::infinite
