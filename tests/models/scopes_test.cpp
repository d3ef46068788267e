// Scopes of modes, such as NoGrad, compared with stacks of values: a mode has the value of the last
// scope that still exists, in whatever order, by whatever owner and on whatever thread scopes end.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "ladon/autograd/evaluation.h"
#include "ladon/autograd/extra/diagnosis/profile.h"
#include "ladon/autograd/forms.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/mapped.h"
#include "ladon/core/packed_weights.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/parameter_uses.h"
#include "ladon/optim/extra/penalties/head_mask.h"
#include "ladon/optim/particles/kernel.h"
#include "ladon/tests/support.h"

namespace ladon::scopes_test {
namespace {

/// A living scope of whatever type, and the value that its mode has under it.
struct Living {
  std::shared_ptr<void> scope;
  const void* value;
};

/// A kind of scope: how one is made, and the present value of its mode as a pointer.
struct Kind {
  const char* name;
  std::function<Living()> make;
  std::function<const void*()> now;
};

const void* number(std::uint64_t x) { return reinterpret_cast<const void*>(x + 1); }

template <class Scope>
Living flag(std::uint64_t value) {
  return {std::make_shared<Scope>(), number(value)};
}
template <class Scope>
Living self() {
  auto scope = std::make_shared<Scope>();
  return {scope, scope.get()};
}

struct Weights {
  Tensor weight = ones({3, 2}), x = ones({1, 3});
};
const Weights& weights() {
  static const Weights all;
  return all;
}

/// Kinds of one mode stand side by side, and have one `now`.
const std::vector<std::vector<Kind>>& modes() {
  static const auto recording = [] { return number(grad_enabled()); };
  static const std::vector<std::vector<Kind>> all{
      {{"NoGrad", [] { return flag<NoGrad>(false); }, recording},
       {"EnableGrad", [] { return flag<EnableGrad>(true); }, recording},
       {"GradMode",
        [] {
          return Living{std::make_shared<GradMode>(false), number(false)};
        },
        recording}},
      {{"DetectAnomaly", [] { return flag<DetectAnomaly>(true); },
        [] { return number(detail::modes.detecting); }}},
      {{"RowwiseProducts", [] { return flag<RowwiseProducts>(true); },
        [] { return number(detail::modes.rowwise); }}},
      {{"ComposedForms", [] { return flag<ComposedForms>(true); },
        [] { return number(detail::modes.composing); }}},
      {{"CountForms", [] { return self<CountForms>(); },
        [] { return static_cast<const void*>(detail::modes.watchers.counting); }}},
      {{"ParameterUses", [] { return self<ParameterUses>(); },
        [] { return static_cast<const void*>(ParameterUses::active()); }}},
      {{"LookThrough", [] { return flag<LookThrough>(true); },
        [] { return number(detail::modes.looking); }}},
      {{"Profile", [] { return self<Profile>(); },
        [] { return static_cast<const void*>(detail::modes.watchers.observer); }}},
      {{"PackedWeights",
        [] {
          auto scope = std::make_shared<PackedWeights>(std::vector<Tensor>{weights().weight});
          return Living{scope, scope.get()};
        },
        [] {  // a product reads the last one, and so would read freed memory
          const NoGrad no_grad;
          const std::size_t before = detail::modes.packed ? detail::modes.packed->bytes() : 0;
          EXPECT_EQ(matmul(weights().x, weights().weight).to_vector(), std::vector<double>({3, 3}));
          if (detail::modes.packed) {
            EXPECT_GT(detail::modes.packed->bytes() + before, 0u);
          }
          return static_cast<const void*>(detail::modes.packed);
        }}},
      {{"PassScope",
        [] {
          struct Pass {  // what the scope refers to lives as long
            infinite::KeptDraws kept{0};
            infinite::PassSample sample;
            infinite::PassScope scope{kept, {.sample = &sample}};
          };
          auto pass = std::make_shared<Pass>();
          return Living{pass, &pass->sample};
        },
        [] { return static_cast<const void*>(infinite::PassScope::options().sample); }}},
      {{"EvaluationScope",
        [count = std::size_t{0}]() mutable {
          static const char* const operations[] = {"a", "b", "c"};
          const char* operation = operations[++count % 3];
          return Living{std::make_shared<detail::EvaluationScope>(operation), operation};
        },
        [] { return static_cast<const void*>(detail::modes.evaluating.operation); }}},
      {{"mapped::Scope",
        [count = std::int64_t{2}]() mutable {
          const mapped::Levels levels({mapped::new_level(++count)});
          return Living{std::make_shared<mapped::Scope>(levels),
                        number(static_cast<std::uint64_t>(count))};
        },
        [] { return number(static_cast<std::uint64_t>(mapped::running().examples())); }}},
  };
  return all;
}

/// The living scopes of one mode, as a model of what should hold.
class Stack {
 public:
  explicit Stack(const std::vector<Kind>& kinds) : kinds_(kinds), without_(kinds[0].now()) {}
  void make(std::size_t kind) { living_.push_back(kinds_[kind % kinds_.size()].make()); }
  /// Any of them.
  std::shared_ptr<void> end(std::size_t i) {
    const auto at = living_.begin() + static_cast<std::ptrdiff_t>(i % living_.size());
    std::shared_ptr<void> scope = std::move(at->scope);
    living_.erase(at);
    return scope;
  }
  bool empty() const { return living_.empty(); }
  void check() const {
    EXPECT_EQ(kinds_[0].now(), empty() ? without_ : living_.back().value) << kinds_[0].name;
  }

