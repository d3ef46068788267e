// growth: how time and memory grow with the length of texts, the number of heads and of inputs.
//
//   growth [FOLDER]     a table, and where gnuplot is installed a picture, growth.svg in FOLDER
//
// One thread. Each point is the median of several calls; memory is what the call's tensors take at
// most, its result included. An exponent p says: twice the size costs 2^p. It is fitted to the last
// four points, where what does not grow no longer counts.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/core/storage.h"
#include "ladon/examples/common/plot.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "networks.h"

namespace ladon::bench {
namespace {

using Work = std::function<void()>;

/// A computation at growing sizes.
struct Series {
  std::string name, size;  ///< "attention, forward", "T"
  int panel;               ///< Of the picture.
  std::vector<std::int64_t> sizes;
  std::function<Work(std::int64_t)> make;
};

struct Point {
  double size, milliseconds, megabytes;
};

Point measured(const Series& series, std::int64_t size) {
  using Clock = std::chrono::steady_clock;
  const Work work = series.make(size);
  work();
  const std::size_t before = Storage::bytes_in_use();
  Storage::reset_peak();
  std::vector<double> seconds;
  double all = 0;
  while (seconds.size() < 5 || (all < 0.5 && seconds.size() < 101)) {
    const auto start = Clock::now();
    work();
    all += seconds.emplace_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return {static_cast<double>(size), 1e3 * seconds[seconds.size() / 2],
          1e-6 * static_cast<double>(Storage::peak_bytes() - before)};
}

/// The slope of log y over log x through the last four points.
double exponent(const std::vector<Point>& points, double Point::*y) {
  const std::size_t first = points.size() > 4 ? points.size() - 4 : 0;
  double n = 0, x_sum = 0, y_sum = 0, xx = 0, xy = 0;
  for (std::size_t i = first; i < points.size(); ++i) {
    const double u = std::log(points[i].size), v = std::log(points[i].*y);
    n += 1, x_sum += u, y_sum += v, xx += u * u, xy += u * v;
  }
  return (n * xy - x_sum * y_sum) / (n * xx - x_sum * x_sum);
}

// --- the series ---

Work attention_of(std::int64_t time, bool gradients) {
  Generator rng(1);
  std::vector<Tensor> x;
  for (int i = 0; i < 3; ++i) x.push_back(normal({1, 8, time, 64}, rng));
  const Tensor c = normal({1, 8, time, 64}, rng);
  for (Tensor& each : x) each.set_requires_grad(gradients);
  return [=] {
    const Tensor y = scaled_dot_product_attention(x[0], x[1], x[2]);
    if (gradients) grad({y}, x, {.cotangents = {c}});
  };
}

Work layer_of(std::int64_t heads) {
  Generator rng(1);
  const auto layer = std::make_shared<MultiHeadAttention>(
      MultiHeadAttentionOptions{.dim = 512, .heads = heads}, rng);
  const Tensor x = normal({8, 256, 512}, rng), c = normal({8, 256, 512}, rng);
  return [=] {
    layer->zero_grad();
    backward((*layer)(x), c);
  };
}

Work dense_gram(std::int64_t n) {
  Generator rng(2);
  const auto net = std::make_shared<Sequential>(relu_net(784));
  const infinite::Inputs x = normal({n, 784}, rng, 0, 1, f64);
  return [=] { gram(infinite::limit(*net), x); };
}

Work attention_gram(std::int64_t inputs, std::int64_t time) {
  Generator rng(2);
  const auto layer = std::make_shared<MultiHeadAttention>(attention_layer(64, Weighting::identity));
  const infinite::Inputs x = normal({inputs, time, 64}, rng, 0, 1, f64);
  return [=] { gram(infinite::limit(*layer), x); };
}

Work factor_of(std::int64_t n) {
  Generator rng(3);
  const Tensor x = normal({n, n}, rng, 0, 1, f64);
  const Tensor a = matmul(x, transpose(x)) * (1 / static_cast<double>(n)) + eye(n, f64);
  return [=] { lapack::cholesky(a); };
}

std::vector<Series> all_series() {
  const std::vector<std::int64_t> times = {64, 128, 256, 512, 1024, 2048, 4096, 8192};
  return {
      {"attention, forward", "T", 0, times, [](auto t) { return attention_of(t, false); }},
      {"attention, with gradients", "T", 0, times, [](auto t) { return attention_of(t, true); }},
      {"attention layer, with gradients", "heads", 1, {1, 2, 4, 8, 16, 32, 64, 128, 256}, layer_of},
      {"Gram of vectors", "N", 2, {250, 500, 1000, 2000, 4000}, dense_gram},
      {"Cholesky factor", "N", 2, {250, 500, 1000, 2000, 4000}, factor_of},
      {"Gram of 64-token texts",
       "N",
       3,
       {8, 16, 32, 64},
       [](auto n) { return attention_gram(n, 64); }},
      {"Gram of 16 texts", "T", 3, {8, 16, 32, 64, 128}, [](auto t) {
         return attention_gram(16, t);
       }}};
}

// --- what is shown ---

void print(const Series& series, const std::vector<Point>& points) {
  std::printf("%s, by %s\n  %8s %12s %12s\n", series.name.c_str(), series.size.c_str(),
              series.size.c_str(), "ms", "MB");
  for (const Point& p : points)
    std::printf("  %8.0f %12.4g %12.4g\n", p.size, p.milliseconds, p.megabytes);
  std::printf("  %8s %12.2f %12.2f\n\n", "exponent", exponent(points, &Point::milliseconds),
              exponent(points, &Point::megabytes));
}

std::string draw(const std::string& folder, const std::vector<Series>& all,
                 const std::vector<std::vector<Point>>& points) {
  using namespace example;
  struct Panel {
    const char *title, *axis;
  };
  constexpr Panel panels[] = {{"Attention", "T"},
                              {"Attention layer", "heads"},
                              {"Vectors", "N"},
                              {"Gram matrices of texts", "N, or T"}};
  Picture picture(folder, "growth");
  for (int panel = 0; panel < 4; ++panel) {
    std::string plots;
    for (std::size_t i = 0, shown = 0; i < all.size(); ++i) {
      if (all[i].panel != panel) continue;
      std::vector<std::vector<double>> rows;
      for (const Point& p : points[i]) rows.push_back({p.size, p.milliseconds, p.megabytes});
      const std::string file = picture.data("series" + std::to_string(i), rows);
      plots += (plots.empty() ? "plot " : ", ") + curve(file, "1:2", kind(shown), all[i].name) +
               ", " + file + " using 1:3 with points " + kind(shown).points() + " notitle";
      ++shown;
    }
    picture.panel(
        {130 + panel % 2 * 590, Picture::top + 70 + panel / 2 * 440, 440, 300}, panels[panel].title,
        "set logscale y\nset logscale x 2\n"
        "set offsets graph 0.05, graph 0.05, graph 0.3, graph 0.05\n"
        "set key top left Left reverse\nset xlabel " +
            example::quoted(panels[panel].axis) + "\nset ylabel 'ms, MB'\n" + plots + "\n");
  }
  return picture
      .draw("How cost grows", "lines: milliseconds, points: megabytes; one thread", 1200, 1000)
      .string();
}

void run(const std::string& folder) {
  set_num_threads(1);
  const std::vector<Series> all = all_series();
  std::vector<std::vector<Point>> points;
  for (const Series& series : all) {
    points.emplace_back();
    for (const std::int64_t size : series.sizes) points.back().push_back(measured(series, size));
    print(series, points.back());
  }
  if (folder.empty()) return;
  if (const std::string picture = draw(folder, all, points); !picture.empty())
    std::printf("picture: %s\n", picture.c_str());
}

}  // namespace
}  // namespace ladon::bench

int main(int argc, char** argv) {
  try {
    ladon::bench::run(argc > 1 ? argv[1] : "");
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "growth: " << error.what() << '\n';
    return 1;
  }
}
