#include "ladon/core/kernels/fingerprint.h"

#include <cstring>
#include <set>
#include <string>

#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::test::fingerprint_test {
namespace {

using detail::fingerprint;

TEST(Fingerprint, SeesEveryBit) {
  for (const DType dtype : {f32, f64, i64, boolean}) {
    const Tensor x = zeros({11}, dtype);  // of booleans: a word, and a rest
    const std::size_t bytes = 11 * item_size(dtype);
    std::set<std::uint64_t> seen{fingerprint(x)};
    for (std::size_t bit = 0; bit < 8 * bytes; ++bit) {
      x.strided_bytes()[bit / 8] ^= std::byte(1 << bit % 8);
      seen.insert(fingerprint(x));
      x.strided_bytes()[bit / 8] ^= std::byte(1 << bit % 8);
    }
    EXPECT_EQ(seen.size(), 8 * bytes + 1);
  }
}

TEST(Fingerprint, IsOfDtypeShapeAndElements) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3}, f64);
  Tensor turned = empty({3, 2}, f64);
  for (int i = 0; i < 6; ++i) turned.mutable_data<double>()[i] = 1 + i / 2 + i % 2 * 3;
  EXPECT_EQ(fingerprint(view::transpose(x, 0, 1)), fingerprint(turned)) << "layout does not count";
  const std::set<std::uint64_t> all{fingerprint(x),
                                    fingerprint(turned),
                                    fingerprint(tensor({1, 2, 3, 4, 5, 6}, {6}, f64)),
                                    fingerprint(tensor({1, 2, 3, 4, 5, 6}, {2, 3}, f32)),
                                    fingerprint(tensor({4, 5, 6, 1, 2, 3}, {2, 3}, f64)),
                                    fingerprint(zeros({0}, f64)),
                                    fingerprint(zeros({0, 3}, f64)),
                                    fingerprint(zeros({0}, f32)),
                                    fingerprint(x, 1)};
  EXPECT_EQ(all.size(), 9u);
}

TEST(Fingerprint, OfTextsSeesTheirLengths) {
  std::set<std::uint64_t> all;
  for (const std::size_t n : {0, 1, 7, 8, 9, 16})
    for (const char c : {'\0', 'a'}) all.insert(fingerprint(std::string(n, c)));
  EXPECT_EQ(all.size(), 11u);  // the empty one twice
}

}  // namespace
}  // namespace ladon::test::fingerprint_test