 private:
  const std::vector<Kind>& kinds_;
  const void* without_;
  std::vector<Living> living_;
};

TEST(ScopesModel, AModeHasTheValueOfItsLastLivingScope) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 rng(seed);  // a Generator draws no number under mapped::Scope
    const auto random = [&rng](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
    std::vector<Stack> stacks;
    for (const auto& kinds : modes()) stacks.emplace_back(kinds);
    for (int i = 0; i < 150; ++i) {
      SCOPED_TRACE(detail::join("seed ", seed, ", operation ", i));
      Stack& stack = stacks[random(stacks.size())];
      const std::size_t what = random(6);
      if (what < 2 || stack.empty()) {
        stack.make(random(3));
      } else if (what == 2) {
        stack.end(random(8));
      } else if (what == 3) {  // renewed
        const std::size_t which = random(8);
        stack.make(random(3));
        stack.end(which);
      } else if (what == 4) {  // on another thread
        std::shared_ptr<void> scope = stack.end(random(8));
        std::thread([&scope] { scope.reset(); }).join();
      } else {  // while an exception passes
        try {
          const std::shared_ptr<void> scope = stack.end(random(8));
          throw 1;
        } catch (int) {
        }
      }
      for (const Stack& each : stacks) each.check();
      if (testing::Test::HasFailure()) return;
    }
    while (true) {
      const auto open = std::find_if(stacks.begin(), stacks.end(),
                                     [](const Stack& stack) { return !stack.empty(); });
      if (open == stacks.end()) break;
      open->end(random(8));
      open->check();
    }
  }
}

TEST(ScopesModel, AScopeMayOutliveItsThread) {
  for (const auto& kinds : modes())
    for (const Kind& kind : kinds) {
      const void* const before = kind.now();
      std::vector<Living> kept;
      std::thread([&] {
        for (int i = 0; i < 3; ++i) kept.push_back(kind.make());
        EXPECT_EQ(kind.now(), kept.back().value) << kind.name;
      }).join();
      EXPECT_EQ(kind.now(), before) << kind.name << " holds on the thread that made it alone";
      const Living own = kind.make();
      // Another thread, whose modes may stand where those of the ended one stood.
      std::thread([&] {
        const Living its = kind.make();
        kept.erase(kept.begin() + 1);
        EXPECT_EQ(kind.now(), its.value) << kind.name;
        kept.clear();
        EXPECT_EQ(kind.now(), its.value) << kind.name;
      }).join();
      EXPECT_EQ(kind.now(), own.value) << kind.name;
    }
}

// Held by an optional, which is renewed in its place.
TEST(ScopesModel, AnOptionalIsRenewed) {
  std::optional<NoGrad> off;
  std::optional<EnableGrad> on;
  off.emplace();
  on.emplace();
  off.emplace();
  EXPECT_FALSE(grad_enabled());
  on.reset();
  EXPECT_FALSE(grad_enabled());
  off.reset();
  EXPECT_TRUE(grad_enabled());
}

// Of living scopes any may forbid batch statistics, and not the youngest alone.
TEST(ScopesModel, TheRestrictionsOfAllLivingEvaluationScopesApply) {
  using Scope = detail::EvaluationScope;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 rng(seed);
    std::vector<std::pair<std::unique_ptr<Scope>, bool>> living;
    for (int i = 0; i < 60; ++i) {
      if (living.empty() || rng() % 2 == 0) {
        const bool alone = rng() % 3 == 0;
        living.emplace_back(std::make_unique<Scope>("test", alone), alone);
      } else {
        living.erase(living.begin() + static_cast<std::ptrdiff_t>(rng() % living.size()));
      }
      const bool any =
          std::any_of(living.begin(), living.end(), [](const auto& scope) { return scope.second; });
      EXPECT_EQ(detail::modes.evaluating.examples_alone, any) << "seed " << seed << ", " << i;
      EXPECT_EQ(detail::modes.evaluating.operation != nullptr, !living.empty());
    }
  }
  EXPECT_FALSE(detail::modes.evaluating.operation || detail::modes.evaluating.examples_alone);
}

