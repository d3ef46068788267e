#include "ladon/autograd/ops/linalg/linalg.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/scaled.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/linalg/elimination.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon {
namespace {

void check_square(const char* operation, const Tensor& a) {
  check_floating(operation, a);
  LADON_CHECK(a.rank() >= 2 && a.size(-1) == a.size(-2), operation,
              "needs square matrices [.., n, n], got shape ", a.shape());
}

// --- batches ---

Shape leading(const Tensor& x) { return x.shape().sub(0, x.rank() - 2); }

Shape joined(Shape shape, const Shape& more) {
  for (const std::int64_t size : more) shape.append(size);
  return shape;
}

/// Merges the leading axes of a batch of matrices, without recording:  [.., m, n] → [count, m, n].
Tensor listed(const Tensor& x) {
  const Shape flat{leading(x).count(), x.size(-2), x.size(-1)};
  const Tensor list = view::try_reshape(x.detach(), flat);
  return list.defined() ? list : view::try_reshape(kernels::contiguous(x), flat);
}

/// Calls body(i) for each of `count` matrices [n, n], on all threads.
template <class Body>
void for_each_matrix(std::int64_t count, std::int64_t n, const Body& body) {
  const std::int64_t work = std::min<std::int64_t>(n, 1 << 6);
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  };
  parallel::for_range(count, 1 + (1 << 15) / (1 + work * work * work), range);
}

/// Applies f to each matrix of a batch: y_i = f(a_i, others_i…), of the given shape. All operands
/// have the same leading axes, and so has the result.
template <class F, class... Others>
Tensor each(const Shape& shape, const F& f, const Tensor& a, const Others&... others) {
  if (mapped::any(a, others...)) {
    const auto of_all = [&](const auto&... all) { return each(shape, f, all...); };
    return mapped::batched(of_all, a, others...);
  }
  const Shape all = joined(leading(a), shape);
  const std::int64_t count = leading(a).count();
  const auto run = [&](const auto&... lists) {
    if (count == 1 && all.count() > 0)
      return view::try_reshape(kernels::contiguous(f(view::select(lists, 0, 0)...)), all);
    Tensor y = empty(all, a.dtype());
    if (y.count() == 0) return y;
    const Tensor results = view::try_reshape(y, joined({count}, shape));
    for_each_matrix(count, a.size(-1), [&](std::int64_t i) {
      kernels::copy(view::select(results, 0, i), f(view::select(lists, 0, i)...));
    });
    return y;
  };
  return run(listed(a), listed(others)...);
}

/// Returns f(A, B) for the matrix A and the right-hand side B of a linear system, promoted to one
/// dtype and broadcast to the same leading axes. A vector B [n] is passed as one column, and the
/// result is then a vector again.
template <class F>
Tensor of_sides(const char* operation, const Tensor& a, const Tensor& b, const F& f) {
  check_square(operation, a);
  check_floating(operation, b);
  LADON_CHECK(b.rank() > 0 && b.size(b.rank() == 1 ? 0 : -2) == a.size(-1), operation,
              "the matrix has shape ", a.shape(), ", the right-hand side ", b.shape(),
              "; the right-hand side must have ", a.size(-1), " rows");
  const DType dtype = promote(a.dtype(), b.dtype());
  const Tensor columns = b.rank() == 1 ? unsqueeze(b, 1) : b;
  const auto stretched = [&](const Tensor& x, const Shape& lead) {
    return expand(cast(x, dtype), joined(lead, {x.size(-2), x.size(-1)}));
  };
  const Shape lead = broadcast_shapes(operation, leading(a), leading(columns));
  const Tensor x = f(stretched(a, lead), stretched(columns, lead));
  return b.rank() == 1 ? squeeze(x, -1) : x;
}

// --- formulas ---

/// The symmetric matrix with x's lower triangle.
Tensor symmetric(const Tensor& x) { return tril(x) + transpose(tril(x, -1)); }

Tensor on_matrices(const Tensor& g) { return unsqueeze(unsqueeze(g, -1), -1); }

