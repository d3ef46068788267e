#include "ladon/tests/autograd/extra/contract/contract.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/declared_functions.h"
#include "ladon/tests/support.h"

namespace ladon::test::contract_test {

double ulps_between(double got, Exact want, DType dtype, double floor) {
  const bool single = dtype == f32;
  const Exact largest =
      single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  const int digits = single ? 24 : 53, least_exponent = single ? -149 : -1074;
  const Exact least = std::ldexp(Exact(1), least_exponent);
  constexpr double never = std::numeric_limits<double>::infinity();
  if (std::isnan(want)) return std::isnan(got) ? 0 : never;
  const Exact rounded = std::abs(want) > largest * (1 + std::ldexp(Exact(1), -digits))
                            ? std::copysign(std::numeric_limits<Exact>::infinity(), want)
                            : want;
  if (std::isinf(rounded)) return got == rounded ? 0 : never;
  if (!std::isfinite(got)) return never;
  const Exact error = std::abs(got - want);
  if (error <= floor * least) return 0;
  const int exponent = want == 0 ? least_exponent : std::ilogb(want) - (digits - 1);
  return static_cast<double>(error / std::ldexp(Exact(1), std::max(exponent, least_exponent)));
}

namespace {

bool single(DType dtype) { return dtype == f32; }

double rounded(double x, DType dtype) { return single(dtype) ? static_cast<float>(x) : x; }

/// Points of a dtype: ordinary ones, where functions saturate, both ends of the range.
std::vector<double> points(DType dtype, const std::vector<double>& also) {
  std::vector<double> x{0,  1e-8, 1e-3, 0.1, 0.5,  1,   1.7, 3,   4,   5,   5.25, 5.5, 6,   7,   8,
                        9,  9.01, 10,   12,  13.5, 15,  17,  20,  25,  31,  36,   40,  44,  60,  80,
                        87, 88,   95,   103, 120,  200, 350, 500, 700, 708, 740,  1e3, 1e5, 1e10};
  const auto both = {1e18, 1e20, 1e25, 1e30}, wide = {1e100, 1e154, 1e170, 1e300};
  for (const double v : both) x.insert(x.end(), {v, 1 / v});
  if (!single(dtype))
    for (const double v : wide) x.insert(x.end(), {v, 1 / v});
  x.push_back(std::numeric_limits<double>::infinity());
  x.insert(x.end(), also.begin(), also.end());
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) x.push_back(-x[i]);
  for (double& v : x) v = rounded(v, dtype);
  return x;
}

Tensor of(const std::vector<double>& x, DType dtype) {
  return cast(from_vector(x, {static_cast<std::int64_t>(x.size())}), dtype);
}
Tensor leaf(const Tensor& x) {
  Tensor y = clone(x.detach());
  y.set_requires_grad();
  return y;
}

/// The worst element, told once per derivative.
void expect_within(const std::string& what, const Tensor& got, const std::vector<Exact>& want,
                   const std::function<std::string(std::size_t)>& at, double bound, double floor,
                   DType dtype) {
  ASSERT_TRUE(got.defined()) << what << " is undefined";
  const std::vector<double> values = got.to_vector<double>();
  ASSERT_EQ(values.size(), want.size()) << what;
  double worst = -1;
  std::size_t place = 0;
  int off = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double u = ulps_between(values[i], want[i], dtype, floor);
    off += u > bound;
    if (u > worst) worst = u, place = i;
  }
  EXPECT_LE(worst, bound) << what << ", " << dtype << ": " << off << " elements are off, most at "
                          << at(place) << ": " << values[place] << ", true "
                          << static_cast<double>(want[place]);
}

