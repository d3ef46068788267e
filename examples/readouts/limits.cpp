#include <algorithm>
#include <map>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/readouts/study.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/optim/posterior/predict.h"

namespace ladon::example {
namespace {

constexpr std::int64_t block = 8;  // images per side of a tile, whose 8² · T² numbers fit a cache

/// Kernels of every readout between images [begin, begin + block) of all N + M and the N training
/// images, [rows, 2N + 1]: NNGP, NTK, and the NNGP of each image with itself. Blocks right of the
/// diagonal are 0. Kernels of the convolutions, and of each attention, are computed once.
std::vector<Tensor> strip(const std::vector<Sequential>& networks, const infinite::Inputs& images,
                          std::int64_t n, std::int64_t begin) {
  const NoGrad off;
  const std::int64_t end = std::min(begin + block, images.count()), stop = std::min(end, n);
  const Tensor right = zeros({end - begin, n - stop}, f64);
  std::vector<std::vector<Tensor>> nngp(networks.size()), ntk(networks.size());
  std::vector<Tensor> alone(networks.size()), rows;
  for (std::int64_t column = 0; column < stop; column += block) {
    stop_if_interrupted();
    const infinite::Kernel tokens = infinite::limit(*networks[0].layers[0])(
        images.rows(begin, end), images.rows(column, std::min(column + block, stop)));
    std::map<Attention, infinite::Kernel> attended = {{Attention::none, tokens}};
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const auto& parts = networks[i].layers;
      const Attention kind = readouts()[i].attention;
      if (!attended.contains(kind)) attended[kind] = infinite::limit(*parts[1])(tokens);
      const infinite::Kernel k = infinite::limit(*parts[2])(attended[kind]);
      nngp[i].push_back(k.nngp);
      ntk[i].push_back(k.ntk);
      alone[i] = unsqueeze(k.cov1, 1);
    }
  }
  for (std::size_t i = 0; i < networks.size(); ++i)
    rows.push_back(concat({concat(nngp[i], 1), right, concat(ntk[i], 1), right, alone[i]}, 1));
  return rows;
}

/// Predictions of a readout's two infinite-width limits for the test images. NNGP: the posterior of
/// the infinitely wide network. NTK: infinitely wide networks trained to the end from independent
/// initial weights (Lee et al. 2019). Noise and amplitude are those that predict()
/// (optim/posterior/predict.h) would choose for the model.
std::vector<Answers> judge(const Readout& kind, const Tensor& kernels, const Task& task) {
  const NoGrad off;
  const std::int64_t n = task.train.count();
  const Tensor y = classification_targets(task.train.labels, task.classes);
  const auto among = [&](std::int64_t column) {
    const Tensor lower = slice(slice(kernels, 0, {.stop = n}), 1, {column, column + n});
    return tril(lower) + transpose(tril(lower, -1));
  };
  const Tensor test = slice(kernels, 0, {.start = n}), alone = select(test, 1, 2 * n);
  const Tensor nngp = among(0), across = slice(test, 1, {.stop = n});
  const double unit = mean(diagonal(nngp)).item();
  const auto answers = [&](const char* of, const GpPrediction& f, double noise, double amplitude) {
    const Tensor p = class_probabilities(f.mean, amplitude * (f.variance() + noise));
    return Answers{kind.name, of, unsqueeze(p, 0)};
  };

  constexpr NoiseCriterion by = NoiseCriterion::leave_one_out;
  const NoiseChoice bayes = choose_noise(nngp, y, by);
  const GaussianProcess posterior(nngp, y, {.noise = bayes.relative_noise * unit});
  const Tensor ntk = among(n);
  const double pull = choose_noise(ntk, y, by).relative_noise;  // pulls weights to initial values
  const GpPrediction trained =
      GradientFlow(ntk, y, {.jitter = pull + 1e-8})
          .ensemble(infinite_time, slice(test, 1, {n, 2 * n}), {nngp, across, alone});
  return {answers("nngp", posterior.predict(across, alone), bayes.relative_noise * unit,
                  bayes.amplitude / unit),
          answers("ntk", trained, pull * unit,
                  GaussianProcess(nngp, y, {.noise = pull * unit}).amplitude())};
}

}  // namespace

std::vector<Answers> answers_of_limits(const Task& task, const Settings& s, Progress& progress) {
  std::vector<Sequential> networks;
  for (const Readout& kind : readouts()) {
    Generator rng = Generator(s.common.seed).split(2);
    networks.push_back(network(kind, task, 2, rng));  // a limit does not depend on the width
  }
  const infinite::Inputs images(concat({task.train.x, task.test.x}, 0));
  const std::int64_t n = task.train.count(), strips = (images.count() + block - 1) / block;
  std::vector<std::vector<Tensor>> kernels(networks.size());
  parallel::in_order(
      strips, 4, [&](std::int64_t i) { return strip(networks, images, n, i * block); },
      [&](const std::vector<Tensor>& rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) kernels[i].push_back(rows[i]);
        progress.step("kernels", 2.0 / static_cast<double>(strips));
      });
  std::vector<Answers> found;
  for (std::size_t i = 0; i < networks.size(); ++i)
    std::ranges::move(judge(readouts()[i], concat(kernels[i], 0), task), std::back_inserter(found));
  return found;
}

}  // namespace ladon::example