/// Solution X of op(A)·X = B, with op(A) = Aᵀ if `transposed`, else A. A is upper triangular if
/// `upper`, else lower; A and B have the same leading axes.
Tensor triangular(const Tensor& a, const Tensor& b, bool upper, bool transposed) {
  const auto compute = [&](const Tensor& m, const Tensor& side) {
    return lapack::solve_triangular(upper ? view::transpose(m, 0, 1) : m, side,
                                    transposed != upper);
  };
  const auto rule = [a = saved(a), upper, transposed](const Tensor& g, const Tensor& x,
                                                      detail::GradientSink& sink) {
    const Tensor by_b = triangular(a, g, upper, !transposed);  // op(A)⁻ᵀ·g
    if (sink.needs(1)) sink.give(1, by_b);
    if (!sink.needs(0)) return;
    const Tensor by_a = transposed ? matmul(x, transpose(by_b)) : matmul(by_b, transpose(x));
    sink.give(0, -(upper ? triu(by_a) : tril(by_a)));  // dX = −op(A)⁻¹·op(dA)·X
  };
  return record_joint("solve_triangular", each({b.size(-2), b.size(-1)}, compute, a, b), {a, b},
                      rule);
}

/// LU factorizations of matrices [.., n, n], kept for gradients. Undefined for small matrices,
/// which are cheaper to factorize again.
struct Factors {
  Tensor columns;  ///< lapack::Lu::factors, transposed, so that it is row-major.
  Tensor swaps;    ///< [.., n] (i64)
};

Factors factor(const Tensor& a) {
  const std::int64_t n = a.size(-1);
  Factors lu;
  lu.swaps = mapped::room(empty(joined(leading(a), {n}), i64), {&a});
  const auto compute = [](const Tensor& m, const Tensor& row) {
    const lapack::Lu one = lapack::lu(m);
    kernels::copy(view::select(row, 0, 0), one.swaps);
    return view::transpose(one.factors, 0, 1);
  };
  lu.columns = each({n, n}, compute, a, view::unsqueeze(lu.swaps, lu.swaps.rank() - 1));
  return lu;
}

/// A⁻¹·B, or A⁻ᵀ·B, for one matrix.
Tensor solve_one(const lapack::Lu& lu, const Tensor& b, bool transposed) {
  const std::vector<double> pivots = numbers_of("solve", view::diagonal(lu.factors, 0, 0, 1));
  for (std::size_t i = 0; i < pivots.size(); ++i)
    LADON_CHECK(pivots[i] != 0, "solve", "the matrix is singular: pivot ", i, " of ", pivots.size(),
                " is 0; its rows are linearly dependent");
  return lapack::lu_solve(lu, b, transposed);
}

Tensor solve_by(const Factors& lu, const Tensor& b, bool transposed) {
  const auto compute = [=](const Tensor& columns, const Tensor& row, const Tensor& side) {
    return solve_one({view::transpose(columns, 0, 1), view::select(row, 0, 0)}, side, transposed);
  };
  return each({b.size(-2), b.size(-1)}, compute, lu.columns,
              view::unsqueeze(lu.swaps, lu.swaps.rank() - 1), b);
}

/// A⁻¹·B for many small matrices. Returns an undefined tensor for larger ones, and if a matrix is
/// singular or not finite; the caller then uses LAPACK, whose functions throw the Error.
Tensor solve_small(const Tensor& a, const Tensor& b) {
  if (a.size(-1) > elimination::largest_order || b.count() == 0 || mapped::any(a, b)) return {};
  const Tensor x = elimination::solve(listed(a), listed(b));
  return x.defined() ? view::try_reshape(x, b.shape()) : x;
}

/// A⁻¹·B. Stores the LU factors in *kept, unless the matrices are small or `kept` is null.
Tensor solve_value(const Tensor& a, const Tensor& b, Factors* kept) {
  if (Tensor x = solve_small(a, b); x.defined()) return x;
  if (kept) return solve_by(*kept = factor(a), b, false);
  const auto compute = [](const Tensor& m, const Tensor& side) {
    return solve_one(lapack::lu(m), side, false);
  };
  return each({b.size(-2), b.size(-1)}, compute, a, b);
}

Tensor solve_general(const Tensor& a, const Tensor& b);

