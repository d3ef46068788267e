#pragma once
// The table of operations: one row per operation, and every check there is for each row.
//
// A row names a function declared in autograd/ops/*.h and gives samples of its use; a test fails
// if a declared function has no row. Each sample is a set of inputs, the operation with its options
// bound, and a reference: plain loops over plain numbers, which share nothing with the library.
// From these alone op_table_test.cpp checks the value, the Jacobian and the second derivative
// against differences, forward mode, vmap, non-contiguous inputs, broadcasting, f32, empty inputs
// and errors.
//
// A family's rows stand in op_table_<family>.cpp:
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

/// Plain numbers in row-major order: what references compute on. Truth values are 0 and 1.
struct Dense {
  Shape shape;
  std::vector<double> values;

  Dense() = default;
  /// Zeros.
  explicit Dense(const Shape& s) : shape(s), values(static_cast<std::size_t>(s.count())) {}
  explicit Dense(const Tensor& x) : shape(x.shape()), values(x.to_vector<double>()) {}

  /// The element at an index of the shape's rank.
  double& operator()(const Shape& index) { return values[flat(index)]; }
  double operator()(const Shape& index) const { return values[flat(index)]; }

 private:
  std::size_t flat(const Shape& index) const;
};

/// Calls body(index) for each index of a shape, in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& body);

using Reference = std::function<Dense(const std::vector<Dense>&)>;

/// References of the commonest kinds. `pointwise` broadcasts; f gets one number per input.
Reference pointwise(std::function<double(const std::vector<double>&)> f);
/// f gets the elements that are reduced to one, in row-major order; axes in [0, rank).
Reference reduction(std::vector<int> axes, bool keep,
                    std::function<double(const std::vector<double>&)> f);

/// y(index) = x(from(index)), or 0 where `from` gives nothing.
Reference remap(const Shape& shape, std::function<std::optional<Shape>(const Shape&)> from);

struct OpSample {
  std::string note = {};       ///< Names the sample in a failure.
  std::vector<Tensor> inputs;  ///< Floating ones in f64; they are differentiated.
  TensorFunction apply;        ///< The operation. One of several outputs: a sample per output.
  Reference reference;         ///< Its value.
  bool differentiable = true;  ///< By all floating inputs; away from kinks and ties.
  bool twice_differentiable = true;
};

struct OpError {
  std::string fragment;  ///< Stands in the message.
  std::function<void()> call;
};

struct OpRow {
  std::string name;    ///< As declared.
  bool maps = true;    ///< Inside vmap; else it is an Error there.
  bool draws = false;  ///< Random numbers, inside vmap each example its own: not as a loop's.
  std::vector<OpSample> samples;
  std::vector<OpSample> empty = {};  ///< Samples whose inputs have no elements, where that is
                                     ///< allowed.
  std::vector<OpError> errors = {};  ///< All throw Error.
  bool broadcasts = false;           ///< The inputs broadcast to each other, as NumPy's do.
  double rtol = 1e-12;               ///< Of values in f64, relative to the largest one.
  double f32_rtol = 2e-6;            ///< Of values in f32; gradients have ten times that.
  GradcheckOptions gradcheck = {};
};

class OpTable {
 public:
  void add(OpRow row) { rows_.push_back(std::move(row)); }
  const std::vector<OpRow>& rows() const { return rows_; }

  /// f64, uniform in [low, high), each exact in f32 too.
  Tensor random(const Shape& shape, double low = -2, double high = 2);
  /// The same, and at least `gap` away from 0: for operations with a kink there.
  Tensor random_off_zero(const Shape& shape, double gap = 0.1);
  /// i64 in [low, high).
  Tensor random_integers(const Shape& shape, std::int64_t low, std::int64_t high);
  /// bool, true with probability p.
  Tensor random_booleans(const Shape& shape, double p = 0.5);

 private:
  std::vector<OpRow> rows_;
  Generator rng_{20260};
};

/// Registers a family's rows; one constant a file.
struct Family {
  explicit Family(void (*add_rows)(OpTable&));
};

/// The whole table.
const OpTable& op_table();

}  // namespace ladon::test
