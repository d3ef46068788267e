#include "ladon/examples/gp_classify/kernels.h"

#include <chrono>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/text.h"
#include "ladon/layers/infinite/gram/gram.h"

namespace ladon::example {
namespace {

/// At infinite width the number of hidden units plays no part.
Sequential network(const Model& model, const Settings& s) {
  Generator rng(s.common.seed);
  return model.make(1, rng);
}

std::uint64_t bytes_allowed(const Settings& s) {
  return static_cast<std::uint64_t>(s.memory_budget) * 1'000'000;
}

/// Options of one Gram matrix; `what` names it to the reader and to its checkpoint.
infinite::GramOptions options(const Task& task, const Model& model, const std::string& what,
                              const Settings& s, Progress& progress, double steps) {
  infinite::GramOptions o;
  o.memory_budget = bytes_allowed(s);
  if (!s.checkpoint.empty())
    o.checkpoint = s.checkpoint / (task.name + "-" + model.name + "-" + what);
  o.progress = [&progress, steps, done = std::int64_t{0},
                label = model.name + ", " + what](const infinite::GramProgress& state) mutable {
    const infinite::GramEstimate& e = state.estimate;
    if (state.tiles_done == 0) progress.say(join("  ", label, ": ", e.describe()));
    progress.step(label, steps * double(state.tiles_done - done) / double(e.tiles));
    done = state.tiles_done;
  };
  return o;
}

/// What went wrong, with the options that help where it was the memory.
Error explained(const Error& error, const infinite::Limit& limit, const Model& model,
                const Task& task, const Settings& s) {
  infinite::GramOptions boundless;
  boundless.memory_budget = std::numeric_limits<std::int64_t>::max();
  const auto& train = model.inputs(task.train);
  const auto bytes =
      std::max(infinite::estimate_gram(limit, train, boundless).bytes(),
               infinite::estimate_gram(limit, model.inputs(task.test), train, boundless).bytes());
  if (bytes <= bytes_allowed(s)) return error;
  return Error(join(error.what(), "; or raise --memory-budget (now ", s.memory_budget,
                    " MB), or lower --threads (now ", num_threads(), ")"));
}

}  // namespace

ModelKernels compute_kernels(const Model& model, const Task& task, const Settings& s,
                             Progress& progress, double steps) {
  const auto start = std::chrono::steady_clock::now();
  const Sequential net = network(model, s);
  const infinite::Limit limit = infinite::limit(net);
  const infinite::Inputs &train = model.inputs(task.train), &test = model.inputs(task.test);
  infinite::Gram among, across;
  try {
    among = infinite::gram(limit, train, options(task, model, "train", s, progress, steps / 2));
    across =
        infinite::gram(limit, test, train, options(task, model, "test", s, progress, steps / 2));
  } catch (const Error& error) {
    throw explained(error, limit, model, task, s);
  }
  const infinite::Gram self = infinite::gram_diagonal(limit.with_landmarks(train), test);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {{among.nngp, across.nngp, self.nngp}, {among.ntk, across.ntk, self.ntk}, spent.count()};
}

}  // namespace ladon::example
