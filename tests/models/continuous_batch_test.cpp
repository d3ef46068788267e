// ContinuousBatch compared with generate() for each single request: whatever fails in other
// requests or in the middle of a step, a text has the same tokens as alone.

#include "ladon/layers/extra/sequence/continuous_batch.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <stdexcept>

#include "ladon/autograd/ops.h"
#include "ladon/core/packed_weights.h"
#include "ladon/layers/extra/sequence/language_model.h"
#include "ladon/tests/models/fail.h"
#include "ladon/tests/support.h"

namespace ladon::continuous_batch_test {
namespace {

using test::FailingAllocation;
using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t vocabulary = 17, positions = 20;

/// What should become of a request.
struct Expected {
  Tokens tokens;               // that generate() gives it, as far as the model has positions
  double log_probability = 0;  // of all of them
  std::int64_t end = 0;        // so many of them are written …
  bool fails = false;          // … and then it ends by an Error
};

class Machine {
 public:
  Machine(std::uint64_t seed, bool tells_limit)
      : seed_(seed),
        rng_(seed),
        tells_limit_(tells_limit),
        model_(form(), rng_),
        batch_(std::in_place, next()) {
    model_.eval();
    if (random(3) == 0) packed_.emplace(model_.parameters(), WeightForm::int8);
  }

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      SCOPED_TRACE(detail::join("seed ", seed_, ", operation ", i));
      const std::int64_t what = random(12);
      if (what < 3)
        add();
      else if (what == 3)
        add_what_does_not_fit();
      else if (what == 4)
        cancel();
      else if (what == 5)
        batch_.emplace(ContinuousBatch(std::move(*batch_)));
      else
        step(random(4));
      EXPECT_EQ(batch_->open(), static_cast<std::int64_t>(open_.size()));
    }
    for (int i = 0; i < 60 && batch_->open() > 0; ++i) step(0);
    EXPECT_EQ(batch_->open(), 0);
    EXPECT_TRUE(open_.empty());
  }

  int failed = 0, ended = 0, cancelled = 0;

 private:
  LanguageModelOptions form() {
    LanguageModelOptions o = gpt2(vocabulary, 1, 8, 2, positions);
    o.init_std = 0.7;
    return o;
  }
  std::int64_t random(std::int64_t n) { return static_cast<std::int64_t>(rng_.uniform() * n); }

  /// The model, which fails at a call that it is told of, and never reads the token 5 alone or
  /// beside others.
  NextToken next() {
    return [this](const Tensor& tokens, DecodingCache& cache, const Tensor& mask) {
      if (fail_at_call_ > 0 && --fail_at_call_ == 0) throw std::runtime_error("a call");
      const Tensor logits = next_token(model_)(tokens, cache, mask);
      for (const auto token : tokens.to_vector<std::int64_t>())
        if (token == 5) throw std::domain_error("five");  // after the cache was written to
      if (!tells_limit_) cache.most_positions = 0;
      return logits;
    };
  }

  void add() {
    const std::int64_t count = 1 + random(6), most = positions + 1 - count;
    Tokens prompt;
    for (std::int64_t i = 0; i < count; ++i) prompt.push_back(6 + random(11));
    GenerateOptions options{.length = 1 + random(tells_limit_ ? most : 30)};
    if (random(3) == 0) options.temperature = 0;
    if (random(3) == 0) options.top_k = 4;
    if (random(3) == 0) options.stop = {2, 3};
    const Tensor text = from_vector(prompt, {count});

    // Alone, of as many tokens as there are positions.
    Expected wanted;
    GenerateOptions alone = options;
    alone.length = std::min(options.length, most);
    Generator same = draws_;
    const Generated written = generate(next_token(model_), unsqueeze(text, 0), alone, same)[0];
    wanted.tokens = written.tokens;
    wanted.log_probability = written.log_probability;
    wanted.end = static_cast<std::int64_t>(written.tokens.size());
    const bool stopped =
        !options.stop.empty() && (written.tokens.back() == 2 || written.tokens.back() == 3);
    wanted.fails = wanted.end == most && options.length > most && !stopped;
    for (std::int64_t i = 0; i + 1 < wanted.end + wanted.fails; ++i)
      if (written.tokens[static_cast<std::size_t>(i)] == 5) {
        wanted.end = i + 1;
        wanted.fails = true;
        break;
      }
    const std::int64_t does = random(6), at = 1 + random(6);
    if (does == 0 && at <= wanted.end) {
      wanted.end = at;
      wanted.fails = true;
    }
    const std::int64_t request = requests_;
    options.on_token = [this, does, at, told = std::int64_t{0}, request](std::int64_t row,
                                                                         std::int64_t) mutable {
      EXPECT_EQ(row, request);
      EXPECT_TRUE(open_.contains(row)) << "it has ended, and is still written";
      ++told;
      if (told != at) return true;
      if (does == 0) throw std::runtime_error("the client went away");
      if (does == 1 && !failing_) {
        test::expect_error([this] { batch_->step(); }, "step() was called inside on_token");
        test::expect_error([this] { batch_->add(zeros({1}, i64), {}, draws_); },
                           "add() was called inside on_token");
      }
      if (does == 2 && !failing_) cancel(request);
      if (does == 3 && !failing_) {  // itself
        EXPECT_EQ(static_cast<std::int64_t>(batch_->cancel(request).tokens.size()), at);
        open_.erase(request);
        ++cancelled;
      }
      return true;
    };
    EXPECT_EQ(batch_->add(text, options, draws_), requests_++);
    EXPECT_EQ(draws_.position(), same.position());
    open_[request] = wanted;
  }

