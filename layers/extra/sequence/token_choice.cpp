#include "ladon/layers/extra/sequence/token_choice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"
#include "ladon/core/unread.h"

namespace ladon {
namespace detail {

void check_options(const GenerateOptions& o) {
  LADON_CHECK(o.length > 0, "generate", "length must be positive, got ", o.length);
  LADON_CHECK(o.temperature >= 0 && std::isfinite(o.temperature), "generate",
              "temperature must be finite and must not be negative, got ", o.temperature,
              "; a large finite one draws all possible tokens alike");
  LADON_CHECK(o.top_k >= 0, "generate", "top_k must be positive, or 0 for all tokens, got ",
              o.top_k);
  LADON_CHECK(o.top_p > 0 && o.top_p <= 1, "generate", "top_p must lie in (0, 1], got ", o.top_p);
  LADON_CHECK(o.beams >= 0, "generate", "beams must not be negative, got ", o.beams);
  // Beam search ranks beams·(1 + stop tokens) continuations.
  const std::int64_t most = max_count / (1 + std::ssize(o.stop));
  LADON_CHECK(o.beams <= most, "generate", "beams is ", o.beams, ", but must be at most ", most,
              " with ", o.stop.size(), " stop tokens; no search keeps so many texts");
  LADON_CHECK(o.length_penalty >= 0 && std::isfinite(o.length_penalty), "generate",
              "length_penalty must be finite and not negative, got ", o.length_penalty);
  LADON_CHECK(o.beams > 0 || o.length_penalty == 1, "generate", "length_penalty is ",
              o.length_penalty, ", but only a beam search has one; set beams");
  LADON_CHECK(o.min_p >= 0 && o.min_p <= 1, "generate", "min_p must lie in [0, 1], got ", o.min_p);
  LADON_CHECK(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty), "generate",
              "repetition_penalty must be positive and finite, got ", o.repetition_penalty);
  const auto leave = [&o](bool at_default, const char* option) {
    LADON_CHECK(o.beams == 0 || at_default, "generate", option,
                " is set, but a beam search draws nothing; leave ", option,
                " at its default, or set beams = 0");
  };
  leave(o.temperature == 1, "temperature");
  leave(o.top_k == 0, "top_k");
  leave(o.top_p == 1, "top_p");
  leave(o.min_p == 0, "min_p");
  leave(o.repetition_penalty == 1, "repetition_penalty");
  leave(!o.on_token, "on_token");
}

bool stops(const GenerateOptions& o, std::int64_t token) {
  return std::find(o.stop.begin(), o.stop.end(), token) != o.stop.end();
}

std::vector<Tensor> logits_after(const Tensor& logits, const Tokens& last) {
  const auto rows = static_cast<std::int64_t>(last.size());
  LADON_CHECK(
      logits.defined() && is_floating(logits.dtype()) && logits.rank() == 3 &&
          logits.size(0) == rows &&
          (logits.size(1) == 1 || logits.size(1) > *std::max_element(last.begin(), last.end())),
      "generate", "the model must give logits [batch, T, vocabulary] for ", rows, " rows", ", got ",
      kind_in_words(logits));
  std::vector<Tensor> each;
  for (std::int64_t b = 0; b < rows; ++b)
    each.push_back(select(select(logits, 0, b), 0, logits.size(1) == 1 ? 0 : last[b]));
  return each;
}

TokenLogits::TokenLogits(const Tensor& logits) : x_(contiguous(cast(logits, f64))) {
  LADON_CHECK(x_.count() > 0, "generate",
              "there are no tokens to choose from; logits must not be empty");
  likeliest_ = argmax(x_, 0).item<std::int64_t>();  // NaN counts as the largest
  const double top = values()[likeliest_];
  LADON_CHECK(!std::isnan(top), "generate", "the logit of token ", likeliest_,
              " is NaN; every logit must be a number: did the model diverge?");
  LADON_CHECK(std::isfinite(top), "generate", "the largest logit is ", top,
              "; it must be finite: at least one token must be possible");
}

double TokenLogits::log_probability(std::int64_t token) const {
  if (!log_sum_) log_sum_ = number_of("generate", logsumexp(x_, 0));
  return values()[token] - *log_sum_;
}

TokenRanking::TokenRanking(const TokenLogits& logits) {
  const double* values = logits.values();
  order_.reserve(logits.count());
  for (std::int64_t t = 0; t < logits.count(); ++t) order_.push_back({values[t], t});
}

void TokenRanking::sort_more() {
  const auto from = order_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  sorted_ = std::max<std::size_t>(64, 8 * sorted_);
  if (4 * sorted_ > size()) {
    sorted_ = size();
    return std::sort(from, order_.end());
  }
  std::partial_sort(from, order_.begin() + static_cast<std::ptrdiff_t>(sorted_), order_.end());
}

namespace {

/// Logits after the repetition penalty for tokens that the text or its prompt contains.
Tensor penalized(const Tensor& logits, const DrawnText& text) {
  const double penalty = text.options.repetition_penalty;
  Tensor x = clone(contiguous(cast(logits, f64)));
  double* values = x.mutable_data<double>();
  std::set<std::int64_t> tokens(text.prompt.begin(), text.prompt.end());
  tokens.insert(text.text.tokens.begin(), text.text.tokens.end());
  for (const std::int64_t token : tokens) {
    LADON_CHECK(token >= 0 && token < x.count(), "generate", "the text has token ", token,
                ", outside the model's vocabulary [0, ", x.count(),
                "); was it encoded for another model?");
    values[token] = values[token] > 0 ? values[token] / penalty : values[token] * penalty;
  }
  return x;
}

/// Draws one of the tokens token(0), …, token(n − 1) with probability mass[token]/total, where
/// `total` is the sum of their masses.
template <class TokenAt>
std::int64_t draw_by_mass(const double* mass, std::size_t n, double total, const TokenAt& token,
                          Generator& rng) {
  const double u = rng.uniform() * total;
  double sum = 0;
  std::int64_t last = token(0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t t = token(i);
    if (mass[t] == 0) continue;
    last = t;
    if (u < (sum += mass[t])) break;
  }
  return last;
}

std::int64_t draw(const TokenLogits& x, const GenerateOptions& o, Generator& rng) {
  if (o.temperature == 0) return x.likeliest();
  const auto count = static_cast<std::size_t>(x.count());
  Tensor masses = exp((x.tensor() - x.values()[x.likeliest()]) / o.temperature);  // at most 1
  double* mass = masses.mutable_data<double>();
  double total = 0;
  if (o.min_p > 0)
    for (std::size_t i = 0; i < count; ++i) mass[i] = mass[i] < o.min_p ? 0 : mass[i];
  if (o.top_k == 0 && o.top_p == 1) {
    total = std::accumulate(mass, mass + count, 0.0);
    return draw_by_mass(
        mass, count, total, [](std::size_t i) { return static_cast<std::int64_t>(i); }, rng);
  }
  TokenRanking order(x);
  const auto ranked = [&](std::size_t i) { return order[i]; };
  std::size_t n = count;
  if (o.top_k > 0) {
    n = std::min(count, static_cast<std::size_t>(o.top_k));
    for (std::size_t i = 0; i < n; ++i) total += mass[order[i]];
  } else {
    total = std::accumulate(mass, mass + count, 0.0);
  }
  if (o.top_p < 1) {
    double kept = 0;
    std::size_t most = std::exchange(n, 0);
    while (n < most && kept < o.top_p * total) kept += mass[order[n++]];
    total = kept;
  }
  return draw_by_mass(mass, n, total, ranked, rng);
}

}  // namespace

bool DrawnText::grow(const Tensor& logits) {
  const TokenLogits x(logits);
  const std::int64_t token = draw(
      options.repetition_penalty == 1 ? x : TokenLogits(penalized(logits, *this)), options, rng);
  text.tokens.push_back(token);
  text.log_probability += x.log_probability(token);
  const bool wanted = !options.on_token || options.on_token(row, token);
  return wanted && !stops(options, token) &&
         static_cast<std::int64_t>(text.tokens.size()) < options.length;
}

}  // namespace detail

std::int64_t draw_token(const Tensor& logits, const GenerateOptions& options, Generator& rng) {
  const NoGrad no_grad;
  detail::check_options(options);
  const GenerateOptions usual;
  constexpr auto why = "there is no text that it could act on; call generate()";
  detail::check_unread("draw_token", "beams", options.beams, usual.beams, why);
  detail::check_unread("draw_token", "repetition_penalty", options.repetition_penalty,
                       usual.repetition_penalty, why);
  LADON_CHECK(logits.defined() && is_floating(logits.dtype()) && logits.rank() == 1, "draw_token",
              "logits must be floating [vocabulary]", ", got ", detail::kind_in_words(logits));
  return detail::draw(detail::TokenLogits(logits), options, rng);
}

}  // namespace ladon
