// Values, gradients and second derivatives of everything that divides by a norm or a deviation, at
// the edges of the range: equal numbers, zeros, numbers that differ in the last digit, and rows of
// all scales alone and together. The reference is computed in long double. (clip_grad_norm and the
// diagnostics of particles, which have no gradients, have such tests in their own files.)

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/layers/extra/images/batch_norm.h"
#include "ladon/optim/extra/penalties/unit_vectors.h"
#include "ladon/tests/support.h"

namespace ladon::test::normalization_test {
namespace {

using Real = long double;
using Row = std::vector<Real>;

/// An exact number, and the size of the terms that cancel in it, to which rounding is proportional.
struct Exact {
  Real value = 0, size = 0;
};
using ExactRow = std::vector<Exact>;

/// For the row x, a cotangent g of the value and a cotangent v of the gradient.
struct Expected {
  ExactRow value, gradient, second;
};

Real dot(const Row& a, const Row& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// x − mean(x). The differences from x[0] are exact for nearly equal numbers.
Row centred(const Row& x) {
  Row d;
  Real mean = 0;
  for (const Real value : x) d.push_back(value - x[0]), mean += d.back();
  mean /= static_cast<Real>(x.size());
  for (Real& value : d) value -= mean;
  return d;
}

/// h = d·r with d = x or x − mean(x) and r = 1/sqrt(|d|²/n + eps). With u and w for g and v,
/// centred if x is, and means a = ⟨u, h⟩/n, b = ⟨w, h⟩/n and c = ⟨u, w⟩/n, the gradient of ⟨g, h⟩
/// is r·(u − h·a), and that of ⟨v, gradient⟩ is −r²·(b·u + a·w + h·(c − 3ab)).
Expected normalized(const Row& x, const Row& g, const Row& v, Real eps, bool less_mean, Real n) {
  const Row d = less_mean ? centred(x) : x, u = less_mean ? centred(g) : g,
            w = less_mean ? centred(v) : v;
  const Real square = dot(d, d) / n + eps, r = square > 0 ? 1 / std::sqrt(square) : 0;
  Row h;
  for (const Real value : d) h.push_back(value * r);
  const Real a = dot(u, h) / n, b = dot(w, h) / n, c = dot(u, w) / n;
  Real most_g = 0, most_v = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most_g = std::max(most_g, std::abs(g[i]));
    most_v = std::max(most_v, std::abs(v[i]));
  }
  Expected e;
  for (std::size_t i = 0; i < x.size(); ++i) {
    e.value.push_back({h[i], 1});
    e.gradient.push_back({r * (u[i] - h[i] * a), r * most_g * (1 + h[i] * h[i])});
    e.second.push_back({-r * r * (b * u[i] + a * w[i] + h[i] * (c - 3 * a * b)),
                        r * r * most_g * most_v * (1 + std::abs(h[i] * h[i] * h[i]))});
  }
  return e;
}

/// |d|/sqrt(n), where the norm of 0 has no derivatives; g[0] is the cotangent of the row's result.
Expected length(const Row& x, const Row& g, const Row& v, bool less_mean, Real n) {
  const Expected unit = normalized(x, v, v, 0, less_mean, n);  // its gradient is r·(w − h·⟨w, h⟩/n)
  const Row d = less_mean ? centred(x) : x;
  const Real size = std::sqrt(dot(d, d) / n);
  Expected e{{{size, size}}, {}, {}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    e.gradient.push_back({g[0] * unit.value[i].value / n, std::abs(g[0])});
    e.second.push_back({g[0] * unit.gradient[i].value / n,
                        std::abs(g[0]) * (size > 0 ? unit.gradient[i].size : 0)});
  }
  return e;
}

const std::vector<double> weights{1, -2, 0.5, 4, 1, -1, 2}, biases{1, 0, -2, 0.5, 3, 1, -1};

/// `values`, repeated for each element of a row of x.
Tensor of_row(const std::vector<double>& values, const Tensor& x) {
  std::vector<double> row;
  for (std::int64_t i = 0; i < x.size(1); ++i)
    row.push_back(values[static_cast<std::size_t>(i) % 7]);
  return cast(from_vector(row, {x.size(1)}), x.dtype());
}

/// The value of x [R, n], of which each row has one result [R, n] or [R, 1].
struct Operation {
  std::string name;
  std::function<Tensor(const Tensor& x, double eps)> apply;
  std::function<Expected(const Row& x, const Row& g, const Row& v, Real eps)> expected;
  std::int64_t least = 1;  ///< Fewest elements of a row.
  bool without_eps = false;
};

std::vector<Operation> operations() {
  const auto by = [](bool less_mean) {
    return [less_mean](const Row& x, const Row& g, const Row& v, Real eps) {
      return normalized(x, g, v, eps, less_mean, static_cast<Real>(x.size()));
    };
  };
  const auto affine = [](bool less_mean, bool biased) {
    return [=](const Row& x, const Row& g, const Row& v, Real eps) {
      Row up = g;
      for (std::size_t i = 0; i < x.size(); ++i) up[i] *= weights[i % 7];
      Expected e = normalized(x, up, v, eps, less_mean, static_cast<Real>(x.size()));
      for (std::size_t i = 0; i < x.size(); ++i)
        e.value[i] = {e.value[i].value * weights[i % 7] + (biased ? biases[i % 7] : 0), 4};
      return e;
    };
  };
  const auto size = [](bool less_mean, Real correction) {
    return [=](const Row& x, const Row& g, const Row& v, Real) {
      const Real n = correction < 0 ? 1 : static_cast<Real>(x.size()) - correction;
      return length(x, g, v, less_mean, n);
    };
  };
  const auto cosine = [](const Row& x, const Row& g, const Row& v, Real eps) {
    Row b, up;
    for (std::size_t i = 0; i < x.size(); ++i) b.push_back(biases[i % 7]);
    const Real of_b = std::sqrt(dot(b, b)), of_x = std::sqrt(dot(x, x));
    for (Real& value : b) up.push_back(g[0] * (value /= of_b));
    Expected e = normalized(x, up, v, 0, false, 1);
    e.value = {{dot(x, b) / std::max(of_x, eps), 1}};
    for (std::size_t i = 0; of_x < eps && i < x.size(); ++i) {
      e.gradient[i] = {up[i] / eps, std::abs(g[0]) / eps};
      e.second[i] = {};
    }
    return e;
  };
  const auto unit = [](const Row& x, const Row& g, const Row& v, Real) {
    return normalized(x, g, v, 0, false, 1);
  };
  return {
      {"layer_norm", [](const Tensor& x, double eps) { return layer_norm(x, {}, {}, eps); },
       by(true)},
      {"layer_norm, affine",
       [](const Tensor& x, double eps) {
         return layer_norm(x, of_row(weights, x), of_row(biases, x), eps);
       },
       affine(true, true)},
      {"rms_norm", [](const Tensor& x, double eps) { return rms_norm(x, {}, eps); }, by(false)},
      {"rms_norm, affine",
       [](const Tensor& x, double eps) { return rms_norm(x, of_row(weights, x), eps); },
       affine(false, false)},
      {"group_norm", [](const Tensor& x, double eps) { return group_norm(x, 1, {}, {}, eps); },
       by(true)},
      {"instance_norm",
       [](const Tensor& x, double eps) {
         return select(instance_norm(unsqueeze(x, 2), {}, {}, eps), 2, 0);
       },
       by(true)},
      {"normalize_batch",
       [](const Tensor& x, double eps) {
         return transpose(normalize_batch(transpose(x), {}, {}, eps).y);
       },
       by(true)},
      {"BatchNorm",
       [](const Tensor& x, double eps) {
         const BatchNorm layer({.dim = x.size(0), .eps = eps});
         const Tensor y = transpose(layer(transpose(x)));
         for (const Tensor& t : {layer.running_mean, layer.running_var})
           for (const double value : t.to_vector()) EXPECT_FALSE(std::isnan(value));
         return y;
       },
       by(true), 2},
      {"norm", [](const Tensor& x, double) { return norm(x, 1, keep_dims); }, size(false, -1), 1,
       true},
      {"stddev", [](const Tensor& x, double) { return stddev(x, 1, keep_dims); }, size(true, 1), 2,
       true},
      {"stddev of a population", [](const Tensor& x, double) { return stddev(x, 1, keep_dims, 0); },
       size(true, 0), 1, true},
      {"cosine_similarity",
       [](const Tensor& x, double eps) {
         return unsqueeze(cosine_similarity(x, unsqueeze(of_row(biases, x), 0), 1, eps), 1);
       },
       cosine},
      {"unit_vectors", [](const Tensor& x, double) { return detail::unit_vectors(x); }, unit, 1,
       true},
  };
}

/// A row of numbers, and what it is.
struct Case {
  std::string name;
  std::vector<double> x;
};

std::vector<Case> cases(std::int64_t n, DType dtype) {
  const std::vector<double> scales = dtype == f32
                                         ? std::vector{1e-30, 1e-20, 1e-6, 1.0, 1e8, 1e20, 1e37}
                                         : std::vector{1e-150, 1e-100, 1.0, 1e100, 1e200, 1e300};
  const auto count = static_cast<std::size_t>(n);
  std::vector<Case> all{{"zeros", std::vector<double>(count)}};
  Generator rng(11);
  const std::vector<double> some = normal({n}, rng, 0.3, 1, f64).to_vector();
  for (const double scale : scales) {
    const auto add = [&](const char* name, std::vector<double> x) {
      all.push_back({detail::join(name, " of ", scale), std::move(x)});
    };
    const double a = dtype == f32 ? static_cast<float>(scale / 3) : scale / 3;
    std::vector<double> x(count, a);
    add("equal numbers", x);
    x[0] = dtype == f32 ? std::nextafter(static_cast<float>(a), HUGE_VALF)
                        : std::nextafter(a, HUGE_VAL);
    if (n > 1) add("nearly equal numbers", x);
    x.assign(count, 0);
    x[count - 1] = a;
    if (n > 1) add("one number", x);
    for (std::size_t i = 0; i < count; ++i) x[i] = some[i] * scale;
    add("numbers", x);
  }
  return all;
}

/// Elements that were compared, and those left out because a sum of their terms may overflow.
struct Count {
  std::int64_t compared = 0, left_out = 0;
};

void expect_near(const Tensor& got, const ExactRow& want, std::int64_t row, DType dtype,
                 const std::string& what, Count& count) {
  const std::vector<double> values = at(got, {row}).to_vector();
  ASSERT_EQ(values.size(), want.size()) << what;
  const Real most = dtype == f32 ? Real{std::numeric_limits<float>::max()}
                                 : Real{std::numeric_limits<double>::max()},
             least = dtype == f32 ? Real{std::numeric_limits<float>::min()}
                                  : Real{std::numeric_limits<double>::min()};
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto [value, size] = want[i];
    const Real bound = (dtype == f32 ? 2e-5L : 1e-13L) * size + 4 * least;
    const auto y = static_cast<Real>(values[i]);
    if (size > most / 64) {
      ++count.left_out;
      continue;
    }
    ++count.compared;
    EXPECT_LE(std::abs(y - value), bound)
        << what << ", element " << i << ": " << y << ", wanted " << value;
  }
}

/// Checks f at the rows, with cotangents of size 1, or of the size that makes derivatives near 1.
void check(const Operation& f, const std::vector<Case>& rows, DType dtype, double eps, bool matched,
           Count& counted) {
  const auto n = static_cast<std::int64_t>(rows[0].x.size()),
             count = static_cast<std::int64_t>(rows.size());
  std::vector<double> flat;
  for (const Case& c : rows) flat.insert(flat.end(), c.x.begin(), c.x.end());
  Tensor x = cast(from_vector(flat, {count, n}), dtype);
  const Tensor y0 = f.apply(x, eps);
  Generator rng(5);
  Tensor g = normal(y0.shape(), rng, 0, 1, f64), v = normal(x.shape(), rng, 0, 1, f64);
  if (matched) {
    std::vector<double> sizes;
    const double most = dtype == f32 ? 1e15 : 1e140;  // products of cotangents stay in range
    const auto reals = [](const std::vector<double>& of) { return Row(of.begin(), of.end()); };
    for (std::int64_t r = 0; r < count; ++r) {
      const Row d = reals(at(x, {r}).to_vector());
      const Row ones_g(static_cast<std::size_t>(y0.size(1)), 1), ones_v(d.size(), 1);
      const Expected e = f.expected(d, ones_g, ones_v, static_cast<Real>(eps));
      Real slope = 0;
      const bool of_size = y0.size(1) == 1 && f.without_eps;
      for (const Exact& part : of_size ? e.second : e.gradient) slope = std::max(slope, part.size);
      const Real size = slope > 0 ? std::min<Real>(1 / slope, most) : 1;
      sizes.push_back(std::exp2(std::floor(std::log2(static_cast<double>(size)))));
    }
    const Tensor by = from_vector(sizes, {count, 1});
    if (y0.size(1) > 1 || !f.without_eps) g = g * by;
    v = v * by;
  }
  g = cast(g, dtype), v = cast(v, dtype);
  x.set_requires_grad();
  const Tensor y = f.apply(x, eps);
  const Tensor fused = grad(y, x, {.cotangents = {g}, .retain_graph = true});
  const Tensor composed =
      grad(y, x, {.cotangents = {g}, .retain_graph = true, .create_graph = true});
  Tensor second = zeros_like(x);
  if (composed.requires_grad()) {
    const std::vector<Tensor> found =
        grad(std::vector{composed}, std::vector{x}, {.cotangents = {v}, .allow_unused = true});
    if (found[0].defined()) second = found[0];
  }
  for (std::int64_t r = 0; r < count; ++r) {
    const auto row = [&](const Tensor& t) {
      const std::vector<double> values = at(t.detach(), {r}).to_vector();
      return Row(values.begin(), values.end());
    };
    const Expected e = f.expected(row(x), row(g), row(v), static_cast<Real>(eps));
    const std::string what =
        detail::join(f.name, " of ", rows[static_cast<std::size_t>(r)].name, ", ", n, " in ", dtype,
                     ", eps ", eps, count > 1 ? ", with others" : "", matched ? ", matched" : "");
    expect_near(y.detach(), e.value, r, dtype, what + ", value", counted);
    expect_near(fused, e.gradient, r, dtype, what + ", gradient", counted);
    expect_near(composed.detach(), e.gradient, r, dtype, what + ", composed gradient", counted);
    expect_near(second.detach(), e.second, r, dtype, what + ", second derivative", counted);
  }
}

TEST(Normalization, IsRightAtTheEdgesOfTheRange) {
  for (const Operation& f : operations()) {
    Count counted;
    for (const DType dtype : {f32, f64})
      for (const double eps : {1e-5, 1e-12, 1e-30}) {
        if (f.without_eps && eps != 1e-5) continue;
        for (const std::int64_t n : {1, 2, 7, 49}) {
          if (n < f.least) continue;
          const std::vector<Case> rows = cases(n, dtype);
          for (const bool matched : {false, true}) {
            for (const Case& row : rows) check(f, {row}, dtype, eps, matched, counted);
            check(f, rows, dtype, eps, matched, counted);
          }
        }
      }
    EXPECT_LT(40 * counted.left_out, counted.compared) << f.name;
  }
}

}  // namespace
}  // namespace ladon::test::normalization_test
