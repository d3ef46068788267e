// Every tensor argument of an operation has a derivative, has the derivative zero, or causes an
// Error if it requires a gradient. An operation that reads a tensor as plain numbers would silently
// lose its derivative.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/autograd/op_table/op_checks.h"
#include "ladon/tests/declared_functions.h"
#include "ladon/tests/sources.h"
#include "ladon/tests/support.h"

namespace ladon::test::tensor_arguments_test {
namespace {

/// Headers of the operations, without comments, by path.
std::map<std::string, std::string> op_headers() {
  std::map<std::string, std::string> found;
  const std::filesystem::path root = source_folder();
  const std::map<std::string, std::string> all = sources();
  for (const auto& header : operation_headers(root)) {
    const std::string path = std::filesystem::relative(header, root).string();
    found[path] = all.at(path);
  }
  return found;
}

const OpRow* row_of(const std::string& name) {
  for (const OpRow& row : op_table().rows())
    if (row.name == name) return &row;
  return nullptr;
}

/// The most Tensor parameters of any overload that a header declares.
std::map<std::string, std::size_t> tensor_parameters() {
  std::map<std::string, std::size_t> most;
  for (const auto& [path, text] : op_headers())
    for (const std::string& name :
         declared_functions(std::filesystem::path(source_folder()) / path)) {
      const std::string spelled = std::regex_replace(name, std::regex("[^\\w ]"), "\\$&");
      for (const std::string& list :
           matches(text, "\\n\\w[\\w:<>&* ]*[ &*]" + spelled + "\\(([^;]*?)\\)\\s*[;{]"))
        most[name] =
            std::max(most[name], matches(list, "(?:^|[(, \\n])(const Tensor&|Tensor&)").size());
    }
  return most;
}

TEST(TensorArguments, OfEachParameterTheTableHasAnInput) {
  const auto most = tensor_parameters();
  EXPECT_EQ(most.at("scatter_add"), 3u);  // the walk finds what it should
  EXPECT_EQ(most.at("operator+"), 2u);
  for (const auto& [name, count] : most) {
    const OpRow* row = row_of(name);
    ASSERT_TRUE(row) << name;
    std::size_t inputs = 0;
    for (const OpSample& s : row->samples) inputs = std::max(inputs, s.inputs.size());
    EXPECT_GE(inputs, count) << name << " takes " << count
                             << " tensors; give a sample that has all of them as inputs";
  }
}

/// Tensors in structs of options: the operation and the note of a sample that has it as an input,
/// or why it has no derivative.
struct OptionRow {
  std::string operation, note, excuse = {};
  std::size_t unused = 0;  ///< Tensors that the sample's output does not depend on.
};
const std::map<std::string, std::vector<OptionRow>> options{
    {"AttentionOptions.mask",
     {{"scaled_dot_product_attention", "additive mask"},
      {"attention_with_weights", "additive mask", {}, 1}}},
    {"RecurrenceOptions.bias", {{"recurrence", "lstm"}}},
    {"RecurrenceOptions.initial", {{"recurrence", "lstm"}}},
    {"RecurrenceOptions.mask", {{"", "", "boolean"}}},
    {"CrossEntropyOptions.weight",
     {{"cross_entropy", "trained weights"}, {"nll_loss", "trained weights"}}},
    {"BinaryCrossEntropyOptions.weight", {{"binary_cross_entropy_with_logits", "weights"}}},
    {"BinaryCrossEntropyOptions.pos_weight", {{"binary_cross_entropy_with_logits", "weights"}}},
};

TEST(TensorArguments, OfEachOptionTheTableHasAnInput) {
  const auto most = tensor_parameters();
  std::set<std::string> found;
  for (const auto& [path, text] : op_headers())
    for (const std::string& whole : matches(text, "\\nstruct (\\w+Options \\{[^]*?\\n\\};)"))
      for (const std::string& field : matches(whole, "\\n  Tensor (\\w+)"))
        found.insert(whole.substr(0, whole.find(' ')) + "." + field);
  for (const std::string& name : found)
    EXPECT_TRUE(options.contains(name))
        << name << " has no row here: name a sample of the table that has it as an input";
  for (const auto& [name, rows] : options) {
    EXPECT_TRUE(found.contains(name)) << name << " is no option any more";
    for (const OptionRow& o : rows) {
      if (!o.excuse.empty()) continue;
      const OpRow* row = row_of(o.operation);
      ASSERT_TRUE(row) << name;
      const auto has = [&](const OpSample& s) {
        return s.note.find(o.note) != s.note.npos && s.differentiable &&
               s.inputs.size() > most.at(o.operation) - o.unused;
      };
      EXPECT_TRUE(std::any_of(row->samples.begin(), row->samples.end(), has))
          << name << ": " << o.operation << " has no sample \"" << o.note << "\" of more than "
          << most.at(o.operation) << " inputs";
    }
  }
}

/// ⟨c, f⟩ for the cotangent of the table's checks, where f has finite values.
double along(const OpSample& sample, const std::vector<Tensor>& inputs) {
  const Tensor y = sample.apply(inputs);
  return sum(y * cotangent_like(y)).item();
}

// The derivative by one input alone, the others constants: by gradient and by tangent what
// differences give, also where the sample says that it is not differentiable (there only a
// derivative that is missing is a fault).
TEST(TensorArguments, NoDerivativeIsLost) {
  for (const OpRow& row : op_table().rows()) {
    if (row.draws) continue;
    for (const OpSample& sample : row.samples)
      for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
        if (!is_floating(sample.inputs[i].dtype()) || sample.inputs[i].count() == 0) continue;
        const std::string what = detail::join(row.name, ", ", sample.note, ", input ", i);
        std::vector<Tensor> inputs = copies(sample.inputs);
        const Tensor x = inputs[i];
        Generator rng(79);
        const Tensor t = normal(x.shape(), rng, 0, 1, f64);
        double difference = 0;
        bool gradient = true, tangent = true;
        try {
          if (!is_floating(sample.apply(copies(inputs)).dtype())) continue;
          const auto f = [&](const std::vector<Tensor>& at) {
            std::vector<Tensor> all = copies(sample.inputs);
            all[i] = at[0];
            return sample.apply(all);
          };
          std::vector<Tensor> leaves = copies(sample.inputs);
          leaves[i].set_requires_grad();
          gradient = sample.apply(leaves).requires_grad();
          const Tensor moved = jvp(f, {x}, {t}).tangent;
          tangent = any(not_equal(moved, 0)).item<bool>();
          const double h = 1e-6;
          std::vector<Tensor> up = copies(sample.inputs), down = copies(sample.inputs);
          up[i] = x + h * t;
          down[i] = x - h * t;
          difference = (along(sample, up) - along(sample, down)) / (2 * h);
        } catch (const Error&) {
          continue;  // refused
        }
        const bool jumps = std::abs(difference) > 1e4;  // at a step, or a pole
        if (!std::isfinite(difference) || std::abs(difference) < 1e-5 || jumps) continue;
        EXPECT_TRUE(gradient) << what << ": differences give " << difference
                              << ", but nothing is recorded";
        EXPECT_TRUE(tangent) << what << ": differences give " << difference
                             << ", but the tangent is 0";
      }
  }
}

}  // namespace
}  // namespace ladon::test::tensor_arguments_test
