#include "15_paths/exercises/exercises.h"

using namespace ladon;

Tensor path_overlaps(const PathWeights& weights) {
  const auto n = static_cast<double>(weights.readout.size(0));
  std::vector<Tensor> paths;
  for (std::int64_t h = 0; h < weights.first.size(0); ++h)
    for (std::int64_t g = 0; g < weights.second.size(0); ++g) {
      const Tensor above = matmul(transpose(select(weights.second, 0, g)), weights.readout);
      paths.push_back(matmul(transpose(select(weights.first, 0, h)), above) / n);
    }
  const Tensor w = stack(paths, 0);  // [H₁·H₂, N]
  return matmul(w, transpose(w)) / n;
}
