#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/finite_width/study.h"
#include "ladon/ladon.h"

namespace ladon::example {
namespace {

std::vector<Estimates> of_kind(const Study& study, Kind kind, std::int64_t heads = 0) {
  std::vector<Estimates> all;
  for (const Estimates& row : study.rows)
    if (row.kind == kind && (heads == 0 || row.layer.heads == heads)) all.push_back(row);
  return all;
}

/// Integral over all y of an even function f, as a sum over the grid.
double integral(const Tensor& f) { return 2 * grid_spacing * sum(grid() * f).item<double>(); }

/// KL divergence ∫ p·ln(p/q). The term − p + q, whose integral is 0, makes every summand ≥ 0 and
/// the grid's error small.
double divergence(const Tensor& p, const Tensor& q) {
  // Far out, where q underflows, p is negligible.
  const Tensor there = logical_and(p > 1e-300, q > 1e-300);
  const Tensor a = where(there, p, 1), b = where(there, q, 1);
  return integral(a * log(a / b) - a + b);
}

Tensor gaussian_of(const Tensor& p) {  // normal density with the variance of p
  return density(full({1}, integral(square(grid()) * p), f64));
}

/// A figure computed from the mean over repetitions, with its bias removed by the jackknife (Efron
/// 1982).
Measured jackknife(const Estimates& row, const std::function<double(const Tensor&)>& figure) {
  const Tensor all = stack(row.repetitions);  // [R, functions, points]
  const double n = static_cast<double>(all.size(0)), of_all = figure(mean(all, 0));
  std::vector<double> pseudo;  // n·T − (n − 1)·T′: T from all, T′ from n − 1 repetitions
  for (const Tensor& one : row.repetitions)
    pseudo.push_back(n * of_all - (n - 1) * figure((sum(all, 0) - one) / (n - 1)));
  return estimate(pseudo);
}

Tensor function(const Tensor& all, std::int64_t i) { return select(all, 0, i); }

double from_limit(const Tensor& law) { return divergence(function(law, 0), function(law, 1)); }
Measured measured(const Estimates& law) { return jackknife(law, from_limit); }

Measured from_gaussian(const Estimates& row) {
  const auto kl = [](const Tensor& x) { return divergence(x, gaussian_of(x)); };
  return jackknife(row, [&](const Tensor& x) { return kl(function(x, 0)); });
}

Tensor first_function(const Estimates& row) { return function(mean(stack(row.repetitions), 0), 0); }

/// KL divergence by theory: ½∫c²/p with c = tokens·c_tokens + heads·c_heads, where p, c_tokens and
/// c_heads are the results of expand() (law.h).
Measured by_theory(const Estimates& expansion, double tokens, double heads) {
  const auto half_square = [=](const Tensor& x) {
    const Tensor c = tokens * function(x, 1) + heads * function(x, 2), p = function(x, 0);
    return integral(where(p > 1e-300, 0.5 * square(c) / clamp(p, 1e-300, 10), 0));
  };
  return jackknife(expansion, half_square);
}

double width_of(const Estimates& law) { return static_cast<double>(law.layer.width); }
std::string name_of(const Estimates& row) { return join("H = ", row.layer.heads); }

Measured n2_kl(const Estimates& law) {
  const Measured kl = measured(law);
  return {width_of(law) * width_of(law) * kl.value, width_of(law) * width_of(law) * kl.se};
}

/// Ratio x/y of independent figures.
Measured ratio(const Measured& x, const Measured& y) {
  const double value = x.value / y.value;
  return {value, std::abs(value) * std::hypot(x.se / x.value, y.se / y.value)};
}

/// n²·KL at 1/n = 0, by least squares on 1, 1/n, 1/n² over widths of at least 64, with fewer powers
/// if there are fewer widths. NaN if no width is at least 64.
Measured extrapolated(const std::vector<Estimates>& laws) {
  std::vector<Tensor> rows;  // rows and y are divided by the error of n²·KL
  std::vector<double> y;
  for (const Estimates& law : laws) {
    if (law.layer.width < 64) continue;
    const Measured level = n2_kl(law);
    y.push_back(level.value / level.se);
    const double x = 1 / width_of(law);
    rows.push_back(from_vector(std::vector{1.0, x, x * x}, {3}) / level.se);
  }
  if (y.empty()) return {NAN, NAN};
  const Tensor a = slice(stack(rows), 1, {.stop = std::min<std::int64_t>(3, std::ssize(y))});
  const Tensor covariance = inverse(matmul(transpose(a), a));
  const Tensor fit = matmul(covariance, matmul(transpose(a), from_vector(y, {std::ssize(y)})));
  return {fit.to_vector()[0], std::sqrt(covariance.to_vector()[0])};
}

Column tiny(const std::string& name, const std::string& meaning) {
  return {name, meaning, Better::neither, false, true};
}
Column whole(const std::string& name, const std::string& meaning) {
  return {name, meaning, Better::neither, true};
}

/// A row for each number of heads and each width, and a row for the limit of each number of heads.
Table width_table(const Settings& s, const Study& study) {
  Table table("heads", {whole("n", "width of tokens, queries, keys and values; –: infinite"),
                        tiny("kl", "KL(law at width n ‖ limit law) in nats ± standard error"),
                        tiny("floor", "bias by finitely many draws, which was taken off"),
                        {"n2_kl", "n²·kl: level where the divergence falls as 1/n²"},
                        {"exponent", "of n, from the row above: -2 where kl falls as 1/n²"},
                        tiny("from_gaussian", "KL(law at width n ‖ Gaussian of its variance)")});
  const Measured none{NAN, NAN};
  for (const std::int64_t heads : s.heads) {
    const auto laws = of_kind(study, Kind::law, heads);
    for (std::size_t i = 0; i < laws.size(); ++i) {
      const Measured n{width_of(laws[i])}, level = n2_kl(laws[i]), kl = measured(laws[i]);
      const Measured bias{from_limit(mean(stack(laws[i].repetitions), 0)) - kl.value};
      Measured exponent = none;
      if (i > 0) {
        const Measured fall = ratio(kl, measured(laws[i - 1]));
        const double log_n = std::log(n.value / width_of(laws[i - 1]));
        exponent = {std::log(fall.value) / log_n, fall.se / fall.value / log_n};
      }
      table.add({name_of(laws[i]), {n, kl, bias, level, exponent, from_gaussian(laws[i])}});
    }
    for (const Estimates& limit : of_kind(study, Kind::curves, heads))
      table.add({name_of(limit), {none, none, none, none, none, from_gaussian(limit)}});
  }
  return table;
}

/// A row for each number of heads: n²·KL as n → ∞.
Table constant_table(const Study& study) {
  Table table("heads", {{"measured", "n²·KL at 1/n = 0: n2_kl, fitted by 1, 1/n, 1/n², n ≥ 64"},
                        {"theory", "½∫c²/p, c the coefficient of 1/n in the density"},
                        {"by_scores", "the same by other formulas, without derivatives of softmax"},
                        {"z", "(measured - theory)/standard error"},
                        {"tokens", "theory if tokens had width n and heads were infinitely wide"},
                        {"heads", "theory if heads had width n and tokens were infinitely wide"}});
  for (const Estimates& scores : of_kind(study, Kind::scores))
    for (const Estimates& curves : of_kind(study, Kind::curves, scores.layer.heads)) {
      const Measured fit = extrapolated(of_kind(study, Kind::law, scores.layer.heads));
      const Measured k = by_theory(curves, 1, 1), other = by_theory(scores, 1, 1);
      const Measured z{(fit.value - k.value) / std::hypot(fit.se, k.se)};
      table.add(
          {name_of(scores), {fit, k, other, z, by_theory(curves, 1, 0), by_theory(curves, 0, 1)}});
    }
  return table;
}

Table low_rank_table(const Study& study) {
  Table table("heads", {whole("n", "width of tokens"),
                        whole("m", "width of queries, keys and values"),
                        tiny("kl", "KL(law at these widths ‖ limit law)"),
                        tiny("first_order", "½∫(c_tokens/n + c_heads/m)²/p by theory"),
                        {"ratio", "kl/first_order"},
                        tiny("n_infinite", "first_order of infinitely wide tokens")});
  for (const Estimates& law : of_kind(study, Kind::low_rank))
    for (const Estimates& curves : of_kind(study, Kind::curves, law.layer.heads)) {
      const double n = width_of(law), m = static_cast<double>(law.layer.head_width);
      const Measured kl = measured(law), first = by_theory(curves, 1 / n, 1 / m);
      table.add(
          {name_of(law), {{n}, {m}, kl, first, ratio(kl, first), by_theory(curves, 0, 1 / m)}});
    }
  return table;
}

/// A row for each width of the kernel density estimates.
Table kde_table(const Study& study) {
  Table table("law", {tiny("kde", "KL by kernel density estimates of outputs, 2 heads"),
                      tiny("exact", "the same by scale mixtures, where the first table has it")});
  for (const Estimates& row : of_kind(study, Kind::kde))
    for (std::size_t i = 0; i < kde_widths.size(); ++i) {
      std::vector<double> all;
      for (const Tensor& kl : row.repetitions) all.push_back(kl.to_vector()[i]);
      Measured exact{kde_widths[i] == 0 ? 0 : NAN};
      for (const Estimates& law : of_kind(study, Kind::law, kde_heads))
        if (law.layer.width == kde_widths[i]) exact = measured(law);
      const std::string n = join("n = ", kde_widths[i]);
      table.add({kde_widths[i] == 0 ? "limit itself" : n, {estimate(all), exact}});
    }
  return table;
}

void draw_divergence(const Settings& s, const Study& study) {
  Picture picture(s.common.out, "finite_width", s.common.panels);
  std::string kl = "plot ", n2 = "plot ", legend;
  for (std::size_t i = 0; i < s.heads.size(); ++i) {
    std::vector<std::vector<double>> rows;
    for (const Estimates& law : of_kind(study, Kind::law, s.heads[i])) {
      const Measured each = measured(law), level = n2_kl(law);
      rows.push_back({width_of(law), each.value, each.se, level.value, level.se});
    }
    const Style style = kind(i);
    const std::string file = picture.data(join(s.heads[i]), rows), line = style.line(2);
    for (const Estimates& curves : of_kind(study, Kind::curves, s.heads[i])) {
      const double k = by_theory(curves, 1, 1).value;
      kl += join(k, "/x**2 with lines ", line, " notitle, ");
      n2 += join(k, " with lines ", line, " notitle, ");
    }
    kl += with_errors(file, "1:2:3", style, "") + ", ";
    n2 += with_errors(file, "1:4:5", style, "") + ", ";
    legend += join(i > 0 ? ", " : "", "NaN with linespoints ", line, " pt ", style.marker,
                   " title 'H = ", s.heads[i], "'");
  }
  const std::string axis = "set logscale x\nset xlabel 'width n'\nset xrange [3:1500]\n";
  picture.legend(legend);
  picture.panel(column(0, 2, 90), "KL(law at width n ‖ limit law)",
                axis + "set logscale y\nset format y '%g'\n" + kl + "NaN notitle");
  picture.panel(column(1, 2, 90), "n² · KL", axis + "set yrange [0:]\n" + n2 + "NaN notitle");
  picture.draw_slide("The limit law is approached as K/n², with the K of theory",
                     "points: measured ± standard error; lines: theory, nothing is fitted");
}

void draw_densities(const Settings& s, const Study& study) {
  Picture picture(s.common.out, "finite_width_density", s.common.panels);
  std::string plots;
  const auto add = [&](const std::string& name, const Tensor& p, const Style& style) {
    std::vector<std::vector<double>> points;
    for (std::int64_t i = 0; i < p.count(); ++i)
      points.push_back(function(stack({grid(), p}, 1), i).to_vector());
    plots += curve(picture.data(name, points), "1:2", style, name, 3) + ", ";
  };
  for (const Estimates& law : of_kind(study, Kind::law, s.heads[0]))
    if (const std::int64_t n = law.layer.width; n == 16 || n == 64 || n == 256)
      add(join("n = ", n), first_function(law), step(n == 16 ? 0 : n == 64 ? 1 : 2, 4));
  const Tensor limit = first_function(of_kind(study, Kind::curves, s.heads[0])[0]);
  add("limit law", limit, step(3, 4));
  add("Gaussian", gaussian_of(limit), kind(1));
  picture.panel(slide, "",
                "set logscale y\nset format y '%g'\nset xlabel 'output y'\nset ylabel "
                "'density'\nset xrange [0:4]\nset yrange [1e-5:2]\nplot " +
                    plots + "NaN notitle");
  picture.draw_slide("Wide layers come to the limit law, and not to a Gaussian",
                     join("H = ", s.heads[0], "; the Gaussian has the limit law's variance"));
}

}  // namespace

void report(const Program& program, const Settings& s, const Study& study) {
  const Table widths = width_table(s, study), constants = constant_table(study),
              low_rank = low_rank_table(study), kde = kde_table(study);
  print("How far is the law at width n from the limit law?", widths);
  print("What is n²·KL at infinite width?", constants);
  print("Low-rank heads: what if tokens get wider, and heads do not?", low_rank);
  print("How much of it do kernel density estimates see?", kde);
  program.write(
      {{{"widths", widths}, {"constants", constants}, {"low_rank", low_rank}, {"kde", kde}},
       study.interrupted});
  if (constants.empty()) return;
  draw_divergence(s, study);
  draw_densities(s, study);
}

}  // namespace ladon::example