/// The derivative of Σ⟨c, f⟩ by one operand, recorded or not; zeros where nothing is recorded.
Tensor derivative(const Tensor& y, const Tensor& x, bool record, const Tensor& c = {}) {
  if (!y.requires_grad()) return zeros_like(x);
  GradOptions options{.create_graph = record, .allow_unused = true};
  options.cotangents = {c.defined() ? c : ones_like(y)};
  const Tensor g = grad(std::vector<Tensor>{y}, std::vector<Tensor>{x}, options)[0];
  return g.defined() ? g : zeros_like(x);
}

std::string title(const std::string& name, const std::string& note) {
  return note.empty() ? name : name + " (" + note + ")";
}

void check_unary(const UnaryRow& row, DType dtype) {
  std::vector<double> x;
  std::vector<Exact> first, second;
  for (const double v : points(dtype, row.also))
    if (row.in(v)) {
      x.push_back(v);
      first.push_back(row.first(v));
      second.push_back(row.second(v));
    }
  const auto at = [&](std::size_t i) { return detail::join("x = ", x[i]); };
  const std::string name = title(row.name, row.note);
  const auto expect = [&](const char* way, const Tensor& got, const std::vector<Exact>& want,
                          double bound) {
    std::vector<Exact> known;
    std::vector<std::int64_t> places;
    for (std::size_t i = 0; i < want.size(); ++i)
      if (!std::isnan(want[i]))
        places.push_back(static_cast<std::int64_t>(i)), known.push_back(want[i]);
    if (known.empty()) return;
    const Tensor picked = index_select(
        got.detach(), 0, from_vector(places, {static_cast<std::int64_t>(places.size())}));
    expect_within(
        name + ", " + way, picked, known,
        [&](std::size_t i) { return at(static_cast<std::size_t>(places[i])); }, bound,
        row.ulps.floor, dtype);
  };
  const Tensor a = leaf(of(x, dtype));
  expect("fused gradient", derivative(row.apply(a), a, false), first, row.ulps.first);
  const Tensor recorded = derivative(row.apply(a), a, true);
  expect("recorded gradient", recorded, first, row.ulps.first);
  expect("second derivative", derivative(recorded, a, false), second, row.ulps.second);
  const auto f = [&](const std::vector<Tensor>& v) { return row.apply(v[0]); };
  const auto tangent = [&](const std::vector<Tensor>& v) {
    return jvp(f, v, {ones_like(v[0])}).tangent;
  };
  const std::vector<Tensor> at_x{a.detach()}, along{ones_like(at_x[0])};
  expect("tangent", tangent(at_x), first, row.ulps.first);
  expect("tangent of the tangent", jvp(tangent, at_x, along).tangent, second, row.ulps.second);
}

void check_binary(const BinaryRow& row, DType dtype) {
  std::vector<double> kept;
  for (const double v : points(dtype, {2, 0.75}))
    if (std::abs(v) < 6 || std::abs(v) > 80) kept.push_back(v);
  std::vector<double> a, b;
  for (const double u : kept)
    for (const double v : kept)
      if (row.in(u, v)) a.push_back(u), b.push_back(v);
  const auto at = [&](std::size_t i) { return detail::join("(", a[i], ", ", b[i], ")"); };
  const auto expect = [&](const char* way, const Tensor& got, const BinaryRow::Of& f,
                          double bound) {
    if (!f) return;
    std::vector<Exact> want;
    for (std::size_t i = 0; i < a.size(); ++i) want.push_back(f(a[i], b[i]));
    expect_within(title(row.name, row.note) + ", " + way, got.detach(), want, at, bound,
                  row.ulps.floor, dtype);
  };
  const double one = row.ulps.first, two = row.ulps.second;
  const Tensor x = leaf(of(a, dtype)), y = leaf(of(b, dtype));
  expect("fused, by a", derivative(row.apply(x, y), x, false), row.by_a, one);
  expect("fused, by b", derivative(row.apply(x, y), y, false), row.by_b, one);
  const auto swept_twice = [&](const Tensor& by, const Tensor& then) {
    return derivative(derivative(row.apply(x, y), by, true), then, false);
  };
  expect("recorded, by a", derivative(row.apply(x, y), x, true), row.by_a, one);
  expect("recorded, by b", derivative(row.apply(x, y), y, true), row.by_b, one);
  expect("second, by a and a", swept_twice(x, x), row.by_aa, two);
  expect("second, by a and b", swept_twice(x, y), row.by_ab, two);
  expect("second, by b and a", swept_twice(y, x), row.by_ab, two);
  expect("second, by b and b", swept_twice(y, y), row.by_bb, two);
  const Tensor u = x.detach(), v = y.detach();
  const auto by_a = [&](const std::vector<Tensor>& t) {
    return jvp([&](const auto& s) { return row.apply(s[0], v); }, {t[0]}, {ones_like(u)}).tangent;
  };
  expect("tangent of a", by_a({u}), row.by_a, one);
  expect("tangent of b",
         jvp([&](const auto& s) { return row.apply(u, s[0]); }, {v}, {ones_like(v)}).tangent,
         row.by_b, one);
  expect("tangent of a twice", jvp(by_a, {u}, {ones_like(u)}).tangent, row.by_aa, two);
}

