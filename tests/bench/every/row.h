#pragma once
// A row of the benchmark of every operation: one operation at one size, forward or with its
// gradient, in one dtype. The table has an entry per operation; rows are generated from it.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::bench::every {

using Tensors = std::vector<Tensor>;

/// Results of an operation: one tensor or several.
struct Results : Tensors {
  Results(const Tensor& y) : Tensors{y} {}                   // NOLINT: implicit
  Results(Tensors several) : Tensors(std::move(several)) {}  // NOLINT: implicit
};
using Function = std::function<Results(const Tensors&)>;

/// Size of a row's inputs. Small: some dozens of numbers, so that the fixed cost of a call
/// dominates. Medium: 65,536 numbers, which fit the cache of a core. Large: millions of numbers,
/// which exceed it. Operations that cost more than one pass over their inputs get smaller inputs.
enum class Size { small, medium, large };
inline constexpr Size sizes[] = {Size::small, Size::medium, Size::large};
const char* to_string(Size size);

/// Draws the inputs of a row, for its size and dtype. The same row draws the same numbers.
class Draw {
 public:
  Draw(Size size, DType dtype) : size_(size), dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  /// The one of the three numbers that belongs to the size of the row.
  std::int64_t of(std::int64_t small, std::int64_t medium, std::int64_t large) const;
  /// Shapes for the size of the row: a vector of 64 to 4 million numbers; a matrix of as many;
  /// images [N, H, W, C].
  Shape line() const { return {of(64, 65536, 4'194'304)}; }
  Shape matrix() const { return {of(8, 256, 4096), of(8, 256, 1024)}; }
  Shape images() const { return {of(1, 4, 16), of(4, 16, 56), of(4, 16, 56), of(4, 64, 64)}; }

  Tensor normal(const Shape& shape) { return ladon::normal(shape, rng_, 0, 1, dtype_); }
  Tensor between(double low, double high, const Shape& shape) {
    return uniform(shape, rng_, low, high, dtype_);
  }
  /// Random signs, −1 or 1.
  Tensor signs(const Shape& shape);
  /// Random i64 numbers in [0, high).
  Tensor below(std::int64_t high, const Shape& shape) { return randint(shape, rng_, 0, high); }
  Tensor booleans(const Shape& shape, double p = 0.5) { return bernoulli(shape, rng_, p); }
  /// Symmetric positive definite matrix [n, n] with a condition number of about 10.
  Tensor positive_definite(std::int64_t n);
  Generator& rng() { return rng_; }

 private:
  Size size_;
  DType dtype_;
  Generator rng_{7};
};

/// Inputs of a row, and the function that is computed from them.
struct Sample {
  Tensors inputs;
  Function apply;
};

/// Optional properties of an entry.
struct Traits {
  bool gradient = true;    ///< Whether there are also rows of the gradient.
  bool f32_too = true;     ///< False: f64 only (kernels of limits, posteriors).
  bool f64_too = true;     ///< False: f32 only (no floating-point input).
  bool large_too = true;   ///< False: only small and medium.
  int differentiated = 0;  ///< Number of inputs differentiated; 0: all floating.
  int compared = 0;        ///< Number of results compared; 0: all; −1: none (random).
  double tolerance = 1;    ///< Allowed difference, in units of 1e-4 (f32), 1e-9 (f64).
  /// Number of multiplications and additions in the forward pass, if most of the work is products.
  std::function<double(const Tensors& inputs, const Tensors& outputs)> products = {};
};

struct Entry {
  std::string family, name;  ///< Name of the operation, with variant: "softmax, axis 1".
  std::function<Sample(Draw&)> make;
  Traits traits;
};

class Table {
 public:
  /// Entries that follow belong to this family.
  void family(std::string name) { family_ = std::move(name); }
  void add(std::string name, std::function<Tensors(Draw&)> inputs, Function apply,
           Traits traits = {});
  /// Adds an entry whose function is made anew for each row, because it has a state or belongs to a
  /// layer.
  void add_made(std::string name, std::function<Sample(Draw&)> make, Traits traits = {});
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::string family_;
  std::vector<Entry> entries_;
};

/// All entries, family by family.
const std::vector<Entry>& every_entry();
/// Name of the operation in the name of an entry: "gather" for "gather, last axis".
std::string operation_of(const std::string& name);

struct Row {
  const Entry* entry;
  Size size;
  bool gradient;
  DType dtype;

  std::string name() const;  ///< "softmax, axis 1 / large / gradient / f32"
};
std::vector<Row> every_row();

/// The timed call of a row, on its own inputs: forward without a graph, or forward and backward.
struct Call {
  Tensors inputs;
  Tensors cotangents;  ///< For outputs that require a gradient, in order.
  std::vector<std::size_t> differentiated;
  std::function<Tensors()> run;  ///< Outputs, or gradients of the differentiated inputs.
};
/// Makes the call of a row. For a forward row nothing is computed before the first run, so that the
/// peer begins with the same state.
Call make_call(const Row& row);

/// Least amount of work that a call needs.
struct Work {
  double products = 0;  ///< Floating-point operations.
  double bytes = 0;     ///< Bytes of inputs, outputs and gradients, each once.
};
/// Work of a row whose call returned `results`.
Work work_of(const Row& row, const Call& call, const Tensors& results);

}  // namespace ladon::bench::every
