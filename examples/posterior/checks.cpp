#include "ladon/examples/posterior/checks.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
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

}  // namespace

Json blocks_json(const Tensor& kernel) {
  const Blocks blocks(kernel);
  return {json_rows(blocks.train), json_rows(blocks.cross), blocks.own.to_vector()};
}

Json process_check(const Tensor& kernel, const Tensor& targets) {
  const Blocks blocks(kernel);
  const GaussianProcess gp(blocks.train, targets, {.noise = noise, .jitter = 0});
  const GpPrediction f = gp.predict(blocks.cross, blocks.own);
  return checked(
      "process", {blocks_json(kernel), targets.to_vector()},
      {flatten(f.mean).to_vector(), f.variance().to_vector(), gp.log_marginal_likelihood()});
}

void add_checks(const Settings& s, std::int64_t heads, const Tensor& latents, const Tensor& targets,
                Json& checks) {
  const Tensor x = inputs();
  const infinite::LatentKernel layer =
      infinite::latent_kernel(infinite::finite_heads(limit_model(s), {.heads = heads}), x);
  const Tensor kernel = select(layer.at(contiguous(latents), x.size(0)), 0, 0);
  checks.push_back(checked("kernel", Json::array({contiguous(flatten(latents)).to_vector()}),
                           blocks_json(kernel)));
  checks.push_back(process_check(kernel, targets));
}

}  // namespace ladon::example
