#include "11_noise/exercises/exercises.h"

using namespace ladon;

Tensor mala_acceptance(const LogDensity& density, const Tensor& x, const Tensor& proposal,
                       double step) {
  const DensityScore here = density.score(x), there = density.score(proposal);
  const auto log_q = [step](const Tensor& to, const Tensor& from, const DensityScore& score) {
    return sum(square(to - from - step * score.gradient), 1) / (-4 * step);
  };
  const Tensor log_ratio = there.value + log_q(x, proposal, there) -  //
                           here.value - log_q(proposal, x, here);
  return exp(minimum(log_ratio, 0.0));
}
