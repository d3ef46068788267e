// A Markov chain of one's own: the Metropolis-adjusted Langevin algorithm (Roberts and Tweedie
// 1996),
//   θ′ ~ N(θ + ½ε²M⁻¹∇ln p(θ), ε²M⁻¹),  accepted with min(1, p(θ′)q(θ | θ′)/(p(θ)q(θ′ | θ))).
// Warm-up, which finds ε and M⁻¹, and the chains are Ladon's.
#include "expect.h"
#include "ladon/ladon.h"

using namespace ladon;
using namespace ladon::samplers;

Moved mala_move(const LogDensity& density, Phase& at, const Tuning& tuning,
                RandomStreams& streams) {
  const Tensor variance = square(tuning.step) * tuning.inverse_mass;  // [R, D]
  const auto mean = [&](const Phase& x) { return x.position + variance * x.score.gradient / 2; };
  const auto log_p_q = [&](const Phase& x, const Phase& other) {  // ln p(x)q(other | x), [R]
    return x.score.value - sum(square(other.position - mean(x)) / variance, 1) / 2;
  };
  Phase end{
      mean(at) + sqrt(variance) * momenta(streams.rows, ones({1, density.dim()}, f64)), {}, {}};
  end.score = density.score(end.position);
  return metropolis(at, end, acceptance(-log_p_q(at, end), -log_p_q(end, at)), streams);
}

Chains mala(const LogDensity& density, const Tensor& start, const ChainOptions& options,
            Generator& rng) {
  return sample_chains(
      density, start, options,
      [](const LogDensity& scored, Phase& at, const Tuning& tuning, RandomStreams& streams, bool) {
        return mala_move(scored, at, tuning, streams);
      },
      rng);
}

int main() {  // of N(0, diag(1, 100)), from both sides
  const LogDensity density(2, [](const Tensor& x) {
    return sum(square(x) / tensor({1, 100}, {2}, f64), 1) / -2;
  });
  Generator rng(1);
  const ChainOptions options{.draws = 4000, .adaptation = {.warmup = 1000, .target_accept = 0.6}};
  const Chains chains = mala(density, tensor({-3, -30, 3, 30}, {2, 2}, f64), options, rng);
  for (const int i : {0, 1}) {
    const Measured variance = chain_mean(square(select(chains.draws, 2, i)));
    expect_near("the variance", variance.value, i == 0 ? 1 : 100, 4 * variance.se);
    expect_near("R̂", at(split_rhat(chains.draws), {i}).item(), 1, 0.01);
  }
}
