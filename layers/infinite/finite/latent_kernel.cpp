#include "ladon/layers/infinite/finite/latent_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {
namespace {

constexpr std::string_view operation = "latent_kernel";

/// The members of HeadLatents, in the order in which a row of latents lists them.
constexpr std::array<Tensor HeadLatents::*, 4> members = {&HeadLatents::logits, &HeadLatents::query,
                                                          &HeadLatents::key, &HeadLatents::output};

}  // namespace

Tensor row_of_latents(const Latents& z) {
  std::vector<Tensor> parts;  // [H, elements per head] each
  for (const HeadLatents& layer : z)
    for (const auto member : members)
      if ((layer.*member).defined()) parts.push_back(flatten(layer.*member, 1, -1));
  LADON_CHECK(!parts.empty(), operation, "there are no latents; at least one layer must have some");
  return flatten(concat(parts, 1));
}

Latents latents_of_row(const Tensor& row, const Latents& like) {
  LADON_CHECK(!like.empty() && row.defined() && row.rank() == 1 &&
                  row.count() == row_of_latents(like).count(),
              operation, "a row of latents ",
              row.defined() ? detail::join("has shape ", row.shape()) : "is an undefined tensor",
              "; it must be ", like.empty() ? Shape{} : row_of_latents(like).shape());
  const std::int64_t heads = like[0].heads();
  const Tensor rows = reshape(row, {heads, row.count() / heads});
  Latents z;
  std::int64_t start = 0;
  for (const HeadLatents& layer : like) {
    z.emplace_back();
    for (const auto member : members) {
      const Tensor& x = layer.*member;
      if (!x.defined()) continue;
      const std::int64_t numbers = x.count() / heads;
      z.back().*member =
          reshape(slice(rows, 1, {.start = start, .stop = start + numbers}), x.shape());
      start += numbers;
    }
  }
  return z;
}

namespace {

/// Queries whose attention weights give the output: the mean over all tokens, the first, or each.
enum class Readout { mean, first, all };
constexpr std::array<Readout, 3> readouts = {Readout::mean, Readout::first, Readout::all};

/// Attention weights [S, N, T, T] → the weights of the queries that `readout` uses, [S, N, Q, T].
Tensor read(Readout readout, const Tensor& weights, const Tensor& mask) {
  if (readout == Readout::all) return weights;
  if (readout == Readout::first) return slice(weights, 2, {.stop = 1});
  if (!mask.defined()) return mean(weights, 2, Dims::keep);
  const Tensor visible = cast(mask, f64);  // [N, T]
  const Tensor share = visible / maximum(sum(visible, 1, Dims::keep), scalar(1, f64));
  return matmul(unsqueeze(share, 1), weights);  // [N, 1, T] · [S, N, T, T]
}

/// One attention layer whose kernel is a·Σ_h r_h⟨u_h(n), u_h(m)⟩/H + b, in the notation of
/// latent_kernel().
class Features {
 public:
  Features(HeadMap map, Readout readout, Latents like)
      : map_(std::move(map)), readout_(readout), like_(std::move(like)) {}

  /// Number of attention weights that one row z of latents gives for all inputs.
  std::int64_t size() const {
    const Shape& tokens = map_.tokens.shape();  // [N, T, R]
    return like_[0].heads() * tokens[0] * tokens[1] * tokens[1];
  }

  /// Kernels for rows Z [P, D] of latents: [P, N, N], between the first N = `inputs` inputs.
  Tensor kernels(const Tensor& z, std::int64_t inputs) const {
    return scale_ * products(z, inputs) + offset_;
  }

  /// Fits the constants a and b of the formula above to the kernels K of rows Z [P, D]. Returns
  /// whether the formula then gives K.
  bool fit(const Tensor& z, const Tensor& k) {
    const Tensor own = products(z, k.size(1));
    const Tensor x = own - mean(own), y = k - mean(k);
    const double square_sum = number_of("latent_kernel", dot(flatten(x), flatten(x)));
    if (!(square_sum > 0)) return false;
    scale_ = number_of("latent_kernel", dot(flatten(x), flatten(y))) / square_sum;
    offset_ = number_of("latent_kernel", mean(k)) - scale_ * number_of("latent_kernel", mean(own));
    return number_of("latent_kernel", amax(abs(kernels(z, k.size(1)) - k))) <=
           1e-9 * number_of("latent_kernel", amax(abs(k)));
  }

 private:
  Tensor products(const Tensor& z, std::int64_t inputs) const {
    const HeadLatents& like = like_[0];
    const std::int64_t p = z.size(0), h = like.heads(), r = like.rank();
    const HeadLatents all = of_rows(z);  // P·H heads
    const Slice some{.stop = inputs};
    const Tensor tokens = slice(map_.tokens, 0, some);
    const Tensor mask = map_.mask.defined() ? slice(map_.mask, 0, some) : Tensor();
    const Tensor rows = read(readout_, map_.weights(all.form(), tokens, mask), mask);
    const Tensor u = matmul(rows, tokens);  // [P·H, N, Q, R]
    const Tensor weight = sqrt(all.scale() / static_cast<double>(h));
    const Tensor one =
        reshape(u * reshape(weight, {p * h, 1, 1, 1}), {p, h, inputs, rows.size(2) * r});
    const Tensor features = reshape(permute(one, {0, 2, 1, 3}), {p, inputs, h * rows.size(2) * r});
    return matmul(features, transpose(features));
  }

