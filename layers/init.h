#pragma once
// Initializers by name. For a shape [out, in, ...], fan_in and fan_out are `in` and `out`, each
// times the product of all further sizes.

#include <string_view>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

enum class Init {
  zeros,
  ones,
  normal,            ///< N(0, gain²)
  truncated_normal,  ///< N(0, gain²) within ±2·gain
  xavier_uniform,    ///< U(±gain·sqrt(6/(fan_in + fan_out)))   (Glorot and Bengio 2010)
  xavier_normal,     ///< N(0, gain²·2/(fan_in + fan_out))
  kaiming_uniform,   ///< U(±gain·sqrt(3/fan_in))   (He et al. 2015; gain sqrt(2) for relu)
  kaiming_normal,    ///< N(0, gain²/fan_in)
  /// N(0, gain²/fan_in) truncated at 2 standard deviations, rescaled to that variance
  lecun_normal,
  /// gain·Q, where the rows or the columns of Q, whichever are fewer, are orthonormal (Saxe et al.
  /// 2014)
  orthogonal,
};

/// The initializer named `name` ("xavier_uniform"). Throws Error listing all names if there is
/// none.
Init init_from_name(std::string_view name);
std::string_view to_string(Init init);

struct InitOptions {
  double gain = 1;  ///< Must be 1 for zeros and ones, which have no scale (Error otherwise).
  DType dtype = f32;
};
/// A new trained tensor of the given shape. Xavier, kaiming, lecun and orthogonal need at least two
/// axes (Error).
Tensor initialize(Init init, const Shape& shape, InitOptions options, Generator& rng);
inline Tensor initialize(Init init, const Shape& shape, Generator& rng) {
  return initialize(init, shape, {}, rng);
}

/// The standard deviation of an element that `initialize` draws.
double init_stddev(Init init, const Shape& shape, double gain = 1);

}  // namespace ladon