/// A⁻ᵀ·G, computed from the factors of A if there are any and the result need not be
/// differentiated.
Tensor solve_transposed(const Factors& lu, const Tensor& a, const Tensor& g) {
  if (!lu.columns.defined()) return solve_general(transpose(a), g);
  return fast_or_composed(
      "solve_transposed", {a, g}, [&] { return solve_by(lu, g, true); },
      [&] { return solve_general(transpose(a), g); });
}

Tensor solve_general(const Tensor& a, const Tensor& b) {
  Factors lu;
  const Tensor value = solve_value(a, b, recorded({a, b}) ? &lu : nullptr);
  const auto rule = [a = saved(a), lu](const Tensor& g, const Tensor& x,
                                       detail::GradientSink& sink) {
    const Tensor by_b = solve_transposed(lu, a, g);
    if (sink.needs(1)) sink.give(1, by_b);
    if (sink.needs(0)) sink.give(0, -matmul(by_b, transpose(x)));  // dX = −A⁻¹·dA·X
  };
  return record_joint("solve", value, {a, b}, rule);
}

double epsilon(DType dtype) {
  return dtype == f32 ? double{std::numeric_limits<float>::epsilon()}
                      : std::numeric_limits<double>::epsilon();
}

/// Whether the eigenvalues λ_i and λ_j in `values` [.., n] are equal up to rounding, with `gaps`
/// [.., n, n] their differences:  [.., n, n], true on the diagonal.
Tensor equal_pairs(const Tensor& values, const Tensor& gaps) {
  const double n = static_cast<double>(values.size(-1));
  return less_equal(abs(gaps), on_matrices(amax(abs(values), -1) * (n * epsilon(values.dtype()))));
}

/// Gradient with respect to a symmetric A from the gradient g = V̄ of its eigenvectors v = V:
/// V·(F ∘ VᵀV̄)·Vᵀ, where F_ij = 1/(λ_j − λ_i), and 0 on the diagonal (Giles 2008, section 3.1).
/// F_ij is 0 also for equal eigenvalues; throws Error if VᵀV̄ is not 0 there (up to rounding),
/// since the loss then depends on the choice of their eigenvectors.
Tensor gradient_of_vectors(const Tensor& a, const Tensor& g, const Tensor& v) {
  const Tensor values = sum(v * matmul(symmetric(a), v), -2);  // λ_i = v_iᵀ·A·v_i
  const Tensor gaps = unsqueeze(values, -2) - unsqueeze(values, -1);
  const Tensor equal = equal_pairs(values.detach(), gaps.detach());
  const double n = static_cast<double>(a.size(-1));
  const Tensor turns = matmul(transpose(v), g);
  const Tensor off_diagonal = logical_not(cast(eye(a.size(-1)), boolean));
  const Tensor between = where(logical_and(equal, off_diagonal), abs(turns.detach()), 0);
  const Tensor noise = amax(abs(g.detach()), {-2, -1}) * (n * epsilon(a.dtype()));
  LADON_CHECK(!kernels::anywhere(greater(between, on_matrices(noise))), "eigh",
              "two eigenvalues are equal, and the gradient depends on the choice of their "
              "eigenvectors, which have no derivative; compute the loss without these "
              "eigenvectors");
  const Tensor f = masked_fill(1 / masked_fill(gaps, equal, 1), equal, 0);
  const Tensor by_a = matmul(matmul(v, f * turns), transpose(v));
  return 0.5 * (by_a + transpose(by_a));
}

}  // namespace

// --- factorizations ---

Tensor cholesky(const Tensor& a) {
  check_square("cholesky", a);
  const Tensor l = each({a.size(-2), a.size(-1)}, lapack::cholesky, a);
  return record("cholesky", l, {a}, [](const Tensor& g, const Tensor& y) {
    // With L̄ = g the gradient of L = y:  L⁻ᵀ·S·L⁻¹, where S = ½(Φ + Φᵀ) and Φ is the lower
    // triangle of LᵀL̄ with its diagonal halved (Murray 2016, eq. 10)
    const Tensor s = 0.5 * symmetric(matmul(transpose(y), g));
    const Tensor half = solve_triangular(y, s, {.transposed = true});
    return solve_triangular(y, half, {.left = false});
  });
}

