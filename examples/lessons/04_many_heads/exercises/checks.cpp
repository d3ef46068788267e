#include "04_many_heads/exercises/exercises.h"

using namespace ladon;
using lessons::require;

namespace {

constexpr double query_key_std = 1.3, value_output_std = 0.7;

MultiHeadAttention attention(int heads, Generator& rng) {
  return MultiHeadAttention({.dim = 3,
                             .heads = heads,
                             .head_dim = 6,
                             .value_head_dim = 5,
                             .out = 2,
                             .form = {.weighting = Weighting::identity},
                             .prior = {.parameterization = Parameterization::ntk,
                                       .query_key_std = query_key_std,
                                       .value_output_std = value_output_std}},
                            rng);
}

/// Excess kurtosis of (f_1 + … + f_H)/√H, by enumeration: the output f_h of head h is N(0, v) with
/// v drawn uniformly from variances[h], so the sum is a mixture over all choices.
double enumerated_kurtosis(const std::vector<std::vector<double>>& variances) {
  std::vector<double> sums{0};
  for (const auto& of_head : variances) {
    std::vector<double> longer;
    for (const double sum : sums)
      for (const double v : of_head) longer.push_back(sum + v);
    sums = longer;
  }
  return infinite::ScaleMixture(sums).excess_kurtosis().value;
}

}  // namespace

void check_combine_heads(decltype(combine_heads)* yours) {
  for (const int heads : {4, 9}) {
    Generator rng(1);
    const MultiHeadAttention layer = attention(heads, rng);
    const Tensor x = normal({1, 4, 3}, rng, 0, 1, f32);
    const auto details = layer.forward_with_weights(x, x, x);
    // [1, H, T, w] → [H, T, w]
    const Tensor contexts = cast(select(details.contexts, 0, 0), f64).detach();
    const Tensor output = cast(layer.output, f64).detach();
    const Tensor right = cast(select(details.output, 0, 0), f64) / value_output_std;
    const double h = heads, w = 5;
    const Tensor shared = matmul(sum(contexts, 0), select(output, 0, 0)) / std::sqrt(h * w);
    const std::string of = detail::join("the output of ", heads, " heads");
    lessons::compare(
        of, yours(contexts, output), right,
        {{right * std::sqrt(h * w),
          of + " has no scale: the variance of a sum grows as the number of its summands, H·w"},
         {right * std::sqrt(h), of + ": its variance grows as H; independent parts add their "
                                     "variances, so 1/√H belongs in front of the sum"},
         {right * std::sqrt(w), of + ": each part is a sum of w products, whose variances add up "
                                     "as well; 1/√w is missing"},
         {right / std::sqrt(h), of + ": with 1/H (a mean) the variance falls as 1/H, and "
                                     "infinitely many heads give 0; 1/√H keeps it constant"},
         {right / std::sqrt(h * w), of + ": with 1/(H·w) the variance falls as the number of "
                                         "summands grows; the root keeps it constant"},
         {shared, of + ": all heads use the output weights of the first; then their sum is one "
                       "Gaussian times a number, not a sum of independent parts"}},
        1e-5);
  }
}

void check_kurtosis_of_sum(decltype(kurtosis_of_sum)* yours) {
  const auto check = [&](const std::string& what,
                         const std::vector<std::vector<double>>& variances) {
    const auto h = static_cast<double>(variances.size());
    std::vector<HeadOutput> heads;
    double second = 0, squares = 0, fourth = 0, mean = 0;
    for (const auto& of_head : variances) {
      double v1 = 0, v2 = 0;
      for (const double v : of_head) {
        v1 += v / static_cast<double>(of_head.size());
        v2 += v * v / static_cast<double>(of_head.size());
      }
      heads.push_back({v1, 3 * v2});
      second += v1;
      squares += v1 * v1;
      fourth += 3 * v2;
      mean += (3 * v2 / (v1 * v1) - 3) / h;
    }
    const double right = enumerated_kurtosis(variances), all = second * second;
    const auto with_pairs = [&](double ways) {
      return (fourth + ways * (all - squares)) / all - 3;
    };
    const double ratio = right + 3;
    lessons::compare(
        what, yours(heads), right,
        {{ratio, what + ": 3 is not subtracted; a Gaussian has E f⁴ = 3(E f²)², and excess 0"},
         {fourth / all - 3, what + ": the pairs f_h² f_g² are missing; their expectation is "
                                   "E f_h² · E f_g², not 0"},
         {with_pairs(1), what + ": four factors can be paired in 3 ways, not in 1"},
         {with_pairs(6), what + ": Σ over h ≠ g counts each pair twice, so its factor is 3; the "
                                "factor 6 belongs to h < g"},
         {(fourth + 3 * all) / all - 3, what + ": a head is paired with itself as well; f_h² f_h² "
                                               "is the fourth power, which is counted already"},
         {mean, what + ": this is still the kurtosis of one head; the sum of independent heads is "
                       "nearer to a Gaussian than its parts"},
         {mean / std::sqrt(h), what + ": it falls as 1/√H, as the error of a mean does; "
                                      "kurtosis is a fourth moment and falls as 1/H"},
         {mean / (h * h), what + ": it falls as 1/H²; among the H² terms are H fourth powers, "
                                 "which leaves 1/H"},
         {right / h, what + ": it is divided by H once more; f has 1/√H already"},
         {mean / h,
          what + ": κ/H, with the mean κ, needs identically distributed heads; those of larger "
                 "variance count more"}},
        1e-9);
  };
  check("one head", {{1, 3}});
  check("two Gaussian heads", {{2}, {3}});
  check("four heads of one law", {{1, 3}, {1, 3}, {1, 3}, {1, 3}});
  check("a small head and a large one", {{0.1, 0.4}, {2, 2, 5}});
  check("five different heads", {{1, 2}, {3}, {0.2, 0.9}, {1, 8}, {0.5}});
}

