#include "ladon/autograd/extra/distributions/discrete.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/mapped.h"

namespace ladon {

// --- Bernoulli ---

Bernoulli::Bernoulli(const Tensor& logits) : logits_(logits) {
  detail::check_parameter("Bernoulli", "logit", logits, false);
}

Tensor Bernoulli::sample(const Shape& shape, Generator& rng) const {
  const NoGrad no_grad;
  const Tensor u = uniform(detail::draw_shape(shape, *this), rng, 0, 1, f64);
  return cast(less(u, sigmoid(cast(logits_, f64))), logits_.dtype());
}

namespace {

/// Cross-entropy −p·ln σ(l) − n·ln(1 − σ(l)) between two Bernoulli distributions: one with the
/// probabilities p of 1 and n = 1 − p of 0, the other with the logit l. The terms do not cancel,
/// since both are nonnegative.
Tensor cross_entropy_of(const Tensor& p, const Tensor& n, const Tensor& l) {
  return p * softplus(-l) + n * softplus(l);
}

/// p·(q/p − 1 − ln(q/p)) ≥ 0 for probabilities p = e^log_p and q = e^log_q. The sum over all
/// outcomes is the divergence KL(p ‖ q), and the terms do not cancel each other even if p and q are
/// close.
Tensor divergence_terms(const Tensor& log_p, const Tensor& log_q) {
  const Tensor p = exp(log_p), t = log_q - log_p, near = less(abs(t), 0x1p-4);
  const Tensor u = where(near, t, 0);
  Tensor series = zeros_like(u);  // (e^u − 1 − u)/u² = Σ u^k/(k + 2)!
  for (int k = 9; k >= 0; --k) series = series * u + 1 / std::tgamma(k + 3.0);
  return p * where(near, u * u * series, 0) + where(near, 0, exp(log_q) - p - p * t);
}

/// The divergence `direct`, or the sum of divergence_terms() where `direct` is so small that
/// cancellation has cost most of its digits. Logarithms of probabilities are [.., classes].
Tensor or_close(const Tensor& direct, const Tensor& log_p, const Tensor& log_q) {
  const Tensor small = less_equal(direct, 0x1p-10);
  if (!any(mapped::show(small)).item<bool>()) return direct;
  const Tensor row = unsqueeze(small, -1);
  const Tensor terms = divergence_terms(where(row, log_p, 0), where(row, log_q, 0));
  return where(small, sum(terms, -1), direct);
}

}  // namespace

Tensor Bernoulli::log_prob(const Tensor& x) const {
  check_defined("Bernoulli", {x});
  LADON_CHECK(
      !recorded({x}), "Bernoulli",
      "outcomes are discrete, so log_prob has no derivative with respect to x, which requires a "
      "gradient; pass x.detach(), or for targets between 0 and 1 take "
      "binary_cross_entropy_with_logits");
  const Tensor l = cast(logits_, f64), outcome = x.dtype() == boolean ? cast(x, f64) : x;
  const Tensor one = equal(outcome, 1), known = logical_or(one, equal(outcome, 0));
  const Tensor y = where(known, -softplus(where(one, -l, l)), std::nan(""));
  return cast(y, promote(logits_.dtype(), x.dtype()));
}

Tensor Bernoulli::mean() const { return cast(sigmoid(cast(logits_, f64)), logits_.dtype()); }

Tensor Bernoulli::variance() const {
  const Tensor l = cast(logits_, f64);
  return cast(sigmoid(l) * sigmoid(-l), logits_.dtype());
}

Tensor Bernoulli::entropy() const {
  const Tensor l = cast(logits_, f64);
  return cast(cross_entropy_of(sigmoid(l), sigmoid(-l), l), logits_.dtype());
}

Tensor Bernoulli::kl_from(const Distribution& other) const {
  const Bernoulli& given = detail::same_family(*this, other);
  const Tensor l = cast(logits_, f64), q = cast(given.logits_, f64);
  const Tensor p = sigmoid(l), n = sigmoid(-l);
  const auto logarithms = [](const Tensor& x) { return stack({-softplus(-x), -softplus(x)}, -1); };
  const Tensor y =
      or_close(cross_entropy_of(p, n, q) - cross_entropy_of(p, n, l), logarithms(l), logarithms(q));
  return cast(y, promote(logits_.dtype(), given.logits_.dtype()));
}

// --- draws of classes ---

namespace {

/// Draws `count` classes for each row of weights [rows, n] (f64, contiguous): i64 [rows, count].
/// draw(row, weights, out) writes the classes of one row to `out`.
template <class Draw>
Tensor draw_rows(const Tensor& weights, std::int64_t count, const Draw& draw) {
  const std::int64_t rows = weights.size(0), n = weights.size(1);
  Tensor classes = empty({rows, count}, i64);
  auto* out = classes.mutable_data<std::int64_t>();
  for (std::int64_t r = 0; r < rows; ++r) draw(r, weights.data<double>() + r * n, out + r * count);
  return classes;
}

/// Draws by the inverse distribution function: the first class whose cumulative weight exceeds u
/// times the total weight, with u uniform on [0, 1).
Tensor draw_with_replacement(const Tensor& weights, std::int64_t count, Generator& rng) {
  const Tensor u = uniform({weights.size(0), count}, rng, 0, 1, f64);
  const std::int64_t n = weights.size(1);
  std::vector<double> sums(n);
  return draw_rows(weights, count, [&](std::int64_t r, const double* w, std::int64_t* out) {
    std::partial_sum(w, w + n, sums.begin());
    const double below = std::nextafter(sums.back(), 0.0);  // so that upper_bound finds a class
    for (std::int64_t i = 0; i < count; ++i) {
      const double at = std::min(u.data<double>()[r * count + i] * sums.back(), below);
      out[i] = std::upper_bound(sums.begin(), sums.end(), at) - sums.begin();
    }
  });
}

/// Draws by exponential keys: the `count` classes with the smallest ln E − ln w, where w is the
/// weight of the class and E a standard exponential variable.
Tensor draw_without_replacement(const Tensor& weights, std::int64_t count, Generator& rng) {
  const Tensor u = uniform(weights.shape(), rng, 0, 1, f64);
  const std::int64_t n = weights.size(1);
  std::vector<std::pair<double, std::int64_t>> keys(n);
  return draw_rows(weights, count, [&](std::int64_t r, const double* w, std::int64_t* out) {
    std::int64_t possible = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const double exponential = -std::log1p(-u.data<double>()[r * n + k]);
      keys[k] = {w[k] > 0 ? std::log(exponential) - std::log(w[k]) : HUGE_VAL, k};
      possible += w[k] > 0;
    }
    LADON_CHECK(count <= possible, "multinomial", "row ", r, " has ", possible,
                " classes of positive weight, fewer than the ", count,
                " to draw without replacement; draw fewer, or pass replacement = true");
    std::partial_sort(keys.begin(), keys.begin() + count, keys.end());
    for (std::int64_t i = 0; i < count; ++i) out[i] = keys[i].second;
  });
}

/// Draws with or without replacement, separately for each example of a vmap.
Tensor draw_classes(const char* operation, const Tensor& rows, std::int64_t count, Generator& rng,
                    bool replacement) {
  const Shape shape{rows.size(0), count};
  if (rows.size(0) == 0) return empty(shape, i64);
  return mapped::drawn(operation, shape, i64, rng, rows, [=](Generator& own, const Tensor& w) {
    const Tensor weights = ladon::contiguous(w);
    return replacement ? draw_with_replacement(weights, count, own)
                       : draw_without_replacement(weights, count, own);
  });
}

}  // namespace

