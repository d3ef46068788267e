#include "03_one_head/exercises/exercises.h"

using namespace ladon;
using lessons::require;

namespace {

/// A·k·Bᵀ, batched.
Tensor between(const Tensor& a, const Tensor& k, const Tensor& b) {
  return matmul(matmul(a, k), transpose(b));
}

Tensor inner(const Tensor& x, const Tensor& y) { return matmul(x, transpose(y)); }

MultiHeadAttention random_layer(std::int64_t dim, std::int64_t heads, Generator& rng) {
  return {{.dim = dim,
           .heads = heads,
           .head_dim = 1,
           .prior = {.parameterization = Parameterization::ntk}},
          rng};
}

}  // namespace

void check_covariance_given_maps(decltype(covariance_given_maps)* yours) {
  Generator rng(3);
  const auto check = [&](std::int64_t heads, std::int64_t tokens, std::int64_t d) {
    const Tensor both = normal({2, tokens, d}, rng, f64);
    const MultiHeadAttention layer = random_layer(d, heads, rng);
    const infinite::FiniteHeads law = infinite::finite_heads(layer, {.heads = heads});
    const infinite::Latents z = law.draw(both, rng);
    const infinite::HeadMap map = law.maps(both, z)[0];
    const Tensor maps = map.weights(z[0].form(), map.tokens, map.mask);  // [H, 2, T, T]
    const Tensor a = select(maps, 1, 0), b = select(maps, 1, 1);
    const Tensor x = select(both, 0, 0), y = select(both, 0, 1);
    const Tensor right = at(law.kernel(both, z).nngp, {0, 1}), k = inner(x, y) / double(d);
    const Tensor swapped = mean(matmul(matmul(transpose(a), k), b), 0);
    const std::string factor =
        "the mean of products of V's entries is 1/d: x·yᵀ has to be divided by d";
    lessons::compare(
        detail::join("the covariance of ", heads, " heads"), yours(a, x, b, y), right,
        {{right * double(d), factor},
         {right * double(heads),
          "the heads' covariances are added; f has 1/√H, so each counts 1/H"},
         {right / double(heads),
          "the heads' covariances count 1/H² each; f has 1/√H, and the covariance 1/H"},
         {right * std::sqrt(double(heads)),
          "the factor 1/√H of f occurs twice in the covariance, which has 1/H"},
         {right * double(d * heads), factor + ", and the heads by their number"},
         {right * std::sqrt(double(d)),
          "x·yᵀ is divided by √d; V occurs twice in the covariance, so divide by d"},
         {swapped, "the maps are transposed: output a is row a of A times the values"},
         {between(mean(a, 0), k, mean(b, 0)),
          "the heads' maps are averaged before; V_h of different heads are independent, so the "
          "covariances are averaged"},
         {mean(between(a, k, a), 0), "the map of x is taken for y too"},
         {mean(matmul(a, k), 0), "only x is averaged over its keys; y has a map as well"},
         {mean(inner(a, b), 0),
          "the kernel of the values, x·yᵀ/d, is missing: different tokens do not have "
          "independent values"},
         {mean(between(a, inner(x, x) / double(d), b), 0),
          "the values' kernel is that of x with itself; it belongs between tokens of x and of y"},
         {transpose(right), "rows belong to the tokens of x, columns to those of y"}});
  };
  check(1, 3, 2);
  check(4, 3, 5);
}

