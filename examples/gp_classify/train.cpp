#include "ladon/autograd/ops.h"
#include "ladon/examples/common/meter.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/study.h"
#include "ladon/optim/posterior/search.h"

namespace ladon::example {
namespace {

/// Factor of the logits that maximizes the likelihood of the held-out labels (Guo et al. 2017), the
/// counterpart of the kernels' amplitude; 1 if no rows are held out.
double calibration(const Sequential& net, const infinite::Inputs& train, const Tensor& labels,
                   std::int64_t trained) {
  if (trained == train.count()) return 1;
  const Tensor raw = logits(net, train.rows(trained, train.count()));
  const auto nll = [&](double log_factor) {
    return cross_entropy(raw * std::exp(log_factor), slice(labels, 0, {.start = trained})).item();
  };
  return std::exp(smallest(-5, 3, 0.25, nll).first);
}

}  // namespace

Outcome train_finite(const Model& model, const Task& task, const Settings& s, Progress& progress) {
  const Meter meter;
  Generator rng = Generator(s.common.seed).split(1);
  Sequential net = network(model, task, s.sharpness, s.width, rng);
  const bool finite = fit(net, model, task, s, rng, progress);
  const Tensor raw = logits(net, model.inputs(task.test));
  Outcome outcome{.model = model.name, .form = "finite"};
  if (finite && std::isfinite(sum(raw).item()))
    outcome.probabilities = softmax(
        raw * calibration(net, model.inputs(task.train), task.train.labels, trained_rows(task)), 1);
  outcome.seconds = meter.seconds();
  outcome.peak_mb = meter.peak_mb();
  progress.say(join("  ", model.name, " finite: ", net.parameter_count(), " parameters"));
  return outcome;
}

}  // namespace ladon::example