// Packed weights are renewed after others were loaded, in a unique_ptr.
TEST(ScopesModel, RenewedPackedWeightsAreRead) {
  Generator rng(1);
  Linear layer({.in = 3, .out = 2}, rng);
  auto packed = std::make_unique<PackedWeights>(layer.parameters(), WeightForm::int8);
  packed = std::make_unique<PackedWeights>(layer.parameters(), WeightForm::int8);
  const Tensor x = ones({1, 3});
  layer(x);
  EXPECT_EQ(packed->bytes(), 0u);
  EXPECT_EQ(packed->passed_over(), 1);  // it was recorded
  const NoGrad no_grad;
  const Tensor rounded = layer(x);
  EXPECT_GT(packed->bytes(), 0u);
  EXPECT_EQ(packed->passed_over(), 1);
  packed.reset();
  EXPECT_FALSE(all_equal(layer(x), rounded));
  EXPECT_EQ(detail::modes.packed, nullptr);
}

TEST(ScopesModel, PackedWeightsThatNoProductReadsSayWhy) {
  // What is said once is said by the first of a process: of a child each time.
  const auto says = [](const std::function<void()>& f, const char* words) {
    EXPECT_EXIT(
        {
          f();
          std::exit(0);
        },
        testing::ExitedWithCode(0), words);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  says(
      [] {
        const PackedWeights packed({ones({2, 2}, f64)});
      },
      "none of the 1 packed weights was used; 1 weights are not f32");
  says(
      [] {
        const Tensor w = ones({2, 2});
        const PackedWeights packed({w});
        matmul(ones({1, 2}), w);
      },
      "1 products were recorded; wrap inference in NoGrad");
  says(
      [] {
        const PackedWeights packed({ones({2, 2})});
      },
      "no product with them ran on its thread");
  says(
      [] {
        const Tensor w = ones({2, 2});
        const NoGrad no_grad;
        const PackedWeights packed({w});
        matmul(ones({1, 2}), w);
      },
      "^$");
}

// Masks of one layer multiply, whichever ends first.
TEST(ScopesModel, HeadMasksEndInAnyOrder) {
  Generator rng(1);
  MultiHeadAttention layer({.dim = 4, .heads = 2}, rng);
  const Tensor x = normal({1, 3, 4}, rng);
  const NoGrad no_grad;
  const auto masked = [&](const std::vector<Tensor>& masks) {
    Tensor all = ones({2});
    for (const Tensor& mask : masks) all = all * mask;
    std::optional<HeadMask> one;
    if (!masks.empty()) one.emplace(layer, all);
    return layer(x);
  };
  std::vector<Tensor> masks;
  for (int i = 0; i < 4; ++i) masks.push_back(tensor({1.0 + i, 2.0 - i}));
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Generator order(seed);
    std::vector<std::pair<std::unique_ptr<HeadMask>, Tensor>> living;
    const auto expected = [&] {
      Tensor all = ones({2});
      for (const auto& [scope, mask] : living) all = all * mask;
      return all;
    };
    std::vector<std::pair<Tensor, Tensor>> seen;  // outputs, and the masks that they should have
    for (int i = 0; i < 12; ++i) {
      if (living.size() < 4 && (living.empty() || order.uniform() < 0.5)) {
        const Tensor mask = masks[static_cast<std::size_t>(order.uniform() * 4)];
        living.emplace_back(std::make_unique<HeadMask>(layer, mask), mask);
      } else {
        living.erase(living.begin() + static_cast<std::ptrdiff_t>(
                                          order.uniform() * static_cast<double>(living.size())));
      }
      seen.emplace_back(layer(x), expected());
    }
    living.clear();
    EXPECT_FALSE(layer.hook);
    for (const auto& [y, mask] : seen)
      EXPECT_LT(amax(abs(y - masked({mask}))).item(), 1e-5) << seed;
  }
}

}  // namespace
}  // namespace ladon::scopes_test
