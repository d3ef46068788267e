#pragma once
// One test case from the ONNX test suite: an operator with its inputs, attributes and expected
// outputs.

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

/// An array of a case. `type` is the element type in its file ("f4", "u1", …), which may be
/// narrower than that of the tensor x. x is undefined if an optional input or output is absent.
struct Array {
  Tensor x;
  std::string type;
};

class Case {
 public:
  /// Reads `folder`/case.json. Throws Error if it is malformed, or if the .npy files in the folder
  /// are not those that it names. Files are numbered in the order of the inputs (outputs) that are
  /// present.
  explicit Case(const std::filesystem::path& folder);
  /// Reads the arrays. Throws Skip for an element type that Ladon does not hold.
  void load();

  const std::string& op() const { return op_; }
  const std::string& domain() const { return domain_; }
  /// Version of the operator set; the largest integer if case.json has none.
  std::int64_t opset() const { return opset_; }
  const std::vector<Array>& expected() const { return expected_; }

  /// Number of input (output) positions, absent ones included.
  std::size_t inputs() const { return input_names_.size(); }
  std::size_t outputs() const { return output_names_.size(); }
  bool wants(std::size_t output) const;
  bool has(std::size_t input) const;
  /// An input: in() throws Error if it is absent, optional() then returns an undefined tensor.
  const Tensor& in(std::size_t input) const;
  Tensor optional(std::size_t input) const;
  const std::string& input_type(std::size_t input) const { return given_.at(input).type; }
  /// The elements of an input as integers.
  std::vector<std::int64_t> integers_of(std::size_t input) const;

  /// Throws Error unless output 0 is expected to have this shape. To be called before memory is
  /// allocated for a shape that comes from inputs or attributes.
  void expect_shape(const Shape& shape) const;

  // Values of attributes, or `otherwise` if the attribute is absent. These functions throw Error if
  // the attribute has another type.
  bool has(const std::string& attribute) const { return attributes_.contains(attribute); }
  std::int64_t integer(const std::string& attribute, std::int64_t otherwise) const;
  bool flag(const std::string& attribute, bool otherwise) const;
  /// Value of an attribute that is an axis, in [0, rank).
  int axis(const std::string& attribute, std::int64_t otherwise, int rank) const;
  double number(const std::string& attribute, double otherwise) const;
  std::string text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<std::int64_t> integers(const std::string& attribute) const;
  std::vector<double> numbers(const std::string& attribute) const;
  /// The numbers of an attribute that is a tensor: a number, or lists of them; empty otherwise.
  std::vector<double> tensor_value(const std::string& attribute) const;
  /// Integers that are an attribute in older operator sets and an input in newer ones.
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

/// Description of the difference between a computed and the expected output; empty if they agree:
/// equal dtypes and shapes, and elements y and e with
///   f4   |y − e| ≤ 1e-5·|e| + 1e-6·max|e| + 1e-7     (sums of float32 cancel: hence max|e|)
///   f8   |y − e| ≤ 1e-9·|e| + 1e-10·max|e| + 1e-11
///   f2   |y − e| ≤ 4e-3·|e| + 1e-3·max|e| + 1e-4     (the reference rounds each step to 11 bits)
///   integers and booleans exactly, integers modulo the file's width, as fixed-width arithmetic is.
/// NaN agrees with NaN, and an infinity with itself. The maximum is over finite elements.
std::string disagreement(const Tensor& computed, const Array& expected);

/// For operators that releases of ONNX define differently under one operator set: the first of
/// these results (`readings`) that agrees with the expected output, or `readings`[0] if none does.
Tensor agreeing(const Tensors& readings, const Array& expected);

using Operator = Tensors (*)(const Case&);
using Table = std::map<std::string, Operator, std::less<>>;

// Functions that add operators to a table, one per family.
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

/// The dtype with this number in ONNX (TensorProto.DataType). Throws Skip if Ladon does not have
/// it.
DType onnx_dtype(std::int64_t number);
/// x itself if it is floating-point; integers converted to f64, which is exact below 2^53.
Tensor as_floating(const Tensor& x);
/// Reshapes a [c] to [c, 1, 1, …], so that it broadcasts with x [n, c, ..].
Tensor per_channel(const Tensor& a, const Tensor& x);
/// Permutes axes: [n, c, ..] → [n, .., c], and back.
Tensor channels_last(const Tensor& x);
Tensor channels_first(const Tensor& x);
/// Input 1, reshaped such that it broadcasts with input 0 from the axis given by the attribute
/// `axis`, as operator sets before 7 define it.
Tensor second_operand(const Case& c);
/// Converts axes to int; throws Error if one does not fit.
std::vector<int> to_axes(const std::vector<std::int64_t>& axes);

}  // namespace ladon::golden
