#pragma once
// A row of the comparison with LibTorch: the computation on both sides, the unit of its figures,
// and its goals.

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace ladon::bench {

/// Both sides of a row, Ladon's (`ours`) and LibTorch's (`theirs`), each on its own copy of the
/// inputs. `theirs` and `difference` are null if LibTorch has no such operation.
struct Sides {
  std::function<void()> ours, theirs;
  /// Runs both sides and returns the largest difference of their results, relative to the largest
  /// number.
  std::function<double()> difference;
  /// Called before each call of `ours`, and not timed.
  std::function<void()> before_ours = [] {};
};

/// Unit of a row's figures: operations per second, or time per call or per step.
enum class Unit { gflops, milliseconds, microseconds };

/// Hardware limit of a row's speed: fused multiply-adds in f32, dgemm for f64, memory (machine.h).
enum class Ceiling { none, fma, dgemm, memory };

struct Row {
  std::string name;
  Unit unit = Unit::milliseconds;
  double amount = 1;                ///< Number of operations, or of steps, in a call.
  std::array<double, 2> goal = {};  ///< Goal on 1 and 2 threads, in `unit`; 0: none.
  Ceiling ceiling = Ceiling::none;
  double needed = 0;            ///< Least operations, or bytes of memory, per call.
  double tolerance = 1e-4;      ///< Largest allowed difference.
  std::function<Sides()> make;  ///< Makes both sides, which own their inputs.
};

std::vector<Row> attention_rows();
std::vector<Row> transformer_rows();
std::vector<Row> small_rows();
std::vector<Row> pointwise_rows();
std::vector<Row> random_rows();
std::vector<Row> particle_rows();
std::vector<Row> linear_algebra_rows();
std::vector<Row> limit_rows();

/// Set the number of threads for the calls that follow: give_ours() for calls of Ladon,
/// give_theirs() for calls of LibTorch. Both libraries use the same OpenBLAS, which runs on one
/// thread in each of Ladon's tasks, and on as many threads as LibTorch in LibTorch's calls.
void give_ours(int threads);
void give_theirs(int threads);
/// Name and version of the other library: "LibTorch 1.13.1, OpenBLAS …".
std::string peer();

}  // namespace ladon::bench
