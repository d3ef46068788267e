#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/particles/targets.h"

namespace ladon::example {
namespace {

// More rows than columns: the funnel is tall, and narrow in y at small x.
constexpr std::int64_t columns = 400, rows = 1600;

/// First position in an ascending list at which a value is reached.
std::int64_t reached(const std::vector<double>& rising, double value) {
  return std::lower_bound(rising.begin(), rising.end() - 1, value) - rising.begin();
}

}  // namespace

Tensor grid(const Window& w, std::int64_t across, std::int64_t up) {
  const auto middles = [](double from, double to, std::int64_t n) {
    return from + (to - from) * (arange(0, n, 1, f64) + 0.5) / static_cast<double>(n);
  };
  const Tensor x = expand(unsqueeze(middles(w.left, w.right, across), 0), {up, across});
  const Tensor y = expand(unsqueeze(middles(w.bottom, w.top, up), 1), {up, across});
  return reshape(stack({x, y}, 2), {across * up, 2});
}

Moments moments_of(const Tensor& points, const Tensor& weights, const PlaneTarget& target) {
  const Tensor mean = sum(weights * points, 0);
  const Tensor variance = sum(weights * square(points - mean), 0);
  const Tensor right = cast(slice(points, 1, {0, 1}) > 0, f64);
  return {mean, variance, sum(variance).item(), target.modes ? sum(weights * right).item() : NAN};
}

Truth::Truth(const PlaneTarget& target)
    : points_(grid(target.all, columns, rows)),
      cell_{(target.all.right - target.all.left) / columns,
            (target.all.top - target.all.bottom) / rows} {
  const Tensor log_p = target.density(points_), mass = softmax(log_p, 0);
  moments_ = moments_of(points_, unsqueeze(mass, 1), target);
  cumulative_ = cumsum(mass, 0).to_vector<double>();
  const auto [sorted, order] = sort(log_p, {.descending = true});
  const std::vector<double> inside = cumsum(index_select(mass, 0, order), 0).to_vector<double>();
  for (const double share : {0.5, 0.8, 0.95})
    levels_.push_back(select(sorted, 0, reached(inside, share)).item());
}

Tensor Truth::draws(std::int64_t count, Generator& rng) const {
  std::vector<std::int64_t> cells;
  std::vector<double> within;
  for (std::int64_t i = 0; i < count; ++i) {
    cells.push_back(reached(cumulative_, rng.uniform()));
    for (const double size : cell_) within.push_back(size * (rng.uniform() - 0.5));
  }
  return index_select(points_, 0, from_vector(cells, {count})) + from_vector(within, {count, 2});
}

}  // namespace ladon::example