// --- loops ---

struct LoopCase {
  LoopRow row;
  DType dtype;
  double scale;  ///< Power of ten.
};

/// c·x, without the 0·∞ of a product rule.
Jet times(Exact c, const Jet& x) {
  return {{c * x.value.value, c * x.value.slope}, {c * x.slope.value, c * x.slope.slope}};
}

void check_loop(const LoopCase& c) {
  const LoopRow& row = c.row;
  std::vector<std::vector<double>> x = row.inputs;
  for (double& v : x[0]) v *= std::pow(10.0, c.scale);
  for (auto& input : x)
    for (double& v : input) v = rounded(v, c.dtype);
  std::vector<Tensor> leaves, along;
  std::vector<std::vector<Jet>> jets(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    leaves.push_back(leaf(reshape(of(x[k], c.dtype), row.shapes[k])));
    std::vector<double> t;
    for (std::size_t i = 0; i < x[k].size(); ++i)
      t.push_back((i % 2 == 0 ? 1.0 : -0.5) + 0.25 * static_cast<double>(i % 3));
    along.push_back(reshape(of(t, c.dtype), row.shapes[k]));
    for (std::size_t i = 0; i < x[k].size(); ++i)
      jets[k].push_back(Jet({x[k][i], t[i]}, {0, 0}));  // slope of the value: the tangent
  }
  const Tensor y = row.apply(leaves);
  std::vector<double> weights;
  for (std::int64_t i = 0; i < y.count(); ++i)
    weights.push_back(std::vector{1.0, -0.5, 2.0, 0.75}[static_cast<std::size_t>(i % 4)]);
  const Tensor cotangent = reshape(of(weights, c.dtype), y.shape());
  const auto evaluated = [&] {
    Jet sum = Exact(0);
    const std::vector<Jet> all = row.reference(jets);
    EXPECT_EQ(all.size(), weights.size()) << row.name;
    for (std::size_t i = 0; i < all.size(); ++i) sum += times(weights[i], all[i]);
    return sum;
  };
  for (std::size_t k = 0; k < x.size(); ++k) {
    std::vector<Exact> first, second;
    for (Jet& v : jets[k]) {
      v.slope.value = 1;
      const Jet sum = evaluated();
      v.slope.value = 0;
      first.push_back(sum.slope.value);
      second.push_back(sum.slope.slope);
    }
    const auto expect = [&](const char* way, const Tensor& got, std::vector<Exact> want,
                            double bound) {
      double floor = row.ulps.floor;
      if (row.of_largest) {
        Exact largest = 0;
        for (const Exact w : want) largest = std::max(largest, std::abs(w));
        floor += bound * static_cast<double>(largest * std::numeric_limits<float>::epsilon() /
                                             std::ldexp(Exact(1), -149));
        if (c.dtype == f64)
          floor = row.ulps.floor +
                  bound * static_cast<double>(largest * std::numeric_limits<double>::epsilon() /
                                              std::ldexp(Exact(1), -1074));
      }
      expect_within(
          detail::join(title(row.name, row.note), " at 1e", c.scale, ", ", way, " by ", k),
          reshape(got.detach(), {-1}), want,
          [&](std::size_t i) { return detail::join("element ", i); }, bound, floor, c.dtype);
    };
    expect("fused", derivative(row.apply(leaves), leaves[k], false, cotangent), first,
           row.ulps.first);
    const Tensor recorded = derivative(row.apply(leaves), leaves[k], true, cotangent);
    expect("recorded", recorded, first, row.ulps.first);
    Tensor total = zeros_like(leaves[k]);
    // H·t of the whole: by each input's gradient along its tangent.
    Tensor inner = scalar(0, c.dtype);
    bool any = false;
    for (std::size_t j = 0; j < leaves.size(); ++j) {
      const Tensor g = derivative(row.apply(leaves), leaves[j], true, cotangent);
      if (!g.requires_grad()) continue;
      inner = inner + sum(g * along[j]);
      any = true;
    }
    if (any) total = derivative(inner, leaves[k], false);
    expect("second along t", total, second, row.ulps.second);
  }
}