  void add_what_does_not_fit() {
    const std::uint64_t before = draws_.position();
    const Tensor text = full({4}, 7, i64);
    const auto refused = [&](const Tensor& prompt, std::int64_t length) {
      EXPECT_THROW(batch_->add(prompt, {.length = length}, draws_), std::exception);
    };
    if (tells_limit_) refused(text, positions - 2);
    refused(full({positions + 1}, 7, i64), 1);
    refused(full({2}, vocabulary, i64), 1);
    refused(full({2}, 5, i64), 1);
    fail_at_call_ = 1;
    refused(text, 1);
    {
      const FailingAllocation failing(1 + random(60));
      try {
        batch_->add(text, {.length = 1}, draws_);
        batch_->cancel(requests_++);  // it was large enough
        return;
      } catch (const std::bad_alloc&) {
      }
    }
    EXPECT_EQ(draws_.position(), before);
  }

  /// A request that is open, but for `not_this`.
  void cancel(std::int64_t not_this = -1) {
    for (const auto& [request, wanted] : std::map(open_))
      if (request != not_this && random(2) == 0) {
        Generated text;
        try {
          text = batch_->cancel(request);
        } catch (const Error&) {
          EXPECT_GE(not_this, 0) << "only within a step may it have ended before it was given";
          continue;
        }
        EXPECT_TRUE(begins(wanted.tokens, text.tokens));
        EXPECT_LE(static_cast<std::int64_t>(text.tokens.size()), wanted.end);
        open_.erase(request);
        ++cancelled;
        EXPECT_THROW(batch_->cancel(request), Error);
        return;
      }
  }

  static bool begins(const Tokens& all, const Tokens& some) {
    return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
  }

  void step(std::int64_t fault) {
    std::vector<std::pair<std::int64_t, Generated>> given;
    fail_at_call_ = fault == 1 ? 1 + random(3) : 0;
    // Of the second call on a text is read alone, since the pass over all had failed.
    bool one_may_end = fail_at_call_ > 1;
    if (fault == 2) {
      const FailingAllocation failing(1 + random(300));
      failing_ = true;
      try {
        given = batch_->step();
      } catch (const std::bad_alloc&) {
      }
      failing_ = false;
      one_may_end = failing.thrown();
    } else {
      given = batch_->step();
    }
    fail_at_call_ = 0;
    int early = 0;
    for (const auto& [request, text] : given) {
      ASSERT_TRUE(open_.contains(request)) << request << " was given twice, or was cancelled";
      const Expected wanted = open_.extract(request).mapped();
      EXPECT_TRUE(begins(wanted.tokens, text.tokens)) << "request " << request;
      const bool whole = static_cast<std::int64_t>(text.tokens.size()) == wanted.end &&
                         (text.error != nullptr) == wanted.fails;
      if (!whole && one_may_end && text.error)
        ++early;
      else
        EXPECT_TRUE(whole) << "request " << request << " has " << text.tokens.size()
                           << " tokens, expected " << wanted.end << ", and "
                           << (text.error ? "an" : "no") << " error";
      if (!text.error) {
        EXPECT_EQ(text.log_probability, wanted.log_probability);
      }
      ++(text.error ? failed : ended);
    }
    EXPECT_LE(early, 1);
  }

  std::uint64_t seed_;
  Generator rng_;
  Generator draws_{7};
  bool tells_limit_;
  LanguageModel model_;
  std::optional<PackedWeights> packed_;
  std::int64_t fail_at_call_ = 0;
  bool failing_ = false;
  std::int64_t requests_ = 0;
  std::map<std::int64_t, Expected> open_;
  std::optional<ContinuousBatch> batch_;
};

TEST(ContinuousBatchModel, NothingThatGoesWrongChangesAnotherText) {
  int failed = 0, ended = 0, cancelled = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Machine machine(seed, seed % 2 == 0);
    machine.run(60);
    failed += machine.failed;
    ended += machine.ended;
    cancelled += machine.cancelled;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(failed, 400);
  EXPECT_GT(ended, 1500);
  EXPECT_GT(cancelled, 400);
}

}  // namespace
}  // namespace ladon::continuous_batch_test
