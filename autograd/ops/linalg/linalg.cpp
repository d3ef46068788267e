#include "ladon/autograd/ops/linalg/linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ladon/autograd/number.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduce.h"
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
  Tensor y = empty(joined(leading(a), shape), a.dtype());
  if (y.count() == 0) return y;
  const Tensor results = view::try_reshape(y, joined({leading(a).count()}, shape));
  const auto run = [&](const auto&... lists) {
    for_each_matrix(results.size(0), a.size(-1), [&](std::int64_t i) {
      kernels::copy(view::select(results, 0, i), f(view::select(lists, 0, i)...));
    });
  };
  run(listed(a), listed(others)...);
  return y;
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

Tensor solve_general(const Tensor& a, const Tensor& b) {
  const auto compute = [](const Tensor& m, const Tensor& side) {
    const lapack::Lu lu = lapack::lu(m);
    const std::vector<double> pivots = numbers_of("solve", view::diagonal(lu.factors, 0, 0, 1));
    for (std::size_t i = 0; i < pivots.size(); ++i)
      LADON_CHECK(pivots[i] != 0, "solve", "the matrix is singular: pivot ", i, " of ",
                  pivots.size(), " is 0");
    return lapack::lu_solve(lu, side);
  };
  const auto rule = [a = saved(a)](const Tensor& g, const Tensor& x, detail::GradientSink& sink) {
    const Tensor by_b = solve_general(transpose(a), g);  // A⁻ᵀ·g
    if (sink.needs(1)) sink.give(1, by_b);
    if (sink.needs(0)) sink.give(0, -matmul(by_b, transpose(x)));  // dX = −A⁻¹·dA·X
  };
  return record_joint("solve", each({b.size(-2), b.size(-1)}, compute, a, b), {a, b}, rule);
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
  return solve(a, eye(a.size(-1), a.dtype()));
}

// --- determinants ---

Tensor logdet(const Tensor& a) {
  check_square("logdet", a);
  return 2 * sum(log(diagonal(cholesky(a))), -1);  // det A = (Π L_ii)²
}

namespace {

/// Calls of(pivots, sign) for the LU factorization of each matrix A, where det A = sign·Π pivots.
/// of() returns `count` numbers per matrix:  [.., n, n] → [.., count].
template <class F>
Tensor of_pivots(const char* operation, const Tensor& a, std::int64_t count, const F& of) {
  const auto compute = [&](const Tensor& m) {
    const lapack::Lu lu = lapack::lu(m);
    const std::vector<std::int64_t> swaps = lu.swaps.to_vector<std::int64_t>();
    double sign = 1;
    for (std::size_t i = 0; i < swaps.size(); ++i)
      if (swaps[i] != static_cast<std::int64_t>(i)) sign = -sign;
    const std::vector<double> pivots = numbers_of(operation, view::diagonal(lu.factors, 0, 0, 1));
    return kernels::cast(from_vector(of(pivots, sign), {count}), m.dtype());
  };
  return each({count}, compute, a);
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
  const Tensor both = of_pivots("slogdet", a, 2, sign_and_log);
  const auto column = [&](std::int64_t i) {
    return kernels::clone(view::select(both, both.rank() - 1, i));
  };
  return {column(0), record("slogdet", column(1), {a}, [a = saved(a)](const Tensor& g) {
            return on_matrices(g) * transpose(inverse(a));  // d ln |det A| = tr(A⁻¹·dA)
          })};
}

Tensor det(const Tensor& a) {
  check_square("det", a);
  const auto product = [](const std::vector<double>& pivots, double sign) {
    for (const double pivot : pivots) sign *= pivot;
    return std::vector{sign};
  };
  const Tensor value = of_pivots("det", a, 1, product);
  return record("det", view::squeeze(value, value.rank() - 1), {a},
                [a = saved(a)](const Tensor& g, const Tensor& y) {  // d det A = det A·tr(A⁻¹·dA)
                  return on_matrices(g * y) * transpose(inverse(a));
                });
}

}  // namespace ladon
