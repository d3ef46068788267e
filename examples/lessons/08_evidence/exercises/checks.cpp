#include <limits>
#include <numeric>

#include "08_evidence/exercises/exercises.h"

using namespace ladon;
using lessons::compare;
using lessons::Mistake;
using lessons::require;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor row_of(const std::vector<double>& values) {
  return from_vector(values, {static_cast<std::int64_t>(values.size())});
}

/// Log likelihoods of one-head models drawn from the prior: inputs of two tokens, random targets.
std::vector<double> likelihoods_of_heads(std::int64_t draws, double shift = 0) {
  Generator rng(3);
  const NoGrad off;
  const AttentionPrior prior{.parameterization = Parameterization::ntk, .query_key_std = 4};
  const Sequential model(MultiHeadAttention({.dim = 2, .heads = 1, .prior = prior}, rng),
                         MeanPositions());
  const Tensor x = normal({6, 2, 2}, rng, f64), y = normal({6}, rng, f64);
  const auto head = infinite::latent_kernel(infinite::finite_heads(model, {.heads = 1}), x);
  const LogLikelihood f = latent_likelihood(head, y, 0.05);
  return (f(normal({draws, head.dim}, rng, f64)) + shift).to_vector();
}

/// likelihoods_of_heads() for 500 draws, with the first set to the largest of the others plus
/// `above`.
std::vector<double> likelihoods_with_first(double above) {
  std::vector<double> logs = likelihoods_of_heads(500);
  logs[0] = *std::max_element(logs.begin() + 1, logs.end()) + above;
  return logs;
}

/// Errors and variances of predictions of a Gaussian process's targets.
struct Predictions {
  std::vector<double> errors, variances;
};

/// Predicts each target from those before it. `known` is the noise of the targets that are given,
/// `next` that of the predicted one.
Predictions predict_in_order(const Tensor& kernel, const Tensor& y, double known, double next) {
  Predictions all;
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    double mean = 0, variance = at(kernel, {i, i}).item();
    if (i > 0) {
      const Slice before{.stop = i};
      const GaussianProcess gp(at(kernel, {before, before}), slice(y, 0, before),
                               {.noise = known, .jitter = 0});
      const GpPrediction f =
          gp.predict(unsqueeze(at(kernel, {i, before}), 0), at(kernel, {Slice{i, i + 1}, i}));
      mean = f.mean.item();
      variance = f.variance().item();
    }
    all.errors.push_back(at(y, {i}).item() - mean);
    all.variances.push_back(variance + next);
  }
  return all;
}

/// Σ_i −(square·e_i²/v_i + log·ln v_i + constant), with errors e_i and variances v_i
double log_density(const Predictions& of, double square = 0.5, double log = 0.5,
                   double constant = 0.5 * std::log(2 * std::numbers::pi)) {
  double sum = 0;
  for (std::size_t i = 0; i < of.errors.size(); ++i)
    sum -= square * of.errors[i] * of.errors[i] / of.variances[i] +
           log * std::log(of.variances[i]) + constant;
  return sum;
}

}  // namespace

void check_log_mean_exp(decltype(log_mean_exp)* yours) {
  const auto check = [&](const std::string& what, const std::vector<double>& logarithms) {
    const Tensor l = row_of(logarithms);
    const auto n = static_cast<double>(logarithms.size());
    const double right = logsumexp(l).item() - std::log(n), largest = amax(l).item();
    const double answer = yours(logarithms);
    require(std::isfinite(answer),
            detail::join(what, ": the result is ", answer,
                         "; e^l leaves the range of double. Take e^m out of the sum, where m is "
                         "the largest logarithm"));
    compare(what, answer, right,
            {{right - largest, what + ": e^m was taken out of the sum and not put back: add m to "
                                      "the logarithm"},
             {right + std::log(n), what + ": ln of the sum; the evidence is the mean over draws: "
                                          "subtract ln of their number"},
             {mean(l).item(), what + ": the mean of the logarithms, which is always less than the "
                                     "logarithm of the mean (Jensen)"},
             {right + std::log(n) - std::log(n - 1),
              what + ": divided by n − 1; that is for variances"}});
  };
  check("of ln 1 and ln 3", {0, std::log(3)});
  check("of a head's likelihoods", likelihoods_of_heads(500));
  check("of likelihoods near e^−2000", likelihoods_of_heads(500, -2000));
  check("of likelihoods near e^2000", likelihoods_of_heads(500, 2000));
  // Only the largest log likelihood may be subtracted, not the first, the mean, the median or the
  // smallest.
  check("of likelihoods, the first e^−2000 of the largest", likelihoods_with_first(-2000));
  check("of likelihoods, the first e^2000 of all others", likelihoods_with_first(2000));
  check("of one draw", {-3});
  const double half = yours({0, -infinity});
  compare("of ln 1 and ln 0", half, -std::log(2),
          {{0, "of ln 1 and ln 0: a draw under which the data are impossible counts in the mean"}});
  require(yours({-infinity, -infinity}) == -infinity,
          "where all likelihoods are 0 the result is −∞; −∞ − (−∞) is not a number");
}