void check_kurtosis_of_layers(decltype(kurtosis_of_layers)* yours) {
  constexpr std::int64_t layers = 60, channels = 8;
  Generator rng(3);
  const Tensor variances = sum(square(normal({layers, 2}, rng, f64)), 1, keep_dims);
  const Tensor f = sqrt(variances) * normal({layers, channels}, rng, f64);
  const auto excess = [](const Tensor& y) {
    return (mean(square(square(y))) / square(mean(square(y))) - 3).item();
  };
  const Tensor ratios = mean(square(square(f)), 1) / square(mean(square(f), 1)) - 3;
  const double right = excess(f), second = mean(square(f)).item();
  const Measured answer = yours(f);
  lessons::compare(
      "the excess kurtosis", answer.value, right,
      {{right + 3, "3, the kurtosis of a Gaussian, is not subtracted: excess is what exceeds it"},
       {(right + 3) * second - 3, "E f⁴ is divided by E f²; it is the square, (E f²)²"},
       {(right + 3) * second, "E f⁴ is divided by E f², not by (E f²)², and 3 is not subtracted"},
       {mean(ratios).item(),
        "it is the mean of the kurtosis within each layer: given its map a layer is Gaussian; the "
        "tails come from variances that differ between layers"},
       {excess(mean(f, 1)), "the channels are averaged first; each channel is a separate output"},
       {excess(f - mean(f)), "the mean of the outputs is subtracted; it is known to be 0"}});
  const auto n = static_cast<double>(layers), all = n * static_cast<double>(channels);
  const double se = infinite::excess_kurtosis(unsqueeze(f, 1)).se;
  const double single = infinite::excess_kurtosis(reshape(f, {layers * channels, 1, 1})).se;
  const std::string shared =
      "one number at a time is left out: the channels of a layer share its map and are not "
      "independent; leave out whole layers";
  lessons::compare(
      "the standard error", answer.se, se,
      {{single, shared},
       {se / std::sqrt(n - 1),
        "the standard error lacks the factor n − 1: estimates without one layer differ little, "
        "since they share all the others"},
       {se * std::sqrt(n) / (n - 1),
        "it is the standard deviation of the κ_i, which differ little since they share all layers "
        "but one; the factor is (n − 1)/n"},
       {se / (n - 1),
        "the factor (n − 1)/n became 1/(n·(n − 1)), as in a mean of independent "
        "numbers; the κ_i share all layers but one"},
       {se / std::sqrt((n - 1) / n), "the factor before the sum is (n − 1)/n, not 1"},
       {se * se, "the result is the square of the standard error; take the root"},
       {single / (all - 1), shared}});
}

namespace {

/// Maps [S, N, T, T] of one wide head on inputs [N, T, d], for S bilinear forms b [S, d, d]; the
/// logits are divided by `by`.
Tensor maps_of(const Tensor& x, const Tensor& b, double by) {
  const Tensor forms = unsqueeze(b, 1);
  return softmax(matmul(matmul(x, forms), transpose(x)) / by);
}

/// Kernel that a typical mistake gives, estimated from draws, and the message for that mistake.
struct WrongKernel {
  Tensor kernel;
  std::string reason;
};

/// Root mean square difference of a kernel from the estimate `mean`, in units of its standard
/// errors.
double distance(const Tensor& mean, const Tensor& se, const Tensor& kernel) {
  return std::sqrt(ladon::mean(square((mean - kernel) / se)).item());
}

std::vector<WrongKernel> wrong_kernels(const Tensor& both, const Tensor& right, Generator& rng) {
  constexpr std::int64_t draws = 100'000;  // errors are small compared with those of a solution
  const auto d = static_cast<double>(both.size(2));
  const Tensor x = select(both, 0, 0), y = select(both, 0, 1), k = inner(x, y) / d;
  const Shape forms{draws, both.size(2), both.size(2)};
  const Tensor b = normal(forms, rng, f64), other = normal(forms, rng, f64);
  const auto kernel = [&](const Tensor& maps, const Tensor& maps_of_other, const Tensor& values) {
    return mean(between(select(maps, 1, 0), values, select(maps_of_other, 1, 1)), 0);
  };
  const Tensor logits = matmul(matmul(both, unsqueeze(b, 1)), transpose(both)) / d;
  const Tensor maps = maps_of(both, b, d), steep = maps_of(both, b, 1),
               half = maps_of(both, b, std::sqrt(d)), flat = maps_of(both, b, d * d);
  return {
      {kernel(maps, maps_of(both, other, d), k),
       "the maps on x and on y are independent: both inputs meet the same head, so the same matrix "
       "has to be drawn for both, and the product is taken before the mean"},
      {kernel(logits, logits, k), "the softmax is missing: A is the softmax of the logits here"},
      {kernel(steep, steep, k),
       "the logits are not divided by d: the entries of Q and of K have variance 1/d"},
      {kernel(half, half, k), "the logits are divided by √d; Q and K give 1/√d each"},
      {kernel(flat, flat, k), "the logits are divided by d twice"},
      {right * d, "the values' kernel is x·yᵀ/d; the division by d is missing"},
      {kernel(maps, maps, ones_like(k) * eye(k.size(0), f64)),
       "the values' kernel x·yᵀ/d is missing between the maps"},
      {mean(matmul(matmul(transpose(select(maps, 1, 0)), k), select(maps, 1, 1)), 0),
       "the maps are transposed: output a is row a of A times the values"},
      {transpose(right), "rows belong to the tokens of x, columns to those of y"}};
}

}  // namespace

