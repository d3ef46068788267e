#include "ladon/examples/finite_width/study.h"

#include <cmath>
#include <numbers>

#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

/// Gaussian kernel density estimate at `places`, as in Sakai et al. 2025 (law.h): with Scott's
/// bandwidth sd·N^(−1/5) for N outputs. 1e-12 is added to the density, which is then normalized to
/// sum 1.
Tensor estimated(const Tensor& outputs, const Tensor& places) {
  const double n = static_cast<double>(outputs.count());
  const Tensor width = sqrt(mean(square(outputs))) * std::pow(n, -0.2);
  std::vector<Tensor> p;
  for (std::int64_t i = 0; i < places.count(); ++i)
    p.push_back(mean(exp(-0.5 * square((select(places, 0, i) - outputs) / width))));
  const Tensor all = stack(p) / (width * std::sqrt(2 * std::numbers::pi)) + 1e-12;
  return all / sum(all);
}

/// One repetition of an experiment of Sakai et al. 2025 (law.h): draws outputs at each width, and
/// compares their densities with the limit's at 500 points.
Tensor kde_divergences(std::int64_t count, const Generator& rng) {
  std::vector<Tensor> outputs, kl;
  std::vector<std::int64_t> widths = kde_widths;
  widths.push_back(0);  // infinite width, the reference
  for (const std::int64_t width : widths) {
    Generator own = rng.split(outputs.size());
    const std::int64_t n = std::max(width, kde_widths[0]);
    const Variances v = draw_variances({kde_heads, n, n}, count, own);
    outputs.push_back(sqrt(width > 0 ? v.finite : v.limit) * normal({count}, own, 0, 1, f64));
  }
  const Tensor places = amax(abs(stack(outputs))) * (arange(0, 500, 1, f64) / 249.5 - 1);
  const Tensor limit = estimated(outputs.back(), places);
  outputs.pop_back();
  for (const Tensor& each : outputs) {
    const Tensor p = estimated(each, places);
    kl.push_back(sum(p * log(p / limit)));
  }
  return stack(kl);
}

std::vector<Estimates> plan(const Settings& s) {
  std::vector<Estimates> rows;
  std::vector<std::int64_t> theory = s.heads, widths = s.widths;
  std::ranges::sort(widths);
  for (const std::int64_t h : s.heads)
    for (const std::int64_t n : widths) rows.push_back({Kind::law, {h, n, n}});
  if (const std::int64_t m = s.head_width; m > 0)
    for (const std::int64_t h : {1, 4, 16}) {  // n = m·h (Sakai et al.); one head: also larger n
      for (const std::int64_t n : h == 1 ? std::vector{m, 4 * m, 16 * m} : std::vector{h * m})
        rows.push_back({Kind::low_rank, {h, n, m}});
      if (std::ranges::find(theory, h) == theory.end()) theory.push_back(h);
    }
  for (const std::int64_t h : theory) rows.push_back({Kind::curves, {h}});
  for (const std::int64_t h : s.heads) rows.push_back({Kind::scores, {h}});
  if (s.outputs > 0) rows.push_back({Kind::kde, {kde_heads}});
  return rows;
}

Tensor estimate_once(const Settings& s, const Estimates& row, std::int64_t repetition) {
  const NoGrad off;
  Generator rng(s.common.seed);  // a row's random numbers do not depend on other rows
  for (const std::int64_t of : {static_cast<std::int64_t>(row.kind), row.layer.heads,
                                row.layer.width, row.layer.head_width, repetition})
    rng = rng.split(static_cast<std::uint64_t>(of));
  if (row.kind == Kind::kde) return kde_divergences(s.outputs, rng);
  // A draw of many heads costs as much as many draws of one head, but its variance fluctuates less,
  // so fewer draws suffice.
  const std::int64_t draws = 1 + (8 * s.draws - 1) / std::max<std::int64_t>(8, row.layer.heads);
  if (row.kind == Kind::curves) return expand(row.layer.heads, Route::curves, grid(), draws, rng);
  if (row.kind == Kind::scores) return expand(row.layer.heads, Route::scores, grid(), draws, rng);
  const Variances v = draw_variances(row.layer, draws, rng);
  return stack({density(v.finite), density(v.limit)});
}

}  // namespace

Study run_study(const Settings& s) {
  Study study{plan(s)};
  const std::int64_t jobs = std::ssize(study.rows) * s.repetitions;
  Progress progress(static_cast<double>(jobs));
  const auto row_of = [&](std::int64_t job) -> Estimates& {
    return study.rows[job / s.repetitions];
  };
  std::int64_t next = 0;
  study.interrupted = !ran_to_the_end([&] {
    parallel::in_order(
        jobs, 8,
        [&](std::int64_t job) {
          stop_if_interrupted();
          return estimate_once(s, row_of(job), job % s.repetitions);
        },
        [&](const Tensor& functions) {
          Estimates& row = row_of(next++);
          row.repetitions.push_back(functions);
          progress.step("repetitions");
        });
  });
  std::erase_if(study.rows, [](const Estimates& r) { return r.repetitions.size() < 2; });
  return study;
}

const Tensor& grid() {  // up to where the density of N(0, 1) is 1e-314
  static const Tensor y = exp(arange(std::log(3e-4), std::log(38.0), grid_spacing, f64));
  return y;
}

Tensor density(const Tensor& variances) {
  const infinite::ScaleMixture law(variances.to_vector());
  std::vector<double> p;
  for (const double y : grid().to_vector()) p.push_back(law.density(y));
  return from_vector(p, {grid().count()});
}

}  // namespace ladon::example
