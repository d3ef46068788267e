// Metrics, diagnostics and penalties given an undefined tensor: an Error that names the operation
// and says that the tensor is undefined, and not the shape [] that a number has. (Operations:
// tests/autograd/op_table.)

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/ensemble.h"
#include "ladon/core/extra/data/images.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/core/extra/data/regression.h"
#include "ladon/layers/infinite/finite/gaussianity.h"
#include "ladon/optim/extra/diagnostics/discrepancy.h"
#include "ladon/optim/extra/penalties/cosine_penalty.h"
#include "ladon/optim/extra/penalties/head_penalties.h"
#include "ladon/optim/extra/penalties/similarity.h"
#include "ladon/optim/particles/diagnostics.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/tests/sources.h"
#include "ladon/tests/support.h"

namespace ladon::test::undefined_tensors_test {
namespace {

using namespace metrics;

struct Row {
  std::string name;               ///< Of the function.
  std::vector<Tensor> arguments;  ///< Proper ones, which are replaced one after the other.
  std::function<void(const std::vector<Tensor>&)> call;
};

std::vector<Row> rows() {
  const Tensor p = full({2, 2}, 0.5), labels = zeros({2}, i64), members = full({3, 2, 2}, 0.5);
  const Tensor y = tensor({1, 2}), draws = tensor({1, 2, 3, 4}, {2, 2});
  const Tensor x = tensor({0, 1, 2, 3, 5, 8}, {3, 2}), maps = full({1, 2, 2, 2}, 0.5);
  using In = std::vector<Tensor>;
  return {
      {"accuracy", {p, labels}, [](const In& a) { accuracy(a[0], a[1]); }},
      {"nll", {p, labels}, [](const In& a) { nll(a[0], a[1]); }},
      {"brier", {p, labels}, [](const In& a) { brier(a[0], a[1]); }},
      {"ece", {p, labels}, [](const In& a) { ece(a[0], a[1]); }},
      {"adaptive_ece", {p, labels}, [](const In& a) { adaptive_ece(a[0], a[1]); }},
      {"predictive_entropy", {p}, [](const In& a) { predictive_entropy(a[0]); }},
      {"agreement", {p, p}, [](const In& a) { agreement(a[0], a[1]); }},
      {"total_variation", {p, p}, [](const In& a) { total_variation(a[0], a[1]); }},
      {"ensemble_mean", {members}, [](const In& a) { ensemble_mean(a[0]); }},
      {"mutual_information", {members}, [](const In& a) { mutual_information(a[0]); }},
      {"disagreement", {members}, [](const In& a) { disagreement(a[0]); }},
      {"variation_ratio", {members}, [](const In& a) { variation_ratio(a[0]); }},
      {"interval_coverage",
       {y, y, y},
       [](const In& a) { interval_coverage(a[0], a[1], a[2], {0.5}); }},
      {"interval_coverage",
       {expand(y, {9, 2}), y},
       [](const In& a) { interval_coverage(a[0], a[1], {0.5}); }},
      {"gaussian_nll", {y, y, y}, [](const In& a) { gaussian_nll(a[0], a[1], a[2]); }},
      {"crps", {y, y, y}, [](const In& a) { crps(a[0], a[1], a[2]); }},
      {"crps", {draws, y}, [](const In& a) { crps(a[0], a[1]); }},
      {"patches", {zeros({1, 2, 2, 1})}, [](const In& a) { patches(a[0], 1); }},
      {"ksd", {x, x}, [](const In& a) { ksd(a[0], a[1]); }},
      {"sample_mmd", {x, x + 1}, [](const In& a) { sample_mmd(a[0], a[1]); }},
      {"cosine_penalty", {x}, [](const In& a) { cosine_penalty(a[0]); }},
      {"frobenius_penalty", {maps}, [](const In& a) { frobenius_penalty(a[0]); }},
      {"disagreement_penalty", {maps}, [](const In& a) { disagreement_penalty(a[0]); }},
      {"overlap_penalty", {maps}, [](const In& a) { overlap_penalty(a[0]); }},
      {"linear_cka", {x, x}, [](const In& a) { linear_cka(a[0], a[1]); }},
      {"head_cka", {expand(x, {2, 2, 3, 2})}, [](const In& a) { head_cka(a[0]); }},
      {"effective_number", {eye(2)}, [](const In& a) { effective_number(a[0]); }},
      {"excess_kurtosis",
       {reshape(x, {3, 1, 2})},
       [](const In& a) { infinite::excess_kurtosis(a[0]); }},
      {"pairwise_distance", {x}, [](const In& a) { pairwise_distance(a[0]); }},
      {"pairwise_cosine", {x}, [](const In& a) { pairwise_cosine(a[0]); }},
      {"off_diagonal", {eye(2)}, [](const In& a) { off_diagonal(a[0]); }},
      {"map_redundancy", {maps}, [](const In& a) { map_redundancy(a[0]); }},
      {"classification_targets", {labels}, [](const In& a) { classification_targets(a[0], 2); }},
      {"class_probabilities", {p, y}, [](const In& a) { class_probabilities(a[0], a[1]); }},
  };
}

TEST(UndefinedTensors, AreCalledSo) {
  for (const Row& row : rows())
    for (std::size_t i = 0; i < row.arguments.size(); ++i) {
      SCOPED_TRACE(row.name + ", argument " + std::to_string(i));
      EXPECT_NO_THROW(row.call(row.arguments));
      std::vector<Tensor> arguments = row.arguments;
      arguments[i] = Tensor();
      try {
        row.call(arguments);
        ADD_FAILURE() << "an undefined tensor is taken";
      } catch (const Error& e) {
        const std::string message = e.what();
        EXPECT_EQ(message.find('['), 0u) << message;
        EXPECT_NE(message.find("undefined"), std::string::npos) << message;
      }
    }
}

TEST(UndefinedTensors, EveryMetricHasItsRow) {
  std::set<std::string> names;
  for (const Row& row : rows()) names.insert(row.name);
  const auto texts = sources();
  for (const char* header : {"metrics", "ensemble", "regression"})
    for (const std::string& name : matches(
             texts.at("core/extra/data/" + std::string(header) + ".h"), "(\\w+)\\(const Tensor& "))
      EXPECT_TRUE(names.contains(name)) << name;
}

}  // namespace
}  // namespace ladon::test::undefined_tensors_test
