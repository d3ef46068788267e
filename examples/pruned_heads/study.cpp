#include "ladon/examples/pruned_heads/study.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/extra/penalties/head_mask.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {
namespace {

using Order = std::vector<std::int64_t>;  // heads in order of removal

Tensor right_answers(const Tensor& logits, const Tensor& labels) {
  return cast(equal(argmax(logits, -1), labels), f64);
}

/// Heads by their scores, in ascending order.
Order rising(const std::vector<double>& scores) {
  Order order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](auto h) { return scores[h]; });
  return order;
}

/// Gaussian process of the kept heads, given N questions. Its kernel is the sum of the heads'
/// kernels.
class Process {
 public:
  /// `train` and `test` are contexts f64 [heads, N or M, dim]. Noise and amplitude maximize the
  /// evidence of all heads.
  Process(const Tensor& train, const Tensor& test, const Tensor& train_labels,
          const Tensor& test_labels, std::int64_t classes)
      : classes_(classes), labels_(test_labels) {
    const Tensor targets = outputs(train_labels);
    center_ = mean(targets, {0}, Dims::keep);
    y_ = targets - center_;
    truth_ = outputs(test_labels);
    const double scale = sum(square(train)).item() / static_cast<double>(train.size(1));
    kernels_ = matmul(train, transpose(train)) / scale;  // [heads, N, N]
    cross_ = matmul(test, transpose(train)) / scale;     // [heads, M, N]
    variances_ = sum(square(test), {2}) / scale;         // [heads, M]
    double chosen = 0;
    const Tensor all = sum(kernels_, {0});
    for (const double noise : {0.03, 0.1, 0.3, 1.0, 3.0}) {
      const double a = GaussianProcess(all, y_, {.noise = noise}).amplitude();
      const double z = GaussianProcess(a * all, y_, {.noise = a * noise}).log_marginal_likelihood();
      if (z > full_) full_ = z, chosen = noise, amplitude_ = a;
    }
    for (Tensor* x : {&kernels_, &cross_, &variances_}) *x = amplitude_ * *x;
    // The jitter is counted as noise, so that it is the same for all sets of heads.
    options_ = {.noise = amplitude_ * (chosen + 1e-8), .jitter = 0};
  }

  /// Order of removal by backward elimination: each step removes the head without which the
  /// evidence is highest. Writes into `c` what the removals cost (study.h: the certificate).
  Order eliminate(Split& c) const {
    c.noise = options_.noise, c.amplitude = amplitude_;
    Order left(heads);
    std::iota(left.begin(), left.end(), 0);
    Tensor kernel = sum(kernels_, {0});
    for (c.kept = heads; left.size() > 1;) {
      double best = -INFINITY;
      std::size_t which = 0;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const double z = GaussianProcess(kernel - select(kernels_, 0, left[i]), y_, options_)
                             .log_marginal_likelihood();
        if (z > best) best = z, which = i;
      }
      stop_if_interrupted();
      kernel = kernel - select(kernels_, 0, left[which]);
      c.removed.push_back(left[which]);
      c.lost.push_back(full_ - best);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(which));
      if (std::cmp_equal(c.kept, left.size() + 1) && c.lost.back() < allowed_nats) --c.kept;
    }
    Order order = c.removed;
    order.push_back(left[0]);
    return order;
  }

  /// Accuracy and log-loss per test sequence with these heads.
  std::pair<double, double> test(const Tensor& kept) const {
    const auto of = [&](const Tensor& x) { return sum(index_select(x, 0, kept), {0}); };
    const GpPrediction p =
        GaussianProcess(of(kernels_), y_, options_).predict(of(cross_), of(variances_));
    const Tensor f = p.mean + center_, variance = unsqueeze(p.covariance + options_.noise, 1);
    const Tensor misfit = square(truth_ - f) / variance;
    const Tensor loss = 0.5 * (misfit + log(2 * std::numbers::pi * variance));
    const Tensor scores = reshape(f, {labels_.size(0), labels_.size(1), classes_});
    return {mean(right_answers(scores, labels_)).item(), mean(sum(loss, {1})).item()};
  }

 private:
  /// One-hot targets [n, questions·classes].
  Tensor outputs(const Tensor& labels) const {
    return reshape(one_hot(labels, classes_, f64), {labels.size(0), labels.size(1) * classes_});
  }

  std::int64_t classes_;
  Tensor labels_, center_, y_, truth_, kernels_, cross_, variances_;
  GpOptions options_;
  double full_ = -INFINITY, amplitude_ = 0;
};

