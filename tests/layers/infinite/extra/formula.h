#pragma once
// Parser and evaluator of the formulas that a derivation prints
// (layers/infinite/kernel/derivation.h). Tests compare the values of the printed formulas with the
// kernels that the library computes. It shares no code with the library's kernels: expectations are
// computed by quadrature in formula.cpp.
//
//   sums      2·k₁ + 0.1 − k₂,  products k₁·t₂ and k₁/r,  √(..),  m(x)²,  numbers, and ( )
//   kernels   k₁ and t₁ between x at a and x' at b;  k₁_ij at other positions, k₁_00 at the first,
//             k₁_{a+o, b+o} at those seen through tap o;  k₁(x, x) of x with itself
//   over all  Σ_ij, mean over …, sum over …: each takes the product that follows
//   words     E[φ(u)·φ(v)], E[ζ_ai·ζ'_bj], A·k₁·A'ᵀ, R_ab, 1{a = b}, and phrases of single layers
//   clauses   ", r = …", ", (u, v) ~ N(0, …)", ", of keys up to the query", …; those of the NNGP
//             kernel count in the formula of the NTK too
//
// A masked position holds zeros: its kernels are 0. A formula that cannot be parsed throws Error.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/derivation.h"

namespace ladon::test {

/// Kernels of the output of one step of a derivation, between N inputs of P positions; P = 1 for
/// vectors.
struct StepKernels {
  int inputs = 0, positions = 0;
  std::vector<double> nngp, ntk;  ///< [N, N, P, P]
  std::vector<double> means;      ///< [N, P], or empty: not known
  std::vector<char> visible;      ///< [N, P]
};

/// Values of the words in a formula that depend on options of its layer.
struct Words {
  /// For each output position, the input position that each tap of a convolution reads; −1: none.
  std::vector<std::vector<int>> windows = {};
  std::function<double(int a, int b)> correlation = {};  ///< R_ab
  Tensor inputs = {};                                    ///< [N, P, d], or indices [N, P]
  int draws = 0;                                         ///< Draws per estimate; 0: none.
};

/// Entry of a kernel: inputs n and m (x and x' in the formula) at their positions a and b.
struct Entry {
  int n, m, a, b;
};

/// The formulas of a step for its two kernels, NNGP and NTK. The constructor throws Error if one
/// cannot be parsed.
class StepFormulas {
 public:
  StepFormulas(const infinite::DerivedStep& step, const std::map<int, StepKernels>& kernels,
               const Words& words);
  double nngp(const Entry& at) const;
  double ntk(const Entry& at) const;
  /// Whether a number in the formulas has six digits, the most that are printed, and so may be
  /// rounded.
  bool rounded() const;
  /// Whether an expectation or a mean is computed by quadrature.
  bool has_quadrature() const;
  /// Whether the formulas say that the layer's kernel is an average over random draws.
  bool drawn() const;

  struct Context;

 private:
  std::shared_ptr<Context> context_;
};

}  // namespace ladon::test
