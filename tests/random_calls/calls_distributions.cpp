// Random calls of distributions: with arbitrary parameters, all their member functions.

#include <memory>
#include <string>

#include "ladon/autograd/extra/distributions/discrete.h"
#include "ladon/autograd/extra/distributions/gamma.h"
#include "ladon/autograd/extra/distributions/normal.h"
#include "table.h"

namespace ladon::test {
namespace {

using Any = std::unique_ptr<Distribution>;

/// Positive mostly.
Tensor positive(Draw& d) {
  const Tensor x = d.floating();
  return x.defined() && d.chance(0.8) ? exp(x) : x;
}

Any normal_of(Draw& d) {
  const Tensor mean = d.floating();
  return std::make_unique<Normal>(mean, positive(d));
}
Any bernoulli_of(Draw& d) { return std::make_unique<Bernoulli>(d.floating()); }
Any categorical_of(Draw& d) { return std::make_unique<Categorical>(d.floating()); }
Any gamma_of(Draw& d) {
  const Tensor concentration = positive(d);
  return std::make_unique<Gamma>(concentration, positive(d));
}
Any beta_of(Draw& d) {
  const Tensor a = positive(d);
  return std::make_unique<Beta>(a, positive(d));
}
Any dirichlet_of(Draw& d) { return std::make_unique<Dirichlet>(positive(d)); }

using Maker = Any (*)(Draw&);

/// Draws, by the one that is right for it or the other.
Tensors use(Draw& d, Maker make) {
  const Any p = make(d);
  Generator rng(d.seed());
  const Shape shape = d.chance(0.5) ? Shape{} : Shape{d.below(3)};
  const std::string name = p->name();
  const bool discrete = name == "Categorical" || name == "Bernoulli";
  const bool recorded = d.chance(discrete ? 0.05 : 0.7);
  Tensors results{recorded ? p->rsample(shape, rng) : p->sample(shape, rng), p->entropy()};
  results.push_back(p->log_prob(d.chance(0.7) ? results[0] : d.floating()));
  if (d.chance(0.5)) results.push_back(p->mean());
  if (d.chance(0.5)) results.push_back(p->variance());
  return results;
}

}  // namespace

void add_distribution_calls(CallTable& table) {
  const std::vector<std::pair<const char*, Maker>> families{
      {"Normal", normal_of}, {"Bernoulli", bernoulli_of}, {"Categorical", categorical_of},
      {"Gamma", gamma_of},   {"Beta", beta_of},           {"Dirichlet", dirichlet_of}};
  std::vector<Maker> makers;
  for (const auto& [name, maker] : families) {
    table.add(name, [make = maker](Draw& d) { return use(d, make); });
    makers.push_back(maker);
  }
  table.add("kl", [makers](Draw& d) {
    const Maker make = d.one_of(makers);
    const Any p = make(d), q = d.chance(0.9) ? make(d) : d.one_of(makers)(d);
    return kl(*p, *q);
  });
  table.add("multinomial", [](Draw& d) {
    const Tensor weights = positive(d);
    Generator rng(d.seed());
    const std::int64_t count = d.around(0, 3);
    return multinomial(weights, count, rng, d.flag());
  });
}

}  // namespace ladon::test
