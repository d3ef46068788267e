#pragma once
// A row of `every`: one operation of the library at one size, forward or with its gradient, in one
// dtype. The table has an entry per operation; rows are generated from it.

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

/// Small: some dozens of numbers, where the cost of an operation itself counts. Medium: 65,536
/// numbers, in a core's cache. Large: millions, in memory. (Where an operation costs more than a
/// pass over its numbers, fewer.)
enum class Size { small, medium, large };
inline constexpr Size sizes[] = {Size::small, Size::medium, Size::large};
const char* to_string(Size size);

/// Inputs of a row, drawn for its size and dtype. The same row draws the same numbers.
class Draw {
 public:
  Draw(Size size, DType dtype) : size_(size), dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  /// The number of the row's size.
  std::int64_t of(std::int64_t small, std::int64_t medium, std::int64_t large) const;
  /// Numbers in a row [64 … 4 M]; a matrix of as many; images [N, H, W, C].
  Shape line() const { return {of(64, 65536, 4'194'304)}; }
  Shape matrix() const { return {of(8, 256, 4096), of(8, 256, 1024)}; }
  Shape images() const { return {of(1, 4, 16), of(4, 16, 56), of(4, 16, 56), of(4, 64, 64)}; }

  Tensor normal(const Shape& shape) { return ladon::normal(shape, rng_, 0, 1, dtype_); }
  Tensor between(double low, double high, const Shape& shape) {
    return uniform(shape, rng_, low, high, dtype_);
  }
  /// Signs, −1 or 1.
  Tensor signs(const Shape& shape);
  /// i64 in [0, high).
  Tensor below(std::int64_t high, const Shape& shape) { return randint(shape, rng_, 0, high); }
  Tensor booleans(const Shape& shape, double p = 0.5) { return bernoulli(shape, rng_, p); }
  /// Symmetric positive definite [n, n], of condition 10 or so.
  Tensor positive_definite(std::int64_t n);
  Generator& rng() { return rng_; }

 private:
  Size size_;
  DType dtype_;
  Generator rng_{7};
};

/// Inputs of a row and what is computed of them.
struct Sample {
  Tensors inputs;
  Function apply;
};

/// What else there is to say of an entry.
struct Traits {
  bool gradient = true;    ///< Whether there are rows of the gradient too.
  bool f32_too = true;     ///< Else f64 alone: kernels of limits, posteriors.
  bool f64_too = true;     ///< Else f32 alone: where no input is floating.
  bool large_too = true;   ///< Else small and medium.
  int differentiated = 0;  ///< By the first inputs; 0: by all that are floating.
  int compared = 0;        ///< Results beside the peer's; 0: all; −1: none, as they are drawn.
  double tolerance = 1;    ///< Of the difference, in units of 1e-4 in f32 and 1e-9 in f64.
  /// Multiplications and additions of the forward pass, where products are most of the work.
  std::function<double(const Tensors& inputs, const Tensors& outputs)> products = {};
};

struct Entry {
  std::string family, name;  ///< The name of the operation, with a variant behind a comma.
  std::function<Sample(Draw&)> make;
  Traits traits;
};

class Table {
 public:
  /// Entries that follow belong to this family.
  void family(std::string name) { family_ = std::move(name); }
  void add(std::string name, std::function<Tensors(Draw&)> inputs, Function apply,
           Traits traits = {});
  /// One whose function is made anew for each row: it has a state, or belongs to a layer.
  void add_made(std::string name, std::function<Sample(Draw&)> make, Traits traits = {});
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::string family_;
  std::vector<Entry> entries_;
};

/// All entries, family by family.
const std::vector<Entry>& every_entry();
/// "gather" of "gather, last axis".
std::string operation_of(const std::string& name);

struct Row {
  const Entry* entry;
  Size size;
  bool gradient;
  DType dtype;

  std::string name() const;  ///< "softmax, axis 1 / large / gradient / f32"
};
std::vector<Row> every_row();

/// A row's call, on inputs of its own: forward without a graph, or forward and backward.
struct Call {
  Tensors inputs;
  Tensors cotangents;  ///< Of the outputs that require a gradient, in order.
  std::vector<std::size_t> differentiated;
  std::function<Tensors()> run;  ///< Outputs, or gradients of the differentiated inputs.
};
/// Forward nothing is computed before the first run: peers begin with the same state.
Call make_call(const Row& row);

/// What a call cannot do without.
struct Work {
  double products = 0;  ///< Floating-point operations.
  double bytes = 0;     ///< Each input, output and gradient once.
};
/// `results` are the call's.
Work work_of(const Row& row, const Call& call, const Tensors& results);

}  // namespace ladon::bench::every
