// Kernels of limits (layers/infinite) and posteriors (optim/posterior), in f64, as they are used.
// LibTorch has none of them.

#include <unistd.h>

#include <filesystem>
#include <memory>

#include "../networks.h"
#include "entries.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/optim/extra/extra.h"
#include "ladon/optim/extra/posterior/cg_solver.h"
#include "ladon/optim/extra/posterior/distributed_factor.h"
#include "ladon/optim/extra/posterior/first_order.h"
#include "ladon/optim/extra/posterior/stored_factor.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/optim/posterior/latent_posterior.h"
#include "ladon/optim/posterior/path_relevance.h"
#include "ladon/optim/posterior/predict.h"
#include "ladon/optim/posterior/relevance.h"

namespace ladon::bench::every {
namespace {

const Traits in_f64{.gradient = false, .f32_too = false};

// --- kernels of limits ---

Tensors vectors(Draw& d) { return {d.normal({d.of(8, 100, 1000), d.of(8, 64, 784)})}; }
Tensors texts(Draw& d) { return {d.normal({d.of(2, 4, 16), d.of(4, 16, 64), d.of(4, 16, 64)})}; }

/// Both kernels of all pairs of inputs, of a model that `make` gives for the inputs' channels.
template <class Make>
void add_gram(Table& t, const std::string& name, Tensors (*inputs)(Draw&), Make make) {
  const auto sample = [=](Draw& d) -> Sample {
    const Tensors x = inputs(d);
    using Model = decltype(make(x[0].size(-1 + x[0].rank())));
    const std::shared_ptr<Model> model(new Model(make(x[0].size(-1 + x[0].rank()))));
    return {x, [model](const Tensors& in) -> Results {
              const infinite::Gram g = gram(infinite::limit(*model), in[0], {.replicates = 2});
              return Tensors{g.nngp, g.ntk};
            }};
  };
  t.add_made(name, sample, in_f64);
}

void add_attention_limits(Table& t) {
  for (const auto& [weighting, title] :
       {std::pair(Weighting::identity, "identity"), std::pair(Weighting::softmax, "softmax"),
        std::pair(Weighting::relu, "relu"), std::pair(Weighting::abs, "abs")}) {
    const Weighting zeta = weighting;
    add_gram(t, std::string("limit of attention, ") + title, texts,
             [zeta](std::int64_t dim) { return attention_layer(dim, zeta); });
  }
  const auto random_logits = [](std::int64_t dim) {
    Generator rng(1);
    return MultiHeadAttention({.dim = dim,
                               .heads = 1,
                               .prior = {.parameterization = Parameterization::ntk},
                               .limit_draws = {.samples = 16}},
                              rng);
  };
  add_gram(t, "limit of attention, softmax of random logits", texts, random_logits);
}

// --- posteriors ---

std::int64_t inputs_of(Draw& d) { return d.of(8, 100, 1000); }
/// exp(−d²/(2D)) between rows of two sets of inputs.
Tensor near(const Tensor& x, const Tensor& z) {
  const Tensor d2 = sum(square(x), 1, keep_dims) + sum(square(z), 1) - 2 * matmul(x, transpose(z));
  return exp(d2 * (-0.5 / double(x.size(1))));
}
/// Kernels of N training inputs, of 32 test inputs beside them, of these; targets [N, 2].
Tensors regression(Draw& d) {
  const Tensor x = d.normal({inputs_of(d), 16}), z = d.normal({32, 16});
  return {near(x, x), near(z, x), near(z, z), d.normal({inputs_of(d), 2})};
}
constexpr GpOptions noisy{.noise = 0.1};
Results answer(const GpPrediction& p) { return Tensors{p.mean, p.covariance}; }
Traits factored() {
  Traits traits = in_f64;
  traits.products = [](const Tensors& x, const Tensors&) {
    const double n = double(x[0].size(0));
    return n * n * n / 3 + 2 * n * n * 34;
  };
  return traits;
}

/// x [N, 8] and a folder of its own for tiles, which goes with the row.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("ladon_every_" + unique())) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string inner(const char* name) const { return (path_ / name).string(); }

