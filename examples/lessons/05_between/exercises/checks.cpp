#include "05_between/exercises/exercises.h"

using namespace ladon;
using infinite::ScaleMixture;
using lessons::require;

namespace {

/// 0.1 plus half the squares of standard normal numbers.
Tensor some_variances(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return 0.1 + 0.5 * square(normal(shape, rng, 0, 1, f64));
}

double gaussian(double y, double variance) {
  return std::exp(-0.5 * y * y / variance) / std::sqrt(2 * std::numbers::pi * variance);
}

/// Integral over all y of a function of p(y) and q(y), by Simpson's rule on y > 0.
double integral(const ScaleMixture& p, const ScaleMixture& q,
                const std::function<double(double, double)>& of) {
  const double step = 0.01, end = 20 * std::sqrt(p.variances().back());
  double sum = 0;
  int point = 0;
  for (double y = 0; y < end && p.density(y) > 1e-30; y += step, ++point)
    sum += (point == 0 ? 1 : point % 2 == 1 ? 4 : 2) * of(p.density(y), q.density(y));
  return 2 * sum * step / 3;
}

}  // namespace

void check_density_of_heads(decltype(density_of_heads)* yours) {
  for (const std::int64_t heads : {1, 3})
    for (const double y : {0.4, 1.7}) {
      const Tensor variances = some_variances({50, heads}, 1);
      const Tensor v = mean(variances, 1);
      const ScaleMixture law(v.to_vector()), of_one(flatten(variances).to_vector());
      const auto averaged = [&](const Tensor& of_draw) { return mean(of_draw).item(); };
      const double mean_sd = averaged(sqrt(v)), right = law.density(y);
      const Tensor as_sd = exp(-0.5 * square(y / v)) / v, bell = exp(-0.5 * y * y / v);
      const double root = std::sqrt(2 * std::numbers::pi), h = static_cast<double>(heads);
      const std::string what = detail::join("the density of ", heads, " heads at ", y);
      std::vector<lessons::Mistake> mistakes = {
          {gaussian(y, law.variance()), what +
                                            ": this is the Gaussian of the mean variance; "
                                            "average the densities instead, which keeps the tails"},
          {gaussian(y, mean_sd * mean_sd), what + ": this is the Gaussian of the mean standard "
                                                  "deviation; average the densities instead"},
          {averaged(as_sd) / root, what + ": the variance is taken for a standard deviation"},
          {right * root, what + ": the factor 1/√2π is forgotten; the integral should be 1"},
          {averaged(bell) / root, what + ": the factor 1/√v is forgotten: each Gaussian of the "
                                         "mixture has its own height"},
          {averaged(bell), what + ": the factor 1/√(2πv) is forgotten; the integral should be 1"},
          {averaged(exp(-(y * y) / v) / sqrt(v)) / root,
           what + ": the ½ in the exponent is missing"},
          {50 * right, what + ": a sum over draws; a density is their mean"}};
      if (heads > 1) {
        mistakes.push_back({of_one.density(y), what +
                                                   ": densities are averaged over heads, which "
                                                   "gives one head chosen at random; in a sum of "
                                                   "heads the variances are averaged"});
        mistakes.push_back({ScaleMixture((h * v).to_vector()).density(y),
                            what + ": the variances are added without the factor 1/H of the 1/√H "
                                   "in front of the sum"});
        mistakes.push_back({ScaleMixture(square(mean(sqrt(variances), 1)).to_vector()).density(y),
                            what + ": standard deviations are averaged over heads; the variances "
                                   "of independent summands add up"});
      }
      lessons::compare(what, yours(y, variances), right, mistakes);
    }
}