EigenResult eigh(const Tensor& a) {
  check_square("eigh", a);
  const std::int64_t n = a.size(-1);
  const Tensor values = mapped::room(empty(joined(leading(a), {n}), a.dtype()), {&a});
  const auto compute = [&](const Tensor& m, const Tensor& row) {
    const auto [lambda, v] = lapack::eigh(m);
    kernels::copy(view::select(row, 0, 0), lambda);
    return v;
  };
  const Tensor vectors = each({n, n}, compute, a, view::unsqueeze(values, values.rank() - 1));
  const Tensor v = record("eigh", vectors, {a}, [a = saved(a)](const Tensor& g, const Tensor& y) {
    return gradient_of_vectors(a, g, y);
  });
  const Tensor lambda = record("eigh", values, {a},
                               [v = saved(v)](const Tensor& g) {  // dλ_i = v_iᵀ·dA·v_i
                                 return matmul(*v * unsqueeze(g, -2), transpose(v));
                               });
  return {lambda, v};
}

Tensor eigenvalues(const Tensor& a) {
  check_square("eigenvalues", a);
  return fast_or_composed(
      "eigenvalues", {a}, [&] { return each({a.size(-1)}, lapack::eigenvalues, a); },
      [&] { return eigh(a).values; });
}

// --- linear systems ---

Tensor solve_triangular(const Tensor& a, const Tensor& b, TriangularOptions options) {
  if (!options.left) {  // X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ
    const TriangularOptions turned{.upper = options.upper, .transposed = !options.transposed};
    check_defined("solve_triangular", {b});
    if (b.rank() < 2) return solve_triangular(a, b, turned);
    return transpose(solve_triangular(a, transpose(b), turned));
  }
  return of_sides("solve_triangular", a, b, [&](const Tensor& m, const Tensor& side) {
    return triangular(m, side, options.upper, options.transposed);
  });
}

Tensor cholesky_solve(const Tensor& l, const Tensor& b) {
  return solve_triangular(l, solve_triangular(l, b), {.transposed = true});
}

Tensor solve(const Tensor& a, const Tensor& b) { return of_sides("solve", a, b, solve_general); }

Tensor inverse(const Tensor& a) {
  check_square("inverse", a);
  const Tensor unit = expand(eye(a.size(-1), a.dtype()), a.shape());
  return record("inverse", solve_value(a, unit, nullptr), {a},
                [](const Tensor& g, const Tensor& y) {
                  return -matmul(matmul(transpose(y), g), transpose(y));  // dA⁻¹ = −A⁻¹·dA·A⁻¹
                });
}

// --- determinants ---

Tensor logdet(const Tensor& a) {
  check_square("logdet", a);
  return 2 * sum(log(diagonal(cholesky(a))), -1);  // det A = (Π L_ii)²
}

namespace {

using OfPivots = std::function<std::vector<double>(const std::vector<double>& pivots, double sign)>;

/// Applies of(pivots, sign), which returns `count` numbers, to the LU factorization of each matrix
/// A, where det A = sign·Π pivots:  [.., n, n] → [.., count].
Tensor of_pivots(const char* operation, const Factors& lu, std::int64_t count, const OfPivots& of) {
  const auto compute = [&](const Tensor& columns, const Tensor& row) {
    const std::vector<std::int64_t> swaps = row.to_vector<std::int64_t>();
    double sign = 1;
    for (std::size_t i = 0; i < swaps.size(); ++i)
      if (swaps[i] != static_cast<std::int64_t>(i)) sign = -sign;
    const std::vector<double> pivots = numbers_of(operation, view::diagonal(columns, 0, 0, 1));
    return kernels::cast(from_vector(of(pivots, sign), {count}), columns.dtype());
  };
  return each({count}, compute, lu.columns, view::unsqueeze(lu.swaps, lu.swaps.rank() - 1));
}

/// of_pivots() for small matrices. Returns an undefined tensor for larger ones, and if an element
/// is not finite; the caller then uses LAPACK, whose functions throw the Error.
Tensor of_small_pivots(const char* operation, const Tensor& a, std::int64_t count,
                       const OfPivots& of) {
  if (a.mapped() || a.size(-1) > elimination::largest_order || a.count() == 0) return {};
  const Tensor rows = elimination::pivots(listed(a));
  if (!rows.defined()) return {};
  const std::vector<double> all = numbers_of(operation, rows);
  std::vector<double> results;
  const auto n = static_cast<std::ptrdiff_t>(a.size(-1));
  for (auto row = all.begin(); row != all.end(); row += n + 1)
    for (const double y : of({row, row + n}, row[n])) results.push_back(y);
  return kernels::cast(from_vector(results, joined(leading(a), {count})), a.dtype());
}

/// of_pivots() for matrices of any size, and their LU factors, which are undefined if
/// of_small_pivots() gave the result.
std::pair<Tensor, Factors> of_determinant(const char* operation, const Tensor& a,
                                          std::int64_t count, const OfPivots& of) {
  if (const Tensor y = of_small_pivots(operation, a, count, of); y.defined()) return {y, {}};
  Factors lu = factor(a);
  const Tensor y = of_pivots(operation, lu, count, of);
  return {y, std::move(lu)};
}

/// A⁻ᵀ.
Tensor transposed_inverse(const Factors& lu, const Tensor& a) {
  return solve_transposed(lu, a, expand(eye(a.size(-1), a.dtype()), a.shape()));
}

}  // namespace

