#include "ladon/optim/samplers/run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/warning.h"
#include "ladon/core/unread.h"
#include "ladon/optim/samplers/counts.h"

namespace ladon::samplers {
namespace {

void check(const ChainOptions& options, const LogDensity& density, const Tensor& start) {
  const char* operation = options.operation;
  const AdaptationOptions& a = options.adaptation;
  check_counts(operation, options.draws, a.warmup, options.thin);
  LADON_CHECK(a.groups >= 1, operation, "groups is ", a.groups, "; it must be at least 1");
  LADON_CHECK(
      a.warmup > 0 || a.step > 0, operation,
      "warmup is 0, so no step size can be adapted; use warm-up draws, or set `step` if the "
      "sampler has that option");
  LADON_CHECK(a.step >= 0 && std::isfinite(a.step), operation, "step is ", a.step,
              "; it must be finite and positive, or 0 to adapt it");
  LADON_CHECK(a.target_accept > 0 && a.target_accept < 1, operation, "target_accept is ",
              a.target_accept, "; it must be in (0, 1)");
  if (a.step > 0)
    detail::check_unread(operation, "target_accept", a.target_accept,
                         AdaptationOptions{}.target_accept,
                         "a step size is given, and is not adapted to it; leave step at 0");
  LADON_CHECK(
      start.defined() && start.rank() == 2 && start.size(0) >= 1 && start.size(1) == density.dim(),
      operation, "start must be [C, ", density.dim(), "] with at least one chain, got ",
      detail::shape_in_words(start));
}

Phase begin(const char* operation, const LogDensity& density, const Tensor& start,
            std::int64_t groups) {
  const std::int64_t chains = start.size(0), rows = groups * chains;
  Phase at;
  const Tensor each = unsqueeze(cast(start.detach(), f64), 0);
  at.position =
      contiguous(reshape(expand(each, {groups, chains, density.dim()}), {rows, density.dim()}));
  at.score = density.score(at.position);
  const Tensor gradients = all(isfinite(at.score.gradient), 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    const double value = at.score.value.data<double>()[r];
    LADON_CHECK(std::isfinite(value), operation, "ln p must be finite at every start, but chain ",
                r % chains, " starts where ln p is ", value);
    LADON_CHECK(gradients.data<bool>()[r], operation, "chain ", r % chains,
                " starts where the gradient of ln p is not finite; choose another start");
  }
  return at;
}

/// Random generators of all draws: draw t of row g·C + c uses rng.split(1 + c).split(g).split(t).
class Sources {
 public:
  Sources(const Generator& rng, std::int64_t groups, std::int64_t chains) : shared_(rng.split(0)) {
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t c = 0; c < chains; ++c)
        rows_.push_back(rng.split(std::uint64_t(1 + c)).split(std::uint64_t(g)));
  }
  RandomStreams at(std::int64_t draw) const {
    const auto t = static_cast<std::uint64_t>(draw);
    RandomStreams streams{{}, shared_.split(t)};
    for (const Generator& row : rows_) streams.rows.push_back(row.split(t));
    return streams;
  }

 private:
  Generator shared_;
  std::vector<Generator> rows_;
};

/// Throws Error unless the transition kernel returned valid results.
void check(const char* operation, const Moved& moved, const Phase& at, const Shape& positions) {
  const auto rows = static_cast<std::size_t>(positions[0]);
  LADON_CHECK(moved.acceptance.size() == rows && moved.diverged.size() == rows, operation,
              "the transition kernel returned ", moved.acceptance.size(), " acceptances and ",
              moved.diverged.size(), " divergences for ", rows,
              " rows; Moved must have one of each per row");
  const auto is = [](const Tensor& x, const Shape& shape) {
    return x.defined() && x.dtype() == f64 && x.shape() == shape && x.contiguous();
  };
  LADON_CHECK(is(at.position, positions) && is(at.score.value, {positions[0]}) &&
                  is(at.score.gradient, positions),
              operation, "the transition kernel must leave positions and gradients of shape ",
              positions, " and a value for each row, contiguous f64");
}

/// Collects the kept draws and the acceptance of group 0, whose chains are the first rows.
class Record {
 public:
  Record(std::int64_t chains, std::int64_t draws, std::int64_t dim) : length_(draws), dim_(dim) {
    chains_.draws = empty({chains, draws, dim}, f64);
    chains_.log_density = empty({chains, draws}, f64);
    chains_.acceptance.resize(chains);
  }
  void count(const Moved& moved) {
    ++moves_;
    for (std::size_t c = 0; c < chains_.acceptance.size(); ++c) {
      chains_.acceptance[c] += moved.acceptance[c];
      chains_.divergences += moved.diverged[c];
    }
  }
  void keep(const Phase& at, std::int64_t s) {
    double *draws = chains_.draws.mutable_data<double>(),
           *values = chains_.log_density.mutable_data<double>();
    const double* position = at.position.data<double>();
    for (std::int64_t c = 0; c < chains_.draws.size(0); ++c) {
      std::copy_n(position + c * dim_, dim_, draws + (c * length_ + s) * dim_);
      values[c * length_ + s] = at.score.value.data<double>()[c];
    }
  }
  Chains finish() {
    for (double& a : chains_.acceptance) a /= static_cast<double>(moves_);
    return std::move(chains_);
  }

