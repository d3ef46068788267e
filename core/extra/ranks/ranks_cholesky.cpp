#include "ladon/core/extra/ranks/ranks_cholesky.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/core/held.h"
#include "ladon/core/kernels/pointwise.h"

#ifdef LADON_SCALAPACK
#include <mpi.h>

#include "ladon/core/linalg/openblas/one_thread.h"

// Fortran functions; the lengths of their strings are hidden arguments at the end.
extern "C" {
int Csys2blacs_handle(MPI_Comm);
void Cfree_blacs_system_handle(int);
void Cblacs_gridinit(int*, const char*, int, int);
void Cblacs_gridinfo(int, int*, int*, int*, int*);
void Cblacs_gridexit(int);
int numroc_(const int* n, const int* side, const int* process, const int* source,
            const int* processes);
void descinit_(int* descriptor, const int* m, const int* n, const int* rows, const int* columns,
               const int* row_source, const int* column_source, const int* context,
               const int* stride, int* info);
void pdpotrf_(const char*, const int* n, double* a, const int* ia, const int* ja, const int* of_a,
              int* info, std::size_t);
void pdpotrs_(const char*, const int* n, const int* k, const double* a, const int* ia,
              const int* ja, const int* of_a, double* b, const int* ib, const int* jb,
              const int* of_b, int* info, std::size_t);
void pdsyev_(const char*, const char*, const int* n, double* a, const int* ia, const int* ja,
             const int* of_a, double* w, double* z, const int* iz, const int* jz, const int* of_z,
             double* work, const int* lwork, int* info, std::size_t, std::size_t);
}
#endif

namespace ladon::ranks {
namespace {

constexpr const char* operation = "Cholesky";

/// Number of rows of the grid of ranks. The grid is as square as the number of ranks allows; each
/// row has count() / rows_of_ranks() ranks.
int rows_of_ranks() {
  int rows = static_cast<int>(std::sqrt(count()));
  while (count() % rows != 0) --rows;
  return rows;
}

/// The block [rows, columns] of A + ridge·I that begins at (row, column); `block` returns that
/// block of A.
Tensor ridged(const Cholesky::Block& block, double ridge, std::int64_t row, std::int64_t column,
              std::int64_t rows, std::int64_t columns) {
  const Tensor a = block(row, column, rows, columns);
  LADON_CHECK(a.defined() && a.dtype() == f64 && a.shape() == Shape({rows, columns}), operation,
              "a block must be f64 ", Shape({rows, columns}), ", got ", detail::kind_in_words(a));
  Tensor own = empty({rows, columns}, f64);
  double* to = own.mutable_data<double>();
  const double* from = a.strided_data<double>();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      to[i * columns + j] =
          from[i * a.strides()[0] + j * a.strides()[1]] + (row + i == column + j ? ridge : 0);
  return own;
}

}  // namespace

#ifdef LADON_SCALAPACK
namespace {

const int one = 1, zero = 0;

/// The ranks as a grid of rows and columns.
class Grid {
 public:
  Grid() : system_(Csys2blacs_handle(MPI_COMM_WORLD)), context_(system_) {
    Cblacs_gridinit(&context_, "Row", rows_of_ranks(), count() / rows_of_ranks());
    Cblacs_gridinfo(context_, &rows, &columns, &row, &column);
  }
  ~Grid() {
    int over = 0;
    MPI_Finalized(&over);
    if (over != 0) return;
    Cblacs_gridexit(context_);
    Cfree_blacs_system_handle(system_);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  int context() const { return context_; }

  int rows = 0, columns = 0, row = 0, column = 0;

 private:
  int system_, context_;
};

/// The blocks of a matrix [m, n] that this rank holds, stored as one column-major matrix.
struct Local {
  Local(const Grid& grid, std::int64_t of_rows, std::int64_t of_columns, std::int64_t down,
        std::int64_t across)
      : m(static_cast<int>(of_rows)),
        n(static_cast<int>(of_columns)),
        side_m(static_cast<int>(down)),
        side_n(static_cast<int>(across)),
        place(grid) {
    rows = numroc_(&m, &side_m, &grid.row, &zero, &grid.rows);
    columns = numroc_(&n, &side_n, &grid.column, &zero, &grid.columns);
    stride = std::max(1, rows);
    LADON_CHECK(static_cast<double>(stride) * columns < 0x1p31, operation, "a rank would hold ",
                rows, " × ", columns,
                " numbers, but ScaLAPACK can count to 2³¹ − 1 only; use more ranks");
    const int context = grid.context();
    int info = 0;
    descinit_(descriptor, &m, &n, &side_m, &side_n, &zero, &zero, &context, &stride, &info);
    values.assign(static_cast<std::size_t>(stride) * static_cast<std::size_t>(std::max(1, columns)),
                  0.0);
  }
  /// Calls f(row, column, rows, columns, values) for each block that this rank holds: its position
  /// in the matrix, its size, and the address of its values in this rank.
  template <class F>
  void for_each_block(const F& f) {
    for (int c = 0; c < columns; c += side_n)
      for (int r = 0; r < rows; r += side_m) {
        const std::int64_t row = std::int64_t{r / side_m * place.rows + place.row} * side_m;
        const std::int64_t column =
            std::int64_t{c / side_n * place.columns + place.column} * side_n;
        f(row, column, std::min(side_m, rows - r), std::min(side_n, columns - c),
          values.data() + static_cast<std::int64_t>(c) * stride + r);
      }
  }

