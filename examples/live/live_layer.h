#pragma once
// One attention layer on the task of examples/exact_posterior, from one head to infinitely many:
// its random networks, its exact posteriors, and particles. A page calls it in a browser
// (binding.cpp); numbers are passed as vectors, matrices row by row.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon::example {

/// Mean and standard deviation of f at each of M test inputs.
struct LiveBand {
  std::vector<double> mean, sd;
};

/// The layer and its task. `heads` is H, or 0 for infinitely many; `targets` are N numbers. Methods
/// throw Error as the library does.
class LiveLayer {
 public:
  LiveLayer();
  ~LiveLayer();

  std::vector<double> training() const;  ///< Inputs of the targets [N].
  std::vector<double> places() const;    ///< Test inputs [M].
  std::vector<double> targets() const;   ///< Targets of exact_posterior's first data set [N].

  /// Covariance of infinitely many heads at the test inputs, [M, M].
  std::vector<double> limit() const;
  /// Outputs of `count` random networks at test inputs number `first` and `second`, [count, 2].
  /// Queries, keys and values of a head have `width` channels; 0: infinitely many.
  std::vector<double> networks(int heads, int width, int count, int first, int second,
                               int seed) const;

  /// The exact posterior: by the Gaussian process for infinitely many heads, else by sampling, with
  /// `draws` draws in each of two runs of sequential Monte Carlo.
  LiveBand posterior(int heads, const std::vector<double>& targets, int draws, int seed) const;

  /// Draws `count` networks with infinitely wide heads from their prior, as particles for step().
  void begin(int heads, int count, int seed);
  /// Moves the particles `steps` times towards the posterior, by Adam along the forces of "svgd" or
  /// "wgd". α is the weight of the repulsion (negative: automatic). Returns the particles'
  /// functions at the test inputs [count, M].
  std::vector<double> step(const std::string& method, double alpha,
                           const std::vector<double>& targets, int steps);

 private:
  struct Networks;
  std::int64_t train_;                                     // N
  Tensor inputs_, kernel_;                                 // [N + M, 2, 3], [N + M, N + M]
  mutable std::map<int, infinite::LatentKernel> kernels_;  // by heads
  std::unique_ptr<Networks> moved_;                        // particles of step()
};

}  // namespace ladon::example
