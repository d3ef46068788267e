#pragma once
// What all layers share while kernels of some inputs pass through a model once.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ladon/layers/infinite/kernel/heads.h"
#include "ladon/layers/infinite/kernel/selves.h"

namespace ladon::infinite {

/// A triangular root of a kernel over a few tokens, from which every other token gets coordinates.
struct RootFactor {
  std::vector<std::int64_t> pivots;  ///< Tokens of the landmarks, numbered over all of them.
  Tensor inverse;                    ///< L⁻ᵀ of k(pivots, pivots) = L·Lᵀ: [R, R]
};

/// Pivots of the factor of each layer that draws.
using Pivots = std::vector<std::vector<std::int64_t>>;

/// Inputs whose tokens span the coordinates in which draws are made for all inputs (roots.h): one
/// factor for each layer that draws, and what the layers make of the landmarks alone.
struct Landmarks {
  Pivots pivots;  ///< Where they are given; empty: each factor finds its own.
  std::vector<RootFactor> factors;
  Selves selves;
};

/// Of the tokens that a layer draws for: the sum of their variances, and what the common coordinates
/// do not explain of it.
struct Remainder {
  double unexplained = 0, variance = 0;
  double share() const { return variance > 0 ? unexplained / variance : 0; }
};

/// One pass. Kernels of the pass share it.
struct Call {
  enum class Of {
    pairs,      ///< Kernels between two blocks of inputs; coordinates are known.
    landmarks,  ///< The landmarks with themselves, which makes the factors.
    inputs      ///< Inputs with the landmarks, which finds the coordinates of the inputs.
  };
  Of of = Of::pairs;
  std::shared_ptr<SelfSteps> selves1, selves2;  ///< Where cov1 and cov2 come from; null: computed.
  std::uint64_t replicate = 0;  ///< Which of independent estimates a layer that draws is to give.
  std::shared_ptr<Landmarks> landmarks;          ///< Null where no layer draws.
  std::size_t drawn = 0;                         ///< Layers of this pass that drew so far.
  std::vector<Remainder>* remainders = nullptr;  ///< Where each layer that draws adds its own.
  HeadSource heads;  ///< Of layers with finitely many heads; null: all have infinitely many.
  std::vector<HeadMap>* maps = nullptr;  ///< Where those put their maps; null: nowhere.

  /// Throws Error unless this pass drew as often as the one over landmarks.
  void check_drawn() const;
  /// Whether pairs are not needed any more: all coordinates of the inputs are found.
  bool found() const { return of == Of::inputs && drawn == landmarks->factors.size(); }
};

/// What is computed of each input alone: by `compute`, unless the call knows it.
inline Tensor once_an_input(const std::shared_ptr<Call>& call,
                            std::shared_ptr<SelfSteps> Call::*side,
                            const std::function<Tensor()>& compute) {
  return call && (*call).*side ? ((*call).*side)->next(compute) : compute();
}

}  // namespace ladon::infinite
