#include <algorithm>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/picture.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr int side = 220, between = 250, left = 70, top = Picture::top + 40;

/// The axes of a panel are those of an image, without numbers.
constexpr const char* bare = "set format x ''\nset format y ''\n";

/// The smallest and the largest number.
std::pair<double, double> ends(const Tensor& x) {
  const auto values = cast(x, f64).to_vector<double>();
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

/// A row a pixel: x, y, and a grey value or red, green and blue, from 0 for the darkest value of
/// all images to 255 for the lightest.
Rows pixels(const Tensor& image, double darkest, double lightest) {
  const std::int64_t columns = image.size(1), channels = image.size(2);
  const auto values = image.to_vector<float>();
  Rows rows;
  for (std::int64_t p = 0; p < image.size(0) * columns; ++p) {
    rows.push_back(
        {static_cast<double>(p % columns) + 0.5, static_cast<double>(p / columns) + 0.5});
    for (std::int64_t c = 0; c < channels; ++c) {
      const double value = values[static_cast<std::size_t>(p * channels + c)];
      rows.back().push_back(255 * (value - darkest) / std::max(lightest - darkest, 1e-9));
    }
  }
  return rows;
}

/// An image, with lines between its patches.
std::string image_panel(const std::string& file, const Task& task) {
  const Tensor& images = task.shown.images;
  const std::int64_t height = images.size(1), width = images.size(2);
  const bool coloured = images.size(3) == 3;
  return join(bare, "set border 0\nset tics scale 0\nset xtics ", width / task.columns,
              "\nset ytics ", height / task.rows, "\nset grid front lt 1 lw 1.5 lc rgb '#e0a000'\n",
              "set palette gray\nset cbrange [0:255]\nunset colorbox\nset xrange [0:", width,
              "]\nset yrange [", height, ":0]\nplot ", file, " using ",
              coloured ? "1:2:3:4:5 with rgbimage" : "1:2:3 with image", " pixels notitle");
}

/// A frame around the patch that decides, if it is known. Patches are `unit` long in the panel, and
/// the first begins at `start`.
std::string frame(const Task& task, std::int64_t image, double unit, double start) {
  if (!task.shown.right_patches.defined()) return "";
  const auto patch =
      task.shown.right_patches.to_vector<std::int64_t>()[static_cast<std::size_t>(image)];
  const double x = start + unit * static_cast<double>(patch % task.columns),
               y = start + unit * static_cast<double>(patch / task.columns);
  return join("set object rectangle from ", x, ",", y, " to ", x + unit, ",", y + unit,
              " front fs empty border lc rgb '", kind(1).colour, "' lw 4\n");
}

Rows map_of(const Tensor& maps, std::int64_t image) {
  Rows rows;
  for (std::int64_t row = 0; row < maps.size(1); ++row)
    rows.push_back(select(select(maps, 0, image), 0, row).to_vector<double>());
  return rows;
}

/// The label of a shown image.
std::string label_of(const Task& task, std::int64_t image) {
  const Tensor labels = index_select(task.test.labels, 0, task.shown.rows);
  return task.label_names[static_cast<std::size_t>(
      labels.to_vector<std::int64_t>()[static_cast<std::size_t>(image)])];
}

/// Images under their labels, and below each what the network attends to.
void add_images(Picture& picture, const Task& task, const AttentionMaps& maps) {
  const Tensor& images = task.shown.images;
  const auto [darkest, lightest] = ends(images);
  const double most = std::max(ends(maps.before).second, ends(maps.after).second);
  for (std::int64_t i = 0; i < images.size(0); ++i) {
    const int x = left + static_cast<int>(i) * between;
    const auto named = [i](const std::string& row) {
      return i == 0 ? "set ylabel '" + row + "'\n" : "";
    };
    const std::string file =
        picture.data(join("image_", i + 1), pixels(select(images, 0, i), darkest, lightest));
    picture.panel({x, top, side, side}, label_of(task, i),
                  named("test image") +
                      frame(task, i, static_cast<double>(images.size(2) / task.columns), 0) +
                      image_panel(file, task));
    const std::string bar = i + 1 == images.size(0) ? "attention a patch gets" : "";
    for (const bool trained : {false, true}) {
      const std::string row = trained ? "after training" : "before training";
      const Rows map = map_of(trained ? maps.after : maps.before, i);
      picture.panel({x, top + (trained ? 2 : 1) * between, side, side}, "",
                    bare + named(row) + frame(task, i, 1, 0.5) +
                        heat_map(picture.data(join(trained ? "after_" : "before_", i + 1), map),
                                 map.size(), map[0].size(), bar, most));
    }
  }
}

}  // namespace

std::filesystem::path draw_attention(const Settings& s, const Task& task,
                                     const std::vector<Outcome>& outcomes) {
  const auto found = std::find_if(outcomes.begin(), outcomes.end(),
                                  [](const Outcome& o) { return o.attention.after.defined(); });
  if (found == outcomes.end()) return {};
  Picture picture(s.common.out, "gp_classify_attention");
  add_images(picture, task, found->attention);
  return picture.draw(
      join("Where the finite network '", found->model, "' looks"),
      join(task.name, ", ", task.train.size(), " training rows, width ", s.width, ", ", s.epochs,
           " epochs, seed ", s.common.seed, "; mean over heads and patches that look",
           task.shown.right_patches.defined() ? "; framed: the mark" : ""),
      1200, top + 3 * between);
}

}  // namespace ladon::example