  /// Latents of the heads of all rows z, as heads of one layer.
  HeadLatents of_rows(const Tensor& z) const {
    const std::int64_t heads = z.size(0) * like_[0].heads();
    const Tensor rows = reshape(z, {heads, z.count() / heads});
    HeadLatents all;
    std::int64_t start = 0;
    for (const auto member : members) {
      const Tensor& x = like_[0].*member;
      if (!x.defined()) continue;
      Shape shape = x.shape();
      shape[0] = heads;
      const std::int64_t stop = start + x.count() / x.size(0);
      all.*member = reshape(slice(rows, 1, {.start = start, .stop = stop}), shape);
      start = stop;
    }
    return all;
  }

  HeadMap map_;
  Readout readout_;
  Latents like_;
  double scale_ = 1, offset_ = 0;
};

/// Kernels by passes through the model, row by row. Each pass takes all inputs, since the
/// coordinates of a deeper layer's latents depend on all of them.
Tensor by_passes(const FiniteHeads& heads, const Inputs& x, const Latents& like, const Tensor& z,
                 std::int64_t inputs) {
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < z.size(0); ++i) {
    const Kernel k = heads.kernel(x, latents_of_row(select(z, 0, i), like));
    LADON_CHECK(!k.has_positions(), operation,
                "the model ends with positions, but must end with vectors; append MeanPositions, "
                "FirstToken or Flatten");
    all.push_back(slice(slice(k.nngp, 0, {.stop = inputs}), 1, {.stop = inputs}));
  }
  return stack(all, 0);
}

using Kernels = std::function<Tensor(const Tensor& z, std::int64_t inputs)>;

/// Function that computes `kernels` of at most `most` inputs for `held` rows of z [P, dim] at a
/// time, on all threads, and throws Error if its arguments do not fit.
Kernels in_pieces(Kernels kernels, std::int64_t held, std::int64_t dim, std::int64_t most) {
  return [kernels = std::move(kernels), held, dim, most](const Tensor& z, std::int64_t inputs) {
    LADON_CHECK(z.defined() && z.dtype() == f64 && z.rank() == 2 && z.size(1) == dim, operation,
                "rows of latents must be f64 [P, ", dim, "], got ", detail::kind_in_words(z),
                "; row_of_latents() makes one row");
    LADON_CHECK(0 <= inputs && inputs <= most, operation, "`inputs` is ", inputs,
                "; it must be from 0 to ", most, ", the number of inputs of the kernel");
    const NoGrad off;
    const Tensor all = empty({z.size(0), inputs, inputs}, f64);
    parallel::for_range(z.size(0), held, [&](std::int64_t begin, std::int64_t end) {
      const Slice some{.start = begin, .stop = end};
      copy_(slice(all, 0, some), kernels(slice(z, 0, some), inputs));
    });
    return all;
  };
}

std::optional<Features> features_of(const FiniteHeads& heads, const Inputs& x, const Latents& like,
                                    const Tensor& z, const Tensor& kernels) {
  const std::vector<HeadMap> maps = heads.maps(x, like);
  if (maps.size() != 1) return {};
  for (const Readout readout : readouts) {
    Features features(maps[0], readout, like);
    if (features.fit(z, kernels)) return features;
  }
  return {};
}

}  // namespace

LatentKernel latent_kernel(const FiniteHeads& heads, const Inputs& x) {
  const NoGrad off;
  Generator rng(0);
  const Latents like = heads.draw(x, rng);
  LADON_CHECK(!like.empty(), operation,
              "the model has no attention layer with random logits, but needs one (sqrt scaling, "
              "untied queries and keys)");
  // The kernel of a single input is one number, and a scale and an offset fit any two numbers. So
  // with one input 4 rows are drawn to test the formula.
  std::vector<Tensor> rows = {row_of_latents(like)};
  while (std::ssize(rows) < (x.count() > 1 ? 2 : 4))
    rows.push_back(row_of_latents(heads.draw(x, rng)));
  const Tensor drawn = stack(rows, 0), kernels = by_passes(heads, x, like, drawn, x.count());
  const std::int64_t parts = like[0].heads(), dim = drawn.size(1);
  if (const auto features = features_of(heads, x, like, drawn, kernels)) {
    constexpr std::int64_t numbers = 1 << 18;  // elements of the weights held at once
    const auto at = [f = *features](const Tensor& z, std::int64_t n) { return f.kernels(z, n); };
    const std::int64_t held = std::max<std::int64_t>(1, numbers / features->size());
    return {dim, parts, in_pieces(at, held, dim, x.count())};
  }
  const auto at = [heads, x, like](const Tensor& z, std::int64_t n) {
    return by_passes(heads, x, like, z, n);
  };
  return {dim, parts, in_pieces(at, 1, dim, x.count())};
}

}  // namespace ladon::infinite
