#include <algorithm>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/study.h"

namespace ladon::example {
namespace {

ClassifierRows cut(const ImageDataset& data, const Standardization& standardize,
                   std::int64_t patch) {
  const Tensor images = cast(standardize(data.images), f64), tokens = patches(images, patch);
  return {.tokens = reshape(tokens, {images.size(0), images.size(1) / patch, images.size(2) / patch,
                                     tokens.size(2)}),
          .dense = flatten(images, 1),
          .labels = data.labels};
}

/// Images cut into patches. Values are standardized per channel by statistics of the training
/// images.
Task image_task(const std::string& name, const ImageDataset& train, const ImageDataset& test,
                std::int64_t patch) {
  const Standardization standardize(train.images, Grouping::channel);
  const std::int64_t height = train.images.size(1), width = train.images.size(2);
  Task task{.name = name,
            .description = {},
            .train = cut(train, standardize, patch),
            .test = cut(test, standardize, patch),
            .classes = std::ssize(train.label_names),
            .rows = height / patch,
            .columns = width / patch};
  task.description =
      join(train.size(), " training and ", test.size(), " test images of ", height, " × ", width,
           " × ", train.images.size(3), ", ", task.classes, " classes, ", task.rows * task.columns,
           " patches of ", patch, " × ", patch);
  return task;
}

}  // namespace

std::int64_t row_count(const char* option, int chosen, std::int64_t usual, std::int64_t there) {
  LADON_CHECK(chosen <= there, "gp_classify", option, " ", chosen, ": must be at most ", there,
              ", the number of rows that are available; ask for fewer, or 0 for the default");
  return chosen == 0 ? std::min(usual, there) : chosen;
}

MarkedTask marked_task(const Settings& s) {
  constexpr std::int64_t most = 1'000'000, side = 4;  // side of a patch, and of a mark
  constexpr double noise = 0.6;
  Generator rng(s.common.seed);
  const MarkedImages train =
      marked_images(row_count("--train", s.train, 400, most), side, noise, rng);
  const MarkedImages test = marked_images(row_count("--test", s.test, 400, most), side, noise, rng);
  return {image_task("generated", train.images, test.images, side), test};
}

Task load_task(const Settings& s) {
  const auto train_rows = [&](std::int64_t usual, std::int64_t there) {
    return row_count("--train", s.train, usual, there);
  };
  const auto test_rows = [&](std::int64_t usual, std::int64_t there) {
    return row_count("--test", s.test, usual, there);
  };
  if (!s.mnist.empty()) {
    const ImageDataset all = read_mnist(s.mnist[0], s.mnist[1]);
    const std::int64_t train = train_rows(4000, all.size() - 1);
    const std::int64_t test = test_rows(2000, all.size() - train);
    return image_task("mnist", take(all, 0, train), take(all, all.size() - test, test), 7);
  }
  if (!s.cifar.empty()) {
    const ImageDataset train = read_cifar10(s.cifar[0]), test = read_cifar10(s.cifar[1]);
    return image_task("cifar", take(train, 0, train_rows(4000, train.size())),
                      take(test, 0, test_rows(1000, test.size())), 8);
  }
  return marked_task(s).task;
}

}  // namespace ladon::example
