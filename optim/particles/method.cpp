#include "ladon/optim/particles/method.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum / double(values.size()));
}

}  // namespace

Tensor target_gradient(const Target& target, const Tensor& theta, const Tensor& g) {
  const auto& [n, precision, temperature] = target;
  if (n == 1 && precision == 0 && temperature == 1) return g;
  Tensor u = kernels::binary(kernels::Binary::mul, kernels::cast(g, f64), n / temperature);
  if (precision > 0) kernels::axpby(1, u, precision / temperature, kernels::cast(theta, f64));
  return u;
}

ParticleMethod::ParticleMethod(Particles particles, const Target& target)
    : particles_(std::move(particles)), target_(target) {
  LADON_CHECK(std::isfinite(target.count) && target.count > 0, "particles", "N is ", target.count,
              "; it must be positive and finite");
  LADON_CHECK(std::isfinite(target.prior_precision) && target.prior_precision >= 0, "particles",
              "the prior's precision is ", target.prior_precision,
              "; it must be finite and at least 0");
  LADON_CHECK(std::isfinite(target.temperature) && target.temperature > 0, "particles",
              "the temperature is ", target.temperature, "; it must be positive and finite");
}

void ParticleMethod::check_fresh() const {
  for (std::size_t b = 0; b < last_.size(); ++b) {
    const std::vector<Storage> now = particles_[b].gradient_storages();
    for (std::size_t i = 0; i < now.size(); ++i)
      LADON_CHECK(!(now[i] == last_[b].written[i]), "apply", "block \"", particles_[b].name(),
                  "\" still has the gradients that the last apply() wrote; call zero_grad() and "
                  "backward() between two calls");
  }
}

void ParticleMethod::apply() {
  NoGrad no_grad;
  check_fresh();
  std::vector<Tensor> rewritten;
  std::vector<Last> last;
  for (const ParticleBlock& block : particles_) {
    const Tensor theta = block.values();
    const Forces f = forces(block, theta, target_gradient(target_, theta, block.gradients()));
    last.push_back({{},
                    f.h2,
                    root_mean_square(rows::norms(f.driving)),
                    root_mean_square(rows::norms(f.repulsive))});
    kernels::axpby(1, f.driving, -1, f.repulsive);
    rewritten.push_back(kernels::cast(f.driving, block.dtype()));
  }
  for (std::size_t b = 0; b < rewritten.size(); ++b) {
    particles_[b].set_gradients(rewritten[b]);
    last[b].written = particles_[b].gradient_storages();
  }
  last_ = std::move(last);
}

void ParticleMethod::diffuse(double step_size) {
  LADON_CHECK(std::isfinite(step_size) && step_size >= 0, "diffuse", "the step size is ", step_size,
              "; it must be finite and at least 0");
}

std::vector<BlockReport> ParticleMethod::report() const {
  LADON_CHECK(!last_.empty(), "report", "there is nothing to report before the first apply()");
  std::vector<BlockReport> reports;
  for (std::size_t b = 0; b < particles_.size(); ++b) {
    const ParticleBlock& block = particles_[b];
    const Tensor theta = block.values();
    const Last& last = last_[b];
    reports.push_back({block.name(), block.count(), block.dim(), last.h2, last.driving,
                       last.repulsive, last.repulsive / last.driving, pairwise_distance(theta),
                       pairwise_cosine(theta), rows::norms(theta)});
  }
  return reports;
}

}  // namespace ladon
