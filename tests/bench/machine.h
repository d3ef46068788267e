#pragma once
// Peaks of the machine: the measure of every other benchmark.

namespace ladon::bench {

/// Most fused multiply-adds that `threads` threads reach together, in f32 GFLOP/s (a multiply-add
/// counts 2): chains in registers, at the widest vectors the processor has; all threads at once,
/// the fastest of many short runs of each, added up. Measured once for each number of threads.
double peak_gflops(int threads);

/// The most that OpenBLAS's dgemm reaches on `threads` threads, in f64 GFLOP/s: 512 × 512 matrices,
/// each thread its own, the fastest of many products of each, added up. Measured once.
double dgemm_gflops(int threads);

/// Bytes read and written a second, in GB/s, by y ← y + x on arrays far larger than any cache.
double memory_gbytes(int threads);

/// "AVX-512", "AVX2 and FMA" or "baseline".
const char* vector_level();

}  // namespace ladon::bench
