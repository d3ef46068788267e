#include "ladon/layers/sequence/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"
#include "ladon/core/rowwise.h"

namespace ladon {
namespace {

using Tokens = std::vector<std::int64_t>;

/// Beams compare texts of unequal length by log-probability a token to a power.
double score(double log_probability, std::size_t length, double penalty) {
  return log_probability / std::pow(static_cast<double>(length), penalty);
}

void check_options(const GenerateOptions& o) {
  LADON_CHECK(o.length > 0, "generate", "length must be positive, got ", o.length);
  LADON_CHECK(o.temperature >= 0 && o.top_k >= 0 && o.top_p > 0 && o.top_p <= 1, "generate",
              "temperature and top_k must not be negative, and top_p lie in (0, 1]; got ",
              o.temperature, ", ", o.top_k, " and ", o.top_p);
  LADON_CHECK(o.beams >= 0, "generate", "beams must not be negative, got ", o.beams);
  LADON_CHECK(o.min_p >= 0 && o.min_p <= 1 && o.repetition_penalty > 0, "generate",
              "min_p must lie in [0, 1], and repetition_penalty be positive; got ", o.min_p,
              " and ", o.repetition_penalty);
  LADON_CHECK(o.beams == 0 || (o.temperature == 1 && o.top_k == 0 && o.top_p == 1 && o.min_p == 0 &&
                               o.repetition_penalty == 1 && !o.on_token),
              "generate",
              "beams draw nothing; leave temperature, top_k, top_p, min_p, repetition_penalty and "
              "on_token alone");
}

/// ln p of every token: f64 [vocabulary]. Throws Error for a NaN, and where no token is possible.
Tensor log_probabilities(const Tensor& logits) {
  LADON_CHECK(logits.count() > 0, "generate", "there are no tokens to choose from");
  const Tensor x = contiguous(cast(logits, f64));
  const double top = amax(x).item();
  if (std::isnan(top)) {
    const double* values = x.data<double>();
    const double* nan = std::find_if(values, values + x.count(), [](double v) { return v != v; });
    detail::fail("generate", "the logit of token ", nan - values, " is NaN");
  }
  LADON_CHECK(std::isfinite(top), "generate", "the largest logit is ", top,
              "; a token must be possible");
  return log_softmax(x, 0);
}

/// Logits [vocabulary], in f64, where tokens of the text are less likely.
Tensor penalized(const Tensor& logits, const Tokens& text, double penalty) {
  Tensor x = clone(contiguous(cast(logits, f64)));
  double* values = x.mutable_data<double>();
  for (const std::int64_t token : std::set(text.begin(), text.end())) {
    LADON_CHECK(token >= 0 && token < x.count(), "generate", "the text has token ", token,
                ", the model's logits are of ", x.count());
    values[token] = values[token] > 0 ? values[token] / penalty : values[token] * penalty;
  }
  return x;
}

/// Tokens by falling ln p, the first of equal ones before; sorted as far as it is asked for.
class Ranking {
 public:
  explicit Ranking(const Tensor& p) {
    const double* values = p.data<double>();
    order_.reserve(static_cast<std::size_t>(p.count()));
    for (std::int64_t t = 0; t < p.count(); ++t) order_.push_back({values[t], t});
  }
  std::size_t size() const { return order_.size(); }
  std::int64_t operator[](std::size_t i) {
    while (i >= sorted_) sort_more();
    return order_[i].token;
  }

 private:
  struct Item {
    double p;
    std::int64_t token;
    bool operator<(const Item& other) const {
      return p > other.p || (p == other.p && token < other.token);
    }
  };
  void sort_more() {
    const auto from = order_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sorted_ = std::max<std::size_t>(64, 8 * sorted_);
    if (4 * sorted_ > size()) {
      sorted_ = size();
      return std::sort(from, order_.end());
    }
    std::partial_sort(from, order_.begin() + static_cast<std::ptrdiff_t>(sorted_), order_.end());
  }

