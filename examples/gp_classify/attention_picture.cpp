#include <algorithm>
#include <cmath>
#include <numeric>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/picture.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

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
              "set palette gray\nset cbrange [0:255]\nset xrange [0:", width, "]\nset yrange [",
              height, ":0]\nplot ", file, " using ",
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

/// A map in shades and in numbers.
std::string map_panel(const std::string& file, const Rows& rows, double most) {
  return bare + heat_map(file, rows.size(), rows[0].size(), most) +
         join(", ", file, " matrix using ($1+1):($2+1):(sprintf('%.2f',$3)):($3 > ", most / 2,
              " ? 0xffffff : 0) with labels textcolor rgb variable notitle");
}

/// Attention on the mark of each image, which is in a map of patches.
std::vector<double> on_mark(const Task& task, const Tensor& maps) {
  std::vector<double> shares;
  for (std::int64_t i = 0; i < maps.size(0); ++i)
    shares.push_back(flatten(select(maps, 0, i))
                         .to_vector()[static_cast<std::size_t>(
                             at(task.shown.right_patches, {i}).item<std::int64_t>())]);
  return shares;
}

/// The image whose mark gets the attention in the middle; the first where none is known.
std::int64_t typical(const Task& task, const AttentionMaps& maps) {
  if (!task.shown.right_patches.defined()) return 0;
  const std::vector<double> shares = on_mark(task, maps.after);
  std::vector<double> sorted = shares;
  std::ranges::sort(sorted);
  return std::ranges::find(shares, sorted[sorted.size() / 2]) - shares.begin();
}

/// An image and what the network attends to in it: of the typical one in the picture, of the others
/// as further slides.
void add_images(Picture& picture, const Task& task, const AttentionMaps& maps) {
  const Tensor images = cast(task.shown.images, f64);
  const double darkest = amin(images).item(), lightest = amax(images).item();
  const Tensor greys = 255 * (images - darkest) / std::max(lightest - darkest, 1e-9);
  const auto label = index_select(task.test.labels, 0, task.shown.rows).to_vector<std::int64_t>();
  const double most = std::max(amax(maps.before).item(), amax(maps.after).item());
  const std::int64_t shown = typical(task, maps);
  for (std::int64_t i = 0; i < images.size(0); ++i) {
    std::size_t at = 0;
    const auto add = [&](const std::string& title, const std::string& script) {
      if (i == shown)
        picture.panel(square(column(at++, 3)), title, script);
      else
        picture.further(title, script);
    };
    const auto patch = static_cast<double>(images.size(2) / task.columns);
    const std::string name =
        task.label_names[static_cast<std::size_t>(label[static_cast<std::size_t>(i)])];
    add("test image: " + name,
        frame(task, i, patch, 0) +
            image_panel(picture.data(join("image_", i + 1), pixels(select(greys, 0, i))), task));
    for (const auto& [when, map] : {std::pair("before", &maps.before), {"after", &maps.after}}) {
      const Rows rows = map_rows(*map, i);
      add(join("attention ", when, " training"),
          frame(task, i, 1, 0.5) +
              map_panel(picture.data(join(when, "_", i + 1), rows), rows, most));
    }
  }
}

/// "Attention on the mark: 0.11 before training, 0.44 after", mean over the images.
std::string message(const Task& task, const Outcome& o) {
  if (!task.shown.right_patches.defined())
    return "Where the finite network '" + o.model + "' looks";
  const auto mean_of = [&](const Tensor& maps) {
    const std::vector<double> shares = on_mark(task, maps);
    return std::round(100 * std::accumulate(shares.begin(), shares.end(), 0.0) /
                      static_cast<double>(shares.size())) /
           100;
  };
  return join("Attention on the mark: ", mean_of(o.attention.before), " before training, ",
              mean_of(o.attention.after), " after");
}

}  // namespace

std::filesystem::path draw_attention(const Settings& s, const Task& task,
                                     const std::vector<Outcome>& outcomes) {
  const auto found = std::find_if(outcomes.begin(), outcomes.end(),
                                  [](const Outcome& o) { return o.attention.after.defined(); });
  if (found == outcomes.end()) return {};
  Picture picture(s.common.out, "gp_classify_attention", s.common.panels);
  add_images(picture, task, found->attention);
  return picture.draw(
      message(task, *found),
      join(found->model, ", ", task.train.size(), " training rows, ", s.epochs, " epochs, seed ",
           s.common.seed,
           task.shown.right_patches.defined()
               ? join("; mean of ", task.shown.rows.size(0), " images; framed: the mark")
               : ""));
}

}  // namespace ladon::example
