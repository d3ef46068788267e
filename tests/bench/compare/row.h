#pragma once
// A row of the comparison: what both sides compute, what is counted, and what was aimed at.

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace ladon::bench {

/// Both sides of a row, on inputs of their own. Without `theirs` LibTorch has no such operation;
/// then there is no `difference` either.
struct Sides {
  std::function<void()> ours, theirs;
  /// Runs both and gives the largest difference of their results, relative to the largest number.
  std::function<double()> difference;
  /// Preparation of each call of ours; it is not timed.
  std::function<void()> before_ours = [] {};
};

/// Unit of a row's figures: speeds by operations, or times of a call or of one of its steps.
enum class Unit { gflops, milliseconds, microseconds };

/// Bound of a row: fused multiply-adds in f32, dgemm for f64, memory (machine.h).
enum class Ceiling { none, fma, dgemm, memory };

struct Row {
  std::string name;
  Unit unit = Unit::milliseconds;
  double amount = 1;                ///< Of a call: operations as the goals count them, or steps.
  std::array<double, 2> goal = {};  ///< On 1 and 2 threads, in `unit`; 0: none.
  Ceiling ceiling = Ceiling::none;
  double needed = 0;            ///< Operations, or bytes of memory, that a call cannot do without.
  double tolerance = 1e-4;      ///< Of the difference.
  std::function<Sides()> make;  ///< Its inputs exist only while it runs.
};

std::vector<Row> attention_rows();
std::vector<Row> transformer_rows();
std::vector<Row> small_rows();
std::vector<Row> pointwise_rows();
std::vector<Row> random_rows();
std::vector<Row> particle_rows();
std::vector<Row> linear_algebra_rows();
std::vector<Row> limit_rows();

/// Before calls of ours and before calls of theirs. One OpenBLAS serves both: it has one thread
/// inside our tasks, and as many as LibTorch has inside theirs.
void give_ours(int threads);
void give_theirs(int threads);
/// "LibTorch 1.13.1, OpenBLAS …".
std::string peer();

}  // namespace ladon::bench
