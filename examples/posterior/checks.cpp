#include "ladon/autograd/ops.h"
#include "ladon/examples/posterior/study.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

struct Blocks {
  Tensor train, cross, own;

  explicit Blocks(const Tensor& kernel) {
    const std::int64_t n = training_places().count();
    const Tensor above = slice(kernel, 0, {.stop = n}), below = slice(kernel, 0, {.start = n});
    train = contiguous(slice(above, 1, {.stop = n}));
    cross = contiguous(slice(below, 1, {.stop = n}));
    own = clone(diagonal(slice(below, 1, {.start = n})));
  }
};

/// Check that the page's Gaussian process with this kernel [N + M, N + M] equals the library's.
Json process_check(const Tensor& kernel, const Tensor& targets) {
  const Blocks blocks(kernel);
  const GaussianProcess gp(blocks.train, targets, {.noise = noise, .jitter = 0});
  const GpPrediction f = gp.predict(blocks.cross, blocks.own);
  return checked(
      "process", {blocks_json(kernel), targets.to_vector()},
      {flatten(f.mean).to_vector(), f.variance().to_vector(), gp.log_marginal_likelihood()});
}

}  // namespace

Json blocks_json(const Tensor& kernel) {
  const Blocks blocks(kernel);
  return {json_rows(blocks.train), json_rows(blocks.cross), blocks.own.to_vector()};
}

Json checks(const Settings& s, const Study& study, const Tensor& limit) {
  Json all = Json::array({process_check(limit, study.targets)});
  for (const LatentDraws& draws : study.draws) {
    const Tensor latents = contiguous(slice(draws.latents, 0, {.stop = 1}));
    const Tensor kernels = heads_kernel(s, draws.heads).at(latents, limit.size(0));
    const Tensor kernel = select(kernels, 0, 0);
    all.push_back(
        checked("kernel", Json::array({flatten(latents).to_vector()}), blocks_json(kernel)));
    all.push_back(process_check(kernel, study.targets));
  }
  return all;
}

}  // namespace ladon::example
