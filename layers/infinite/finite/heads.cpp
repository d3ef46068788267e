#include "ladon/layers/infinite/finite/heads.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/running_moments.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {

// --- the distribution of an output ---

ScaleMixture::ScaleMixture(std::vector<double> variances) : variances_(std::move(variances)) {
  LADON_CHECK(!variances_.empty(), "ScaleMixture",
              "there are no variances, but at least one is needed");
  for (const double v : variances_)
    LADON_CHECK(v >= 0 && std::isfinite(v), "ScaleMixture", "a variance is ", v,
                "; it must be finite and must not be negative");
  std::sort(variances_.begin(), variances_.end());
}

double ScaleMixture::density(double y) const {
  double sum = 0;
  for (const double v : variances_)
    if (const double s = std::sqrt(v); v > 0)  // y² and 2πv, which may overflow, are not formed
      sum += std::exp(-0.5 * (y / s) * (y / s)) / (std::sqrt(2 * std::numbers::pi) * s);
  return sum / static_cast<double>(variances_.size());
}

double ScaleMixture::cdf(double y) const {
  double sum = 0;
  for (const double v : variances_)
    sum +=
        v > 0 ? 0.5 * std::erfc(-y / std::sqrt(v) / std::numbers::sqrt2) : (y > 0) + 0.5 * (y == 0);
  return sum / static_cast<double>(variances_.size());
}

double ScaleMixture::variance() const {
  const double n = static_cast<double>(variances_.size());
  double sum = 0, mean = 0;
  for (const double v : variances_) {
    sum += v;
    mean += v / n;
  }
  // If the sum overflows, rounding may make `mean` larger than the largest variance.
  return std::isfinite(sum) ? sum / n : std::min(mean, variances_.back());
}

Measured ScaleMixture::excess_kurtosis() const {
  const double n = static_cast<double>(variances_.size()), mean = variance();
  if (!(mean > 0)) return {0, 0};
  double ratio = 0;  // E v²/(E v)²
  for (const double v : variances_) ratio += (v / mean) * (v / mean) / n;
  // Influence of each draw w = v/E v on the ratio: w² − 2·w·ratio + ratio (the delta method).
  double squares = 0;
  for (const double v : variances_) {
    const double w = v / mean, moved = w * w - 2 * w * ratio + ratio;
    squares += moved * moved;
  }
  return {3 * (ratio - 1), n > 1 ? 3 * std::sqrt(squares / (n - 1) / n) : 0};
}

// --- heads ---

FiniteHeads::FiniteHeads(Limit limit, const FiniteHeadsOptions& options)
    : limit_(std::move(limit)), options_(options) {
  LADON_CHECK(options.heads > 0, "finite_heads", "heads must be positive, got ", options.heads);
  LADON_CHECK(options.key_width >= 0 && options.value_width >= 0, "finite_heads",
              "key_width and value_width must not be negative, got ", options.key_width, " and ",
              options.value_width, "; 0 stands for infinite");
}

FiniteHeads finite_heads(const Layer& model, const FiniteHeadsOptions& options) {
  return {limit(model), options};
}

HeadLatents FiniteHeads::draw_layer(std::int64_t rank, Generator rng) const {
  const auto numbers = [&](std::uint64_t part, const Shape& shape) {
    Generator own = rng.split(part);
    return normal(shape, own, 0, 1, f64);
  };
  const std::int64_t h = options_.heads, key = options_.key_width, value = options_.value_width;
  HeadLatents z;
  if (key == 0) z.logits = numbers(0, {h, rank, rank});
  if (key > 0) z.query = numbers(1, {h, rank, key});
  if (key > 0) z.key = numbers(2, {h, rank, key});
  if (value > 0) z.output = numbers(3, {h, value});
  return z;
}

// The inputs themselves are the landmarks, with an unlimited number of coordinates, so that one
// evaluation of the graph suffices.
Kernel FiniteHeads::run(const Inputs& x, const HeadSource& heads, Get get, Entries wanted,
                        std::vector<HeadMap>* maps) const {
  Landmarks found;
  const auto graph = limit_.graph(kind_of(x), get, true);
  return evaluate(
      *graph, x, nullptr,
      {.wanted = wanted, .get = get, .found = &found, .heads = heads, .head_maps = maps});
}

Latents FiniteHeads::draw(const Inputs& x, Generator& rng) const {
  const NoGrad off;
  const Generator source = rng.split(rng.reserve(1)).split(0);
  Latents z;
  run(
      x,
      [&](std::int64_t rank) {
        z.push_back(draw_layer(rank, source.split(z.size())));
        return z.back();
      },
      Get::nngp, Entries::full);
  return z;
}

Kernel FiniteHeads::kernel(const Inputs& x, const Latents& z, Get get, Entries wanted) const {
  return given(x, z, get, wanted);
}

std::vector<HeadMap> FiniteHeads::maps(const Inputs& x, const Latents& z) const {
  std::vector<HeadMap> all;
  given(x, z, Get::nngp, Entries::full, &all);
  return all;
}

std::vector<Tensor> FiniteHeads::features(const Inputs& x, const Latents& z) const {
  std::vector<Tensor> all;
  for (const HeadMap& of : maps(x, z))
    all.push_back(matmul(of.weights(z[all.size()].form(), of.tokens, of.mask), of.tokens));
  return all;
}

