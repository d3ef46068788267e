// Matrix products of floats rounded to bf16, with products and sums in f32. Compiled only for
// AVX-512 with its bf16 instructions; the caller checks that the processor has them.

#include "ladon/core/kernels/loops/products/gemm.h"

#include <immintrin.h>

#include "ladon/core/kernels/loops/bf16.h"
#include "ladon/core/kernels/loops/products/panels.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::uint32_t;

/// Converts a panel of floats to a panel of pairs of bf16, in place: elements p and p + 1 of a line
/// become one word.
template <int64_t width>
void pair_up(int64_t k, float* panel) {
  auto* words = reinterpret_cast<uint32_t*>(panel);
  for (int64_t p = 0; p < k; p += 2) {
    uint32_t pairs[width];
#pragma omp simd
    for (int64_t i = 0; i < width; ++i)
      pairs[i] = to_bf16(panel[p * width + i]) |
                 (p + 1 < k ? to_bf16(panel[(p + 1) * width + i]) << 16 : 0);
    __builtin_memcpy(words + p / 2 * width, pairs, sizeof pairs);
  }
}

template <int64_t width>
void pack_pairs(int64_t lines, int64_t k, const float* x, int64_t line, int64_t step, float* to) {
  pack<width>(lines, k, x, line, step, to);
  for (int64_t i = 0; i < lines; i += width) pair_up<width>(k, to + i * k);
}

struct PairsOfBf16 {
  LADON_INLINE static void add(int64_t k, const float* a, const float* b, Sums<float>& sum) {
    for (int64_t p = 0; p < (k + 1) / 2; ++p) {
      __m512bh of_b[block_vectors];
#pragma GCC unroll 2
      for (int j = 0; j < block_vectors; ++j)
        of_b[j] = (__m512bh)_mm512_loadu_si512(b + p * block_columns<float> + j * row_lanes<float>);
#pragma GCC unroll 8
      for (int i = 0; i < block_rows; ++i) {
        const auto pair =
            (__m512bh)_mm512_set1_epi32(__builtin_bit_cast(int, a[p * block_rows + i]));
#pragma GCC unroll 2
        for (int j = 0; j < block_vectors; ++j)
          sum[i][j] = (Row<float>)_mm512_dpbf16_ps((__m512)sum[i][j], pair, of_b[j]);
      }
    }
  }
};

}  // namespace

void add_gemm_of_bf16(Loops& table) {
  table.gemm_of_bf16 = {block_rows, block_columns<float>, pack_pairs<block_rows>,
                        pack_pairs<block_columns<float>>, multiply<PairsOfBf16, float>};
}

}  // namespace ladon::kernels::LADON_LEVEL
