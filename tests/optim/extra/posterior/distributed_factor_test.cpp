#include "ladon/optim/extra/posterior/distributed_factor.h"

#include "ladon/optim/extra/posterior/stored_factor.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::distributed_factor_test {
namespace {

// By many ranks: tests/ranks.
TEST(DistributedFactor, OfOneAloneIsTheStoredFactor) {
  const std::int64_t n = 300;
  const Sequential net = test::relu_net(30);
  const test::TemporaryFolder folder;
  const auto kernel = store_gram(infinite::limit(net), test::draw({n, 30}), folder / "gram",
                                 {.get = infinite::Get::ntk, .tile = 128});
  const DistributedFactor factor = distribute_factor(kernel, {.noise = 0.1});
  const StoredFactor stored = store_factor(kernel, folder / "factor", {.noise = 0.1});
  const Tensor b = test::gaussian({n, 2}, 5);
  EXPECT_EQ(factor.size(), n);
  test::expect_near(factor.solve(b).x, stored.solve(b).x, 1e-10);
  EXPECT_NEAR(factor.log_determinant(), stored.log_determinant(), 1e-8);
  test::expect_error([&] { distribute_factor(kernel, {.noise = -1}); }, "the noise (a variance)");
}

}  // namespace
}  // namespace ladon::distributed_factor_test
