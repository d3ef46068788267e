#include "ladon/examples/how_many_heads/study.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/layers/infinite/finite/heads.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"

namespace ladon::example {
namespace {

/// Tokens [n, T, 8], uniform on [−1, 1].
Tensor draw_tokens(std::int64_t n, std::int64_t tokens, Generator& rng) {
  return uniform({n, tokens, retrievals}, rng, -1, 1);
}

/// Error of one trained layer on fresh tokens, over the variance of the targets.
double trained_error(const Arm& arm, std::int64_t steps, const Generator& seed) {
  constexpr std::int64_t batch = 64, tests = 2000;
  Generator data = seed.split(0), start = seed.split(1), held = seed.split(2);
  MultiHeadAttention layer({.dim = 1,
                            .heads = arm.heads,
                            .head_dim = arm.width,
                            .key_dim = retrievals,
                            .out = retrievals},
                           start);
  const auto answer = [&](const Tensor& x) {  // the query sees the number 1: one learned vector
    return select(layer(ones({x.size(0), 1, 1}), x, x), 1, 0);
  };
  Adam adam(layer.parameters(), {.lr = 0.01});
  for (std::int64_t step = 0; step < steps; ++step) {
    stop_if_interrupted();
    const Tensor x = draw_tokens(batch, arm.tokens, data);
    adam.zero_grad();
    backward(mean(square(answer(x) - max(x, 1).values)));
    adam.step();
  }
  NoGrad off;
  const Tensor x = draw_tokens(tests, arm.tokens, held), y = max(x, 1).values;
  return mean(square(answer(x) - y)).item() / mean(var(y, 0)).item();
}

std::vector<Arm> plan(const Settings& s) {
  std::vector<Arm> arms;
  for (const std::int64_t tokens : s.tokens)
    for (const std::int64_t heads : {1, 2, 4, 8, 16}) {
      arms.push_back({tokens, heads, total_width / heads});
      if (heads * head_width != total_width) arms.push_back({tokens, heads, head_width});
    }
  return arms;
}

void train_all(const Settings& s, std::vector<Arm>& arms, Progress& progress) {
  const Generator rng = Generator(s.common.seed).split(1);
  const auto arm_of = [&](std::int64_t job) -> Arm& {
    return arms[static_cast<std::size_t>(job % std::ssize(arms))];
  };
  std::int64_t next = 0;
  parallel::in_order(
      std::ssize(arms) * s.seeds, 8,
      [&](std::int64_t job) {
        stop_if_interrupted();
        return trained_error(arm_of(job), s.steps,
                             rng.split(static_cast<std::uint64_t>(job / std::ssize(arms))));
      },
      [&](double error) {
        const std::int64_t job = next++;
        arm_of(job).errors.push_back(error);
        progress.step(join("layer of ", arm_of(job).heads, " heads"));
      });
}

/// Importance sampling from the prior of one head's latents, one set of draws for all data sets.
std::vector<Evidence> find_evidence(const Settings& s, Progress& progress) {
  constexpr std::int64_t most = 12, tokens = 4, at_once = 1000;
  const std::vector<std::int64_t> truths = {1, 2, 4, 64}, targets = {3, 6, 12};
  Generator rng = Generator(s.common.seed).split(2);
  const AttentionPrior prior{
      .parameterization = Parameterization::ntk, .query_key_std = 4, .value_output_std = 2};
  const Sequential model(MultiHeadAttention({.dim = 4, .heads = 1, .prior = prior}, rng),
                         MeanPositions());
  const Tensor x = normal({most, tokens, 4}, rng, f64);
  const auto kernels = [&](std::int64_t heads, std::int64_t n) {
    const auto of = infinite::latent_kernel(infinite::finite_heads(model, {.heads = heads}), x);
    return of.at(normal({n, of.dim}, rng, 0, 1, f64), most);
  };
  const auto root = [&](const Tensor& k) { return cholesky(k + 0.05 * eye(most, f64)); };
  std::vector<Tensor> labels;
  for (const std::int64_t heads : truths)
    labels.push_back(
        squeeze(matmul(root(kernels(heads, s.sets)), normal({s.sets, most, 1}, rng, f64)), 2));
  const Tensor y = contiguous(transpose(concat(labels, 0)));  // [12, data sets of all truths]
  const Tensor chosen = tensor({2, 5, 11}, i64);              // N − 1
  const auto log_density = [&](const Tensor& k) {  // of the first N targets, by the chain rule:
    const Tensor l = root(k);                      // y_i given those before is N(m_i, l_ii²)
    const Tensor terms = -0.5 * square(solve_triangular(l, y)) - unsqueeze(log(diagonal(l)), -1);
    return index_select(cumsum(terms, -2), -2, chosen);
  };
  std::vector<Tensor> parts;
  for (std::int64_t done = 0; done < s.draws; done += at_once) {
    stop_if_interrupted();
    parts.push_back(log_density(kernels(1, at_once)));
    progress.step("evidence", static_cast<double>(at_once) / 1000);
  }
  const Tensor all = concat(parts, 0), total = logsumexp(all, 0);
  const double draws = static_cast<double>(all.size(0));
  const Tensor log_b = total - std::log(draws) - log_density(infinite::limit(model)(x).nngp);
  const Tensor effective = exp(2 * total - logsumexp(2 * all, 0));  // (Σw)²/Σw²
  std::vector<Evidence> found;
  for (std::int64_t t = 0; t < std::ssize(truths); ++t)
    for (std::int64_t n = 0; n < std::ssize(targets); ++n) {
      const auto of = [&](const Tensor& figures) {
        const Slice sets{.start = t * s.sets, .stop = (t + 1) * s.sets};
        return contiguous(slice(select(figures, 0, n), 0, sets)).to_vector();
      };
      found.push_back({truths[static_cast<std::size_t>(t)], targets[static_cast<std::size_t>(n)],
                       of(log_b), of(effective)});
    }
  return found;
}

}  // namespace

Study run_study(const Settings& s) {
  Study study{.arms = plan(s), .evidence = {}};
  Progress progress(static_cast<double>(std::ssize(study.arms) * s.seeds + s.draws / 1000));
  study.interrupted = !ran_to_the_end([&] {
    study.evidence = find_evidence(s, progress);
    train_all(s, study.arms, progress);
  });
  return study;
}

}  // namespace ladon::example
