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

/// A row a pixel: x, y, and a grey value or red, green and blue, from 0 to 255.
Rows pixels(const Tensor& image) {
  const std::int64_t columns = image.size(1), channels = image.size(2);
  const auto values = image.to_vector<double>();
  Rows rows;
  for (std::int64_t p = 0; p < image.size(0) * columns; ++p) {
    rows.push_back(
        {static_cast<double>(p % columns) + 0.5, static_cast<double>(p / columns) + 0.5});
    const auto first = values.begin() + p * channels;
    rows.back().insert(rows.back().end(), first, first + channels);
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
  const auto patch = at(task.shown.right_patches, {image}).item<std::int64_t>();
  const double x = start + unit * static_cast<double>(patch % task.columns),
               y = start + unit * static_cast<double>(patch / task.columns);
  return join("set object rectangle from ", x, ",", y, " to ", x + unit, ",", y + unit,
              " front fs empty border lc rgb '", kind(1).colour, "' lw 4\n");
}

/// Images under their labels, and below each what the network attends to.
void add_images(Picture& picture, const Task& task, const AttentionMaps& maps) {
  const Tensor images = cast(task.shown.images, f64);
  const double darkest = amin(images).item(), lightest = amax(images).item();
  const Tensor greys = 255 * (images - darkest) / std::max(lightest - darkest, 1e-9);
  const auto label = index_select(task.test.labels, 0, task.shown.rows).to_vector<std::int64_t>();
  const double most = std::max(amax(maps.before).item(), amax(maps.after).item());
  for (std::int64_t i = 0; i < images.size(0); ++i) {
    const int x = left + static_cast<int>(i) * between;
    const auto named = [i](const std::string& row) {
      return i == 0 ? "set ylabel '" + row + "'\n" : "";
    };
    const auto patch = static_cast<double>(images.size(2) / task.columns);
    picture.panel(
        {x, top, side, side},
        task.label_names[static_cast<std::size_t>(label[static_cast<std::size_t>(i)])],
        named("test image") + frame(task, i, patch, 0) +
            image_panel(picture.data(join("image_", i + 1), pixels(select(greys, 0, i))), task));
    const std::string bar = i + 1 == images.size(0) ? "attention a patch gets" : "";
    int below = top;
    for (const auto& [when, map] : {std::pair("before", &maps.before), {"after", &maps.after}}) {
      const Rows rows = map_rows(*map, i);
      picture.panel({x, below += between, side, side}, "",
                    bare + named(join(when, " training")) + frame(task, i, 1, 0.5) +
                        heat_map(picture.data(join(when, "_", i + 1), rows), rows.size(),
                                 rows[0].size(), bar, most));
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
