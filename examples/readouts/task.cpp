#include <cstdint>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/examples/common/marks.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/readouts/study.h"

namespace ladon::example {
namespace {

/// Images of 32 × 32 pixels, averaged over squares of 4 × 4.
ImageDataset shrunk(const ImageDataset& data) {
  constexpr std::int64_t side = 8;
  const std::int64_t n = data.size(), square = data.images.size(1) / side;
  const Tensor squares = reshape(data.images, {n, side, square, side, square, 3});
  return {contiguous(mean(mean(squares, 4), 2)), data.labels, data.label_names};
}

}  // namespace

Task load_task(const Settings& s) {
  ImageDataset train, test;
  if (s.cifar.empty()) {
    Generator rng = Generator(s.common.seed).split(1);
    constexpr double noise = 0.5;
    train = marked_images(s.train, 1, noise, rng).images;
    test = marked_images(s.test, 1, noise, rng).images;
  } else {
    train = shrunk(take(read_cifar10(s.cifar[0]), 0, s.train));
    test = shrunk(take(read_cifar10(s.cifar[1]), 0, s.test));
  }
  const Standardization standardize(train.images, Grouping::channel);
  const auto images = [&](const ImageDataset& of) {
    return Images{cast(standardize(of.images), f64), of.labels};
  };
  Task task{.description = {},
            .train = images(train),
            .test = images(test),
            .classes = std::ssize(train.label_names)};
  task.description =
      join(train.size(), " training and ", test.size(), " test images of ", task.side(), " × ",
           task.side(), " × ", train.images.size(3), ", ", task.classes, " classes");
  return task;
}

}  // namespace ladon::example