  std::vector<Item> order_;
  std::size_t sorted_ = 0;
};

/// A token drawn by the mass of tokens(i), i < n, of which `total` is the sum.
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

/// A token, given ln p of every one.
std::int64_t draw(const Tensor& p, const GenerateOptions& o, Generator& rng) {
  const auto count = static_cast<std::size_t>(p.count());
  const double* values = p.data<double>();
  const double* top = std::max_element(values, values + count);
  if (o.temperature == 0) return top - values;
  Tensor masses = exp((p - *top) / o.temperature);  // of the likeliest 1
  double* mass = masses.mutable_data<double>();
  double total = 0;
  if (o.min_p > 0)
    for (std::size_t i = 0; i < count; ++i) mass[i] = mass[i] < o.min_p ? 0 : mass[i];
  if (o.top_k == 0 && o.top_p == 1) {
    total = std::accumulate(mass, mass + count, 0.0);
    return draw_by_mass(
        mass, count, total, [](std::size_t i) { return static_cast<std::int64_t>(i); }, rng);
  }
  Ranking order(p);
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

/// Texts being written, a row each, and what the model says of their next tokens.
class Writer {
 public:
  Writer(const NextToken& next, const Tensor& prompt, const Tensor& mask,
         const DecodingCache& start, bool cached)
      : next_(next), start_(start), cache_(start), cached_(cached) {
    const std::int64_t batch = prompt.size(0), length = prompt.size(1);
    const Tokens tokens = prompt.to_vector<std::int64_t>();
    const std::vector<double> flags = mask.defined() ? mask.to_vector() : std::vector<double>();
    for (std::int64_t b = 0; b < batch; ++b) {
      texts_.emplace_back();
      for (std::int64_t t = 0; t < length; ++t) {
        const auto at = static_cast<std::size_t>(b * length + t);
        if (flags.empty() || flags[at] != 0) texts_.back().push_back(tokens[at]);
      }
      LADON_CHECK(!texts_.back().empty(), "generate", "prompt ", b, " has no tokens");
    }
    look_at_all();
  }

  /// Logits of the token after each row.
  const std::vector<Tensor>& logits() const { return logits_; }
  /// A row with its prompt.
  const Tokens& text(std::size_t row) const { return texts_[row]; }

  /// Row i becomes row rows[i] with tokens[i] after it.
  void go_on(const Tokens& rows, const Tokens& tokens) {
    std::vector<Tokens> texts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      texts.push_back(texts_[static_cast<std::size_t>(rows[i])]);
      texts.back().push_back(tokens[i]);
    }
    texts_ = std::move(texts);
    const auto count = static_cast<std::int64_t>(rows.size());
    const Tensor chosen = from_vector(rows, {count});
    Tokens as_they_are(logits_.size());
    std::iota(as_they_are.begin(), as_they_are.end(), 0);
    const bool moved = rows != as_they_are;  // to choose copies what is remembered
    if (!cached_) {
      if (moved) start_.select(chosen);
      cache_ = start_;
      return look_at_all();
    }
    if (moved) cache_.select(chosen);
    take(next_(from_vector(tokens, {count, 1}), cache_, {}), Tokens(rows.size(), 0));
  }

 private:
  void look_at_all() {
    std::size_t longest = 0;
    for (const Tokens& text : texts_) longest = std::max(longest, text.size());
    Tokens all, last;
    std::vector<bool> flags;
    bool padded = false;
    for (const Tokens& text : texts_) {
      last.push_back(static_cast<std::int64_t>(text.size()) - 1);
      for (std::size_t t = 0; t < longest; ++t) {
        all.push_back(t < text.size() ? text[t] : 0);
        flags.push_back(t < text.size());
        padded = padded || t >= text.size();
      }
    }
    const Shape shape{static_cast<std::int64_t>(texts_.size()), static_cast<std::int64_t>(longest)};
    const Tensor mask = padded ? from_vector(flags, shape) : Tensor();
    take(next_(from_vector(all, shape), cache_, mask), last);
  }

  /// Takes the logits at position last[b] of row b, or those of the only position.
  void take(const Tensor& logits, const Tokens& last) {
    LADON_CHECK(
        logits.defined() && is_floating(logits.dtype()) && logits.rank() == 3 &&
            logits.size(0) == static_cast<std::int64_t>(texts_.size()) &&
            (logits.size(1) == 1 || logits.size(1) > *std::max_element(last.begin(), last.end())),
        "generate", "the model must give logits [batch, T, vocabulary] of ", texts_.size(), " rows",
        logits.defined() ? detail::join(", got ", logits.shape()) : "");
    logits_.clear();
    for (std::size_t b = 0; b < last.size(); ++b)
      logits_.push_back(select(select(logits, 0, static_cast<std::int64_t>(b)), 0,
                               logits.size(1) == 1 ? 0 : last[b]));
  }

  const NextToken& next_;
  DecodingCache start_, cache_;
  bool cached_;
  std::vector<Tokens> texts_;
  std::vector<Tensor> logits_;
};

bool stops(const GenerateOptions& o, std::int64_t token) {
  return std::find(o.stop.begin(), o.stop.end(), token) != o.stop.end();
}

std::vector<Generated> write_by_drawing(Writer& writer, std::size_t batch, const GenerateOptions& o,
                                        Generator& rng) {
  const std::uint64_t first = rng.reserve(1);
  std::vector<Generated> texts(batch);
  std::vector<Generator> generators;
  std::vector<std::size_t> open(batch);  // rows of the writer are these texts
  std::iota(open.begin(), open.end(), std::size_t{0});
  for (std::size_t b = 0; b < batch; ++b) generators.push_back(rng.split(first).split(b));
  for (std::int64_t step = 0; step < o.length; ++step) {
    Tokens rows, tokens;
    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::size_t b = open[i];
      const Tensor& logits = writer.logits()[i];
      const Tensor p = log_probabilities(logits);
      const double penalty = o.repetition_penalty;
      const std::int64_t token =
          draw(penalty == 1 ? p : log_probabilities(penalized(logits, writer.text(i), penalty)), o,
               generators[b]);
      texts[b].tokens.push_back(token);
      texts[b].log_probability += p.data<double>()[token];
      const bool wanted = !o.on_token || o.on_token(static_cast<std::int64_t>(b), token);
      if (!wanted || stops(o, token)) continue;
      rows.push_back(static_cast<std::int64_t>(i));
      tokens.push_back(token);
      next.push_back(b);
    }
    open = next;
    if (open.empty()) break;
    if (step + 1 < o.length) writer.go_on(rows, tokens);
  }
  return texts;
}

/// A text of a beam, and its row in the writer.
struct Candidate {
  Generated text;
  std::int64_t row;
  bool ended = false;
};

/// The likeliest continuations of the open texts of one prompt, the likeliest first: so many that
/// `beams` of them go on even if every text ends by each stop token.
std::vector<Candidate> continued(const std::vector<Candidate>& open, const Writer& writer,
                                 const GenerateOptions& o) {
  const std::size_t kept = static_cast<std::size_t>(o.beams) * (1 + o.stop.size());
  std::vector<Candidate> all;
  for (const Candidate& c : open) {
    const Tensor p = log_probabilities(writer.logits()[static_cast<std::size_t>(c.row)]);
    Ranking order(p);
    for (std::size_t i = 0; i < std::min(kept, order.size()); ++i) {
      const std::int64_t token = order[i];
      const double log_p = p.data<double>()[token];
      if (std::isinf(log_p)) continue;
      Candidate longer = c;
      longer.text.tokens.push_back(token);
      longer.text.log_probability += log_p;
      longer.ended = stops(o, token);
      all.push_back(std::move(longer));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.text.log_probability > b.text.log_probability;
  });
  all.resize(std::min(all.size(), kept));
  return all;
}

std::vector<Generated> write_by_beams(Writer& writer, std::size_t batch, const GenerateOptions& o) {
  const auto value = [&](const Generated& text) {
    return score(text.log_probability, text.tokens.size(), o.length_penalty);
  };
  const auto better = [&](const Candidate& a, const Candidate& b) {
    return value(a.text) < value(b.text);
  };
  std::vector<std::vector<Candidate>> open(batch), ended(batch);
  for (std::size_t b = 0; b < batch; ++b) open[b].push_back({{}, static_cast<std::int64_t>(b)});
  for (std::int64_t step = 0; step < o.length; ++step) {
    Tokens rows, tokens;
    for (std::size_t b = 0; b < batch; ++b) {
      std::vector<Candidate> next;
      for (Candidate& c : continued(open[b], writer, o)) {
        if (c.ended)
          ended[b].push_back(std::move(c));
        else if (next.size() < static_cast<std::size_t>(o.beams))
          next.push_back(std::move(c));
      }
      // Enough have ended, and no open text is better by now. (Longer, it might become so.)
      const bool done = ended[b].size() >= static_cast<std::size_t>(o.beams) && !next.empty() &&
                        !better(*std::max_element(ended[b].begin(), ended[b].end(), better),
                                *std::max_element(next.begin(), next.end(), better));
      open[b].clear();
      if (done) continue;
      for (Candidate& c : next) {
        rows.push_back(c.row);
        tokens.push_back(c.text.tokens.back());
        c.row = static_cast<std::int64_t>(rows.size()) - 1;
        open[b].push_back(std::move(c));
      }
    }
    if (rows.empty()) break;
    if (step + 1 < o.length) writer.go_on(rows, tokens);
  }
  std::vector<Generated> best;
  for (std::size_t b = 0; b < batch; ++b) {
    ended[b].insert(ended[b].end(), open[b].begin(), open[b].end());
    best.push_back(std::max_element(ended[b].begin(), ended[b].end(), better)->text);
  }
  return best;
}

}  // namespace

