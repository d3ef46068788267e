// From a state z and a draw ν from the prior, proposals are z·cos θ + ν·sin θ for angles θ; the
// first one whose likelihood is above a random level is accepted (elliptical_slice.h).

#include "ladon/optim/samplers/elliptical_slice.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/samplers/counts.h"

namespace ladon {
namespace {

constexpr const char* operation = "elliptical_slice";

/// Interval of angles (low, high) from which a row's next proposal is drawn; angle 0 is the current
/// state.
struct Bracket {
  explicit Bracket(Generator own) : rng(own) {}

  Generator rng;
  double level = 0, angle = 0, low = 0, high = 0;

  double within(double a, double b) { return a + (b - a) * rng.uniform(); }
  void begin(double log_target) {
    level = log_target + std::log1p(-rng.uniform());  // ln of a uniform number in (0, 1]
    angle = within(0, 2 * std::numbers::pi);
    low = angle - 2 * std::numbers::pi;
    high = angle;
  }
  void shrink() {
    (angle < 0 ? low : high) = angle;
    angle = within(low, high);
  }
  /// Whether the interval has shrunk to angle 0, so that the row stays where it is.
  bool closed() const { return high - low < 1e-14; }
};

/// β·ln L; −∞ if ln L is NaN (an impossible state), 0 for β = 0.
double log_target(double beta, double log_likelihood) {
  return std::isnan(log_likelihood) ? -std::numeric_limits<double>::infinity()
         : beta == 0                ? 0
                                    : beta * log_likelihood;
}

Tensor checked(const LogLikelihood& f, const Tensor& z) {
  const Tensor y = f(z);
  LADON_CHECK(y.defined() && y.dtype() == f64 && y.shape() == Shape{z.size(0)}, operation, "for ",
              z.size(0), " rows the log likelihood must be f64 ", Shape{z.size(0)}, ", got ",
              detail::shape_in_words(y));
  return y;
}

void check(const EllipticalState& state, double beta, std::int64_t begin, std::int64_t end) {
  LADON_CHECK(state.z.defined() && state.z.dtype() == f64 && state.z.rank() == 2, operation,
              "the state z must be f64 [P, D]");
  const Tensor& l = state.log_likelihood;
  LADON_CHECK(l.defined() && l.dtype() == f64 && l.shape() == Shape{state.z.size(0)}, operation,
              "the state z has ", state.z.size(0), " rows, so its log likelihood must be f64 ",
              Shape{state.z.size(0)});
  LADON_CHECK(0 <= begin && begin < end && end <= state.z.size(1), operation, "columns [", begin,
              ", ", end, ") must be a nonempty range of the ", state.z.size(1), " columns");
  LADON_CHECK(beta >= 0 && std::isfinite(beta), operation, "β is ", beta,
              "; it must be finite and at least 0");
}

/// Makes one update (elliptical_slice.h). Returns the number of proposals of each row that `f`
/// evaluated.
std::vector<std::int64_t> update(EllipticalState& state, const LogLikelihood& f, double beta,
                                 std::int64_t begin, std::int64_t end, const Generator& rng) {
  const NoGrad off;
  check(state, beta, begin, end);
  const std::int64_t rows = state.z.size(0), d = state.z.size(1), width = end - begin;
  std::vector<double> z = numbers_of("elliptical_slice", state.z),
                      likelihood = numbers_of("elliptical_slice", state.log_likelihood);
  std::vector<Bracket> brackets;
  std::vector<double> prior;  // the prior draws ν of all rows, [P, width]
  std::vector<std::int64_t> open(rows);
  std::iota(open.begin(), open.end(), 0);
  for (const std::int64_t i : open) {
    brackets.emplace_back(rng.split(static_cast<std::uint64_t>(i)));
    const std::vector<double> nu =
        numbers_of("elliptical_slice", normal({width}, brackets.back().rng, 0, 1, f64));
    prior.insert(prior.end(), nu.begin(), nu.end());
    brackets.back().begin(log_target(beta, likelihood[i]));
  }

  std::vector<std::int64_t> judged(open.size());
  while (!open.empty()) {
    std::vector<double> proposals;
    for (const std::int64_t i : open) {
      const auto first =
          proposals.insert(proposals.end(), z.begin() + i * d, z.begin() + (i + 1) * d);
      const double angle = brackets[i].angle;
      for (std::int64_t c = 0; c < width; ++c) {
        double& x = first[begin + c];
        x = x * std::cos(angle) + prior[i * width + c] * std::sin(angle);
      }
    }
    const auto count = static_cast<std::int64_t>(open.size());
    const std::vector<double> values =
        numbers_of("elliptical_slice", checked(f, from_vector(proposals, {count, d})));
    std::vector<std::int64_t> left;
    for (std::size_t p = 0; p < open.size(); ++p) {
      const std::int64_t i = open[p];
      ++judged[i];
      Bracket& bracket = brackets[i];
      if (log_target(beta, values[p]) > bracket.level) {
        const auto from = proposals.begin() + static_cast<std::int64_t>(p) * d;
        std::copy(from, from + d, z.begin() + i * d);
        likelihood[i] = values[p];
      } else if (!bracket.closed()) {
        bracket.shrink();
        left.push_back(i);
      }
    }
    open = std::move(left);
  }
  state = {from_vector(z, {rows, d}), from_vector(likelihood, {rows})};
  return judged;
}

}  // namespace

std::int64_t elliptical_slice(EllipticalState& state, const LogLikelihood& f, double beta,
                              std::int64_t begin, std::int64_t end, const Generator& rng) {
  LADON_CHECK(f, operation,
              "the likelihood is an empty function; pass one that maps [P, D] to ln L [P]");
  const std::vector<std::int64_t> judged = update(state, f, beta, begin, end, rng);
  return std::accumulate(judged.begin(), judged.end(), std::int64_t{0});
}

Chains elliptical_slice_chains(const LogLikelihood& f, const Tensor& start,
                               const EllipticalOptions& options, Generator& rng) {
  LADON_CHECK(f, operation,
              "the likelihood is an empty function; pass one that maps [P, D] to ln L [P]");
  LADON_CHECK(start.defined() && start.rank() == 2 && start.size(0) >= 1 && start.size(1) >= 1,
              operation, "start must be [C, D] with C and D at least 1, got ",
              detail::shape_in_words(start));
  const auto& [draws, warmup, thin, parts, progress] = options;
  samplers::check_counts(operation, draws, warmup, thin);
  const std::int64_t c = start.size(0), d = start.size(1);
  LADON_CHECK(parts >= 1 && d % parts == 0, operation, "rows of ", d,
              " numbers cannot be split into ", parts,
              " equal parts; `parts` must be at least 1 and divide the dimension");
  EllipticalState state{contiguous(cast(start.detach(), f64)), {}};
  state.log_likelihood = checked(f, state.z);
  const std::vector<double> at_start = numbers_of("elliptical_slice", state.log_likelihood);
  for (std::size_t i = 0; i < at_start.size(); ++i)
    LADON_CHECK(std::isfinite(at_start[i]), operation,
                "ln L must be finite at every start, but chain ", i, " starts where ln L is ",
                at_start[i]);

  const Generator source = rng.split(rng.reserve(1));
  Chains chains;
  chains.gradients = c;
  std::vector<Tensor> kept, densities;
  // number of likelihood evaluations of each chain after warm-up
  std::vector<std::int64_t> of_kept(c);
  std::uint64_t move = 0;
  const std::int64_t sweeps = warmup + draws * thin;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::vector<std::int64_t> judged =
          update(state, f, 1, part * d / parts, (part + 1) * d / parts, source.split(move++));
      for (std::size_t i = 0; i < judged.size(); ++i) {
        chains.gradients += judged[i];
        if (sweep >= warmup) of_kept[i] += judged[i];
      }
    }
    if (sweep >= warmup && (sweep - warmup + 1) % thin == 0) {
      kept.push_back(state.z);
      densities.push_back(state.log_likelihood - 0.5 * sum(square(state.z), 1));
    }
    if (progress) progress(sweep + 1, sweeps);
  }
  chains.draws = stack(kept, 1);
  chains.log_density = stack(densities, 1);
  for (const std::int64_t judged : of_kept)
    chains.acceptance.push_back(static_cast<double>(draws * thin * parts) /
                                static_cast<double>(judged));
  return chains;
}

}  // namespace ladon
