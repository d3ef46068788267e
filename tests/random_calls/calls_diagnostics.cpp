// Random calls of metrics of predictions, samples and heads, and of penalties of heads.

#include "ladon/core/extra/data/ensemble.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/core/extra/data/regression.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/optim/extra/extra.h"
#include "ladon/optim/optim.h"
#include "table.h"

namespace ladon::test {
namespace {

std::vector<double> numbers(Draw& d) {
  std::vector<double> list(d.below(5));
  for (double& x : list) x = d.chance(0.9) ? double(d.below(4)) : d.number();
  return list;
}

/// Without what makes most of the numbers of a figure an Error: NaN and infinity.
Tensor tame(Draw& d, const Shape& shape) {
  const Tensor x = d.near(shape);
  if (!x.defined() || d.chance(0.1)) return x;
  return masked_fill(x, logical_not(isfinite(x)), 0.5);
}

/// Often rows of probabilities: figures of others are Errors.
Tensor perhaps_probabilities(Draw& d, const Shape& shape) {
  const Tensor x = tame(d, shape);
  return x.defined() && is_floating(x.dtype()) && d.chance(0.7) ? softmax(x, -1) : x;
}

void add_metrics(CallTable& table) {
  const auto labelled = [&table](const char* name, auto f) {
    table.add(name, [f](Draw& d) {
      const Shape shape{d.below(5), d.below(4)};
      const Tensor probabilities = perhaps_probabilities(d, shape);
      return f(d, probabilities, d.indices({shape[0]}, shape[1]));
    });
  };
  using namespace metrics;  // NOLINT: all that is called here
  labelled("accuracy", [](Draw&, auto& p, const Tensor& y) { return accuracy(p, y); });
  labelled("nll", [](Draw&, auto& p, const Tensor& y) { return nll(p, y); });
  labelled("brier", [](Draw&, auto& p, const Tensor& y) { return brier(p, y); });
  labelled("ece", [](Draw& d, auto& p, const Tensor& y) { return ece(p, y, d.around(1, 9)); });
  labelled("adaptive_ece",
           [](Draw& d, auto& p, const Tensor& y) { return adaptive_ece(p, y, d.integer()); });
  labelled("predictive_entropy",
           [](Draw&, auto& p, const Tensor&) { return double(predictive_entropy(p).size()); });
  table.add("auroc", auroc, numbers, numbers);
  table.add("aupr", aupr, numbers, numbers);
  table.add("fpr95", fpr95, numbers, numbers);
  table.add("agreement", agreement, floating, twin);
  table.add("total_variation", [](Draw& d) {
    const Shape shape{d.below(5), d.below(4)};
    const Tensor p = perhaps_probabilities(d, shape);
    return total_variation(p, perhaps_probabilities(d, shape));
  });
}

void add_ensembles(CallTable& table) {
  const auto members = [](Draw& d) {
    return perhaps_probabilities(d, {d.below(4), d.below(4), d.below(4)});
  };
  table.add("ensemble_mean", metrics::ensemble_mean, members);
  table.add("disagreement", metrics::disagreement, members);
  table.add("mutual_information",
            [members](Draw& d) { return double(metrics::mutual_information(members(d)).size()); });
  table.add("variation_ratio",
            [members](Draw& d) { return double(metrics::variation_ratio(members(d)).size()); });
}

void add_regression(CallTable& table) {
  table.add("gaussian_nll", [](Draw& d) {
    const Shape n{d.below(4)};
    const Tensor mean = tame(d, n), variance = abs(tame(d, n));
    return metrics::gaussian_nll(mean, variance, tame(d, n));
  });
  table.add("crps", [](Draw& d) {
    const Shape n{d.below(4)};
    const Tensor y = tame(d, n);
    if (d.flag()) return metrics::crps(tame(d, {d.below(5), n[0]}), y);
    const Tensor mean = tame(d, n);
    return metrics::crps(mean, abs(tame(d, n)), y);
  });
  table.add("interval_coverage", [](Draw& d) {
    const Shape n{d.below(4)};
    const Tensor y = tame(d, n);
    const std::vector<double> levels(d.below(3), d.fraction());
    if (d.flag())
      return double(metrics::interval_coverage(tame(d, {d.below(5), n[0]}), y, levels).size());
    const Tensor mean = tame(d, n);
    return double(metrics::interval_coverage(mean, abs(tame(d, n)), y, levels).size());
  });
}

DiscrepancyOptions discrepancy(Draw& d) {
  DiscrepancyOptions options;
  options.kernel = d.flag() ? DiscrepancyKernel::imq : DiscrepancyKernel::rbf;
  if (d.flag()) options.h2 = d.chance(0.8) ? 0.5 : d.number();
  return options;
}

void add_samples(CallTable& table) {
  table.add("ksd", [](Draw& d) {
    const Shape shape{d.below(6), d.below(4)};
    const Tensor x = tame(d, shape);
    const DiscrepancyOptions options = discrepancy(d);
    if (d.flag()) return ksd(x, tame(d, shape), options).u;
    const LogDensity p(1 + d.below(3), [](const Tensor& t) { return -sum(square(t), 1); });
    return ksd(x, p, options).v;
  });
  table.add("sample_mmd", [](Draw& d) {
    const Tensor x = tame(d, {d.below(6), d.below(4)});
    return sample_mmd(x, tame(d, {d.below(6), d.some_size()}), discrepancy(d)).unbiased;
  });
  table.add("mmd_p_value", [](Draw& d) {
    const std::int64_t dim = d.below(4);
    const Tensor x = tame(d, {d.below(6), dim}), y = tame(d, {d.below(6), dim});
    Generator rng(d.seed());
    const std::int64_t permutations = std::min<std::int64_t>(d.around(1, 9), 2'000'000);
    return mmd_p_value(x, y, permutations, discrepancy(d), rng);
  });
  table.add("RankHistogram", [](Draw& d) {
    const std::int64_t quantities = d.around(1, 3), draws = d.around(1, 5);
    RankHistogram ranks({.quantities = quantities, .draws = draws});
    Generator rng(d.seed());
    for (std::int64_t n = d.below(4); n > 0; --n) {
      const Tensor truth = tame(d, {quantities});
      ranks.add(truth, tame(d, {draws, quantities}), rng);
    }
    return ranks.uniformity(d.below(3), d.flag() ? draws + 1 : d.around(2, 4)).p_value;
  });
  table.add("chi_square_p_value", chi_square_p_value, number, size);
}

void add_heads(CallTable& table) {
  const auto heads = [](Draw& d) {
    return tame(d, {1 + d.below(3), d.below(4), 1 + d.below(3), d.below(4)});
  };
  const auto mask_of = [](Draw& d, const Tensor& x) {
    const bool some = x.defined() && x.rank() == 4 && d.flag();
    return some ? d.mask({x.size(0), x.size(2)}) : Tensor();
  };
  table.add("linear_cka", [](Draw& d) {
    const std::int64_t n = d.below(6);
    const Tensor x = tame(d, {n, d.below(4)});
    return linear_cka(x, tame(d, {n, d.below(4)}), {.debiased = d.flag()});
  });
  table.add("head_cka", [=](Draw& d) {
    const Tensor x = heads(d);
    return head_cka(x, mask_of(d, x), {.debiased = d.flag()});
  });
  table.add("effective_number", [](Draw& d) {
    const std::int64_t n = d.below(4);
    const Tensor x = tame(d, {n, n});
    return effective_number(d.flag() ? matmul(x, transpose(x)) : x, d.number());
  });
  table.add("off_diagonal", [](Draw& d) {
    const std::int64_t n = d.below(4);
    return off_diagonal(d.near({n, n})).mean;
  });
  const auto penalty = [&](const char* name, auto f) {
    table.add(name, [=](Draw& d) {
      const Tensor x = heads(d);
      return f(x, mask_of(d, x));
    });
  };
  penalty("frobenius_penalty", frobenius_penalty);
  penalty("disagreement_penalty", disagreement_penalty);
  penalty("overlap_penalty", overlap_penalty);
  table.add("HeadMask", [](Draw& d) {
    Generator rng(d.seed());
    MultiHeadAttention layer({.dim = 4, .heads = 1 + d.below(3), .head_dim = 2}, rng);
    const HeadMask mask(layer, d.near({layer.heads()}));
    return layer(d.near({1 + d.below(2), 1 + d.below(3), 4}));
  });
  table.add("head_importance", [](Draw& d) {
    Generator rng(d.seed());
    MultiHeadAttention layer({.dim = 4, .heads = 1 + d.below(3), .head_dim = 2}, rng);
    const Tensor x = d.near({1 + d.below(2), 1 + d.below(3), 4});
    const bool by_example = d.chance(0.8);
    return head_importance(layer, [&] {
      const Tensor y = layer(x);
      return by_example ? sum(square(y), {1, 2}) : sum(y);
    });
  });
}

}  // namespace

void add_diagnostic_calls(CallTable& table) {
  add_metrics(table);
  add_ensembles(table);
  add_regression(table);
  add_samples(table);
  add_heads(table);
}

}  // namespace ladon::test