 private:
  Chains chains_;
  std::int64_t length_, dim_, moves_ = 0;
};

/// Whether a and b are equal up to rounding errors of f32; also true if their difference is NaN.
bool alike(const Tensor& a, const Tensor& b) {
  return !(number_of("sample", amax(abs(a - b))) >
           1e-4 * std::max(1.0, number_of("sample", amax(abs(a)))));
}

/// Warns if warm-up did not find a suitable step size: the mean acceptance is less than half of its
/// target, so that chains hardly move.
void warn_of_warmup(const ChainOptions& options, const Chains& chains, double step) {
  if (options.adaptation.step > 0) return;
  double mean = 0;
  for (const double a : chains.acceptance)
    mean += a / static_cast<double>(chains.acceptance.size());
  const double target = options.adaptation.target_accept;
  if (mean >= target / 2) return;
  detail::warn(options.operation,
               detail::join("proposals are accepted with probability ", mean,
                            " instead of the target ", target, ": ", options.adaptation.warmup,
                            " draws of warm-up did not find a suitable step size (", step,
                            "); use more draws of warm-up, or rescale the parameters"));
}

}  // namespace

LogDensity of_single_rows(const char* operation, const LogDensity& density) {
  const auto score = [operation, &density, judged = false](const Tensor& theta) mutable {
    DensityScore all = density.score(theta);
    const auto row = [](const Tensor& x, std::int64_t i) {
      return slice(x.detach(), 0, {.start = i, .stop = i + 1});
    };
    if (judged || theta.size(0) < 2 || all_close(row(theta, 0), row(theta, 1), 0, 0)) return all;
    const Tensor value = row(all.value, 0), gradient = row(all.gradient, 0);
    if (!std::isfinite(number_of("sample", value.detach()))) return all;
    judged = true;
    const DensityScore equal = density.score(contiguous(expand(row(theta, 0), theta.shape())));
    LADON_CHECK(
        alike(value, row(equal.value, 0)) && alike(gradient, row(equal.gradient, 0)), operation,
        "row 0 of ", theta.shape(), " has ln p ", number_of("sample", value.detach()), ", but ",
        number_of("sample", row(equal.value, 0)),
        " (or another gradient) in a batch of copies of row 0, so the density mixes chains; each "
        "row's value must depend on that row alone: is there a mean over rows, or a sum over the "
        "wrong axis?");
    return all;
  };
  return LogDensity::of_scores(density.dim(), score);
}

Run run_chains(const LogDensity& density, const Tensor& start, const ChainOptions& options,
               const TransitionKernel& kernel, Generator& rng) {
  check(options, density, start);
  LADON_CHECK(kernel, options.operation, "the transition kernel is an empty function; pass one");
  const std::int64_t chains = start.size(0), groups = options.adaptation.groups,
                     all = options.adaptation.warmup + options.draws * options.thin;
  Record record(chains, options.draws, density.dim());
  std::int64_t gradients = 0;
  const LogDensity counted = LogDensity::of_scores(density.dim(), [&](const Tensor& theta) {
    gradients += theta.size(0);
    const DensityScore score = density.score(theta);
    return DensityScore{contiguous(score.value.detach()), contiguous(score.gradient.detach())};
  });
  Phase at = begin(options.operation, counted, start, groups);
  const Sources sources(rng.split(rng.reserve(1)), groups, chains);
  Adaptation adaptation(options.operation, options.adaptation, groups * chains, density.dim());
  if (options.adaptation.step == 0) adaptation.find_steps(counted, at, sources.at(all));
  for (std::int64_t t = 0; t < all; ++t) {
    RandomStreams streams = sources.at(t);
    const bool counts = t >= options.adaptation.warmup;
    const Moved moved = kernel(counted, at, adaptation.tuning(), streams, counts);
    check(options.operation, moved, at, {groups * chains, density.dim()});
    if (counts) {
      record.count(moved);
      const std::int64_t s = t - options.adaptation.warmup + 1;
      if (s % options.thin == 0) record.keep(at, s / options.thin - 1);
    } else {
      adaptation.learn(t, moved, counted, at, streams);
    }
    if (options.progress) options.progress(t + 1, all);
  }
  Run run{record.finish(), {}};
  warn_of_warmup(options, run.chains, adaptation.step(0));
  run.chains.gradients = gradients;
  run.chains.step = adaptation.step(0);
  run.chains.inverse_mass = adaptation.inverse_mass(0);
  for (std::int64_t g = 0; g < groups; ++g) run.steps.push_back(adaptation.step(g));
  return run;
}

Chains sample_chains(const LogDensity& density, const Tensor& start, const ChainOptions& options,
                     const TransitionKernel& kernel, Generator& rng) {
  LADON_CHECK(options.adaptation.groups == 1, options.operation, "groups is ",
              options.adaptation.groups, "; it must be 1 (run_chains takes more)");
  return run_chains(of_single_rows(options.operation, density), start, options, kernel, rng).chains;
}

}  // namespace ladon::samplers
