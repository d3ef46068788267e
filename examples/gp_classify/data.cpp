#include "ladon/examples/gp_classify/data.h"

#include <algorithm>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/images.h"
#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

Examples cut(const ImageDataset& data, const Standardization& standardize, std::int64_t patch) {
  const Tensor images = cast(standardize(data.images), f64), tokens = patches(images, patch);
  return {.tokens = reshape(tokens, {images.size(0), images.size(1) / patch, images.size(2) / patch,
                                     tokens.size(2)}),
          .dense = flatten(images, 1),
          .labels = data.labels};
}

Shown first_of_classes(const ImageDataset& test) {
  constexpr std::size_t most = 4;
  std::vector<std::int64_t> rows;
  const auto label = test.labels.to_vector<std::int64_t>();
  const auto last = static_cast<std::int64_t>(test.label_names.size());
  for (std::int64_t c = 0; c < last && rows.size() < most; ++c) {
    const auto first = std::find(label.begin(), label.end(), c);
    if (first != label.end()) rows.push_back(first - label.begin());
  }
  const Tensor index = from_vector(rows, {static_cast<std::int64_t>(rows.size())});
  return {index, index_select(test.images, 0, index)};
}

/// Values are standardized channel by channel, by the training images' mean and deviation.
Task image_task(const std::string& name, const ImageDataset& train, const ImageDataset& test,
                std::int64_t usual_patch, const Settings& s) {
  const std::int64_t patch = s.patch == 0 ? usual_patch : s.patch;
  const Standardization standardize(train.images, Grouping::channel);
  const std::int64_t height = train.images.size(1), width = train.images.size(2);
  Task task{.name = name,
            .train = cut(train, standardize, patch),
            .test = cut(test, standardize, patch),
            .label_names = train.label_names,
            .rows = height / patch,
            .columns = width / patch,
            .shown = first_of_classes(test)};
  task.description =
      join(train.size(), " training and ", test.size(), " test images of ", height, " × ", width,
           " × ", train.images.size(3), ", ", task.classes(), " classes, ",
           task.rows * task.columns, " patches of ", patch, " × ", patch);
  return task;
}

/// Marks on a patch of 4 × 4 pixels: falling, rising, upright, lying.
constexpr const char* marks[] = {
    "#...  ...#  .##.  ....",
    ".#..  ..#.  .##.  ####",
    "..#.  .#..  .##.  ####",
    "...#  #...  .##.  ....",
};

constexpr std::int64_t mark_side = 4, grid = 3;

bool is_marked(std::int64_t mark, std::int64_t y, std::int64_t x) {
  return marks[y][mark * (mark_side + 2) + x] == '#';
}

/// Pictures of grid × grid patches, and the patch of each that has its mark: i64 [n].
struct Drawn {
  ImageDataset pictures;
  Tensor places;
};

Drawn drawn(std::int64_t n, Generator& rng) {
  constexpr std::int64_t side = grid * mark_side;
  constexpr double noise = 0.6;
  Tensor images = normal({n, side, side, 1}, rng, 0, noise), places = empty({n}, i64);
  const Tensor labels = randint({n}, rng, 0, 4);
  auto* pixel = images.mutable_data<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = rng.below(grid), column = rng.below(grid);
    places.mutable_data<std::int64_t>()[i] = row * grid + column;
    const std::int64_t mark = labels.data<std::int64_t>()[i];
    for (std::int64_t y = 0; y < mark_side; ++y)
      for (std::int64_t x = 0; x < mark_side; ++x)
        if (is_marked(mark, y, x))
          pixel[(i * side + row * mark_side + y) * side + column * mark_side + x] += 1;
  }
  return {{images, labels, {"falling", "rising", "upright", "lying"}}, places};
}

Task generated_task(const Settings& s) {
  Generator rng(s.common.seed);
  const Drawn train = drawn(row_count("--train", s.train, 400, 1'000'000), rng);
  const Drawn test = drawn(row_count("--test", s.test, 400, 1'000'000), rng);
  Task task = image_task("generated", train.pictures, test.pictures, mark_side, s);
  if (task.columns == grid)
    task.shown.right_patches = index_select(test.places, 0, task.shown.rows);
  return task;
}

Task mnist_task(const Settings& s) {
  const ImageDataset all = read_mnist(s.mnist[0], s.mnist[1]);
  const std::int64_t train = row_count("--train", s.train, 4000, all.size() - 1);
  const std::int64_t test = row_count("--test", s.test, 2000, all.size() - train);
  return image_task("mnist", take(all, 0, train), take(all, all.size() - test, test), 7, s);
}

Task cifar_task(const Settings& s) {
  const ImageDataset train = read_cifar10(s.cifar[0]), test = read_cifar10(s.cifar[1]);
  return image_task("cifar", take(train, 0, row_count("--train", s.train, 4000, train.size())),
                    take(test, 0, row_count("--test", s.test, 1000, test.size())), 8, s);
}

}  // namespace

std::int64_t row_count(const char* option, int chosen, std::int64_t usual, std::int64_t there) {
  LADON_CHECK(chosen <= there, "gp_classify", option, " ", chosen, ": there are ", there,
              " rows at most");
  return chosen == 0 ? std::min(usual, there) : chosen;
}

Task load_task(const Settings& s) {
  if (!s.mnist.empty()) return mnist_task(s);
  if (!s.cifar.empty()) return cifar_task(s);
  if (!s.reviews.empty()) return review_task(s);
  return generated_task(s);
}

}  // namespace ladon::example
