#pragma once
// What moves particles: each alone, all together, or as chains of a sampler.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/examples/particles/settings.h"
#include "ladon/examples/particles/targets.h"
#include "ladon/optim/particles/alpha.h"

namespace ladon::example {

/// "none": each particle climbs by itself, as the members of an ensemble do; "svgd", "spos", "wgd":
/// they repel each other; "sgld", "hmc": chains that know nothing of each other.
std::vector<std::string> method_names();

/// Of "auto" or a number.
Alpha alpha_of(const Settings& settings);

/// Thrown where particles run away, at this step.
struct Diverged {
  std::int64_t step;
};

/// Is told places [M, 2] after so many gradients per particle; they change after it.
using Seen = std::function<void(std::int64_t step, const Tensor& places)>;

/// Moves particles from `start` [M, 2] f64 by as many gradients each as the settings say, one rate
/// for all methods: a step of Langevin dynamics, r, is one of Hamiltonian dynamics with ε =
/// sqrt(2r). Throws Diverged.
void move(const std::string& method, const PlaneTarget& target, const Settings& settings,
          const Tensor& start, Generator rng, const Seen& seen);

}  // namespace ladon::example