Tensor multinomial(const Tensor& probabilities, std::int64_t count, Generator& rng,
                   bool replacement) {
  check_floating("multinomial", probabilities);
  const int rank = probabilities.rank();
  LADON_CHECK(rank >= 1 && probabilities.size(-1) > 0, "multinomial",
              "needs weights [.., classes], got shape ", probabilities.shape());
  LADON_CHECK(count >= 0, "multinomial", "cannot draw ", count,
              " classes; the number must not be negative");
  Shape shape = probabilities.shape().sub(0, rank - 1);
  const NoGrad no_grad;
  const Tensor weights = cast(reshape(probabilities, {shape.count(), probabilities.size(-1)}), f64);
  LADON_CHECK(detail::everywhere(logical_and(isfinite(weights), greater_equal(weights, 0))),
              "multinomial", "a weight is ",
              detail::everywhere(isfinite(weights)) ? "negative" : "NaN or infinite",
              "; all weights must be finite and at least 0");
  const Tensor total = sum(weights, -1);
  LADON_CHECK(detail::everywhere(logical_and(isfinite(total), greater(total, 0))), "multinomial",
              "the weights of a row sum to ",
              detail::everywhere(isfinite(total)) ? "0" : "infinity",
              "; each row needs a positive finite sum");
  shape.append(count);
  detail::checked_count("multinomial", shape);
  return reshape(draw_classes("multinomial", weights, count, rng, replacement), shape);
}

