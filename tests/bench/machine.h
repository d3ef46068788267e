#pragma once
// Peak speeds of the machine, with which all other benchmarks are compared.

namespace ladon::bench {

/// Peak speed of fused multiply-adds on `threads` threads together, in f32 GFLOP/s (a multiply-add
/// counts 2), for chains of operations in registers with the widest vectors of the processor. All
/// threads run at once, and the fastest of many short runs of each are added up. Measured once for
/// each number of threads.
double peak_gflops(int threads);

/// Peak speed of OpenBLAS's dgemm on `threads` threads, in f64 GFLOP/s. Each thread multiplies its
/// own 512 × 512 matrices, and the fastest of many products of each thread are added up. Measured
/// once.
double dgemm_gflops(int threads);

/// Speed of memory in GB/s: bytes read and written per second by y ← y + x on arrays that are far
/// larger than any cache.
double memory_gbytes(int threads);

/// Vector instructions with which peak_gflops() measures: "AVX-512", "AVX2 and FMA" or "baseline".
const char* vector_level();

}  // namespace ladon::bench