std::int64_t draw_token(const Tensor& logits, const GenerateOptions& options, Generator& rng) {
  const NoGrad no_grad;
  check_options(options);
  LADON_CHECK(logits.defined() && is_floating(logits.dtype()) && logits.rank() == 1, "draw_token",
              "logits must be floating [vocabulary]",
              logits.defined() ? detail::join(", got ", logits.dtype(), " ", logits.shape()) : "");
  return draw(log_probabilities(logits), options, rng);
}

std::vector<Generated> generate(const NextToken& next, const Tensor& prompt,
                                const GenerateOptions& options, Generator& rng, const Tensor& mask,
                                const DecodingCache& start) {
  check_options(options);
  LADON_CHECK(prompt.defined() && prompt.dtype() == i64 && prompt.rank() == 2 &&
                  prompt.size(0) > 0 && prompt.size(1) > 0,
              "generate", "the prompt must be i64 [batch, T] with T > 0",
              prompt.defined() ? detail::join(", got ", prompt.dtype(), " ", prompt.shape()) : "");
  LADON_CHECK(!mask.defined() || (mask.dtype() == boolean && mask.shape() == prompt.shape()),
              "generate", "the mask must be bool ", prompt.shape());
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  Writer writer(next, prompt, mask, start, options.cached);
  const auto batch = static_cast<std::size_t>(prompt.size(0));
  return options.beams > 0 ? write_by_beams(writer, batch, options)
                           : write_by_drawing(writer, batch, options, rng);
}

}  // namespace ladon
