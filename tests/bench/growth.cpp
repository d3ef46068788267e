// Program growth: measures how time and memory grow with the length of texts, the number of heads
// and the number of inputs.
//
//   growth [FOLDER]     a table, and where gnuplot is installed pictures: growth.svg, of attention,
//                       growth_heads.svg and growth_gram.svg in FOLDER
//
// Measured on one thread. Each point is the median of several calls; memory is the peak of the
// call's tensors, including its result. An exponent p means that twice the size costs 2^p times as
// much. It is fitted to the four largest sizes, at which fixed costs are negligible.

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
  int picture;             ///< Of draw()'s.
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
       2,
       {8, 16, 32, 64},
       [](auto n) { return attention_gram(n, 64); }},
      {"Gram of 16 texts", "T", 2, {8, 16, 32, 64, 128}, [](auto t) {
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

/// A picture of time and of memory for each group of series.
void draw(const std::string& folder, const std::vector<Series>& all,
          const std::vector<std::vector<Point>>& points) {
  using namespace example;
  struct Group {
    const char *name, *title, *axis;
  };
  constexpr Group groups[] = {
      {"growth", "Attention takes quadratic time and linear memory", "tokens"},
      {"growth_heads", "Heads cost nothing until there are many", "heads"},
      {"growth_gram", "Gram matrices stay within N², a Cholesky factor within N³",
       "inputs N, or tokens T"}};
  for (int group = 0; group < 3; ++group) {
    Picture picture(folder, groups[group].name);
    std::string time, memory;
    double most = 1;  // on the axis of time, with room for the legend above
    for (std::size_t i = 0, shown = 0; i < all.size(); ++i) {
      if (all[i].picture != group) continue;
      std::vector<std::vector<double>> rows;
      for (const Point& p : points[i]) {
        rows.push_back({p.size, p.milliseconds, p.megabytes});
        while (most < 10 * p.milliseconds) most *= 10;
      }
      const std::string file = picture.data("series" + std::to_string(i), rows);
      const Style style = kind(shown);
      const auto series = [&](const std::string& columns, const std::string& title) {
        return (shown == 0 ? "plot " : ", ") + file + " using " + columns + " with linespoints " +
               style.line() + " pt " + std::to_string(style.marker) + " ps 0.9 " +
               (title.empty() ? "notitle" : "title " + example::quoted(title));
      };
      time += series("1:2", all[i].name);
      memory += series("1:3", "");
      ++shown;
    }
    const std::string axes =
        std::string(
            "set logscale y\nset logscale x 2\nset format y '%g'\n"
            "set xtics (1, 4, 16, 64, 256, 1024, 4096)\nset key top left Left reverse "
            "samplen 1.5\nset xlabel '") +
        groups[group].axis + "'\n";
    picture.panel(
        column(0, 2, 110), "time",
        axes + "set yrange [*:" + std::to_string(most) + "]\nset ylabel 'milliseconds'\n" + time);
    picture.panel(column(1, 2, 110), "memory", axes + "set ylabel 'megabytes'\n" + memory);
    if (const auto path = picture.draw(groups[group].title, "one thread"); !path.empty())
      std::printf("picture: %s\n", path.c_str());
  }
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
  if (!folder.empty()) draw(folder, all, points);
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