struct NamedCase {
  const char* kind;
  std::string name;
  std::function<void()> run;
};
void PrintTo(const NamedCase& c, std::ostream* out) { *out << c.kind << ' ' << c.name; }

std::vector<NamedCase> cases() {
  std::vector<NamedCase> all;
  for (const DType dtype : {f32, f64}) {
    const char* of_dtype = dtype == f32 ? "f32" : "f64";
    for (const UnaryRow& row : unary_rows())
      all.push_back(
          {of_dtype, title(row.name, row.note), [&row, dtype] { check_unary(row, dtype); }});
    for (const BinaryRow& row : binary_rows())
      all.push_back(
          {of_dtype, title(row.name, row.note), [&row, dtype] { check_binary(row, dtype); }});
    for (const LoopRow& row : loop_rows())
      for (const double scale : dtype == f32 ? row.f32_scales : row.f64_scales)
        all.push_back({of_dtype, detail::join(title(row.name, row.note), " at 1e", scale),
                       [row, dtype, scale] {
                         check_loop({row, dtype, scale});
                       }});
  }
  return all;
}

class Contract : public testing::TestWithParam<NamedCase> {};
TEST_P(Contract, Holds) { GetParam().run(); }

std::string case_name(const testing::TestParamInfo<NamedCase>& info) {
  std::string name = info.param.kind + std::string("_");
  for (const char c : info.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + detail::join("_", info.index);
}
INSTANTIATE_TEST_SUITE_P(Derivatives, Contract, testing::ValuesIn(cases()), case_name);

// --- copies ---

/// The gradient of ⟨c, f(x)⟩ for a linear f is c through each unit vector: exact, as elements and c
/// are small integers times a power of two, or ∞.
TEST(ContractOfCopies, GradientsAreExactSums) {
  for (const CopyRow& row : copy_rows())
    for (const DType dtype : {f32, f64})
      for (const double scale : {1.0, 0x1p-120, 0x1p100}) {
        const Shape shape{2, 3, 4};
        const Tensor x = leaf(zeros(shape, dtype)), y = row.apply(x);
        std::vector<double> c;
        for (std::int64_t i = 0; i < y.count(); ++i)
          c.push_back(static_cast<double>(1 + i % 7) * scale);
        const Tensor cotangent = reshape(of(c, dtype), y.shape());
        std::vector<double> want;
        const std::vector<double> none = row.apply(zeros(shape, dtype)).to_vector<double>();
        for (std::int64_t i = 0; i < 24; ++i) {
          std::vector<double> unit(24);
          unit[static_cast<std::size_t>(i)] = 1;
          const std::vector<double> image =
              row.apply(reshape(of(unit, dtype), shape)).to_vector<double>();
          double sum = 0;
          for (std::size_t j = 0; j < c.size(); ++j) sum += c[j] * (image[j] - none[j]);
          want.push_back(sum);
        }
        const std::string name = title(row.name, row.note);
        for (const bool record : {false, true})
          EXPECT_EQ(derivative(row.apply(x), x, record, cotangent).detach().to_vector<double>(),
                    want)
              << name << ", " << dtype << ", recorded " << record;
        const Tensor t = reshape(of(std::vector<double>(24, scale), dtype), shape);
        const Tensor image =
            jvp([&](const auto& v) { return row.apply(v[0]); }, {x.detach()}, {t}).tangent;
        EXPECT_EQ(image.to_vector<double>(),
                  (row.apply(t) - row.apply(zeros(shape, dtype))).detach().to_vector<double>())
            << name << ", tangent";
      }
}

// --- completeness ---

/// Operations without a row, each with the reason.
const std::map<std::string, std::string>& exempt() {
  const std::string truth = "truth values and indices have no derivative";
  const std::string written = "writes into a tensor: its rules are add's, mul's, div's and copies";
  const std::string lapack =
      "accurate to the condition of the matrix, not of an element (linalg_test.cpp)";
  static const std::map<std::string, std::string> all{
      {"equal", truth},
      {"not_equal", truth},
      {"less", truth},
      {"less_equal", truth},
      {"greater", truth},
      {"greater_equal", truth},
      {"operator<", truth},
      {"operator<=", truth},
      {"operator>", truth},
      {"operator>=", truth},
      {"logical_and", truth},
      {"logical_or", truth},
      {"logical_not", truth},
      {"isnan", truth},
      {"isfinite", truth},
      {"all_equal", truth},
      {"all_close", truth},
      {"any", truth},
      {"all", truth},
      {"argmax", truth},
      {"argmin", truth},
      {"nonzero", truth},
      {"unique", truth},
      {"one_hot", truth},
      {"fill_", written},
      {"copy_", written},
      {"add_", written},
      {"mul_", written},
      {"operator+=", written},
      {"operator-=", written},
      {"operator*=", written},
      {"operator/=", written},
      {"cholesky", lapack},
      {"solve_triangular", lapack},
      {"cholesky_solve", lapack},
      {"solve", lapack},
      {"inverse", lapack},
      {"eigh", lapack},
      {"eigenvalues", lapack},
      {"logdet", lapack},
      {"slogdet", lapack},
      {"det", lapack},
      {"dropout", "a product with a drawn mask: mul's"},
  };
  return all;
}

TEST(ContractTable, HasEveryDifferentiableOperation) {
  std::set<std::string> declared, rows;
  for (const auto& header : operation_headers(source_folder()))
    for (const std::string& name : declared_functions(header)) declared.insert(name);
  for (const UnaryRow& row : unary_rows()) rows.insert(row.name);
  for (const BinaryRow& row : binary_rows()) rows.insert(row.name);
  for (const LoopRow& row : loop_rows()) rows.insert(row.name);
  for (const CopyRow& row : copy_rows()) rows.insert(row.name);
  for (const std::string& name : declared)
    EXPECT_TRUE(rows.contains(name) || exempt().contains(name))
        << name << " has neither a row nor a reason to have none";
  for (const std::string& name : rows) {
    EXPECT_TRUE(declared.contains(name)) << name << " is declared by no header of operations";
    EXPECT_FALSE(exempt().contains(name)) << name << " has a row and a reason to have none";
  }
  for (const auto& [name, reason] : exempt())
    EXPECT_TRUE(declared.contains(name)) << name << " is declared by no header of operations";
}

}  // namespace
}  // namespace ladon::test::contract_test
