#include "ladon/optim/extra/penalties/cosine_penalty.h"

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/extra/penalties/unit_vectors.h"

namespace ladon {

Tensor cosine_penalty(const Tensor& theta) {
  LADON_CHECK(theta.defined() && theta.rank() == 2, "cosine_penalty", "needs rows [M, D], got ",
              ladon::detail::shape_in_words(theta));
  const auto m = static_cast<double>(theta.size(0));
  if (m < 2) return sum(theta * 0.0);
  const Tensor unit = detail::unit_vectors(theta);
  const Tensor cosine = matmul(unit, transpose(unit));  // [M, D] · [D, M] → [M, M]
  return sum(square(triu(cosine, 1))) * (2 / (m * (m - 1)));
}

Tensor cosine_penalty(const Particles& particles) {
  Tensor total;
  for (const ParticleBlock& block : particles) {
    const Tensor penalty = cosine_penalty(block.recorded_values());
    total = total.defined() ? total + penalty : penalty;
  }
  return total / static_cast<double>(particles.size());
}

}  // namespace ladon