  int m, n, side_m, side_n, rows = 0, columns = 0, stride = 0;
  const Grid& place;
  int descriptor[9] = {};
  std::vector<double> values;
};

/// Fills a with this rank's blocks of the lower triangle of A + ridge·I.
void fill(Local& a, double ridge, const Cholesky::Block& block) {
  a.for_each_block([&](std::int64_t row, std::int64_t column, int rows, int columns, double* to) {
    if (row + rows <= column) return;
    const Tensor part = ridged(block, ridge, row, column, rows, columns);
    const double* from = part.data<double>();
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) to[std::int64_t{j} * a.stride + i] = from[i * columns + j];
  });
}

constexpr const char* bug = "; this is an error of Ladon, please report it";

/// Eigenvalues of a symmetric matrix, ascending. The matrix is lost.
std::vector<double> eigenvalues(Local& a) {
  std::vector<double> values(a.n), work(1);
  double none = 0;
  int info = 0;
  for (int length = -1;; length = static_cast<int>(work[0])) {  // the first call returns the length
    if (length > 0) work.resize(length);
    pdsyev_("N", "L", &a.n, a.values.data(), &one, &one, a.descriptor, values.data(), &none, &one,
            &one, a.descriptor, work.data(), &length, &info, 1, 1);
    LADON_CHECK(info == 0, operation, "ScaLAPACK's pdsyev finds no eigenvalues (info = ", info,
                "); is an element of the matrix NaN or infinite?");
    if (length > 0) return values;
  }
}

[[noreturn]] void fail_indefinite(int minor, const std::vector<double>& eigenvalues) {
  const double least = eigenvalues.front(), most = std::max(-least, eigenvalues.back());
  // Rounding moves eigenvalues by about n·ε·‖A‖.
  const double rounding = static_cast<double>(eigenvalues.size()) *
                          std::numeric_limits<double>::epsilon() * (most > 0 ? most : 1);
  const double jitter = 2 * (std::max(-least, 0.0) + rounding);
  throw lapack::NotPositiveDefinite(
      detail::join("[", operation,
                   "] the matrix is not positive definite: its leading minor of order ", minor,
                   " is not, and its smallest eigenvalue is ", least, "; add a jitter of at least ",
                   jitter, " to the diagonal"),
      least, jitter);
}

struct Shared {
  Shared(std::int64_t n, double ridge, const Cholesky::Block& block, std::int64_t side)
      : a(grid, n, n, side, side) {
    barrier("Cholesky");
    routines::use_one_thread();
    fill(a, ridge, block);
    int info = 0;
    pdpotrf_("L", &a.n, a.values.data(), &one, &one, a.descriptor, &info, 1);
    LADON_CHECK(info >= 0, operation, "ScaLAPACK's pdpotrf rejects its argument ", -info, bug);
    if (info == 0) return;
    fill(a, ridge, block);
    fail_indefinite(info, eigenvalues(a));
  }

  double log_determinant() {
    double own = 0;
    a.for_each_block([&](std::int64_t row, std::int64_t column, int rows, int, const double* l) {
      if (row != column) return;
      for (int i = 0; i < rows; ++i) own += 2 * std::log(l[std::int64_t{i} * (a.stride + 1)]);
    });
    const Tensor sum = full({1}, own, f64);
    all_reduce(sum);
    return sum.item();
  }