void check_evidence_by_prediction(decltype(evidence_by_prediction)* yours) {
  const auto check = [&](const std::string& what, const Tensor& kernel, const Tensor& y,
                         double noise) {
    const GaussianProcess gp(kernel, y, {.noise = noise, .jitter = 0});
    const double answer = yours(kernel, y, noise), n = static_cast<double>(y.size(0));
    const Predictions right = predict_in_order(kernel, y, noise, noise);
    Predictions alone{y.to_vector(), diagonal(kernel + noise).to_vector()};
    std::vector<Mistake> mistakes = {
        {log_density(predict_in_order(kernel, y, noise, 0)),
         "the noise of the predicted target is forgotten: y_i is f_i plus noise"},
        {log_density(predict_in_order(kernel, y, 1e-9, noise)),
         "the noise of the targets before it is forgotten: A is a block of K + σ²"},
        {log_density(right, 0.5, 0.5, 0), "the constant −½ ln 2π of each target is missing"},
        {log_density(right, 0.5, 1),
         "ln of the variance counts in full: it is ½ ln v, ln of the "
         "standard deviation"},
        {log_density(right, 0.5, -0.5),
         "½ ln v has the wrong sign: a wide prediction has a low "
         "density"},
        {log_density(right, 1), "the squared error lacks its ½"},
        {-log_density(right), "this is minus the log evidence"},
        {log_density(right) / n, "the mean over targets; the product rule makes a sum"},
        {log_density(alone), "each target is predicted alone, as if independent of the others"},
        {gp.leave_one_out().log_density,
         "each target is predicted from all others (leave one out), not from those before it"}};
    for (Mistake& mistake : mistakes) mistake.reason = what + ": " + mistake.reason;
    compare(what, answer, gp.log_marginal_likelihood(), mistakes, 1e-7);
  };
  Generator rng(5);
  const NoGrad off;
  check("one target", full({1, 1}, 1.5, f64), tensor({0.7}, f64), 0.3);
  const Tensor features = normal({7, 9}, rng, f64), y = normal({7}, rng, f64);
  check("seven targets", matmul(features, transpose(features)) / 9.0, y, 0.3);
  const Tensor few = slice(features, 1, {.stop = 2});  // one head of two channels
  check("a kernel of rank 2", matmul(few, transpose(few)) / 2.0, y, 0.05);
}

void check_estimate_evidence(decltype(estimate_evidence)* yours) {
  const auto check = [&](const std::string& what, const std::vector<double>& logarithms) {
    const EvidenceEstimate answer = yours(logarithms);
    const Tensor l = row_of(logarithms), w = exp(l - amax(l));
    const auto draws = static_cast<double>(logarithms.size());
    const double right = logsumexp(l).item() - std::log(draws), root = std::sqrt(draws);
    require(std::isfinite(answer.log_evidence + answer.error + answer.effective),
            what +
                ": a result is not finite: divide all likelihoods by the largest before e^l "
                "leaves the range of double");
    compare(what + ", ln Ẑ", answer.log_evidence, right,
            {{right + std::log(draws), what + ", ln Ẑ: ln of the sum; Ẑ is the mean"},
             {right - amax(l).item(), what + ", ln Ẑ: the largest logarithm is not put back"},
             {mean(l).item(), what + ", ln Ẑ: the mean of the logarithms, not ln of the mean"}});
    const double sd = stddev(w).item() / mean(w).item();  // relative to the mean
    const double others = stddev(w, {}, Dims::drop, 0).item() / mean(w).item();
    const std::string error = what + ", the error: ";
    compare(what + ", the error", answer.error, sd / root,
            {{sd, error + "the standard deviation of one likelihood; that of a mean of S draws "
                          "is 1/√S of it"},
             {sd * sd / draws, error + "this is the variance; take its root"},
             {others / root, error + "the variance has the divisor S, not S − 1"},
             {stddev(l).item() / root, error + "that of the mean of the logarithms; the "
                                               "likelihoods are averaged instead"},
             {stddev(exp(l)).item() / root, error + "that of Ẑ; the error of ln Ẑ is that over Ẑ"},
             {stddev(w).item() / root, error + "that of Ẑ; the error of ln Ẑ is that over Ẑ"}},
            1e-7);
    const double effective = std::pow(sum(w).item(), 2) / sum(square(w)).item();
    const std::string count = what + ", effective draws: ";
    compare(
        what + ", effective draws", answer.effective, effective,
        {{1 / effective, count + "this is the inverse of it"},
         {effective / draws, count + "this is the number over S"},
         {std::pow(sum(l).item(), 2) / sum(square(l)).item(),
          count + "of the logarithms; the weights are the likelihoods"},
         {1 / sum(square(w)).item(), count + "the weights must sum to 1 before they are squared"},
         {sum(w).item(), count + "the sum of the weights over the largest one is a different "
                                 "count; this one is (Σ w)²/Σ w²"}},
        1e-7);
  };
  check("of five draws", {-1.2, 0.4, -0.3, -2.5, 0.1});
  check("of a head's likelihoods", likelihoods_of_heads(500));
  check("of likelihoods near e^−2000", likelihoods_of_heads(500, -2000));
  check("of likelihoods, the first e^−2000 of the largest", likelihoods_with_first(-2000));
  check("of likelihoods, the first e^2000 of all others", likelihoods_with_first(2000));
  const EvidenceEstimate equal = yours({-7, -7, -7, -7});
  require(equal.error < 1e-7 && std::abs(equal.effective - 4) < 1e-9,
          "four equal likelihoods: the error is 0, and all four draws count");
}
