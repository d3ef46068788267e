#include "ladon/layers/infinite/gram/gram.h"

#include <memory>
#include <sstream>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/running_moments.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/gram/executor.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"

namespace ladon::infinite {
namespace {

Gram run(const Limit& limit, const Inputs& a, const Inputs& b, bool symmetric,
         const GramOptions& options) {
  const NoGrad off;
  const std::unique_ptr<GramExecutor> executor = executor_for(options);
  GramPlan plan = plan_gram(limit, a, b, symmetric, options, *executor);
  GramReport report(plan, [&](std::int64_t done, double seconds_left) {
    if (options.progress) options.progress({plan.estimate, done, seconds_left});
  });
  plan.a = prepared(a);
  plan.b = symmetric ? plan.a : prepared(b);
  const bool ntk = options.get == Get::ntk, sampled = plan.estimate.sampled;
  const bool known = plan.whole.nngp.defined();
  const auto matrix = [&](bool wanted) { return wanted ? empty(plan.shape, f64) : Tensor(); };
  Gram result{{known ? plan.whole.nngp : matrix(true), Get::nngp},
              {known ? plan.whole.ntk : matrix(ntk), Get::ntk},
              matrix(sampled),
              matrix(sampled && ntk),
              {}};
  executor->begin(limit, plan, options);
  compute_selves(plan);
  executor->compute(plan, result, report);
  for (const Remainder& of_layer : plan.remainders) {
    result.unexplained.push_back(of_layer.mean());
    result.most_unexplained.push_back(of_layer.worst);
  }
  report.complete();
  return result;
}

}  // namespace

std::string Gram::describe() const {
  if (!nngp_se.defined()) return "closed";
  std::ostringstream out;
  out.precision(3);
  const double error = nngp_se.count() > 0 ? number_of("gram", amax(nngp_se)) : 0;
  out << "drawn, with standard errors of the NNGP kernel up to " << error;
  for (std::size_t i = 0; i < unexplained.size(); ++i)
    out << (i == 0 ? "; coordinates leave out " : ", ") << 100 * unexplained[i] << "% (up to "
        << 100 * most_unexplained[i] << "%)";
  if (!unexplained.empty()) out << " of a token's variance";
  return out.str();
}

Gram gram(const Limit& limit, const Inputs& a, const Inputs& b, const GramOptions& options) {
  return run(limit, a, b, false, options);
}

Gram gram(const Limit& limit, const Inputs& a, const GramOptions& options) {
  return run(limit, a, a, true, options);
}

Gram gram_diagonal(const Limit& limit, const Inputs& x, const GramOptions& options) {
  const NoGrad off;
  LADON_CHECK(x.x.defined() && x.x.rank() > 0, "gram_diagonal",
              "the inputs are undefined or a scalar; give a tensor with an axis of inputs");
  LADON_CHECK(options.replicates >= 2, "gram_diagonal", "replicates must be at least 2, got ",
              options.replicates);
  const auto graph = limit.graph(kind_of(x), options.get);
  const bool drawn = graph->draws();
  if (x.count() == 0) {
    const Kernel k = limit.with_replicate(0)(x, options.get, options.entries);
    const auto none = [](const Tensor& block) {
      if (!block.defined()) return block;
      return zeros(block.shape().sub(1, block.rank()), f64);
    };
    return {{none(k.nngp), Get::nngp}, {none(k.ntk), Get::ntk}, {}, {}, {}};
  }
  const Inputs landmarks = drawn ? limit.landmarks(x) : Inputs();
  RunningMoments nngp, ntk;
  for (int r = 0; r < (drawn ? options.replicates : 1); ++r) {
    const Passes passes(limit.with_replicate(limit.replicate() + static_cast<std::uint64_t>(r)),
                        graph, landmarks, options.entries);
    std::vector<Tensor> ks(x.count()), ts = ks;
    KeptDraws kept;
    parallel::for_range(x.count(), 1, [&](std::int64_t i, std::int64_t end) {
      const PassScope scope(kept);
      for (; i < end; ++i) {
        const Inputs one = x.rows(i, i + 1);
        const Selves own = drawn ? passes.selves(one, 1) : Selves();
        const Kernel k = passes.pairs({one, own, 0, 1});
        const Shape block = k.nngp.shape().sub(2, k.nngp.rank());
        ks[i] = reshape(k.nngp, block);
        if (k.ntk.defined()) ts[i] = reshape(k.ntk, block);
      }
    });
    nngp.add(stack(ks, 0));
    if (ts[0].defined()) ntk.add(stack(ts, 0));
  }
  Gram y{{nngp.mean(), Get::nngp}, {ntk.mean(), Get::ntk}, {}, {}, {}};
  if (drawn) {
    y.nngp_se = nngp.standard_error();
    if (ntk.count() > 0) y.ntk_se = ntk.standard_error();
  }
  return y;
}

}  // namespace ladon::infinite