void check_kernel_of_heads(decltype(kernel_of_heads)* yours) {
  Generator rng(2);
  const Tensor x = normal({2, 3, 3}, rng, 0, 1, f64);
  const MultiHeadAttention layer = attention(1, rng);
  const Tensor right = infinite::limit(layer)(x, infinite::Get::nngp).nngp;
  const Tensor k = matmul(unsqueeze(x, 1), transpose(unsqueeze(x, 0))) / 3.0;
  const Tensor own = stack({at(k, {0, 0}), at(k, {1, 1})}, 0);  // [N, T, T]
  const Tensor weights = query_key_std * own;                   // E[G] if queries and keys are tied
  const Tensor of_mean = std::pow(value_output_std, 2) *
                         matmul(matmul(unsqueeze(weights, 1), k), transpose(unsqueeze(weights, 0)));
  const auto keys = [](const Tensor& of_pair) { return sum(of_pair, {2, 3}, keep_dims); };
  const Tensor scale = right / (k * keys(square(k)));
  const Tensor traces = sum(diagonal(square(k)), 2);                       // only terms with i = j
  const Tensor norms = unsqueeze(sum(square(own), {1, 2}, keep_dims), 1);  // [N, 1, 1, 1]
  lessons::compare(
      "the kernel", yours(x, query_key_std, value_output_std), right,
      {{of_mean,
        "this is E[G]·k·E[G]ᵀ, of linear scaling with tied queries and keys; with "
        "square-root scaling logits stay random: take E[G_ai G_bj], not E[G_ai] E[G_bj]"},
       {zeros(right.shape(), f64), "E[G] is 0, but the covariance asks for E[G_ai G_bj]"},
       {right / std::pow(query_key_std, 2), "the variance of the logits, QK², is forgotten"},
       {right / query_key_std, "one logit has the factor QK; a product of two logits has QK²"},
       {right / std::pow(value_output_std, 2), "the scale of values and output, OV², is forgotten"},
       {right / value_output_std, "one output has the factor OV; a covariance has OV²"},
       {right / std::pow(query_key_std * value_output_std, 2),
        "the scales are forgotten: QK² of the logits, OV² of values and output"},
       {right / (query_key_std * value_output_std),
        "a covariance has QK²·OV²: each scale occurs in both factors of the product"},
       {scale * k * square(keys(k)),
        "this is (Σ k_ij)²; the sum is over k_ij², one from the logits "
        "and one from the values"},
       {scale * k * square(k), "the sum over the keys i and j is missing"},
       {right * 27.0, "k is x·x'/d: the number of channels, d, is forgotten"},
       {scale * k * keys(k),
        "the covariance k_ij occurs twice in the sum over keys: once from the "
        "logits, once from the values"},
       {scale * keys(square(k)) * ones({3, 3}, f64),
        "the queries are forgotten: their covariance "
        "k_ab multiplies that of the keys"},
       {scale * k * unsqueeze(unsqueeze(traces, 2), 3),
        "i and j are two keys: the sum runs over all pairs, "
        "since values at different keys are correlated"},
       {scale * k * norms,
        "the keys of input n pair with those of input m: the sum is over k(n, m)"}});
}