SignAndLog slogdet(const Tensor& a) {
  check_square("slogdet", a);
  const auto sign_and_log = [](const std::vector<double>& pivots, double sign) {
    double log = 0;
    for (const double pivot : pivots) {
      sign *= pivot > 0 ? 1 : pivot < 0 ? -1 : 0;
      log += std::log(std::abs(pivot));
    }
    return std::vector{sign, log};
  };
  const auto [both, lu] = of_determinant("slogdet", a, 2, sign_and_log);
  const auto column = [&both = both](std::int64_t i) {
    return kernels::clone(view::select(both, both.rank() - 1, i));
  };
  return {column(0), record("slogdet", column(1), {a}, [a = saved(a), lu = lu](const Tensor& g) {
            return on_matrices(g) * transposed_inverse(lu, a);  // d ln |det A| = tr(A⁻¹·dA)
          })};
}

namespace {

/// {det A, m, e} with det A = m·2^e, since det A or partial products may leave the range of
/// numbers.
std::vector<double> scaled_product(const std::vector<double>& pivots, double sign) {
  double m = sign, e = 0;
  for (const double pivot : pivots) {
    int of_pivot = 0, of_m = 0;
    m *= std::isfinite(pivot) ? std::frexp(pivot, &of_pivot) : pivot;
    if (std::isfinite(m)) m = std::frexp(m, &of_m);
    e += of_pivot + of_m;
  }
  return {std::ldexp(m, static_cast<int>(std::clamp(e, -5000., 5000.))), m, e};
}

/// g·y·A⁻ᵀ:  d det A = det A·tr(A⁻¹·dA).
Tensor det_gradient(const Tensor& g, const Tensor& y, const Tensor& a, const Factors& lu) {
  return on_matrices(g * y) * transposed_inverse(lu, a);
}

}  // namespace

Tensor det(const Tensor& a) {
  check_square("det", a);
  const auto [all, lu] = of_determinant("det", a, 3, scaled_product);
  const auto column = [&all = all](std::int64_t i) {
    return kernels::clone(view::select(all, all.rank() - 1, i));
  };
  const Tensor value = column(0), m = column(1), e = kernels::cast(column(2), f64);
  const double least =
      a.dtype() == f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const Tensor size = abs(value);
  const bool lost = kernels::anywhere(
      logical_and(not_equal(m, 0), logical_or(less(size, least), equal(size, HUGE_VAL))));
  return record(
      "det", value, {a}, [a = saved(a), lu = lu, m, e, lost](const Tensor& g, const Tensor& y) {
        if (!lost) return det_gradient(g, y, a, lu);
        const Tensor part = record("det", m, {*a}, [a, lu](const Tensor& h, const Tensor& of) {
          return det_gradient(h, of, a, lu);
        });
        return detail::times(on_matrices(g) * transposed_inverse(lu, a),
                             {on_matrices(part), on_matrices(e)});
      });
}

}  // namespace ladon