void check_divergence_of_laws(decltype(divergence_of_laws)* yours) {
  const auto check = [&](const std::string& what, const ScaleMixture& p, const ScaleMixture& q,
                         double right) {
    const auto all = [&](const auto& of) { return integral(p, q, of); };
    const double reverse = integral(q, p, [](double a, double b) { return a * std::log(a / b); });
    const double answer = yours(p, q);
    require(std::isfinite(answer), what +
                                       ": the sum is not finite: the logarithm is infinite where "
                                       "p or q is rounded to 0; leave these points out");
    lessons::compare(
        what, answer, right,
        {{reverse, what + ": p and q are exchanged; the mean is over p, the distribution that "
                          "holds"},
         {-right, what + ": its sign is wrong; the divergence is never negative"},
         {right / 2, what + ": only one sign of y is counted"},
         {right / std::log(2.0), what + ": the result is in bits; nats are required"},
         {all([](double a, double b) { return std::log(a / b); }),
          what + ": the logarithm is not weighted by p"},
         {all([](double a, double b) { return a * std::abs(std::log(a / b)); }),
          what +
              ": absolute values are summed; where q is larger, the logarithm counts as negative"},
         {all([](double a, double b) { return (a - b) * (a - b); }),
          what + ": it is the squared difference of densities, which does not see the tails"},
         {right + reverse, what + ": both directions are added"},
         {all([](double a, double) { return -a * std::log(a); }), what + ": q is forgotten"}},
        1e-6);
  };
  const auto normal_laws = [&](double p, double q) {
    check(detail::join("N(0, ", p, ") from N(0, ", q, ")"), ScaleMixture({p}), ScaleMixture({q}),
          0.5 * (p / q - 1 - std::log(p / q)));  // closed form
  };
  normal_laws(1, 0.25);
  normal_laws(0.01, 1);
  const ScaleMixture one(some_variances({40}, 2).to_vector()),
      wide(std::vector<double>{one.variance()});
  const auto by_simpson = [](const ScaleMixture& p, const ScaleMixture& q) {
    return integral(p, q, [](double a, double b) { return a * std::log(a / b); });
  };
  check("a mixture from a Gaussian", one, wide, by_simpson(one, wide));
  check("a Gaussian from a mixture", wide, one, by_simpson(wide, one));
  const double same = yours(one, one);
  require(std::abs(same) < 1e-9,
          detail::join("a distribution has divergence 0 from itself; yours is ", same));
}

void check_covariance_given_heads(decltype(covariance_given_heads)* yours) {
  Generator rng(3);
  const double qk = 1.5, heads = 3;
  const Tensor x = normal({2, 4, 3}, rng, 0, 1, f64);
  const MultiHeadAttention layer(
      {.dim = 3,
       .heads = 1,
       .head_dim = 2,
       .prior = {.parameterization = Parameterization::ntk, .query_key_std = qk}},
      rng);
  const infinite::FiniteHeads law = infinite::finite_heads(layer, {.heads = 3});
  const infinite::Latents z = law.draw(x, rng);
  const Tensor forms = z[0].logits;
  const Tensor right = law.kernel(x, z).nngp;
  // Results of typical wrong solutions, computed by parts of the library.
  const auto map = law.maps(x, z)[0];
  const auto both = [&](const Tensor& a, const Tensor& k) {  // weights [.., N, T, T]
    return matmul(matmul(unsqueeze(a, -3), k), transpose(unsqueeze(a, -4)));
  };
  const Tensor k = matmul(unsqueeze(x, 1), transpose(unsqueeze(x, 0))) / 3.0;
  const auto weights = [&](const Tensor& b) { return map.weights(b, map.tokens, map.mask); };
  const Tensor a = weights(forms);  // [H, N, T, T]
  const auto mean_of = [&](const Tensor& some) { return mean(both(some, k), 0); };
  const Tensor logits = matmul(matmul(map.tokens, unsqueeze(forms, 1)), transpose(map.tokens));
  lessons::compare(
      "the covariance", yours(x, forms, qk), right,
      {{both(mean(a, 0), k),
        "the weights are averaged over heads before the product; each head has "
        "its own values, so covariances are averaged"},
       {mean_of(weights(mean(forms, 0, keep_dims))),
        "the forms are averaged over heads; each head "
        "has its own weights"},
       {right * heads,
        "the covariances of heads are added, and 1/H is forgotten: the sum of heads has "
        "the factor 1/√H, so its covariance has 1/H"},
       {right / heads, "the factor 1/H of the covariance is applied twice; the sum has 1/√H"},
       {mean_of(weights(forms / qk)), "QK, the scale of the logits, is forgotten"},
       {mean_of(weights(forms * 3.0)),
        "the tokens are Φ = x/√d also in the logits; d is forgotten"},
       {right * 3.0, "k is x·x'/d, and d is forgotten"},
       {mean_of(weights(transpose(forms))),
        "B is transposed: queries are on its left, keys on its "
        "right"},
       {mean_of(transpose(a)), "the weights are transposed: rows are queries, columns are keys"},
       {mean_of(softmax(qk * logits, -2)),
        "softmax runs over the queries; the weights of a query "
        "sum to 1 over its keys, the last axis"},
       {mean_of(qk * logits), "the logits are the weights here; softmax is missing"},
       {mean(both(a, eye(4, f64)), 0), "k is forgotten: values at different keys are correlated"}});
}