 private:
  static std::string unique() {
    static int count = 0;
    return std::to_string(getpid()) + "_" + std::to_string(count++);
  }
  std::filesystem::path path_;
};

struct OnDisk {
  Folder folder;
  infinite::StoredGram gram;
  explicit OnDisk(const Tensor& x)
      : gram(store_gram(infinite::limit(relu_net(x.size(1))), x, folder.inner("gram"),
                        {.get = infinite::Get::nngp})) {}
};

template <class Solve>
void add_stored(Table& t, const char* name, Solve solve) {
  const auto sample = [=](Draw& d) -> Sample {
    const Tensors x{d.normal({inputs_of(d), 8}), d.normal({inputs_of(d), 2})};
    const auto disk = std::make_shared<OnDisk>(x[0]);
    return {x, [=](const Tensors& in) -> Results { return solve(*disk, in[1]); }};
  };
  t.add_made(name, sample, in_f64);
}

void add_solvers(Table& t) {
  t.add(
      "DenseFactor", regression,
      [](const Tensors& x) -> Results { return DenseFactor(x[0], noisy).solve(x[3]).x; },
      factored());
  t.add(
      "CgSolver", regression,
      [](const Tensors& x) -> Results {
        return CgSolver(kernel_map(x[0]), noisy, {.rank = 20}).solve(x[3]).x;
      },
      in_f64);
  add_stored(t, "StoredFactor", [](const OnDisk& disk, const Tensor& y) {
    std::filesystem::remove_all(disk.folder.inner("factor"));
    return store_factor(disk.gram, disk.folder.inner("factor"), noisy).solve(y).x;
  });
  add_stored(t, "DistributedFactor", [](const OnDisk& disk, const Tensor& y) {
    return distribute_factor(disk.gram, noisy).solve(y).x;
  });
}

void add_gaussian_processes(Table& t) {
  t.add(
      "GaussianProcess", regression,
      [](const Tensors& x) {
        return answer(GaussianProcess(x[0], x[3], noisy).predict(x[1], x[2]));
      },
      factored());
  t.add(
      "GaussianProcess, leave_one_out", regression,
      [](const Tensors& x) -> Results {
        return GaussianProcess(x[0], x[3], noisy).leave_one_out().mean;
      },
      factored());
  t.add(
      "GradientFlow", regression,
      [](const Tensors& x) -> Results { return GradientFlow(x[0], x[3]).test(10, x[1]); }, in_f64);
  t.add(
      "FirstOrder", regression,
      [](const Tensors& x) {
        const Tensor joint =
            concat({concat({x[0], transpose(x[1])}, 1), concat({x[1], x[2]}, 1)}, 0);
        FirstOrder first(joint, x[3], noisy);
        for (const double scale : {0.9, 1.1}) first.add(joint * scale);
        return answer(first.predict(8));
      },
      in_f64);
  const auto inputs_and_targets = [](Draw& d) -> Tensors {
    return {d.normal({inputs_of(d), 16}), d.normal({inputs_of(d), 2}), d.normal({32, 16})};
  };
  t.add(
      "predict", inputs_and_targets,
      [](const Tensors& x) {
        return answer(predict(relu_net(16), x[0], x[1], x[2], {.relative_noise = 0.1}));
      },
      in_f64);
}

/// Kernels [H, N, N] of heads, and targets [N].
Tensors kernels_of_heads(Draw& d) {
  const std::int64_t n = d.of(4, 16, 64);
  Tensors kernels;
  for (int h = 0; h < 3; ++h) kernels.push_back(d.positive_definite(n));
  return {stack(kernels), d.normal({n})};
}

void add_latent_posteriors(Table& t) {
  t.add(
      "sample_posterior", kernels_of_heads,
      [](const Tensors& x) {
        Generator rng(1);
        return sample_posterior(relevance_kernel(x[0], 8), x[1].size(0),
                                slice(x[1], 0, {.stop = -1}),
                                {.noise = 0.1,
                                 .smc = {.particles = 20, .sweeps = 2, .recorded = 1},
                                 .replicates = 2},
                                rng)
            .latents;
      },
      in_f64);
  t.add(
      "relevance_saddle", kernels_of_heads,
      [](const Tensors& x) -> Results { return relevance_saddle(x[0], x[1], 0.1, 20).scales; },
      in_f64);
  const auto paths = [](Draw& d) -> Tensors {
    const std::int64_t n = d.of(4, 16, 64);
    const Tensor x = d.normal({2, n, 4});
    return {einsum("pni,qmi->pqnm", {x, x}) / 4, d.normal({n})};
  };
  t.add(
      "path_saddle", paths,
      [](const Tensors& x) -> Results {
        return path_saddle(x[0], x[1], 0.2, {.heads = {2}, .widths = {20}, .readout = 20}).order[0];
      },
      in_f64);
}

}  // namespace

void add_limits(Table& t) {
  t.family("kernels of limits");
  add_gram(t, "limit of three ReLU layers", vectors, relu_net);
  // Of sequences that a Linear makes: its outputs have the law that the derivation needs.
  for (int i = 0; i < int(Nonlinearity::count); ++i) {
    const auto f = Nonlinearity(i);
    add_gram(t, "limit of " + std::string(to_string(f)), vectors, [f](std::int64_t dim) {
      Generator rng(1);
      return Sequential(ntk_linear(dim, rng), Activation(f));
    });
  }
  const auto normalized = [](std::int64_t dim) {
    Generator rng(1);
    return Sequential(ntk_linear(dim, rng), LayerNorm({.dim = 1}));
  };
  add_gram(t, "limit of LayerNorm", vectors, normalized);
  add_attention_limits(t);
  const auto encoder = [](std::int64_t dim) {
    Generator rng(1);
    return TransformerEncoderLayer(
        {.dim = dim,
         .heads = 1,
         .dropout = 0,
         .attention = {.form = {.weighting = Weighting::identity},
                       .prior = {.parameterization = Parameterization::ntk}}},
        rng);
  };
  add_gram(t, "limit of TransformerEncoderLayer", texts, encoder);
}

void add_posteriors(Table& t) {
  t.family("posteriors");
  add_solvers(t);
  add_gaussian_processes(t);
  add_latent_posteriors(t);
}

}  // namespace ladon::bench::every
