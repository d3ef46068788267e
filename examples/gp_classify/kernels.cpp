#include "ladon/examples/gp_classify/kernels.h"

#include <chrono>
#include <iostream>
#include <optional>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/parallel.h"
#include "ladon/examples/common/progress.h"
#include "ladon/layers/infinite/gram.h"

namespace ladon::example {
namespace {

/// Options of one Gram matrix; `what` names it to the reader and to its checkpoint.
infinite::GramOptions options(const Task& task, const Model& model, const std::string& what,
                              const Settings& s, std::optional<Progress>& progress) {
  infinite::GramOptions o;
  o.memory_budget = static_cast<std::uint64_t>(s.memory_budget) << 20;
  if (!s.checkpoint.empty())
    o.checkpoint = s.checkpoint / (task.name + "-" + model.name + "-" + what);
  o.progress = [&progress, label = model.name + ", " + what](const infinite::GramProgress& state) {
    if (state.tiles_done > 0) return progress->step(label);
    std::cout << "  " << label << ": " << state.estimate.describe() << std::endl;
    progress.emplace(state.estimate.tiles);
  };
  return o;
}

/// Each input with itself: NNGP [N] and NTK [N].
std::pair<Tensor, Tensor> self_kernels(const infinite::Limit& limit,
                                       const infinite::Inputs& inputs) {
  const std::int64_t n = inputs.count();
  Tensor nngp = empty({n}, f64), ntk = empty({n}, f64);
  auto *k = nngp.mutable_data<double>(), *t = ntk.mutable_data<double>();
  parallel::for_range(n, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const infinite::Kernel kernel = limit(inputs.rows(i, i + 1));
      k[i] = kernel.nngp.item();
      t[i] = kernel.ntk.item();
    }
  });
  return {nngp, ntk};
}

}  // namespace

ModelKernels compute_kernels(const Model& model, const Task& task, const Settings& s) {
  const auto start = std::chrono::steady_clock::now();
  Generator rng(s.common.seed);
  const Sequential net = model.make(1, rng);  // at infinite width the number here plays no part
  const infinite::Limit limit = infinite::limit(net);
  const infinite::Inputs &train = model.inputs(task.train), &test = model.inputs(task.test);
  std::optional<Progress> progress;
  const infinite::Gram among =
      infinite::gram(limit, train, options(task, model, "train", s, progress));
  const infinite::Gram across =
      infinite::gram(limit, test, train, options(task, model, "test", s, progress));
  const auto [self_nngp, self_ntk] = self_kernels(limit, test);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {{among.nngp, across.nngp, self_nngp}, {among.ntk, across.ntk, self_ntk}, spent.count()};
}

}  // namespace ladon::example
