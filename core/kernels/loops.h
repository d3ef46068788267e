#pragma once
// Table of vector loops. Each loop is compiled for several levels of the instruction set
// (core/kernels/loops/, see CMakeLists.txt), and the best level of the processor is chosen at run
// time. A new family of loops needs a file in loops/, its entries here, and a line in
// loops/table.cpp. The lists of functions (unary.h, binary.h, reduction.h) are not included here,
// so that a new function rebuilds only the files that name functions.

#include <cstdint>
#include <type_traits>

#include "ladon/core/kernels/loops/attention.h"
#include "ladon/core/kernels/loops/half.h"
#include "ladon/core/kernels/loops/limits/dual.h"
#include "ladon/core/kernels/loops/limits/rectifier.h"
#include "ladon/core/kernels/loops/particles.h"
#include "ladon/core/kernels/loops/piecewise.h"
#include "ladon/core/kernels/loops/products/gathered.h"
#include "ladon/core/kernels/loops/products/gemm.h"
#include "ladon/core/kernels/loops/products/products.h"
#include "ladon/core/kernels/loops/products/symmetric.h"
#include "ladon/core/kernels/loops/products/triangular.h"
#include "ladon/core/kernels/loops/random.h"

namespace ladon::kernels {

struct SgdStep;
struct WeightForms;
struct AdamStep;
struct RmspropStep;
struct AdagradStep;
struct LionStep;

/// Loops over selected rows of a row-major matrix with `columns` columns: the `count` rows whose
/// indices are in `places`.
template <class T>
struct PlaceLoops {
  /// y [columns] += the sum of the selected rows of x.
  void (*sum)(const T* x, const std::int64_t* places, std::int64_t count, std::int64_t columns,
              T* y);
  /// Adds g [columns] to each selected row of y.
  void (*spread)(const T* g, const std::int64_t* places, std::int64_t count, std::int64_t columns,
                 T* y);
  /// Largest element of each column (y [columns]) over the selected rows, and the index of the
  /// first row that has it (`where`). NaN counts as larger than any number. If `first`, there must
  /// be at least one selected row; if not, the previous y and `where` take part too.
  void (*maximum)(const T* x, const std::int64_t* places, std::int64_t count, bool first,
                  std::int64_t columns, T* y, std::int64_t* where);
};

/// Batch norm of matrices with `rows` rows of n columns (g, x, y and dx); all other arrays have n
/// elements. d stands for (x − mean) − rest, where mean + rest is the mean of a column
/// (ColumnMoments), and sums are over rows.
template <class T>
struct ColumnLoops {
  /// sum += Σd, squares += Σd².
  void (*deviations)(const T* x, const T* mean, const T* rest, std::int64_t rows, std::int64_t n,
                     T* sum, T* squares);
  /// y = d·scale + bias.
  void (*normalize)(const T* x, const T* mean, const T* rest, const T* scale, const T* bias,
                    std::int64_t rows, std::int64_t n, T* y);
  /// sum += Σg, along += Σg·d.
  void (*gradient_sums)(const T* g, const T* x, const T* mean, const T* rest, std::int64_t rows,
                        std::int64_t n, T* sum, T* along);
  /// dx = scale·(g − even − d·slope).
  void (*backward)(const T* g, const T* x, const T* mean, const T* rest, const T* scale,
                   const T* even, const T* slope, std::int64_t rows, std::int64_t n, T* dx);
};

/// Loops over contiguous elements of type T. An entry is null if T has no such function. An output
/// may be the same array as an input, but must not overlap an input partly.
template <class T>
struct LoopsOf {
  using UnaryLoop = void (*)(const T* x, T* y, std::int64_t n);
  using BinaryLoop = void (*)(const T* a, const T* b, T* y, std::int64_t n);
  using CompareLoop = void (*)(const T* a, const T* b, bool* y, std::int64_t n);
  const UnaryLoop* unary;                              ///< One per Unary, in its order.
  const BinaryLoop* binary;                            ///< One per Binary, in its order.
  const CompareLoop* compare;                          ///< One per Compare, in its order.
  const PiecewiseLoop<T>* piecewise;                   ///< One per Piecewise; arguments x, y, n, p.
  const PiecewiseGradientLoop<T>* piecewise_gradient;  ///< Arguments g, x, dx, n, p.
  const LossLoop<T>* loss;                             ///< One per Loss; arguments x, t, y, n, p.
  const LossGradientLoop<T>* loss_gradient;            ///< Arguments g, x, t, dx, n, p.
  /// y = condition ? a : b.
  void (*select)(const bool* condition, const T* a, const T* b, T* y, std::int64_t n);
  /// x ← a·x + b·y.
  void (*axpby)(T a, T* x, T b, const T* y, std::int64_t n);