namespace {

void check_latents(const HeadLatents& z) {
  const Tensor& form = z.logits.defined() ? z.logits : z.query;
  LADON_CHECK(!z.logits.defined() || (!z.query.defined() && !z.key.defined()), "finite_heads",
              "latents of a layer have both logits, and a query or key; give only one form");
  LADON_CHECK(form.defined() && form.rank() == 3 && form.size(0) > 0, "finite_heads",
              "latents of a layer need logits [H, R, R], or query and key [H, R, d_k]");
  LADON_CHECK(z.logits.defined() ? form.size(1) == form.size(2)
                                 : z.key.defined() && z.key.shape() == form.shape(),
              "finite_heads", "latents of a layer have shapes ", form.shape(), " and ",
              z.key.defined() ? z.key.shape() : form.shape(), "; logits must be [H, R, R], and ",
              "query and key must both be [H, R, d_k]");
  LADON_CHECK(!z.output.defined() || (z.output.rank() == 2 && z.output.size(0) == form.size(0)),
              "finite_heads", "latents of ", form.size(0), " heads have an output of shape ",
              z.output.defined() ? z.output.shape() : Shape{}, "; it must be [H, d_v]");
}

/// Throws Error if the widths of a layer's latents are not those of the options.
void check_widths(std::size_t layer, const HeadLatents& z, const FiniteHeadsOptions& options) {
  const auto same = [layer](const char* option, std::int64_t own, std::int64_t wanted) {
    LADON_CHECK(own == wanted, "finite_heads", "latents of layer ", layer, " have ", option, " ",
                own, ", but the option `", option, "` is ", wanted,
                " (0: infinite); draw latents with these options (FiniteHeads::draw)");
  };
  same("key_width", z.logits.defined() ? 0 : z.query.size(2), options.key_width);
  same("value_width", z.output.defined() ? z.output.size(1) : 0, options.value_width);
}

}  // namespace

Kernel FiniteHeads::given(const Inputs& x, const Latents& z, Get get, Entries wanted,
                          std::vector<HeadMap>* maps) const {
  std::size_t layer = 0;
  Kernel k = run(
      x,
      [&](std::int64_t rank) {
        LADON_CHECK(layer < z.size(), "finite_heads", "got latents of ", z.size(),
                    " layers, but the model has more attention layers with random logits; draw "
                    "latents for all of them (FiniteHeads::draw)");
        const HeadLatents& own = z[layer++];
        check_latents(own);
        LADON_CHECK(own.heads() == options_.heads, "finite_heads", "latents of layer ", layer - 1,
                    " are of ", own.heads(), " heads, but the option `heads` is ", options_.heads);
        check_widths(layer - 1, own, options_);
        LADON_CHECK(own.rank() == rank, "finite_heads", "latents of layer ", layer - 1, " have ",
                    own.rank(), " coordinates, but its tokens have ", rank,
                    "; draw latents for these inputs (FiniteHeads::draw)");
        return own;
      },
      get, wanted, maps);
  LADON_CHECK(layer == z.size(), "finite_heads", "got latents of ", z.size(),
              " layers, but the model has ", layer, " attention layers with random logits");
  return k;
}

void FiniteHeads::for_each(const Inputs& x, std::int64_t draws, Generator& rng, Get get,
                           const std::function<void(const Kernel&)>& use) const {
  LADON_CHECK(use, "finite_heads", "`use` is an empty function; pass one that takes each kernel");
  constexpr std::int64_t held = 64;
  LADON_CHECK(draws >= 1, "finite_heads", "needs at least one draw, got ", draws);
  const Generator source = rng.split(rng.reserve(1));
  const auto kernel_of = [&](std::int64_t i) {
    const NoGrad off;
    const Generator own = source.split(static_cast<std::uint64_t>(i));
    std::uint64_t layer = 0;
    return run(
        x, [&](std::int64_t rank) { return draw_layer(rank, own.split(layer++)); }, get,
        Entries::full);
  };
  parallel::in_order(draws, held, kernel_of, use);
}

KernelMoments FiniteHeads::moments(const Inputs& x, std::int64_t draws, Generator& rng,
                                   Get get) const {
  LADON_CHECK(draws >= 2, "finite_heads", "moments need at least 2 draws, got ", draws);
  RunningMoments nngp, ntk;
  for_each(x, draws, rng, get, [&](const Kernel& k) {
    nngp.add(k.nngp);
    if (k.ntk.defined()) ntk.add(k.ntk);
  });
  const auto of = [draws](const RunningMoments& m) -> KernelMoments::Of {
    if (m.count() == 0) return {};
    const Tensor se = m.standard_error();
    return {m.mean(), static_cast<double>(draws) * square(se), se};
  };
  return {of(nngp), of(ntk)};
}

std::vector<ScaleMixture> FiniteHeads::outputs(const Inputs& x, std::int64_t draws,
                                               Generator& rng) const {
  std::vector<std::vector<double>> variances;
  for_each(x, draws, rng, Get::nngp, [&](const Kernel& k) {
    const Tensor own = k.has_positions() ? diagonal(k.cov1) : k.cov1;  // [N] or [N, T]
    const std::vector<double> of_draw = numbers_of("finite_heads", own);
    variances.resize(of_draw.size());
    for (std::size_t i = 0; i < of_draw.size(); ++i)
      variances[i].push_back(std::max(0.0, of_draw[i]));
  });
  std::vector<ScaleMixture> laws;
  for (auto& v : variances) laws.emplace_back(std::move(v));
  return laws;
}

}  // namespace ladon::infinite
