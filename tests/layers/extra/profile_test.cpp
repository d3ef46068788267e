#include "ladon/autograd/extra/diagnosis/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <thread>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::profile_test {
namespace {

using Path = std::vector<std::string>;

struct Inner : Layer {
  Linear map;
  explicit Inner(Generator& rng) : map({.in = 4, .out = 4}, rng) {}
  Tensor forward(const Tensor& x) const override { return tanh(map(x)); }
  void visit(Visitor& v) override { v("map", map); }
  std::string describe() const override { return "Inner"; }
};

struct Outer : Layer {
  Inner first, second;
  explicit Outer(Generator& rng) : first(rng), second(rng) {}
  Tensor forward(const Tensor& x) const override { return square(second(first(x))); }
  void visit(Visitor& v) override {
    v("first", first);
    v("second", second);
  }
  std::string describe() const override { return "Outer(0.5)"; }
};

const Profile::Row* find(const Profile& profile, const Path& module, const std::string& operation) {
  const auto& rows = profile.rows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Profile::Row& row) {
    return row.module == module && row.operation == operation;
  });
  return found == rows.end() ? nullptr : &*found;
}

TEST(Profile, CountsOperationsAndGradientsInTheirModules) {
  Generator rng(1);
  const Outer model(rng);
  const Tensor x = ones({3, 4});
  const Profile profile;
  for (int i = 0; i < 2; ++i) backward(sum(model(x)));
  ASSERT_EQ(profile.rows().size(), 6u);
  for (const Path& module : {Path{"Outer(0.5)", "first"}, Path{"Outer(0.5)", "second"}}) {
    Path map = module;
    map.push_back("map");
    for (const Profile::Row* row : {find(profile, module, "tanh"), find(profile, map, "linear")}) {
      ASSERT_NE(row, nullptr);
      EXPECT_EQ(row->calls, 2);
      EXPECT_EQ(row->gradients, 2);
      EXPECT_EQ(row->bytes, 2 * 3 * 4 * 4);
      EXPECT_GE(row->seconds, 0);
      EXPECT_GE(row->gradient_seconds, 0);
    }
  }
  ASSERT_NE(find(profile, {"Outer(0.5)"}, "square"), nullptr);
  ASSERT_NE(find(profile, {}, "sum"), nullptr);
  EXPECT_EQ(find(profile, {}, "sum")->bytes, 2 * 4);
}

TEST(Profile, PrintsModulesBelowThoseTheyAreIn) {
  Generator rng(1);
  const Outer model(rng);
  const Profile profile;
  const Tensor y = sum(model(ones({3, 4})));
  std::istringstream table(profile.table());
  Path names;
  for (std::string line; std::getline(table, line);)
    names.push_back(line.substr(0, line.find_last_not_of(" 0123456789.") + 1));
  const Path expected = {"all",        "  `sum`",      "  Outer(0.5)", "    `square`",
                         "    first",  "      `tanh`", "      map",    "        `linear`",
                         "    second", "      `tanh`", "      map",    "        `linear`"};
  ASSERT_EQ(names.size(), expected.size() + 1) << profile.table();
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(names[i + 1].starts_with(expected[i])) << names[i + 1];
  EXPECT_NE(profile.table().find("\nall"), std::string::npos);
}

TEST(Profile, OnlyTheLatestOfThisThreadCounts) {
  const Tensor x = ones({2}).set_requires_grad();
  const Profile outer;
  exp(x);
  {
    const Profile inner;
    exp(exp(x));
    EXPECT_EQ(find(inner, {}, "exp")->calls, 2);
    const NoGrad no_grad;
    exp(x);
    std::thread([&] { exp(x); }).join();
    EXPECT_EQ(find(inner, {}, "exp")->calls, 2);
  }
  exp(x);
  EXPECT_EQ(find(outer, {}, "exp")->calls, 2);
}

// d²/dx² Σ exp x: what the first sweep records is part of its gradients, and so has no row until
// its own gradient is computed.
TEST(Profile, TakesSweepsOverSweeps) {
  const Tensor x = ones({2}).set_requires_grad();
  const Profile profile;
  const Tensor slope = grad(sum(exp(x)), x, {.create_graph = true});
  EXPECT_EQ(find(profile, {}, "exp")->calls, 1);
  EXPECT_EQ(find(profile, {}, "exp")->gradients, 1);
  backward(sum(slope));
  EXPECT_EQ(find(profile, {}, "exp")->calls, 1);
  EXPECT_EQ(find(profile, {}, "exp")->gradients, 2);
}

TEST(Profile, AnErrorLeavesItInOrder) {
  Generator rng(1);
  const Outer model(rng);
  const Profile profile;
  EXPECT_THROW(model(ones({3, 5})), Error);
  const Tensor y = exp(ones({2}).set_requires_grad());
  EXPECT_NE(find(profile, {}, "exp"), nullptr);
  const auto inside = [&] {
    const Profile other;
    return model(ones({3, 4}));
  };
  inside();
  EXPECT_EQ(profile.rows().size(), 1u);
}

TEST(Profile, EndsInAnyOrder) {
  const Tensor x = ones({2}).set_requires_grad();
  auto profile = std::make_unique<Profile>();
  for (int epoch = 0; epoch < 3; ++epoch) {
    backward(sum(exp(x)));
    EXPECT_EQ(profile->rows().size(), 2u);
    profile = std::make_unique<Profile>();  // made before the old one ends
  }
  auto later = std::make_unique<Profile>();
  profile.reset();
  backward(sum(exp(x)));
  EXPECT_EQ(later->rows().size(), 2u);
  later.reset();
  EXPECT_EQ(detail::modes.watchers.observer, nullptr);
  backward(sum(exp(x)));
}

TEST(Profile, MayEndOnAnotherThreadOrInsideOfAGradient) {
  const Tensor x = ones({2}).set_requires_grad();
  const Profile outer;
  auto inner = std::make_unique<Profile>();
  std::thread([&] { inner.reset(); }).join();
  const Tensor y = exp(x);
  EXPECT_EQ(outer.rows().size(), 1u);
  EXPECT_EQ(static_cast<const void*>(detail::modes.watchers.observer), &outer);
  inner = std::make_unique<Profile>();
  const CustomFunction ends_it{.name = "ends_it",
                               .forward = [](const auto& in) { return in[0] * 2; },
                               .gradient =
                                   [&](const Tensor& g, const auto&, const Tensor&) {
                                     inner.reset();
                                     return std::vector<Tensor>{g * 2};
                                   }};
  backward(sum(ends_it({y})));
  EXPECT_EQ(outer.rows()[0].gradients, 1);
}

}  // namespace
}  // namespace ladon::profile_test
