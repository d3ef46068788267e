#pragma once
// One golden case: an operator of ONNX with its inputs, attributes and expected outputs.

#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::golden {

using Tensors = std::vector<Tensor>;

/// Thrown for a case that Ladon's operations cannot express: it is skipped with this reason.
struct Skip {
  std::string reason;
};

/// An array and the element type that its file gives it ("f4", "u1", …), which may be narrower than
/// the tensor's. Undefined where an optional input or output is absent.
struct Array {
  Tensor x;
  std::string type;
};

class Case {
 public:
  /// Reads `folder`/case.json; throws Error where it is malformed, or where the .npy files beside
  /// it are not the ones it names. Files are numbered among the inputs (outputs) that are present.
  explicit Case(const std::filesystem::path& folder);
  /// Reads the arrays. Throws Skip for an element type that Ladon does not hold.
  void load();

  const std::string& op() const { return op_; }
  const std::string& domain() const { return domain_; }
  /// Version of the operator set; where case.json has none, later than any.
  std::int64_t opset() const { return opset_; }
  const std::vector<Array>& expected() const { return expected_; }

  /// Number of input (output) positions, absent ones included.
  std::size_t inputs() const { return input_names_.size(); }
  std::size_t outputs() const { return output_names_.size(); }
  bool wants(std::size_t output) const;
  bool has(std::size_t input) const;
  /// An input that must be there (Error otherwise), or may be undefined.
  const Tensor& in(std::size_t input) const;
  Tensor optional(std::size_t input) const;
  const std::string& input_type(std::size_t input) const { return given_.at(input).type; }
  /// The elements of an input as integers.
  std::vector<std::int64_t> integers_of(std::size_t input) const;

  /// Throws Error unless output 0 is expected to have this shape: to be asked before memory is
  /// taken for a shape that inputs or attributes spell out.
  void expect_shape(const Shape& shape) const;

  // Attributes, with their defaults. One of another type than asked for is an Error.
  bool has(const std::string& attribute) const { return attributes_.contains(attribute); }
  std::int64_t integer(const std::string& attribute, std::int64_t otherwise) const;
  bool flag(const std::string& attribute, bool otherwise) const;
  /// An axis, in [0, rank).
  int axis(const std::string& attribute, std::int64_t otherwise, int rank) const;
  double number(const std::string& attribute, double otherwise) const;
  std::string text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<std::int64_t> integers(const std::string& attribute) const;
  std::vector<double> numbers(const std::string& attribute) const;
  /// The numbers of an attribute that is a tensor: a number, or lists of them; empty otherwise.
  std::vector<double> tensor_value(const std::string& attribute) const;
  /// Integers that older operator sets have as an attribute and newer ones as an input.
  std::optional<std::vector<std::int64_t>> integers(const std::string& attribute,
                                                    std::size_t input) const;

 private:
  std::filesystem::path folder_;
  std::string op_, domain_;
  std::int64_t opset_ = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> input_names_, output_names_;
  nlohmann::json attributes_;
  std::vector<Array> given_, expected_;
};

/// Fault of the computed output; empty where it agrees with the expected one: same dtype,
/// same shape, and element by element
///   f4   |y − e| ≤ 1e-5·|e| + 1e-6·max|e| + 1e-7     (sums of float32 cancel: hence max|e|)
///   f8   |y − e| ≤ 1e-9·|e| + 1e-10·max|e| + 1e-11
///   f2   |y − e| ≤ 4e-3·|e| + 1e-3·max|e| + 1e-4     (the reference rounds each step to 11 bits)
///   integers and booleans exactly, integers modulo the file's width, as fixed-width arithmetic is.
/// NaN agrees with NaN, an infinity with itself. The maximum is over finite elements.
std::string disagreement(const Tensor& computed, const Array& expected);

/// Releases of ONNX read some operators differently under one operator set. Of such readings the
/// first that agrees with the expected output; the first of all where none does.
Tensor agreeing(const Tensors& readings, const Array& expected);

using Operator = Tensors (*)(const Case&);
using Table = std::map<std::string, Operator, std::less<>>;

// One function a family adds its operators.
void add_pointwise(Table& table);
void add_activations(Table& table);
void add_logic(Table& table);
void add_reductions(Table& table);
void add_shapes(Table& table);
void add_creation(Table& table);
void add_indexing(Table& table);
void add_products(Table& table);
void add_normalizations(Table& table);
void add_losses(Table& table);
void add_attention(Table& table);
void add_recurrent(Table& table);
void add_optimizers(Table& table);
void add_windows(Table& table);

/// The dtype that ONNX numbers so (TensorProto.DataType). Throws Skip for one Ladon does not hold.
DType onnx_dtype(std::int64_t number);
/// Floating x is given as it is, an integer one as f64, which holds it exactly below 2^53.
Tensor as_floating(const Tensor& x);
/// [c] → [c, 1, 1, …], to stand against x [n, c, ..].
Tensor per_channel(const Tensor& a, const Tensor& x);
/// [n, c, ..] → [n, .., c], and back.
Tensor channels_last(const Tensor& x);
Tensor channels_first(const Tensor& x);
/// Input 1, placed at the attribute `axis` of input 0 as operator sets before 7 broadcast it.
Tensor second_operand(const Case& c);
/// Axis numbers that fit an int; Error otherwise.
std::vector<int> to_axes(const std::vector<std::int64_t>& axes);

}  // namespace ladon::golden
