#include "ladon/examples/common/marks.h"

#include "ladon/autograd/ops.h"

namespace ladon::example {

MarkedImages marked_images(std::int64_t n, std::int64_t apart, double noise, Generator& rng) {
  constexpr const char* marks[][4] = {{"#...", ".#..", "..#.", "...#"},
                                      {"...#", "..#.", ".#..", "#..."},
                                      {".##.", ".##.", ".##.", ".##."},
                                      {"....", "####", "####", "...."}};
  constexpr std::int64_t places = 3;  // positions per side
  const std::int64_t side = (places - 1) * apart + 4;
  Tensor images = normal({n, side, side, 1}, rng, 0, noise), place = empty({n}, i64);
  const Tensor labels = randint({n}, rng, 0, std::size(marks));
  auto* pixel = images.mutable_data<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = rng.below(places), column = rng.below(places);
    place.mutable_data<std::int64_t>()[i] = row * places + column;
    const auto& mark = marks[labels.data<std::int64_t>()[i]];
    for (std::int64_t y = 0; y < 4; ++y)
      for (std::int64_t x = 0; x < 4; ++x)
        if (mark[y][x] == '#') pixel[(i * side + apart * row + y) * side + apart * column + x] += 1;
  }
  return {{images, labels, {"falling", "rising", "upright", "lying"}}, place};
}

}  // namespace ladon::example
