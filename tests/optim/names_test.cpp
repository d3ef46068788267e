// Names of users under `using namespace ladon`: a program that includes all headers may still have
// its own functions check, fail, name or concat. Most of this is checked by compiling this file.

#include <gtest/gtest.h>

#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/posterior/gp.h"

namespace {

using namespace ladon;
using namespace ladon::infinite;

int check(int x) { return x + 1; }
int require(bool ok, const char*) { return ok ? 2 : 3; }
std::string fail(std::string_view text, int n) { return std::string(text) + std::to_string(n); }
std::string name(DType) { return "a dtype"; }
std::string join(const char* a, const char* b) { return std::string(a) + b; }

// The target of a particle method and the posterior of a Gaussian process have two names.
const TargetDensity target{.count = 100};
using Said = GpPrediction;

template <class T>
concept JoinsOneTensor = requires(const T& x) {
  ladon::concat(x, 0);
};
static_assert(!JoinsOneTensor<Tensor>, "concat joins lists of tensors; of one it made a string");

TEST(Names, OfAProgramAreItsOwn) {
  EXPECT_EQ(check(1), 2);
  EXPECT_EQ(require(true, ""), 2);
  EXPECT_EQ(fail("f", 1), "f1");
  EXPECT_EQ(name(f32), "a dtype");
  EXPECT_EQ(join("a", "b"), "ab");
  EXPECT_EQ(target.count, 100);
  EXPECT_TRUE(std::is_class_v<Said>);
  const Tensor y = concat({ones({2}), ones({1})}, 0);
  EXPECT_EQ(y.count(), 3);
}

}  // namespace
