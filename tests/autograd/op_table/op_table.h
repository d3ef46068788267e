#pragma once
// The table of operations: one row per operation; every check is run on each row to which it
// applies.
//
// A row names a function declared in autograd/ops/*.h and gives samples of its use; a test fails if
// a declared function has no row. Each sample is a set of inputs, the operation with its options
// bound, and a reference: plain loops over plain numbers, which share no code with the library.
// With these alone op_table_test.cpp checks the value, the Jacobian and the second derivative (by
// finite differences), forward mode, vmap, non-contiguous inputs, broadcasting, f32, empty inputs
// and errors.
//
// The rows of a family of operations are in `op_table_<family>.cpp`:
//
//   void add_shape_rows(OpTable& table) {
//     table.add({.name = "cumsum",
//                .samples = {{.note = "axis 0",
//                             .inputs = {table.random({3, 4})},
//                             .apply = [](const auto& x) { return cumsum(x[0], 0); },
//                             .reference = [](const auto& x) { return running_sum(x[0], 0); }}},
//                .empty = {…samples whose inputs have no elements…},
//                .errors = {{"outside", [] { cumsum(ones({2}), 1); }}}});
//   }
//   const Family family(add_shape_rows);

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::test {

/// Array of plain numbers in row-major order, on which references compute. Booleans are 0 and 1.
struct Dense {
  Shape shape;
  std::vector<double> values;

  Dense() = default;
  /// An array of zeros.
  explicit Dense(const Shape& s) : shape(s), values(static_cast<std::size_t>(s.count())) {}
  explicit Dense(const Tensor& x) : shape(x.shape()), values(x.to_vector<double>()) {}

  /// The element at an index, which has one number per axis.
  double& operator()(const Shape& index) { return values[flat(index)]; }
  double operator()(const Shape& index) const { return values[flat(index)]; }

 private:
  std::size_t flat(const Shape& index) const;
};

/// Calls body(index) for each index of a shape, in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& body);

using Reference = std::function<Dense(const std::vector<Dense>&)>;

/// Reference of an elementwise operation with broadcasting; f gets one number per input.
Reference pointwise(std::function<double(const std::vector<double>&)> f);
/// Reference of a reduction over `axes`, numbers in [0, rank); f gets the elements that are reduced
/// to one number, in row-major order.
Reference reduction(std::vector<int> axes, bool keep,
                    std::function<double(const std::vector<double>&)> f);

/// Reference of an operation that moves elements: y(index) = x(from(index)), or 0 where `from`
/// returns nothing.
Reference remap(const Shape& shape, std::function<std::optional<Shape>(const Shape&)> from);

struct OpSample {
  std::string note = {};       ///< Name of the sample in failure messages.
  std::vector<Tensor> inputs;  ///< Floating-point ones are f64, and differentiated.
  TensorFunction apply;        ///< The operation; of several outputs it returns one.
  Reference reference;         ///< Computes the value.
  bool differentiable = true;  ///< In all floating-point inputs, which avoid kinks.
  bool twice_differentiable = true;
};

struct OpError {
  std::string fragment;  ///< Part of the message.
  std::function<void()> call;
};

struct OpRow {
  std::string name;  ///< Name of the operation, as declared in its header.
  bool maps = true;  ///< Whether vmap supports it; if not, it throws Error.
  /// Whether it draws random numbers. In vmap each example then has its own, which differ from
  /// those of a loop over examples.
  bool draws = false;
  std::vector<OpSample> samples;
  /// Samples whose inputs have no elements, if the operation allows this.
  std::vector<OpSample> empty = {};
  std::vector<OpError> errors = {};  ///< Calls that must throw Error.
  bool broadcasts = false;           ///< Whether inputs broadcast, as in NumPy.
  double rtol = 1e-12;               ///< Tolerance of f64 values, relative to the largest.
  double f32_rtol = 2e-6;            ///< The same in f32; ten times as much for gradients.
  GradcheckOptions gradcheck = {};
};

class OpTable {
 public:
  void add(OpRow row) { rows_.push_back(std::move(row)); }
  const std::vector<OpRow>& rows() const { return rows_; }

  /// f64 numbers, uniform in [low, high); each can be represented in f32 exactly.
  Tensor random(const Shape& shape, double low = -2, double high = 2);
  /// Numbers as of random(), at least `gap` away from 0, for operations with a kink at 0.
  Tensor random_off_zero(const Shape& shape, double gap = 0.1);
  /// i64 numbers in [low, high).
  Tensor random_integers(const Shape& shape, std::int64_t low, std::int64_t high);
  /// Booleans, true with probability p.
  Tensor random_booleans(const Shape& shape, double p = 0.5);

 private:
  std::vector<OpRow> rows_;
  Generator rng_{20260};
};

/// Registers the rows of a family; each file `op_table_<family>.cpp` defines one constant of this
/// type.
struct Family {
  explicit Family(void (*add_rows)(OpTable&));
};

/// The whole table.
const OpTable& op_table();

}  // namespace ladon::test
