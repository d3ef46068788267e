#pragma once
// The formulas that a derivation prints (layers/infinite/kernel/derivation.h), read and evaluated:
// what is printed for people is held against the map that computes. Nothing of the maps is used:
// expectations are quadratures of formula.cpp's own.
//
//   sums      2·k₁ + 0.1 − k₂,  products k₁·t₂ and k₁/r,  √(..),  m(x)²,  numbers, and ( )
//   kernels   k₁ and t₁ between x at a and x' at b;  k₁_ij at other positions, k₁_00 at the first,
//             k₁_{a+o, b+o} at those seen through tap o;  k₁(x, x) of x with itself
//   over all  Σ_ij, mean over …, sum over …: each takes the product that follows
//   words     E[φ(u)·φ(v)], E[ζ_ai·ζ'_bj], A·k₁·A'ᵀ, R_ab, 1{a = b}, and phrases of single layers
//   clauses   ", r = …", ", (u, v) ~ N(0, …)", ", of keys up to the query", …; those of the NNGP
//             kernel count in the formula of the NTK too
//
// A masked position holds zeros: its kernels are 0. What cannot be read throws Error.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/derivation.h"

namespace ladon::test {

/// The kernels behind a step between N inputs of P positions (1 of vectors).
struct StepKernels {
  int inputs = 0, positions = 0;
  std::vector<double> nngp, ntk;  ///< [N, N, P, P]
  std::vector<double> means;      ///< [N, P], or empty: not known
  std::vector<char> visible;      ///< [N, P]
};

/// Meaning of words that stand for more than kernels: options of the layer that prints them.
struct Words {
  /// Of each output position, the input position that each tap sees; −1: none.
  std::vector<std::vector<int>> windows = {};
  std::function<double(int a, int b)> correlation = {};  ///< R_ab
  Tensor inputs = {};                                    ///< [N, P, d], or indices [N, P]
  int draws = 0;                                         ///< Per estimate; 0: nothing is drawn.
};

/// Inputs n and m, which the formula calls x and x', at positions a and b.
struct Entry {
  int n, m, a, b;
};

/// The two formulas of a step. Throws Error where one of them cannot be read.
class StepFormulas {
 public:
  StepFormulas(const infinite::DerivedStep& step, const std::map<int, StepKernels>& kernels,
               const Words& words);
  double nngp(const Entry& at) const;
  double ntk(const Entry& at) const;
  /// Whether a number has six digits, as many as are printed, and so may be rounded.
  bool rounded() const;
  /// Whether an expectation or a mean is computed by quadrature.
  bool has_quadrature() const;
  /// Whether it says that the map averages over draws.
  bool drawn() const;

  struct Context;

 private:
  std::shared_ptr<Context> context_;
};

}  // namespace ladon::test