void check_wide_head_kernel(decltype(wide_head_kernel)* yours) {
  constexpr std::int64_t repetitions = 24, tokens = 2, d = 3;
  constexpr int draws = 2000;
  Generator rng(3);
  const Tensor x = normal({tokens, d}, rng, f64);
  const Tensor y = 0.8 * x + 0.6 * normal({tokens, d}, rng, f64);  // so that the maps are similar
  const Tensor both = stack({x, y}, 0);
  const MultiHeadAttention layer = random_layer(d, 1, rng);
  const Tensor right = at(infinite::limit(layer)(both, infinite::Get::nngp).nngp, {0, 1});

  std::vector<Tensor> estimates, single;
  for (std::int64_t i = 0; i < repetitions; ++i) {
    Generator own = rng.split(static_cast<std::uint64_t>(i));
    estimates.push_back(yours(x, y, draws, own));
    require(estimates.back().defined(), "nothing is returned");
    single.push_back(yours(x, y, 1, own));
    require(estimates.back().shape() == right.shape(),
            detail::join("the kernel has shape ", estimates.back().shape(), ", and should have ",
                         right.shape()));
  }
  const Tensor all = stack(estimates, 0), middle = mean(all, 0);
  require(ladon::all(isfinite(all)).item<bool>(), "the kernel holds numbers that are not finite");
  const Tensor uniform = ones({tokens, tokens}, f64) * mean(inner(x, y) / double(d));
  const Tensor se = stddev(all, 0) / std::sqrt(double(repetitions));
  const double size = amax(abs(uniform)).item();
  require(amax(abs(all - uniform)).item() > 1e-2 * size,
          "the maps are uniform: with logits divided by the width they would go to 0, but with its "
          "square root they stay random");
  require(amin(se).item() > 1e-12, "every generator gives the same kernel: draw from rng");
  if (amax(abs(middle - right) / se).item() < 5) {
    require(amin(stddev(stack(single, 0), 0) / stddev(all, 0)).item() > 10,
            "2000 draws spread as much as one: average over `draws` of them");
    return;
  }
  for (const WrongKernel& wrong : wrong_kernels(both, right, rng))
    if (distance(middle, se, wrong.kernel) < 2.5) throw lessons::Wrong(wrong.reason);
  if (amax(abs(middle * double(draws) - right) / (se * double(draws))).item() < 5 ||
      amax(abs(middle / double(draws) - right) / (se / double(draws))).item() < 5)
    throw lessons::Wrong("the mean over the draws is required, not their sum");
  throw lessons::Wrong(detail::join("over ", repetitions, " runs the mean kernel is off by ",
                                    distance(middle, se, right),
                                    " standard errors: it is not that of one wide head"));
}
