#pragma once
// One layer of attention on the task of examples/exact_posterior, from one head to infinitely
// many: its random networks, its exact posteriors, and particles. A page computes with it in a
// browser (binding.cpp); numbers go in and out as vectors, matrices row by row.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon::example {

/// Mean and standard deviation of f at each of M test places.
struct LiveBand {
  std::vector<double> mean, sd;
};

/// The layer and its task. `heads` is H, 0 for infinitely many; `targets` are N numbers. Throws
/// Error as the library does.
class LiveLayer {
 public:
  LiveLayer();
  ~LiveLayer();

  std::vector<double> training() const;  ///< Places of the targets [N].
  std::vector<double> places() const;    ///< Test places [M].
  std::vector<double> targets() const;   ///< Those of the first data set of the study [N].

  /// Covariance of infinitely many heads at the test places [M, M]: `limit` of the layer.
  std::vector<double> limit() const;
  /// Answers of networks before training at two test places, `first` and `second` [count, 2].
  /// Queries, keys and values of a head have `width` channels; 0: infinitely many.
  std::vector<double> networks(int heads, int width, int count, int first, int second,
                               int seed) const;

  /// The exact posterior: a Gaussian process of infinitely many heads; else by draws from it,
  /// `draws` in each of two replicates.
  LiveBand posterior(int heads, const std::vector<double>& targets, int draws, int seed) const;

  /// Draws `count` networks of infinitely wide heads from their prior, the particles of step().
  void begin(int heads, int count, int seed);
  /// Moves the particles by Adam along the forces of "svgd" or "wgd" towards the posterior, with
  /// weight α of their repulsion (negative: automatic), `steps` times. Returns their functions at
  /// the test places [count, M].
  std::vector<double> step(const std::string& method, double alpha,
                           const std::vector<double>& targets, int steps);

 private:
  struct Networks;
  std::int64_t train_;                                     // N
  Tensor inputs_, kernel_;                                 // [N + M, 2, 3], [N + M, N + M]
  mutable std::map<int, infinite::LatentKernel> kernels_;  // by heads
  std::unique_ptr<Networks> moved_;                        // by step()
};

}  // namespace ladon::example
