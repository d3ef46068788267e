#include "ladon/examples/trained_attention/maps.h"

#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

/// The attention layer in `layer`: itself, or the branch of a residual layer; null if there is
/// none.
const MultiHeadAttention* attention_in(const Layer& layer) {
  if (const auto* residual = dynamic_cast<const Residual*>(&layer))
    return attention_in(*residual->branch);
  return dynamic_cast<const MultiHeadAttention*>(&layer);
}

/// Attention to each patch, as in Watched::before and Watched::after, of images given as tokens [N,
/// rows, columns, d].
Tensor attention_on_patches(const Sequential& net, const Tensor& images) {
  const NoGrad no_grad;
  Tensor x = cast(images, f32);
  for (const auto& layer : net.layers) {
    if (const auto* attention = attention_in(*layer)) {
      const Tensor tokens = flatten(x, 1, 2);
      const auto seen = attention->forward_with_weights(tokens, tokens, tokens);
      // [N, heads, patches that attend, patches] → [N, patches]
      return mean(mean(cast(seen.weights, f64), 1), 1);
    }
    x = (*layer)(x);
  }
  return {};
}

/// The rows of a matrix [rows, columns].
Rows rows_of(const Tensor& matrix) {
  Rows rows;
  for (const Tensor& row : split(matrix, 1)) rows.push_back(row.to_vector());
  return rows;
}

/// Axes without numbers, for panels that show an image.
constexpr const char* bare = "set format x ''\nset format y ''\n";

/// A frame around the patch (column, row). Patches have side `unit` in the panel; the first begins
/// at `start`.
std::string frame(double column, double row, double unit, double start) {
  const double x = start + unit * column, y = start + unit * row;
  return join("set object rectangle from ", x, ",", y, " to ", x + unit, ",", y + unit,
              " front fs empty border lc rgb '", kind(1).colour, "' lw 4\n");
}

/// An image of grey values, with lines between its patches.
std::string image_panel(const std::string& file, std::int64_t side, std::int64_t patch) {
  return join(bare, "set border 0\nset tics scale 0\nset xtics ", patch, "\nset ytics ", patch,
              "\nset grid front lt 1 lw 1.5 lc rgb '#e0a000'\nset palette gray\n",
              "set xrange [0:", side, "]\nset yrange [", side, ":0]\nplot ", file,
              " matrix using ($1+0.5):($2+0.5):3 with image pixels notitle");
}

/// A map as shades and as numbers.
std::string map_panel(const std::string& file, std::int64_t side, double most) {
  return bare + heat_map(file, side, side, most) +
         join(", ", file, " matrix using ($1+1):($2+1):(sprintf('%.2f',$3)):($3 > ", most / 2,
              " ? 0xffffff : 0) with labels textcolor rgb variable notitle");
}

/// Among the first test images of all classes: the row of the image with the median attention on
/// its mark after training, and the mean attention on the marks, before and after training.
struct Typical {
  std::int64_t row;
  double before, after;
};
Typical typical(const Task& task, const Watched& watched) {
  const auto label = task.test.labels.to_vector<std::int64_t>();
  const std::vector<double> before = watched.on_mark(watched.before),
                            after = watched.on_mark(watched.after);
  std::vector<std::pair<double, std::int64_t>> firsts;  // attention after training, and row
  Typical found{0, 0, 0};
  for (std::int64_t c = 0; c < task.classes; ++c) {
    const auto row = std::ranges::find(label, c) - label.begin();
    if (row == std::ssize(label)) continue;
    firsts.emplace_back(after[row], row);
    found.before += before[row];
    found.after += after[row];
  }
  std::ranges::sort(firsts);
  const auto count = static_cast<double>(firsts.size());
  return {firsts[firsts.size() / 2].second, found.before / count, found.after / count};
}

}  // namespace

std::vector<double> Watched::on_mark(const Tensor& map) const {
  const Tensor index = from_vector(places, {std::ssize(places), 1});
  return gather(map, 1, index).to_vector();
}

Watched watch(const Model& model, const MarkedTask& marked, const Settings& s, Progress& progress) {
  const Task& task = marked.task;
  Generator rng = Generator(s.common.seed).split(1);
  Sequential net = network(model, task, s.sharpness, s.width, rng);
  Watched watched{model.name,
                  attention_on_patches(net, task.test.tokens.x),
                  {},
                  {},
                  marked.test.places.to_vector<std::int64_t>()};
  fit(net, model, task, s, rng, progress);
  watched.after = attention_on_patches(net, task.test.tokens.x);
  const Tensor answers = argmax(logits(net, task.test.tokens), 1);
  watched.right = cast(equal(answers, task.test.labels), f64).to_vector();
  return watched;
}

void draw(const Settings& s, const MarkedTask& marked, const Watched& watched) {
  const auto [shown, before, after] = typical(marked.task, watched);
  const std::int64_t columns = marked.task.columns, place = watched.places[shown],
                     label = at(marked.task.test.labels, {shown}).item<std::int64_t>();
  const auto column_of = static_cast<double>(place % columns),
             row_of = static_cast<double>(place / columns);
  Picture picture(s.common.out, "trained_attention", s.common.panels);
  const Tensor image = cast(select(select(marked.test.images.images, 0, shown), 2, 0), f64);
  const std::int64_t side = image.size(0), patch = side / columns;
  picture.panel(square(column(0, 3)), "test image: " + marked.test.images.label_names[label],
                frame(column_of, row_of, static_cast<double>(patch), 0) +
                    image_panel(picture.data("image", rows_of(image)), side, patch));
  const Tensor maps = stack({select(watched.before, 0, shown), select(watched.after, 0, shown)}, 0);
  const double most = amax(maps).item();
  for (const std::int64_t after_training : {0, 1}) {
    const char* when = after_training ? "after" : "before";
    const Tensor map = reshape(select(maps, 0, after_training), {marked.task.rows, columns});
    picture.panel(square(column(1 + after_training, 3)), join("attention ", when, " training"),
                  frame(column_of, row_of, 1, 0.5) +
                      map_panel(picture.data(when, rows_of(map)), columns, most));
  }
  const auto rounded = [](double share) { return std::round(100 * share) / 100; };
  picture.draw_slide(
      join("Attention on the mark: ", rounded(before), " before training, ", rounded(after),
           " after"),
      join(watched.model, ", ", marked.task.train.size(), " training rows, ", s.epochs,
           " epochs, seed ", s.common.seed, "; mean of four images; framed: the mark"));
}

}  // namespace ladon::example