  Tensor solve(const double* b, std::int64_t k) {
    barrier("Cholesky::solve");
    routines::use_one_thread();
    Local x(grid, a.n, k, a.side_m, 64);
    const auto each = [&](const auto& f) {
      x.for_each_block(
          [&](std::int64_t row, std::int64_t column, int rows, int columns, double* v) {
            for (int j = 0; j < columns; ++j)
              for (int i = 0; i < rows; ++i)
                f((row + i) * k + column + j, v[std::int64_t{j} * x.stride + i]);
          });
    };
    each([&](std::int64_t at, double& value) { value = b[at]; });
    int info = 0;
    pdpotrs_("L", &a.n, &x.n, a.values.data(), &one, &one, a.descriptor, x.values.data(), &one,
             &one, x.descriptor, &info, 1);
    LADON_CHECK(info == 0, operation, "ScaLAPACK's pdpotrs rejects its argument ", -info, bug);
    Tensor all = zeros({a.n, k}, f64);
    double* to = all.mutable_data<double>();
    each([&](std::int64_t at, const double& value) { to[at] = value; });
    all_reduce(all);  // each element is nonzero in one rank only
    return all;
  }

  Grid grid;
  Local a;
};

}  // namespace
#endif

struct Cholesky::State {
  std::int64_t n = 0;
  double log_determinant = 0;
  Tensor factor;  // the factor L in a group of one rank; undefined if several ranks share it
#ifdef LADON_SCALAPACK
  std::unique_ptr<Shared> shared;
#endif
};

int holder(std::int64_t block_row, std::int64_t block_column) {
  const int rows = rows_of_ranks(), columns = count() / rows;
  return static_cast<int>(block_row % rows * columns + block_column % columns);
}

bool has_cholesky() {
#ifdef LADON_SCALAPACK
  return true;
#else
  return false;
#endif
}

Cholesky::Cholesky(std::int64_t n, double ridge, const Block& block, std::int64_t side)
    : state_(std::make_unique<State>()) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  LADON_CHECK(n >= 1 && n <= most, operation, "the matrix needs 1 to 2³¹ − 1 rows, got ", n);
  LADON_CHECK(side >= 1, operation, "the side of the blocks must be at least 1, got ", side);
  LADON_CHECK(std::isfinite(ridge), operation,
              "ridge, which is added to the diagonal, must be finite, got ", ridge);
  LADON_CHECK(count() == 1 || has_cholesky(), operation,
              "Ladon was built without ScaLAPACK, which ", count(),
              " ranks need; build it with LADON_MPI where ScaLAPACK is installed");
  state_->n = n;
  side = std::min(side, n);
#ifdef LADON_SCALAPACK
  if (count() > 1) {
    state_->shared = std::make_unique<Shared>(n, ridge, block, side);
    state_->log_determinant = state_->shared->log_determinant();
    return;
  }
#endif
  Tensor a = zeros({n, n}, f64);
  for (std::int64_t i = 0; i < n; i += side)
    for (std::int64_t j = 0; j <= i; j += side) {
      const std::int64_t rows = std::min(side, n - i), columns = std::min(side, n - j);
      const Tensor part = ridged(block, ridge, i, j, rows, columns);
      for (std::int64_t r = 0; r < rows; ++r)
        std::copy_n(part.data<double>() + r * columns, columns,
                    a.mutable_data<double>() + (i + r) * n + j);
    }
  state_->factor = lapack::cholesky(a);
  const double* l = state_->factor.data<double>();
  for (std::int64_t i = 0; i < n; ++i) state_->log_determinant += 2 * std::log(l[i * (n + 1)]);
}

Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;
Cholesky::~Cholesky() = default;
Cholesky::State& Cholesky::state() const { return detail::held("Cholesky", state_); }

std::int64_t Cholesky::size() const { return state().n; }
double Cholesky::log_determinant() const { return state().log_determinant; }

Tensor Cholesky::solve(const Tensor& b) const {
  LADON_CHECK(b.defined() && is_floating(b.dtype()) && b.rank() == 2 && b.size(0) == size() &&
                  b.size(1) >= 1,
              operation, "the right sides must be floating-point, [", size(),
              ", k] with k ≥ 1, one row per input; got ", detail::kind_in_words(b));
  Tensor x = empty(b.shape(), f64);
  kernels::copy(x, b);
#ifdef LADON_SCALAPACK
  if (state().shared) check_alike("Cholesky::solve", "the right sides", x);
  if (state().shared) return state().shared->solve(x.data<double>(), x.size(1));
#endif
  return lapack::cholesky_solve(state().factor, x);
}

}  // namespace ladon::ranks