/// A trained network, and the quantities that all splits of the data pool share.
class Trained {
 public:
  Trained(const Settings& s, const Task& task, std::uint64_t number)
      : task_(task),
        rng_(Generator(s.common.seed).split(1).split(number)),
        network_(task, rng_.split(0)) {
    train(network_, task.train, s.epochs, rng_.split(1));
    const NoGrad off;
    pool_ = network_.contexts(task.pool);
    test_ = network_.contexts(task.test);
    parts_ = network_.parts(task.test);
    const Tensor products = matmul(transpose(network_.attention.value), network_.attention.output);
    sizes_ = norm(products, {1, 2}).to_vector();  // [heads, dim, out] → [heads]
  }

  Split split(std::int64_t n, std::uint64_t number) {
    Generator own = rng_.split(2).split(static_cast<std::uint64_t>(n)).split(number);
    const Tensor rows = slice(permutation(task_.pool.size(), own), 0, {.stop = n});
    const Items judges = task_.pool.at(rows);
    const Tensor importance = head_importance(network_.attention, [&] {
      const CrossEntropyOptions each{.reduction = Reduction::none};
      return mean(cross_entropy(network_.logits(judges), judges.labels, each), {1});
    });
    const NoGrad off;
    Split split;
    const Process process(index_select(pool_, 1, rows), test_, judges.labels, task_.test.labels,
                          task_.classes);
    const std::array<Order, rule_names.size()> orders = {
        process.eliminate(split), rising(importance.to_vector()), rising(sizes_),
        permutation(heads, own).to_vector<std::int64_t>()};
    for (std::size_t r = 0; r < orders.size(); ++r) split.paths[r] = follow(orders[r], process);
    const auto kept = static_cast<std::size_t>(split.kept - 1);
    split.loss_rise = split.paths[0].loss[kept] - split.paths[0].loss.back();
    split.accuracy_fall = split.paths[0].process.back() - split.paths[0].process[kept];
    return split;
  }

 private:
  /// Accuracies and losses along an order of removal, for every number of kept heads.
  Path follow(const Order& order, const Process& process) const {
    Path path;
    const Tensor bias = reshape(network_.attention.output_bias, {task_.questions(), task_.classes});
    for (std::size_t k = 1; k <= order.size(); ++k) {
      Tensor kept = empty({static_cast<std::int64_t>(k)}, i64);
      std::copy(order.end() - static_cast<std::ptrdiff_t>(k), order.end(),
                kept.mutable_data<std::int64_t>());
      const Tensor right =
          right_answers(sum(index_select(parts_, 0, kept), {0}) + bias, task_.test.labels);
      path.network[k - 1] = mean(right).item();
      std::tie(path.process[k - 1], path.loss[k - 1]) = process.test(kept);
      if (2 * k == order.size()) path.right = reshape(right, {-1});
    }
    return path;
  }

  const Task& task_;
  Generator rng_;
  Network network_;
  Tensor pool_, test_, parts_;
  std::vector<double> sizes_;
};

}  // namespace

Study run_study(const Settings& s) {
  const Generator root(s.common.seed);
  const Task task = s.data.empty() ? generated_task(root.split(0)) : text_task(s, root.split(0));
  Study study{.labels = reshape(task.test.labels, {-1})};
  Progress progress(static_cast<double>(s.networks));
  study.interrupted = !ran_to_the_end([&] {
    parallel::in_order(
        s.networks, 4,
        [&](std::int64_t i) {
          Trained trained(s, task, static_cast<std::uint64_t>(i));
          NetworkRuns runs;
          for (const std::int64_t n : s.sizes) {
            runs.emplace_back();
            for (std::int64_t k = 0; k < s.splits; ++k)
              runs.back().push_back(trained.split(n, static_cast<std::uint64_t>(k)));
          }
          return runs;
        },
        [&](NetworkRuns& runs) {
          study.networks.push_back(std::move(runs));
          progress.step(join("network ", study.networks.size()));
        });
  });
  return study;
}

}  // namespace ladon::example