// --- Categorical ---

Categorical::Categorical(const Tensor& logits) : dtype_(logits.dtype()) {
  check_floating("Categorical", logits);
  LADON_CHECK(logits.rank() >= 1 && logits.size(-1) > 0, "Categorical",
              "needs logits [.., classes], got shape ", logits.shape());
  const Tensor total = logsumexp(logits, -1).detach();
  LADON_CHECK(detail::everywhere(isfinite(total)), "Categorical",
              "logits must not be NaN or +infinity, and each row must have a finite logit, since "
              "else no class is possible");
  log_p_ = log_softmax(cast(logits, f64), -1);
}

Shape Categorical::batch_shape() const { return log_p_.shape().sub(0, log_p_.rank() - 1); }

Tensor Categorical::sample(const Shape& shape, Generator& rng) const {
  const NoGrad no_grad;
  const Tensor p = exp(cast(log_p_, f64));
  const Tensor rows = reshape(p, {batch_shape().count(), p.size(-1)});
  const Tensor classes =
      draw_classes("Categorical", rows, detail::checked_count("Categorical", shape), rng, true);
  return reshape(transpose(classes), detail::draw_shape(shape, *this));
}

Tensor Categorical::log_prob(const Tensor& x) const {
  check_defined("Categorical", {x});
  LADON_CHECK(x.dtype() == i64, "Categorical", "classes must be i64, got ", x.dtype());
  Shape all = broadcast_shapes("Categorical", x.shape(), batch_shape());
  const Tensor index = unsqueeze(expand(x, all), -1);
  all.append(log_p_.size(-1));
  return cast(squeeze(gather(expand(log_p_, all), -1, index), -1), dtype_);
}

Tensor Categorical::mean() const {
  detail::fail("Categorical",
               "class numbers are labels, so a mean of them has no meaning; use the probabilities");
}
Tensor Categorical::variance() const {
  detail::fail("Categorical",
               "class numbers are labels, so a variance of them has no meaning; use entropy()");
}

// Classes of probability 0 contribute 0, although their ln p is −∞.
Tensor Categorical::entropy() const {
  const Tensor impossible = equal(log_p_, -HUGE_VAL);
  return cast(-sum(exp(log_p_) * masked_fill(log_p_, impossible, 0), -1), dtype_);
}

Tensor Categorical::kl_from(const Distribution& other) const {
  const Categorical& given = detail::same_family(*this, other);
  const Tensor& q = given.log_p_;
  LADON_CHECK(log_p_.size(-1) == q.size(-1), "kl",
              "both Categorical distributions must have the same number of classes, but p has ",
              log_p_.size(-1), " classes, q ", q.size(-1));
  constexpr double least = -1e4;  // in place of ln 0; its exponential is 0 too
  const Tensor impossible = equal(log_p_, -HUGE_VAL);
  const Tensor apart = masked_fill(log_p_, impossible, 0) - where(impossible, 0, q);
  const Tensor y = or_close(sum(exp(log_p_) * apart, -1), masked_fill(log_p_, impossible, least),
                            maximum(q, least));
  return cast(y, promote(dtype_, given.dtype_));
}

}  // namespace ladon