  /// y[j·y_row + i] = x[i·x_row + j] for i < rows, j < columns; x and y do not overlap.
  void (*transpose)(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t x_row, T* y,
                    std::int64_t y_row);

  /// Reduction of n elements; if n = 0, the result is the operation's neutral element.
  using ReduceLoop = T (*)(const T* x, std::int64_t n);
  /// y[c] = the reduction of x[r·stride + c] over the rows r; there must be at least one row.
  using ReduceColumnsLoop = void (*)(const T* x, std::int64_t rows, std::int64_t stride,
                                     std::int64_t columns, T* y);
  const ReduceLoop* reduce;                 ///< One per Reduce, in its order.
  const ReduceColumnsLoop* reduce_columns;  ///< One per Reduce, in its order.

  // Functions of one row of n floating-point elements.
  void (*softmax)(const T* x, T* y, std::int64_t n);
  void (*log_softmax)(const T* x, T* y, std::int64_t n);
  T (*logsumexp)(const T* x, std::int64_t n);
  void (*softmax_backward)(const T* g, const T* y, T* dx, std::int64_t n);
  void (*log_softmax_backward)(const T* g, const T* y, T* dx, std::int64_t n);
  /// Layer norm of one row. A null weight counts as 1, a null bias as 0.
  void (*layer_norm)(const T* x, const T* weight, const T* bias, T eps, T* y, T* mean, T* rstd,
                     std::int64_t n);
  /// Writes dx of one row and adds the row's contributions to dweight and dbias; weight, dweight
  /// and dbias may be null.
  void (*layer_norm_backward)(const T* g, const T* x, T mean, T rstd, const T* weight, T* dx,
                              T* dweight, T* dbias, std::int64_t n);

  /// Updates of parameters x, in place. A pointer is null if its tensor in optimizer.h is
  /// undefined.
  void (*sgd)(T* x, const T* g, T* m, const SgdStep& step, std::int64_t n);
  void (*adam)(T* x, const T* g, T* m, T* v, T* u, const AdamStep& step, std::int64_t n);
  void (*rmsprop)(T* x, const T* g, T* v, T* c, T* m, const RmspropStep& step, std::int64_t n);
  void (*adagrad)(T* x, const T* g, T* v, const AdagradStep& step, std::int64_t n);
  void (*lion)(T* x, const T* g, T* m, const LionStep& step, std::int64_t n);

  AttentionLoops<T> attention;
  ColumnLoops<T> columns;
  DrawLoops<T> draw;
  GatheredLoops<T> gathered;
  GemmLoops<T> gemm;
  ParticleLoops<T> particles;
  PlaceLoops<T> places;
  SymmetricLoops<T> symmetric;
  TriangularLoops<T> triangular;
};

/// Workspace that Loops::largest needs per class, in doubles.
inline constexpr std::int64_t largest_work = 160;

struct Loops {
  LoopsOf<bool> boolean;
  LoopsOf<std::int64_t> i64;
  LoopsOf<float> f32;
  LoopsOf<double> f64;
  DualLoops dual;
  /// Matrix products of floats rounded to bf16, with sums in f32; null if the instruction level has
  /// no such loops. Used only if has_bf16_products().
  GemmLoops<float> gemm_of_bf16;
  HalfLoops half;
  RandomLoops random;
  /// p[c] = the probability that z_c is the largest of independent draws z_c ~ N(mean[c],
  /// deviation²), one per class.
  void (*largest)(std::int64_t classes, const double* mean, double deviation, double* p,
                  double* work);
  RectifierLoops rectifier;
  ColumnProductsLoop column_products;
  const WeightForms* weights;

  template <class T>
  const LoopsOf<T>& of() const {
    if constexpr (std::is_same_v<T, bool>)
      return boolean;
    else if constexpr (std::is_same_v<T, std::int64_t>)
      return i64;
    else if constexpr (std::is_same_v<T, float>)
      return f32;
    else
      return f64;
  }
};

/// One level of the instruction set and its loops.
struct Level {
  const char* name;
  const Loops* loops;
};

/// The instruction levels that this processor supports, lowest first.
struct Levels {
  Level list[3];
  int count;
  const Level* begin() const { return list; }
  const Level* end() const { return list + count; }
};
Levels levels();

/// Whether the loops in use and the processor support bf16 products.
bool has_bf16_products();

/// The loops in use: those of the highest level, or of the level that the environment variable
/// LADON_ISA names (v2, v3 or v4; throws Error if the processor does not support it).
const Loops& loops();

/// Index in levels() of the level in use, with which other tables of loops (extra/kernels/loops)
/// select the same level.
int level_in_use();

}  // namespace ladon::kernels
