#include "ladon/layers/extra/sequence/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/extra/sequence/token_choice.h"

namespace ladon {
namespace {

using detail::stops;
using detail::Tokens;

/// Score by which beam search compares texts of unequal length: log-probability divided by a power
/// of the length.
double score(double log_probability, std::size_t length, double penalty) {
  return log_probability / std::pow(static_cast<double>(length), penalty);
}

/// Texts being generated, one per row, and the model's logits of their next tokens.
class Writer {
 public:
  Writer(const NextToken& next, const Tensor& prompt, const Tensor& mask,
         const DecodingCache& start, bool cached)
      : next_(next), start_(start), cache_(start), cached_(cached) {
    const std::int64_t batch = prompt.size(0), length = prompt.size(1);
    const Tokens tokens = prompt.to_vector<std::int64_t>();
    const std::vector<double> flags =
        mask.defined() ? numbers_of("generate", mask) : std::vector<double>();
    for (std::int64_t b = 0; b < batch; ++b) {
      texts_.emplace_back();
      for (std::int64_t t = 0; t < length; ++t) {
        const auto at = static_cast<std::size_t>(b * length + t);
        if (flags.empty() || flags[at] != 0) texts_.back().push_back(tokens[at]);
      }
      LADON_CHECK(!texts_.back().empty(), "generate", "prompt ", b,
                  " has no tokens; each prompt needs at least one");
    }
    look_at_all();
  }

  /// Logits of the next token of each row.
  const std::vector<Tensor>& logits() const { return logits_; }
  /// The tokens of a row, with its prompt.
  const Tokens& text(std::size_t row) const { return texts_[row]; }

  /// Replaces row i by row rows[i] with tokens[i] appended.
  void go_on(const Tokens& rows, const Tokens& tokens) {
    const auto count = static_cast<std::int64_t>(rows.size());
    const Tensor chosen = from_vector(rows, {count});
    Tokens as_they_are(logits_.size());
    std::iota(as_they_are.begin(), as_they_are.end(), 0);
    const bool moved = rows != as_they_are;  // if not, the cache need not be copied
    if (moved) {
      std::vector<Tokens> texts;
      for (const std::int64_t row : rows) texts.push_back(texts_[row]);
      texts_ = std::move(texts);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) texts_[i].push_back(tokens[i]);
    if (!cached_) {
      if (moved) start_.select(chosen);
      cache_ = start_;
      return look_at_all();
    }
    if (moved) cache_.select(chosen);
    logits_ = detail::logits_after(next_(from_vector(tokens, {count, 1}), cache_, {}),
                                   Tokens(rows.size(), 0));
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
    logits_ = detail::logits_after(next_(from_vector(all, shape), cache_, mask), last);
  }

  const NextToken& next_;
  DecodingCache start_, cache_;
  bool cached_;
  std::vector<Tokens> texts_;
  std::vector<Tensor> logits_;
};

std::vector<Generated> write_by_drawing(Writer& writer, std::size_t batch, const GenerateOptions& o,
                                        Generator& rng) {
  const std::uint64_t first = rng.reserve(1);
  std::vector<detail::DrawnText> texts;
  std::vector<std::size_t> open(batch);  // index in `texts` of each row of the writer
  std::iota(open.begin(), open.end(), std::size_t{0});
  for (std::size_t b = 0; b < batch; ++b)
    texts.push_back({static_cast<std::int64_t>(b), writer.text(b), o, rng.split(first).split(b)});
  while (true) {
    Tokens rows, tokens;
    std::vector<std::size_t> next;
    for (std::size_t i = 0; i < open.size(); ++i) {
      detail::DrawnText& text = texts[open[i]];
      if (!text.grow(writer.logits()[i])) continue;
      rows.push_back(static_cast<std::int64_t>(i));
      tokens.push_back(text.text.tokens.back());
      next.push_back(open[i]);
    }
    open = next;
    if (open.empty()) break;
    writer.go_on(rows, tokens);
  }
  std::vector<Generated> written;
  for (detail::DrawnText& text : texts) written.push_back(std::move(text.text));
  return written;
}

/// A candidate text of beam search, and its row in the Writer.
struct Candidate {
  Generated text;
  std::int64_t row;
  bool ended = false;
};

/// The likeliest continuations of the open texts of one prompt, in order of decreasing probability:
/// so many that at least `beams` of them do not end, even if each stop token is among the
/// continuations of every text.
std::vector<Candidate> continued(const std::vector<Candidate>& open, const Writer& writer,
                                 const GenerateOptions& o) {
  const std::size_t kept = static_cast<std::size_t>(o.beams) * (1 + o.stop.size());
  std::vector<Candidate> all;
  for (const Candidate& c : open) {
    const detail::TokenLogits logits(writer.logits()[c.row]);
    detail::TokenRanking order(logits);
    for (std::size_t i = 0; i < std::min(kept, order.size()); ++i) {
      const std::int64_t token = order[i];
      const double log_p = logits.log_probability(token);
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
      // Enough texts have ended, and no open text has a better score at its present length. (It
      // might get one when it is longer.)
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

std::vector<Generated> generate(const NextToken& next, const Tensor& prompt,
                                const GenerateOptions& options, Generator& rng, const Tensor& mask,
                                const DecodingCache& start) {
  detail::check_options(options);
  LADON_CHECK(next, "generate",
              "the model must be a function of tokens, but it is an empty function");
  LADON_CHECK(prompt.defined() && prompt.dtype() == i64 && prompt.rank() == 2 &&
                  prompt.size(0) > 0 && prompt.size(1) > 0,
              "generate", "the prompt must be i64 [batch, T] with T > 0", ", got ",
              detail::kind_in_words(prompt));
  LADON_CHECK(!mask.defined() || (mask.dtype() == boolean && mask.shape() == prompt.shape()),
              "generate", "the mask must be bool ", prompt.shape(), ", true = token; got ",
              mask.dtype(), " ", mask.shape());
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  Writer writer(next, prompt, mask, start, options.cached);
  const auto batch = static_cast<std::size_t>(prompt.size(0));
  return options.beams > 0 ? write_by_beams(writer, batch, options)
                           : write_by_drawing(writer, batch, options, rng);
}

}  // namespace ladon
